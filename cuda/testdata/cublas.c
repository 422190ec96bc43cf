/* A double of NVIDIA's cuBLAS for tests, as libcublas.so.12, on the double of the driver:
 * column-major matrices, a handle that takes memory of the GPU, and products that are
 * computed when their stream comes to them and that fill their workspace with junk.
 *
 * DOUBLE_CUBLAS=fails does not start; full has no room for a handle; old is version 10;
 * rows takes matrices for row-major; breaks fails from the second product on. */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK, NOT_INITIALIZED = 1, ALLOC_FAILED = 3, INVALID_VALUE = 7, INTERNAL_ERROR = 14, NOT_SUPPORTED = 15 };
enum { LAUNCH_FAILED = 719, HANDLE = 3 << 20, LEAST_WORKSPACE = 16 << 10 };
enum { R32 = 0, R64 = 1, R16 = 2, BF16 = 14, COMPUTE32 = 68, COMPUTE64 = 70, TF32 = 77 };

struct handle {
  uint64_t memory, workspace;
  size_t bytes;
  void *stream;
  int products;
};

static int is(const char *mode) {
  const char *now = getenv("DOUBLE_CUBLAS");
  return now && !strcmp(now, mode);
}

static void *driver(const char *name) {
  void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  void *f = lib ? dlsym(lib, name) : NULL;
  if (!f) {
    fprintf(stderr, "cuBLAS's double: the driver has no %s\n", name);
    abort();
  }
  return f;
}

int cublasGetProperty(int which, int *value) {
  static const int version[] = {12, 9, 1};
  if (which < 0 || which > 2) return INVALID_VALUE;
  *value = is("old") ? (which ? 2 : 10) : version[which];
  return OK;
}
int cublasCreate_v2(struct handle **to) {
  if (is("fails")) return NOT_INITIALIZED;
  struct handle *h = calloc(1, sizeof *h);
  int (*alloc)(uint64_t *, size_t) = driver("cuMemAlloc_v2");
  if (is("full") || alloc(&h->memory, HANDLE)) {
    free(h);
    return ALLOC_FAILED;
  }
  *to = h;
  return OK;
}
int cublasDestroy_v2(struct handle *h) {
  int (*give)(uint64_t) = driver("cuMemFree_v2");
  int status = give(h->memory) ? INTERNAL_ERROR : OK;
  free(h);
  return status;
}
int cublasSetStream_v2(struct handle *h, void *stream) {
  h->stream = stream, h->workspace = 0;
  return OK;
}
int cublasSetWorkspace_v2(struct handle *h, uint64_t at, size_t bytes) {
  if (at % 256) return INVALID_VALUE;
  h->workspace = at, h->bytes = bytes;
  return OK;
}

struct product {
  int m, n, k, ldA, ldB, ldC, in, out, compute, rows;
  double alpha, beta;
  uint64_t a, b, c, workspace;
  size_t bytes;
};

static size_t size_of(int type) { return type == R64 ? 8 : type == R32 ? 4 : 2; }

static double number(int type, uint64_t at, size_t i) {
  if (type == R64) return ((double *)at)[i];
  if (type == R32) return ((float *)at)[i];
  uint16_t h = ((uint16_t *)at)[i];
  if (type == BF16) {
    uint32_t wide = (uint32_t)h << 16;
    float f;
    memcpy(&f, &wide, 4);
    return f;
  }
  int e = h >> 10 & 31, m = h & 1023;
  double v = e == 31 ? (m ? NAN : INFINITY) : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
  return h >> 15 ? -v : v;
}
static float tf32(float f) { /* to 10 bits behind the point, to nearest, ties away */
  uint32_t u;
  memcpy(&u, &f, 4);
  u = (u + 0x1000) & ~0x1FFFu;
  memcpy(&f, &u, 4);
  return f;
}

static int run(void *with) {
  struct product *p = with;
  int (*inside)(uint64_t, size_t) = driver("double_inside");
  size_t in = size_of(p->in), out = size_of(p->out);
  int bad = !inside(p->a, in * ((size_t)p->ldA * (p->k - 1) + p->m)) || !inside(p->b, in * ((size_t)p->ldB * (p->n - 1) + p->k)) ||
            !inside(p->c, out * ((size_t)p->ldC * (p->n - 1) + p->m)) || !inside(p->workspace, p->bytes);
  if (!bad) {
    memset((void *)p->workspace, 0x5A, p->bytes);
    for (int j = 0; j < p->n; j++)
      for (int i = 0; i < p->m; i++) {
        double sum = 0;
        float single = 0;
        for (int l = 0; l < p->k; l++) {
          double x = number(p->in, p->a, p->rows ? (size_t)i * p->k + l : i + (size_t)l * p->ldA);
          double y = number(p->in, p->b, p->rows ? (size_t)l * p->n + j : l + (size_t)j * p->ldB);
          if (p->compute == TF32) x = tf32(x), y = tf32(y);
          if (p->compute == COMPUTE64) sum = fma(x, y, sum);
          else single = fmaf((float)x, (float)y, single);
        }
        size_t at = i + (size_t)j * p->ldC;
        if (p->out == R64) ((double *)p->c)[at] = p->alpha * sum + p->beta * ((double *)p->c)[at];
        else ((float *)p->c)[at] = (float)p->alpha * single + (float)p->beta * ((float *)p->c)[at];
      }
  }
  free(p);
  return bad ? LAUNCH_FAILED : 0;
}

int cublasGemmEx(struct handle *h, int ta, int tb, int m, int n, int k, const void *alpha, uint64_t a, int typeA, int ldA, uint64_t b,
                 int typeB, int ldB, const void *beta, uint64_t c, int typeC, int ldC, int compute, int algorithm) {
  if (ta || tb || m < 1 || n < 1 || k < 1 || ldA < m || ldB < k || ldC < m || algorithm != -1) return INVALID_VALUE;
  if (!h->stream || !h->workspace || h->bytes < LEAST_WORKSPACE) return ALLOC_FAILED;
  int wide = compute == COMPUTE64;
  if (typeA != typeB || (wide ? typeA != R64 || typeC != R64 : typeC != R32 || (typeA != R32 && typeA != R16 && typeA != BF16))) return NOT_SUPPORTED;
  if (!wide && compute != COMPUTE32 && (compute != TF32 || typeA != R32)) return NOT_SUPPORTED;
  if (++h->products > 1 && is("breaks")) return NOT_SUPPORTED;
  int (*enqueue)(void *, int (*)(void *), void *) = driver("double_enqueue");
  struct product *p = calloc(1, sizeof *p);
  *p = (struct product){m, n, k, ldA, ldB, ldC, typeA, typeC, compute, is("rows"), wide ? *(const double *)alpha : *(const float *)alpha,
                        wide ? *(const double *)beta : *(const float *)beta, a, b, c, h->workspace, h->bytes};
  return enqueue(h->stream, run, p) ? INTERNAL_ERROR : OK;
}
