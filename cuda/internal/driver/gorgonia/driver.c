//go:build cuda && cgo && linux && (amd64 || arm64)

/* The functions of NVIDIA's driver that gorgonia.org/cu calls, each a jump to where
 * libcuda.so.1 has it once driver_open has run. A program linked with them instead
 * of with libcuda starts on a machine that has none. */
#include <dlfcn.h>
#include <stddef.h>

static int absent(void) { return 500; /* CUDA_ERROR_NOT_FOUND */ }

/* An assembler's jump through a variable leaves all arguments where they are. */
#if defined(__x86_64__)
#define JUMP(to) "jmp *" #to "(%rip)\n"
#else
#define JUMP(to) "adrp x16, " #to "\nldr x16, [x16, #:lo12:" #to "]\nbr x16\n"
#endif
#define ENTRY(name)                                                                    \
  __attribute__((visibility("hidden"))) void *driver_##name = (void *)absent;          \
  __asm__(".pushsection .text\n.globl " #name "\n.type " #name ", %function\n"             \
          #name ":\n" JUMP(driver_##name) ".popsection\n");
#include "entries.h"
#undef ENTRY

#define ENTRY(name) {#name, &driver_##name},
static const struct {
  const char *name;
  void **to;
} entries[] = {
#include "entries.h"
};

/* gorgonia.org/cu calls it before main, and exits where it fails: the driver is
 * started by driver_open instead, which can say what is wrong. */
int cuInit(unsigned flags) {
  (void)flags;
  return 0;
}

/* What cu lacks. */
static int (*host_register)(void *, size_t, unsigned), (*host_unregister)(void *);
int driver_lock(void *at, size_t bytes) { return host_register ? host_register(at, bytes, 0) : absent(); }
int driver_unlock(void *at) { return host_unregister ? host_unregister(at) : absent(); }

/* driver_text is the driver's explanation of a status; NULL for none. */
static int (*explain)(int, const char **);
const char *driver_text(int status) {
  const char *text = 0;
  return explain && !explain(status, &text) ? text : 0;
}

/* Opens the driver and starts it, to be called once before any other function. Returns a
 * status; negative where there is no driver, of which why says more. */
int driver_open(const char **why) {
  void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!lib) {
    *why = dlerror();
    return -1;
  }
  for (unsigned i = 0; i < sizeof entries / sizeof *entries; i++) {
    void *f = dlsym(lib, entries[i].name);
    if (f) *entries[i].to = f;
  }
  host_register = (int (*)(void *, size_t, unsigned))dlsym(lib, "cuMemHostRegister_v2");
  host_unregister = (int (*)(void *))dlsym(lib, "cuMemHostUnregister");
  explain = (int (*)(int, const char **))dlsym(lib, "cuGetErrorString");
  int (*init)(unsigned) = (int (*)(unsigned))dlsym(lib, "cuInit");
  return init ? init(0) : absent();
}
