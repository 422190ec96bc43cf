/* A double of NVIDIA's driver for tests, as libcuda.so.1: two GPUs with memory of a set
 * size, and the rules of CUDA. Streams are threads that do nothing before somebody waits
 * for it, so that a missing wait shows. Kernels are evaluated by ptx.c. It ends the process
 * with a message where a real driver would let memory be corrupted.
 *
 * DOUBLE=none starts without a GPU; hidden shows none; old is a driver of CUDA 8; busy has
 * no room for a context on the second GPU, full on none; nolock locks no host memory.
 * DOUBLE_FAIL=FUNCTION:N:STATUS lets the N-th call of a function fail. */
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Of ptx.c. */
int ptx_check(const char *text, char *why, int why_len);
int ptx_launch(const char *text, const char *entry, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
               void **params, char *why, int why_len);

enum {
  OK, INVALID_VALUE, OUT_OF_MEMORY, NOT_INITIALIZED, NO_DEVICE = 100, INVALID_DEVICE = 101, INVALID_CONTEXT = 201,
  INVALID_PTX = 218, INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700,
  ALREADY_REGISTERED = 712, NOT_REGISTERED = 713, LAUNCH_FAILED = 719
};

static struct gpu {
  const char *name;
  int major, minor;
  size_t total, free, limit;
  int retained;
} gpus[] = {
    {"Double 9000", 9, 0, 150754820096, 149000000000, 149000000000, 0},
    {"Double Mini", 8, 6, 6442450944, 6000000000, 6000000000, 0},
};
static int started;
static __thread struct gpu *current;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static int failed; /* what all calls return once a kernel or a copy has failed */

static int is(const char *mode) {
  const char *now = getenv("DOUBLE");
  return now && !strcmp(now, mode);
}
static int known(int d) { return d >= 0 && d < (int)(sizeof gpus / sizeof *gpus); }
static void die(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fprintf(stderr, "the driver's double: ");
  vfprintf(stderr, format, args);
  fprintf(stderr, "\n");
  abort();
}

/* inject returns the status that DOUBLE_FAIL, or a call of double_fail, wants of a call. */
static char fail_name[64];
static int fail_at, fail_status, fail_count, fail_read;
static int inject(const char *name) {
  int status = OK;
  pthread_mutex_lock(&lock);
  if (!fail_read) {
    const char *want = getenv("DOUBLE_FAIL");
    fail_read = 1;
    if (want && sscanf(want, "%63[^:]:%d:%d", fail_name, &fail_at, &fail_status) != 3) die("DOUBLE_FAIL is %s", want);
  }
  if (!strcmp(name, fail_name) && ++fail_count == fail_at) status = fail_status;
  if (!status) status = failed;
  pthread_mutex_unlock(&lock);
  return status;
}
#define CALL(name)                         \
  do {                                     \
    int injected = inject(name);           \
    if (injected) return injected;         \
  } while (0)
#define IN_CONTEXT(name)                                        \
  do {                                                          \
    if (!current || !current->retained) return INVALID_CONTEXT; \
    CALL(name);                                                 \
  } while (0)

/* For tests in the same process: the memory of the first GPU, and a call that fails. */
void double_memory(size_t bytes) { gpus[0].free = gpus[0].limit = bytes; }
void double_fail(const char *name, int at, int status) {
  pthread_mutex_lock(&lock);
  snprintf(fail_name, sizeof fail_name, "%s", name);
  fail_at = at, fail_status = status, fail_count = 0, fail_read = 1, failed = OK;
  pthread_mutex_unlock(&lock);
}

