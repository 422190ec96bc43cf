/* A double of NVIDIA's driver for tests, as libcuda.so.1: two GPUs, and the rules
 * that listing them must keep. DOUBLE=none starts without a GPU; DOUBLE=busy has
 * no room for a context on the second. */
#include <stdlib.h>
#include <string.h>

enum { OK, INVALID_VALUE, OUT_OF_MEMORY, NOT_INITIALIZED, NO_DEVICE = 100, INVALID_DEVICE = 101, INVALID_CONTEXT = 201 };

static struct gpu {
  const char *name;
  int major, minor;
  size_t total, free;
  int retained;
} gpus[] = {
    {"Double 9000", 9, 0, 150754820096, 149000000000, 0},
    {"Double Mini", 8, 6, 6442450944, 6000000000, 0},
};
static int started;
static __thread struct gpu *current;

static int is(const char *mode) {
  const char *now = getenv("DOUBLE");
  return now && !strcmp(now, mode);
}
static int known(int d) { return d >= 0 && d < (int)(sizeof gpus / sizeof *gpus); }

int cuInit(unsigned flags) {
  if (flags) return INVALID_VALUE;
  if (is("none")) return NO_DEVICE;
  started = 1;
  return OK;
}
int cuGetErrorString(int status, const char **text) {
  if (status != NO_DEVICE) return INVALID_VALUE;
  *text = "no CUDA-capable device is detected";
  return OK;
}
int cuDriverGetVersion(int *version) {
  *version = 12090;
  return OK;
}
int cuDeviceGetCount(int *n) {
  if (!started) return NOT_INITIALIZED;
  *n = sizeof gpus / sizeof *gpus;
  return OK;
}
int cuDeviceGet(int *d, int ordinal) {
  if (!started) return NOT_INITIALIZED;
  *d = ordinal;
  return known(ordinal) ? OK : INVALID_DEVICE;
}
int cuDeviceGetName(char *name, int size, int d) {
  if (!known(d)) return INVALID_DEVICE;
  strncpy(name, gpus[d].name, size);
  return OK;
}
int cuDeviceGetAttribute(int *value, int attribute, int d) {
  if (!known(d)) return INVALID_DEVICE;
  switch (attribute) {
  case 75: *value = gpus[d].major; return OK;
  case 76: *value = gpus[d].minor; return OK;
  }
  return INVALID_VALUE;
}

/* A context takes memory, so that one kept would show in the next list; and one
 * that is current may not be released. */
int cuDevicePrimaryCtxRetain(void **context, int d) {
  if (!known(d)) return INVALID_DEVICE;
  if (is("busy") && d == 1) return OUT_OF_MEMORY;
  gpus[d].retained++;
  *context = &gpus[d];
  return OK;
}
int cuDevicePrimaryCtxRelease_v2(int d) {
  if (!known(d)) return INVALID_DEVICE;
  if (!gpus[d].retained || current == &gpus[d]) return INVALID_CONTEXT;
  gpus[d].retained--;
  return OK;
}
int cuCtxSetCurrent(void *context) {
  current = context;
  return OK;
}
int cuMemGetInfo_v2(size_t *free, size_t *total) {
  if (!current || !current->retained) return INVALID_CONTEXT;
  *total = current->total;
  *free = current->free - current->retained * 1000000;
  return OK;
}
