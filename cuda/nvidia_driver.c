//go:build cuda && cgo && linux && (amd64 || arm64)

/* The functions of NVIDIA's driver that gorgonia.org/cu calls, each a jump to where
 * libcuda.so.1 has it once driver_open has run. A program linked with them instead
 * of with libcuda starts on a machine that has none. */
#include <dlfcn.h>
#include <stdio.h>

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
#include "nvidia_entries.h"
#undef ENTRY

#define ENTRY(name) {#name, &driver_##name},
static const struct {
  const char *name;
  void **to;
} entries[] = {
#include "nvidia_entries.h"
};

/* gorgonia.org/cu calls it before main, and exits where it fails: the driver is
 * started by driver_open instead, which can say what is wrong. */
int cuInit(unsigned flags) {
  (void)flags;
  return 0;
}

/* Opens the driver and starts it. Returns 0, or why not, for a person. To be called
 * once, before any other function of the driver. */
const char *driver_open(void) {
  static char why[512];
  void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!lib) {
    snprintf(why, sizeof why, "no NVIDIA driver was found (%s)", dlerror());
    return why;
  }
  for (unsigned i = 0; i < sizeof entries / sizeof *entries; i++) {
    void *f = dlsym(lib, entries[i].name);
    if (f) *entries[i].to = f;
  }
  int (*init)(unsigned) = (int (*)(unsigned))dlsym(lib, "cuInit");
  int status = init ? init(0) : absent();
  if (status == 0) return 0;
  int (*explain)(int, const char **) = (int (*)(int, const char **))dlsym(lib, "cuGetErrorString");
  const char *text = 0;
  if (!explain || explain(status, &text) || !text) text = "it gives no reason";
  snprintf(why, sizeof why, "the NVIDIA driver does not start (error %d: %s)", status, text);
  return why;
}