int cuInit(unsigned flags) {
  if (flags) return INVALID_VALUE;
  if (is("none")) return NO_DEVICE;
  started = 1;
  return OK;
}
int cuGetErrorString(int status, const char **text) {
  switch (status) {
  case OUT_OF_MEMORY: *text = "out of memory"; return OK;
  case NO_DEVICE: *text = "no CUDA-capable device is detected"; return OK;
  case ILLEGAL_ADDRESS: *text = "an illegal memory access was encountered"; return OK;
  case INVALID_PTX: *text = "a PTX JIT compilation failed"; return OK;
  case ALREADY_REGISTERED: *text = "part or all of the requested memory range is already mapped"; return OK;
  case LAUNCH_FAILED: *text = "unspecified launch failure"; return OK;
  }
  return INVALID_VALUE;
}
int cuDriverGetVersion(int *version) {
  *version = is("old") ? 8000 : 12090;
  return OK;
}
int cuDeviceGetCount(int *n) {
  if (!started) return NOT_INITIALIZED;
  *n = is("hidden") ? 0 : sizeof gpus / sizeof *gpus;
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

/* Memory. */
static struct block {
  struct gpu *on;
  char *at;
  size_t bytes;
  struct block *next;
} *blocks;
static struct range {
  char *at;
  size_t bytes;
  struct range *next;
} *ranges;
static int streams_open, events_open, modules_open;

/* reserved is the granularity by which the double counts. */
static size_t reserved(size_t n) { return (n + 511) / 512 * 512; }

/* block_of finds the allocation that an address lies in. The lock is held. */
static struct block *block_of(uint64_t at) {
  for (struct block *b = blocks; b; b = b->next)
    if (at >= (uint64_t)b->at && at < (uint64_t)b->at + b->bytes) return b;
  return NULL;
}
static int inside(uint64_t at, size_t n) {
  pthread_mutex_lock(&lock);
  struct block *b = block_of(at);
  int in = b && at + n <= (uint64_t)b->at + b->bytes;
  pthread_mutex_unlock(&lock);
  return in;
}
/* Of each access of a kernel; the last block that was found is likely the next one. */
int ptx_address(uint64_t at, unsigned size) {
  static __thread uint64_t from, to;
  static __thread unsigned long seen;
  extern unsigned long double_frees;
  if (at >= from && at + size <= to && seen == double_frees) return 1;
  pthread_mutex_lock(&lock);
  struct block *b = block_of(at);
  if (b) from = (uint64_t)b->at, to = from + b->bytes, seen = double_frees;
  int in = b && at + size <= to;
  pthread_mutex_unlock(&lock);
  return in;
}
unsigned long double_frees;

/* A context takes memory, so that one kept would show in the next list; and it may not be
 * released while something made in it is left. */
enum { CONTEXT = 1000000 };
int cuDevicePrimaryCtxRetain(void **context, int d) {
  if (!known(d)) return INVALID_DEVICE;
  CALL("cuDevicePrimaryCtxRetain");
  if ((is("busy") && d == 1) || is("full")) return OUT_OF_MEMORY;
  pthread_mutex_lock(&lock);
  gpus[d].retained++;
  *context = &gpus[d];
  pthread_mutex_unlock(&lock);
  return OK;
}
int cuDevicePrimaryCtxRelease_v2(int d) {
  if (!known(d)) return INVALID_DEVICE;
  if (!gpus[d].retained || current == &gpus[d]) return INVALID_CONTEXT;
  pthread_mutex_lock(&lock);
  if (--gpus[d].retained == 0) {
    if (failed) { /* the context takes all with it */
      for (struct block *b = blocks; b; b = b->next) b->on->free += reserved(b->bytes);
      blocks = NULL, ranges = NULL, streams_open = events_open = modules_open = 0;
    }
    for (struct block *b = blocks; b; b = b->next)
      if (b->on == &gpus[d]) die("%zu bytes are left when the context is released", b->bytes);
    if (streams_open || events_open || modules_open || ranges)
      die("%d streams, %d events, %d modules and %s are left when the context is released", streams_open, events_open, modules_open, ranges ? "locked memory" : "no locked memory");
    failed = OK;
  }
  pthread_mutex_unlock(&lock);
  return OK;
}
int cuDevicePrimaryCtxRelease(int d) { return cuDevicePrimaryCtxRelease_v2(d); }
int cuCtxSetCurrent(void *context) {
  current = context;
  return OK;
}
int cuMemGetInfo_v2(size_t *free, size_t *total) {
  if (!current || !current->retained) return INVALID_CONTEXT;
  *total = current->total;
  *free = current->free > CONTEXT ? current->free - CONTEXT : 0; /* one context a process */
  return OK;
}
static void drain(void);
int cuMemAlloc_v2(uint64_t *at, size_t bytes) {
  IN_CONTEXT("cuMemAlloc");
  if (!bytes) return INVALID_VALUE;
  struct block *b = calloc(1, sizeof *b);
  size_t n = reserved(bytes);
  pthread_mutex_lock(&lock);
  if (n + CONTEXT > current->free || !(b->at = aligned_alloc(512, n))) {
    pthread_mutex_unlock(&lock);
    free(b);
    return OUT_OF_MEMORY;
  }
  current->free -= n;
  b->on = current, b->bytes = bytes, b->next = blocks, blocks = b;
  pthread_mutex_unlock(&lock);
  if (n <= 64 << 20) memset(b->at, 0xA5, n);
  *at = (uint64_t)b->at;
  return OK;
}
int cuMemFree_v2(uint64_t at) {
  IN_CONTEXT("cuMemFree");
  pthread_mutex_lock(&lock);
  drain();
  struct block *b = block_of(at);
  if (!b || (uint64_t)b->at != at) {
    pthread_mutex_unlock(&lock);
    return INVALID_VALUE;
  }
  b->on->free += reserved(b->bytes);
  double_frees++;
  free(b->at);
  struct block **p = &blocks;
  while (*p != b) p = &(*p)->next;
  *p = b->next;
  free(b);
  pthread_mutex_unlock(&lock);
  return OK;
}
int cuMemHostRegister_v2(void *at, size_t bytes, unsigned flags) {
  IN_CONTEXT("cuMemHostRegister");
  if (!at || !bytes || flags) return INVALID_VALUE;
  if (is("nolock")) return OUT_OF_MEMORY;
  struct range *r = calloc(1, sizeof *r);
  pthread_mutex_lock(&lock);
  for (struct range *o = ranges; o; o = o->next)
    if ((char *)at < o->at + o->bytes && o->at < (char *)at + bytes) {
      pthread_mutex_unlock(&lock);
      free(r);
      return ALREADY_REGISTERED;
    }
  r->at = at, r->bytes = bytes, r->next = ranges, ranges = r;
  pthread_mutex_unlock(&lock);
  return OK;
}
int cuMemHostUnregister(void *at) {
  IN_CONTEXT("cuMemHostUnregister");
  pthread_mutex_lock(&lock);
  for (struct range **p = &ranges; *p; p = &(*p)->next)
    if ((*p)->at == (char *)at) {
      struct range *r = *p;
      *p = r->next;
      pthread_mutex_unlock(&lock);
      free(r);
      return OK;
    }
  pthread_mutex_unlock(&lock);
  return NOT_REGISTERED;
}

/* Streams. */
enum { MOST_PARAMS = 512 }; /* 4 KiB, as CUDA has it */
struct module {
  char *text;
};
struct function {
  struct module *module;
  char name[64];
  int params;
};
struct op {
  enum { MARK, UPLOAD, DOWNLOAD, CLEAR, LAUNCH, LIBRARY, STOP } kind;
  uint64_t device;
  void *host;
  size_t bytes;
  int value;
  struct function *function;
  int (*run)(void *); /* of a library, with host */
  unsigned size[6];
  uint64_t args[MOST_PARAMS];
  struct op *after; /* of another stream */
  int wanted, done, users;
  double time;
  struct stream *stream;
  struct op *next;
};
static struct stream {
  pthread_t thread;
  struct op *first, *last;
  int busy;
  struct stream *next;
} *streams;
struct event {
  struct op *last;
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}
/* Operations are counted by their users: the queue, events, and those that wait for them.
 * The lock is held by drop, want and drain. */
static void drop(struct op *o) {
  if (o && --o->users == 0) free(o);
}
static void want(struct op *o) {
  struct op *i = o->stream->first;
  while (i && i != o) i = i->next;
  if (!i) return;
  for (i = o->stream->first;; i = i->next) {
    if (!i->wanted) {
      i->wanted = 1;
      if (i->after && !i->after->done) want(i->after);
    }
    if (i == o) break;
  }
  pthread_cond_broadcast(&change);
}
static void drain(void) {
  for (struct stream *s = streams; s;) {
    if (!s->first && !s->busy) {
      s = s->next;
      continue;
    }
    if (s->first) want(s->last);
    pthread_cond_wait(&change, &lock);
    s = streams; /* another thread may have destroyed that one */
  }
}
static void perform(struct op *o) {
  int status = OK;
  switch (o->kind) {
  case UPLOAD:
    if (inside(o->device, o->bytes)) memcpy((void *)o->device, o->host, o->bytes);
    else status = ILLEGAL_ADDRESS;
    break;
  case DOWNLOAD:
    if (inside(o->device, o->bytes)) memcpy(o->host, (void *)o->device, o->bytes);
    else status = ILLEGAL_ADDRESS;
    break;
  case CLEAR:
    if (inside(o->device, o->bytes)) memset((void *)o->device, o->value, o->bytes);
    else status = ILLEGAL_ADDRESS;
    break;
  case LAUNCH: {
    void *params[MOST_PARAMS];
    char why[256] = "";
    for (int i = 0; i < MOST_PARAMS; i++) params[i] = &o->args[i];
    if (ptx_launch(o->function->module->text, o->function->name, o->size[0], o->size[1], o->size[2], o->size[3], o->size[4], o->size[5], params, why, sizeof why)) {
      fprintf(stderr, "the driver's double: kernel %s: %s\n", o->function->name, why);
      status = LAUNCH_FAILED;
    }
    break;
  }
  case LIBRARY: status = o->run(o->host); break;
  default: break;
  }
  if (status) {
    pthread_mutex_lock(&lock);
    failed = status;
    pthread_mutex_unlock(&lock);
  }
}
static void *work(void *p) {
  struct stream *s = p;
  pthread_mutex_lock(&lock);
  for (;;) {
    struct op *o = s->first;
    if (!o || !o->wanted || (o->after && !o->after->done)) {
      pthread_cond_wait(&change, &lock);
      continue;
    }
    if (!(s->first = o->next)) s->last = NULL;
    s->busy = 1;
    int skip = failed, stop = o->kind == STOP;
    pthread_mutex_unlock(&lock);
    if (!skip) perform(o);
    pthread_mutex_lock(&lock);
    o->time = now();
    o->done = 1, s->busy = 0;
    drop(o->after);
    o->after = NULL;
    drop(o);
    pthread_cond_broadcast(&change);
    if (stop) break;
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}
static int enqueue(struct stream *s, struct op *o) {
  pthread_mutex_lock(&lock);
  o->stream = s, o->users++;
  if (s->last && s->first) s->last->next = o;
  else s->first = o;
  s->last = o;
  pthread_cond_broadcast(&change);
  pthread_mutex_unlock(&lock);
  return OK;
}
static struct op *new_op(int kind) {
  struct op *o = calloc(1, sizeof *o);
  o->kind = kind;
  return o;
}
int cuStreamCreate(struct stream **to, unsigned flags) {
  IN_CONTEXT("cuStreamCreate");
  if (flags != 1) return INVALID_VALUE; /* one that waits for the default stream */
  struct stream *s = calloc(1, sizeof *s);
  pthread_mutex_lock(&lock);
  s->next = streams, streams = s, streams_open++;
  pthread_mutex_unlock(&lock);
  pthread_create(&s->thread, NULL, work, s);
  *to = s;
  return OK;
}
int cuStreamSynchronize(struct stream *s) {
  IN_CONTEXT("cuStreamSynchronize");
  pthread_mutex_lock(&lock);
  if (s->first) want(s->last);
  while (s->first || s->busy) pthread_cond_wait(&change, &lock);
  int status = failed;
  pthread_mutex_unlock(&lock);
  return status;
}
int cuStreamDestroy_v2(struct stream *s) {
  struct op *stop = new_op(STOP);
  stop->wanted = 1;
  pthread_mutex_lock(&lock);
  if (s->first) want(s->last);
  pthread_mutex_unlock(&lock);
  enqueue(s, stop);
  pthread_join(s->thread, NULL);
  pthread_mutex_lock(&lock);
  struct stream **p = &streams;
  while (*p != s) p = &(*p)->next;
  *p = s->next, streams_open--;
  pthread_cond_broadcast(&change); /* drain may wait for this one */
  pthread_mutex_unlock(&lock);
  free(s);
  return OK;
}
int cuMemcpyHtoDAsync_v2(uint64_t to, void *from, size_t bytes, struct stream *s) {
  IN_CONTEXT("cuMemcpyHtoDAsync");
  struct op *o = new_op(UPLOAD);
  o->device = to, o->host = from, o->bytes = bytes;
  return enqueue(s, o);
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, struct stream *s) {
  IN_CONTEXT("cuMemcpyDtoHAsync");
  struct op *o = new_op(DOWNLOAD);
  o->device = from, o->host = to, o->bytes = bytes;
  return enqueue(s, o);
}
int cuMemsetD8Async(uint64_t at, unsigned char value, size_t bytes, struct stream *s) {
  IN_CONTEXT("cuMemsetD8Async");
  struct op *o = new_op(CLEAR);
  o->device = at, o->value = value, o->bytes = bytes;
  return enqueue(s, o);
}
/* For doubles of libraries: work on a stream, and whether memory is of one allocation. */
int double_enqueue(struct stream *s, int (*run)(void *), void *with) {
  IN_CONTEXT("double_enqueue");
  struct op *o = new_op(LIBRARY);
  o->run = run, o->host = with;
  return enqueue(s, o);
}
int double_inside(uint64_t at, size_t n) { return inside(at, n); }
int cuEventCreate(struct event **to, unsigned flags) {
  IN_CONTEXT("cuEventCreate");
  if (flags != 1) return INVALID_VALUE; /* one that spins, or has no time */
  *to = calloc(1, sizeof **to);
  pthread_mutex_lock(&lock);
  events_open++;
  pthread_mutex_unlock(&lock);
  return OK;
}
int cuEventDestroy_v2(struct event *e) {
  pthread_mutex_lock(&lock);
  drop(e->last);
  events_open--;
  pthread_mutex_unlock(&lock);
  free(e);
  return OK;
}
int cuEventRecord(struct event *e, struct stream *s) {
  IN_CONTEXT("cuEventRecord");
  struct op *o = new_op(MARK);
  o->users = 1;
  pthread_mutex_lock(&lock);
  drop(e->last);
  e->last = o;
  pthread_mutex_unlock(&lock);
  return enqueue(s, o);
}
int cuStreamWaitEvent(struct stream *s, struct event *e, unsigned flags) {
  IN_CONTEXT("cuStreamWaitEvent");
  if (flags) return INVALID_VALUE;
  struct op *o = new_op(MARK);
  pthread_mutex_lock(&lock);
  if ((o->after = e->last)) o->after->users++;
  pthread_mutex_unlock(&lock);
  return enqueue(s, o);
}
int cuEventSynchronize(struct event *e) {
  IN_CONTEXT("cuEventSynchronize");
  pthread_mutex_lock(&lock);
  struct op *o = e->last;
  if (o) {
    o->users++;
    if (!o->done) want(o);
    while (!o->done) pthread_cond_wait(&change, &lock);
    drop(o);
  }
  int status = failed;
  pthread_mutex_unlock(&lock);
  return status;
}
int cuEventElapsedTime(float *ms, struct event *from, struct event *to) {
  IN_CONTEXT("cuEventElapsedTime");
  pthread_mutex_lock(&lock);
  int ready = from->last && to->last && from->last->done && to->last->done;
  if (ready) *ms = to->last->time - from->last->time;
  pthread_mutex_unlock(&lock);
  return ready ? OK : NOT_READY;
}

/* Kernels. */
int cuModuleLoadData(struct module **to, const char *text) {
  IN_CONTEXT("cuModuleLoadData");
  char why[256] = "";
  if (ptx_check(text, why, sizeof why)) {
    fprintf(stderr, "the driver's double: %s\n", why);
    return INVALID_PTX;
  }
  *to = calloc(1, sizeof **to);
  (*to)->text = strdup(text);
  pthread_mutex_lock(&lock);
  modules_open++;
  pthread_mutex_unlock(&lock);
  return OK;
}
int cuModuleGetFunction(struct function **to, struct module *m, const char *name) {
  IN_CONTEXT("cuModuleGetFunction");
  char entry[80];
  snprintf(entry, sizeof entry, ".entry %s(", name);
  const char *at = strstr(m->text, entry), *end = at ? strchr(at, ')') : NULL;
  if (!end) return NOT_FOUND;
  *to = calloc(1, sizeof **to);
  (*to)->module = m;
  while ((at = strstr(at, ".param")) && at < end) (*to)->params++, at++;
  if ((*to)->params > MOST_PARAMS) die("kernel %s has %d parameters", name, (*to)->params);
  snprintf((*to)->name, sizeof (*to)->name, "%s", name);
  return OK;
}
int cuModuleUnload(struct module *m) {
  pthread_mutex_lock(&lock);
  drain();
  modules_open--;
  pthread_mutex_unlock(&lock);
  free(m); /* its text stays: ptx.c may know it by address */
  return OK;
}
int cuLaunchKernel(struct function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, struct stream *s, void **params, void **extra) {
  IN_CONTEXT("cuLaunchKernel");
  if (!gx || !gy || !gz || !bx || !by || !bz || bx * by * bz > 1024 || shared || extra) return INVALID_VALUE;
  struct op *o = new_op(LAUNCH);
  o->function = f;
  o->size[0] = gx, o->size[1] = gy, o->size[2] = gz, o->size[3] = bx, o->size[4] = by, o->size[5] = bz;
  for (int i = 0; i < f->params; i++) memcpy(&o->args[i], params[i], 8);
  return enqueue(s, o);
}
