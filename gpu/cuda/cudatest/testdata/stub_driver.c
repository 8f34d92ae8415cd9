/* A stand-in for libcuda.so.1, for tests on machines without a GPU. Device
 * memory is host memory, streams run at once on the calling thread, and the
 * kernels whose names it knows compute for real; every other kernel does
 * nothing. It proves how a caller handles the driver's contract (codes, order,
 * lifetimes), not that a kernel is right.
 *
 * Control it with the stub_* functions at the end, or from the environment:
 *   MAGE_STUB_FAIL            "cuMemAlloc_v2:3:2,cuLaunchKernel:1:719": the 3rd
 *                             allocation returns code 2, the 1st launch 719
 *   MAGE_STUB_DRIVER_VERSION  "12040" (default 13000)
 *   MAGE_STUB_MEMORY          bytes of device memory (default 1 GiB)
 *   MAGE_STUB_DEVICES         number of devices (default 1)
 * Build with -DHIDE_GRAPHS, -DHIDE_V2, -DHIDE_CORE or -DHIDE_PROFILER to leave
 * out graphs, the newest versions of calls, a call that everything needs, or the
 * profiler control, as older drivers do; with -DPARAM_COUNT it can say how many
 * parameters a function takes, as newer ones do.
 *
 * Not thread-safe: the driver's callers in these tests use one thread. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int R; /* CUresult */
enum {
  OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, NO_DEVICE = 100,
  INVALID_DEVICE = 101, INVALID_IMAGE = 200, INVALID_CONTEXT = 201, INVALID_PTX = 218,
  UNSUPPORTED_PTX = 222, INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600,
  ILLEGAL_ADDRESS = 700, LAUNCH_FAILED = 719, CAPTURE_UNSUPPORTED = 900,
  CAPTURE_INVALIDATED = 901, CAPTURE_UNMATCHED = 903
};
#define EXPORT __attribute__((visibility("default")))

/* ---- state ---------------------------------------------------------------- */

enum kind { MEMORY, MODULE, STREAM, EVENT, GRAPH, EXEC, CONTEXT, KINDS };
struct object {
  struct object *next;
  enum kind kind;
};
static struct object *objects; /* everything alive except memory */
static long live[KINDS], created[KINDS];

struct block { struct block *next; char *base; uint64_t size, asked; };
static struct block *blocks;
static uint64_t used;

struct call { struct call *next; char name[64]; long count, fail_at; int code; };
static struct call *calls;
static int driver_version, devices, sticky, initialized, ready;
static uint64_t memory_limit;
static long retained;
static char context_object;
static __thread void *current;

static struct call *call_named(const char *name) {
  for (struct call *c = calls; c; c = c->next)
    if (!strcmp(c->name, name)) return c;
  struct call *c = calloc(1, sizeof *c);
  snprintf(c->name, sizeof c->name, "%s", name);
  c->next = calls;
  return calls = c;
}

static void set_up(void) {
  if (ready) return;
  ready = 1;
  const char *e;
  driver_version = (e = getenv("MAGE_STUB_DRIVER_VERSION")) ? atoi(e) : 13000;
  devices = (e = getenv("MAGE_STUB_DEVICES")) ? atoi(e) : 1;
  memory_limit = (e = getenv("MAGE_STUB_MEMORY")) ? strtoull(e, 0, 10) : 1ull << 30;
  if ((e = getenv("MAGE_STUB_FAIL"))) {
    char *copy = strdup(e), *save = 0;
    for (char *t = strtok_r(copy, ",", &save); t; t = strtok_r(0, ",", &save)) {
      char name[64];
      long nth;
      int code;
      if (sscanf(t, "%63[^:]:%ld:%d", name, &nth, &code) == 3) {
        struct call *c = call_named(name);
        c->fail_at = nth;
        c->code = code;
      }
    }
    free(copy);
  }
}

static int is_sticky(int code) {
  return code == ILLEGAL_ADDRESS || code == LAUNCH_FAILED || code == 702 || code == 710 ||
         (code >= 714 && code <= 718);
}

/* enter counts a call and returns the code it must fail with, or OK. */
static R enter(const char *name, int touches_context) {
  set_up();
  struct call *c = call_named(name);
  c->count++;
  if (c->fail_at && c->count == c->fail_at) {
    if (is_sticky(c->code) && touches_context) sticky = c->code;
    return c->code;
  }
  if (!touches_context) return OK;
  if (!initialized) return NOT_INITIALIZED;
  if (sticky) return sticky;
  if (current != &context_object || !retained) return INVALID_CONTEXT;
  return OK;
}
#define ENTER(touches) do { R r_ = enter(__func__, touches); if (r_) return r_; } while (0)

static void *make(enum kind kind, size_t size) {
  struct object *o = calloc(1, size);
  o->kind = kind;
  o->next = objects;
  objects = o;
  live[kind]++;
  created[kind]++;
  return o;
}

static int alive(const void *p, enum kind kind) {
  for (struct object *o = objects; o; o = o->next)
    if (o == p) return o->kind == kind;
  return 0;
}

static void release_inside(struct object *o);

static R drop(void *p, enum kind kind) {
  for (struct object **at = &objects; *at; at = &(*at)->next)
    if (*at == p && (*at)->kind == kind) {
      struct object *o = *at;
      *at = o->next;
      release_inside(o);
      free(o);
      live[kind]--;
      return OK;
    }
  return INVALID_HANDLE;
}

/* ---- initialization, devices, contexts ------------------------------------ */

static const struct { int code; const char *name, *text; } errors[] = {
  {OK, "CUDA_SUCCESS", "no error"},
  {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
  {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
  {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
  {34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
  {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"},
  {NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
  {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
  {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
  {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
  {INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
  {UNSUPPORTED_PTX, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain."},
  {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
  {NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
  {NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
  {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
  {LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
  {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
  {CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
  {CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"},
  {CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "the capture was not initiated in this stream"},
};

static R error_text(int code, const char **out, int name) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (errors[i].code == code) {
      *out = name ? errors[i].name : errors[i].text;
      return OK;
    }
  *out = 0;
  return INVALID_VALUE;
}
EXPORT R cuGetErrorName(int code, const char **out) { return error_text(code, out, 1); }
EXPORT R cuGetErrorString(int code, const char **out) { return error_text(code, out, 0); }

EXPORT R cuInit(unsigned flags) {
  ENTER(0);
  if (flags) return INVALID_VALUE;
  if (!devices) return NO_DEVICE;
  initialized = 1;
  return OK;
}
EXPORT R cuDriverGetVersion(int *v) { set_up(); *v = driver_version; return OK; }
EXPORT R cuDeviceGetCount(int *n) { ENTER(0); *n = devices; return OK; }
EXPORT R cuDeviceGet(int *d, int ordinal) {
  ENTER(0);
  if (ordinal < 0 || ordinal >= devices) return INVALID_DEVICE;
  *d = ordinal;
  return OK;
}
EXPORT R cuDeviceGetName(char *name, int n, int d) { ENTER(0); (void)d; snprintf(name, n, "Stub GPU"); return OK; }
EXPORT R cuDeviceGetUuid_v2(unsigned char *u, int d) {
  ENTER(0);
  for (int i = 0; i < 16; i++) u[i] = (unsigned char)(i * 17 + d);
  return OK;
}
EXPORT R cuDeviceTotalMem_v2(size_t *n, int d) { ENTER(0); (void)d; *n = memory_limit; return OK; }
EXPORT R cuDeviceGetAttribute(int *v, int a, int d) {
  ENTER(0);
  (void)d;
  switch (a) {
  case 1: *v = 1024; return OK;          /* threads per block */
  case 8: *v = 48 << 10; return OK;      /* shared memory per block */
  case 13: *v = 1000000; return OK;      /* clock, kHz */
  case 16: *v = 4; return OK;            /* multiprocessors */
  case 36: *v = 500000; return OK;       /* memory clock, kHz */
  case 37: *v = 128; return OK;          /* bus width, bits */
  case 38: *v = 1 << 20; return OK;      /* L2, bytes */
  case 75: *v = 9; return OK;            /* capability */
  case 76: *v = 0; return OK;
  case 97: *v = 99 << 10; return OK;     /* shared memory per block, opted in */
  }
  return INVALID_VALUE;
}

EXPORT R cuDevicePrimaryCtxRetain(void **ctx, int d) {
  ENTER(0);
  (void)d;
  if (!initialized) return NOT_INITIALIZED;
  if (sticky) return sticky;
  if (!retained++) { live[CONTEXT]++; created[CONTEXT]++; }
  *ctx = &context_object;
  return OK;
}

static void empty_context(void) {
  while (objects) drop(objects, objects->kind);
  while (blocks) {
    struct block *b = blocks;
    blocks = b->next;
    free(b->base);
    free(b);
    live[MEMORY]--;
  }
  used = 0;
}

static R release(const char *name) {
  R r = enter(name, 0);
  if (r) return r;
  if (!retained) return INVALID_CONTEXT;
  if (!--retained) live[CONTEXT]--;
  return OK;
}
EXPORT R cuDevicePrimaryCtxRelease_v2(int d) { (void)d; return release(__func__); }
/* A reset gives everything back, but a fault stays: on a GPU, too, only a new
 * process gets a context after one. */
EXPORT R cuDevicePrimaryCtxReset_v2(int d) { ENTER(0); (void)d; empty_context(); return OK; }
EXPORT R cuCtxGetCurrent(void **ctx) { ENTER(0); *ctx = current; return OK; }
EXPORT R cuCtxSetCurrent(void *ctx) { ENTER(0); current = ctx; return OK; }
EXPORT R cuCtxSynchronize(void) { ENTER(1); return OK; }

/* ---- memory ---------------------------------------------------------------- */

/* inside reports whether n bytes at p lie in one allocation. */
static int inside(uint64_t p, uint64_t n) {
  for (struct block *b = blocks; b; b = b->next)
    if (p >= (uint64_t)b->base && p - (uint64_t)b->base <= b->size && n <= b->size - (p - (uint64_t)b->base)) return 1;
  return 0;
}

EXPORT R cuMemGetInfo_v2(size_t *free_, size_t *total) {
  ENTER(1);
  *free_ = memory_limit - used;
  *total = memory_limit;
  return OK;
}
EXPORT R cuMemAlloc_v2(uint64_t *p, size_t n) {
  ENTER(1);
  if (!n) return INVALID_VALUE;
  uint64_t rounded = (n + 255) & ~255ull;
  if (rounded < n || rounded > memory_limit - used) return OUT_OF_MEMORY;
  struct block *b = calloc(1, sizeof *b);
  b->base = aligned_alloc(256, rounded);
  if (!b->base) { free(b); return OUT_OF_MEMORY; }
  memset(b->base, 0xa5, rounded); /* fresh device memory is not zero */
  b->size = n;
  b->asked = rounded;
  b->next = blocks;
  blocks = b;
  used += rounded;
  live[MEMORY]++;
  created[MEMORY]++;
  *p = (uint64_t)b->base;
  return OK;
}
EXPORT R cuMemFree_v2(uint64_t p) {
  ENTER(1);
  for (struct block **at = &blocks; *at; at = &(*at)->next)
    if ((uint64_t)(*at)->base == p) {
      struct block *b = *at;
      *at = b->next;
      used -= b->asked;
      free(b->base);
      free(b);
      live[MEMORY]--;
      return OK;
    }
  return INVALID_VALUE;
}
EXPORT R cuMemcpyHtoD_v2(uint64_t dst, const void *src, size_t n) {
  ENTER(1);
  if (!inside(dst, n)) return INVALID_VALUE;
  memcpy((void *)dst, src, n);
  return OK;
}
EXPORT R cuMemcpyDtoH_v2(void *dst, uint64_t src, size_t n) {
  ENTER(1);
  if (!inside(src, n)) return INVALID_VALUE;
  memcpy(dst, (void *)src, n);
  return OK;
}
EXPORT R cuMemsetD8_v2(uint64_t dst, unsigned char v, size_t n) {
  ENTER(1);
  if (!inside(dst, n)) return INVALID_VALUE;
  memset((void *)dst, v, n);
  return OK;
}

/* ---- modules and functions -------------------------------------------------- */

enum { MAX_PARAMS = 16 };
struct function {
  struct function *next;
  struct module *module;
  char name[128];
  int params, sizes[MAX_PARAMS], max_dynamic;
};
struct module { struct object o; char *ptx; struct function *functions; };

/* The PTX ISA version that a driver of version v (13000) understands at most. */
static double isa_of_driver(int v) { return v >= 13000 ? 9.0 + v % 1000 / 10 * 0.1 : v >= 12000 ? 8.0 + v % 1000 / 10 * 0.1 : 7.8; }

#ifndef HIDE_CORE
EXPORT R cuModuleLoadDataEx(void **out, const void *image, unsigned n, int *options, void **values) {
  ENTER(1);
  const char *text = image, *problem = 0;
  R r = OK;
  const char *version = 0;
  if (!memcmp(text, "\x7f" "ELF", 4)) r = INVALID_IMAGE; /* a cubin: the stub runs PTX names only */
  else if (!(version = strstr(text, ".version"))) { r = INVALID_PTX; problem = "ptxas fatal   : missing .version directive"; }
  else if (atof(version + 8) > isa_of_driver(driver_version) + 0.05) { r = UNSUPPORTED_PTX; problem = "ptxas fatal   : unsupported .version"; }
  else if (strstr(text, "syntax error here")) { r = INVALID_PTX; problem = "ptxas application ptx input, line 1; fatal   : Parsing error near 'syntax'"; }
  for (unsigned i = 0; i < n; i++) {
    if (options[i] == 5 && problem && i + 1 < n) /* error log, its size follows */
      snprintf(values[i], (size_t)values[i + 1], "%s", problem);
    if (options[i] == 3 && !r && i + 1 < n)
      snprintf(values[i], (size_t)values[i + 1], "ptxas info    : 0 bytes gmem");
  }
  if (r) return r;
  struct module *m = make(MODULE, sizeof *m);
  m->ptx = strdup(text);
  *out = m;
  return OK;
}
#endif
EXPORT R cuModuleUnload(void *m) { ENTER(1); return drop(m, MODULE); }

/* parse_params reads the parameter list that follows ".entry NAME". */
static void parse_params(struct function *f, const char *p) {
  while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r') p++;
  if (*p != '(') return;
  for (p++; *p && *p != ')'; p++)
    if (!strncmp(p, ".param", 6) && f->params < MAX_PARAMS) {
      const char *end = p + strcspn(p, ",)");
      char one[256];
      snprintf(one, sizeof one, "%.*s", (int)(end - p), p);
      f->sizes[f->params++] = strstr(one, "64 ") ? 8 : 4;
    }
}

EXPORT R cuModuleGetFunction(void **out, struct module *m, const char *name) {
  ENTER(1);
  if (!alive(m, MODULE)) return INVALID_HANDLE;
  for (struct function *f = m->functions; f; f = f->next)
    if (!strcmp(f->name, name)) { *out = f; return OK; }
  for (const char *p = m->ptx; (p = strstr(p, ".entry")); ) {
    p += 6;
    p += strspn(p, " \t\n\r");
    size_t n = strcspn(p, " \t\n\r(");
    if (n == strlen(name) && !strncmp(p, name, n)) {
      struct function *f = calloc(1, sizeof *f);
      f->module = m;
      snprintf(f->name, sizeof f->name, "%s", name);
      parse_params(f, p + n);
      f->next = m->functions;
      *out = m->functions = f;
      return OK;
    }
  }
  return NOT_FOUND;
}
EXPORT R cuFuncGetAttribute(int *v, int a, struct function *f) {
  ENTER(1);
  switch (a) {
  case 0: *v = 1024; return OK;
  case 1: *v = 1024; return OK; /* static shared memory */
  case 2: case 3: *v = 0; return OK;
  case 4: *v = 16; return OK;
  case 5: *v = 75; return OK;
  case 6: *v = 90; return OK;
  case 8: *v = f->max_dynamic ? f->max_dynamic : 47 << 10; return OK;
  }
  return INVALID_VALUE;
}
EXPORT R cuFuncSetAttribute(struct function *f, int a, int v) {
  ENTER(1);
  if (a != 8 || v < 0 || v + 1024 > 99 << 10) return INVALID_VALUE;
  f->max_dynamic = v;
  return OK;
}
#ifndef HIDE_V2
EXPORT R cuFuncGetParamInfo(struct function *f, size_t i, size_t *offset, size_t *size) {
  ENTER(1);
  if (i >= (size_t)f->params) return INVALID_VALUE;
  *offset = i * 8;
  *size = f->sizes[i];
  return OK;
}
#endif
#ifdef PARAM_COUNT /* of CUDA 13.2 */
EXPORT R cuFuncGetParamCount(struct function *f, size_t *n) { ENTER(1); *n = f->params; return OK; }
#endif

/* ---- kernels: the names it knows, and what they compute ---------------------- */

struct args { uint64_t v[MAX_PARAMS]; };
#define PTR(i) ((float *)a->v[i])
#define INT(i) ((int)(uint32_t)a->v[i])
static float as_float(uint64_t v) { uint32_t u = (uint32_t)v; float f; memcpy(&f, &u, 4); return f; }
#define REACH(i, n) do { if (!inside(a->v[i], 4ull * (uint64_t)(n))) return ILLEGAL_ADDRESS; } while (0)

/* stub_fill(out, value, n) */
static R k_fill(const struct args *a) {
  REACH(0, INT(2));
  for (int i = 0; i < INT(2); i++) PTR(0)[i] = as_float(a->v[1]);
  return OK;
}
/* stub_copy(out, in, n) */
static R k_copy(const struct args *a) {
  REACH(0, INT(2)); REACH(1, INT(2));
  memmove(PTR(0), PTR(1), 4ull * INT(2));
  return OK;
}
/* stub_add(out, in, n): out += in, so that the number of runs is seen */
static R k_add(const struct args *a) {
  REACH(0, INT(2)); REACH(1, INT(2));
  for (int i = 0; i < INT(2); i++) PTR(0)[i] += PTR(1)[i];
  return OK;
}
/* stub_gelu(x, b, y, R, D): y = gelu(x + b), tanh form */
static R k_gelu(const struct args *a) {
  int rows = INT(3), d = INT(4);
  REACH(0, (uint64_t)rows * d); REACH(1, d); REACH(2, (uint64_t)rows * d);
  for (int i = 0; i < rows * d; i++) {
    float z = PTR(0)[i] + PTR(1)[i % d];
    PTR(2)[i] = 0.5f * z * (1 + tanhf(0.7978845608f * (z + 0.044715f * z * z * z)));
  }
  return OK;
}
#ifdef BUILTIN_GELU
/* gelu(x, b, y, count, D): the same with the parameters of the built-in kernels */
static R k_builtin_gelu(const struct args *a) {
  struct args rows = *a;
  if (!INT(4)) return ILLEGAL_ADDRESS;
  rows.v[3] = INT(3) / INT(4);
  return k_gelu(&rows);
}
#endif
/* stub_trap(): a kernel that faults */
static R k_trap(const struct args *a) { (void)a; return LAUNCH_FAILED; }

static R run_kernel(const char *name, int params, const struct args *a) {
  static const struct { const char *name; int params; R (*run)(const struct args *); } known[] = {
    {"stub_fill", 3, k_fill}, {"stub_copy", 3, k_copy}, {"stub_add", 3, k_add},
    {"stub_gelu", 5, k_gelu}, {"stub_trap", 0, k_trap},
#ifdef BUILTIN_GELU
    {"gelu", 5, k_builtin_gelu},
#endif
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (!strcmp(known[i].name, name)) return params == known[i].params ? known[i].run(a) : INVALID_VALUE;
  return OK;
}

/* ---- streams, events, capture ------------------------------------------------ */

enum op { OP_KERNEL, OP_FILL, OP_COPY, OP_RECORD };
struct node { struct node *next; enum op op; char name[128]; int params; struct args args; };
struct graph { struct object o; struct node *first, *last; size_t nodes; };
struct stream { struct object o; struct graph *capture; int invalid; };
struct event { struct object o; int recorded; double ns; };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

static void free_nodes(struct node *n) {
  while (n) { struct node *next = n->next; free(n); n = next; }
}
static void release_inside(struct object *o) {
  if (o->kind == MODULE) {
    struct module *m = (void *)o;
    for (struct function *f = m->functions, *next; f; f = next) { next = f->next; free(f); }
    free(m->ptx);
  }
  if (o->kind == GRAPH || o->kind == EXEC) free_nodes(((struct graph *)o)->first);
}

/* A fault of device work becomes the context's sticky error; the submitting call
 * still succeeds, as it does on a GPU. */
static void perform(const struct node *n) {
  R r = OK;
  switch (n->op) {
  case OP_KERNEL: r = run_kernel(n->name, n->params, &n->args); break;
  case OP_FILL: memset((void *)n->args.v[0], (int)n->args.v[1], n->args.v[2]); break;
  case OP_COPY: memmove((void *)n->args.v[0], (void *)n->args.v[1], n->args.v[2]); break;
  case OP_RECORD:
    if (alive((void *)n->args.v[0], EVENT)) {
      ((struct event *)n->args.v[0])->recorded = 1;
      ((struct event *)n->args.v[0])->ns = now();
    }
    break;
  }
  if (r && !sticky) sticky = r;
}

/* submit runs device work, or records it when the stream is capturing. */
static R submit(struct stream *s, const struct node *n) {
  if (!s || !s->capture) { perform(n); return OK; }
  struct node *copy = malloc(sizeof *copy);
  *copy = *n;
  copy->next = 0;
  struct graph *g = s->capture;
  if (g->last) g->last->next = copy; else g->first = copy;
  g->last = copy;
  g->nodes++;
  return OK;
}

EXPORT R cuStreamCreate(void **s, unsigned flags) {
  ENTER(1);
  if (flags > 1) return INVALID_VALUE;
  *s = make(STREAM, sizeof(struct stream));
  return OK;
}
EXPORT R cuStreamDestroy_v2(void *s) { ENTER(1); return drop(s, STREAM); }
EXPORT R cuStreamSynchronize(struct stream *s) {
  ENTER(1);
  if (s && !alive(s, STREAM)) return INVALID_HANDLE;
  if (s && s->capture) { s->invalid = 1; return CAPTURE_UNSUPPORTED; }
  return OK;
}
EXPORT R cuMemsetD8Async(uint64_t dst, unsigned char v, size_t n, struct stream *s) {
  ENTER(1);
  if (!inside(dst, n)) return INVALID_VALUE;
  return submit(s, &(struct node){.op = OP_FILL, .args = {{dst, v, n}}});
}
EXPORT R cuMemcpyDtoDAsync_v2(uint64_t dst, uint64_t src, size_t n, struct stream *s) {
  ENTER(1);
  if (!inside(dst, n) || !inside(src, n)) return INVALID_VALUE;
  return submit(s, &(struct node){.op = OP_COPY, .args = {{dst, src, n}}});
}
EXPORT R cuLaunchKernel(struct function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, struct stream *s, void **params, void **extra) {
  ENTER(1);
  if (!gx || !gy || !gz || !bx || !by || !bz || (uint64_t)bx * by * bz > 1024 || extra) return INVALID_VALUE;
  if ((int)shared > (f->max_dynamic ? f->max_dynamic : 47 << 10)) return INVALID_VALUE;
  if (s && !alive(s, STREAM)) return INVALID_HANDLE;
  struct node n = {.op = OP_KERNEL, .params = f->params};
  memcpy(n.name, f->name, sizeof n.name);
  for (int i = 0; i < f->params; i++) memcpy(&n.args.v[i], params[i], f->sizes[i]);
  return submit(s, &n);
}

EXPORT R cuEventCreate(void **e, unsigned flags) { ENTER(1); (void)flags; *e = make(EVENT, sizeof(struct event)); return OK; }
EXPORT R cuEventDestroy_v2(void *e) { ENTER(1); return drop(e, EVENT); }
EXPORT R cuEventRecord(struct event *e, struct stream *s) {
  ENTER(1);
  if (!alive(e, EVENT)) return INVALID_HANDLE;
  return submit(s, &(struct node){.op = OP_RECORD, .args = {{(uint64_t)e}}});
}
EXPORT R cuEventSynchronize(struct event *e) { ENTER(1); return alive(e, EVENT) ? OK : INVALID_HANDLE; }
static R elapsed(const char *name, float *ms, struct event *a, struct event *b) {
  R r = enter(name, 1);
  if (r) return r;
  if (!alive(a, EVENT) || !alive(b, EVENT) || !a->recorded || !b->recorded) return INVALID_HANDLE;
  *ms = (float)((b->ns - a->ns) / 1e6);
  return OK;
}
EXPORT R cuEventElapsedTime(float *ms, void *a, void *b) { return elapsed(__func__, ms, a, b); }
#ifndef HIDE_V2
EXPORT R cuEventElapsedTime_v2(float *ms, void *a, void *b) { return elapsed(__func__, ms, a, b); }
#endif

#ifndef HIDE_GRAPHS
EXPORT R cuStreamBeginCapture_v2(struct stream *s, int mode) {
  ENTER(1);
  if (mode != 1 || !s || s->capture) return INVALID_VALUE;
  s->capture = make(GRAPH, sizeof(struct graph));
  s->invalid = 0;
  return OK;
}
EXPORT R cuStreamEndCapture(struct stream *s, void **graph) {
  ENTER(1);
  *graph = 0;
  if (!s->capture) return CAPTURE_UNMATCHED;
  struct graph *g = s->capture;
  s->capture = 0;
  if (s->invalid) { drop(g, GRAPH); return CAPTURE_INVALIDATED; }
  *graph = g;
  return OK;
}
EXPORT R cuGraphGetNodes(struct graph *g, void **nodes, size_t *n) { ENTER(1); if (nodes) return INVALID_VALUE; *n = g->nodes; return OK; }
EXPORT R cuGraphInstantiateWithFlags(void **exec, struct graph *g, unsigned long long flags) {
  ENTER(1);
  if (!alive(g, GRAPH) || flags) return INVALID_VALUE;
  struct graph *e = make(EXEC, sizeof *e);
  for (struct node *n = g->first; n; n = n->next) {
    struct node *copy = malloc(sizeof *copy);
    *copy = *n;
    copy->next = 0;
    if (e->last) e->last->next = copy; else e->first = copy;
    e->last = copy;
    e->nodes++;
  }
  *exec = e;
  return OK;
}
EXPORT R cuGraphUpload(void *e, void *s) { ENTER(1); (void)s; return alive(e, EXEC) ? OK : INVALID_HANDLE; }
EXPORT R cuGraphLaunch(struct graph *e, struct stream *s) {
  ENTER(1);
  if (!alive(e, EXEC) || !alive(s, STREAM)) return INVALID_HANDLE;
  for (struct node *n = e->first; n; n = n->next) perform(n);
  return OK;
}
EXPORT R cuGraphDestroy(void *g) { ENTER(1); return drop(g, GRAPH); }
EXPORT R cuGraphExecDestroy(void *e) { ENTER(1); return drop(e, EXEC); }
#endif

#ifndef HIDE_PROFILER
EXPORT R cuProfilerStart(void) { ENTER(1); return OK; }
EXPORT R cuProfilerStop(void) { ENTER(1); return OK; }
#endif

/* ---- control ------------------------------------------------------------------ */

/* Makes the nth call from now of a function fail with a code; nth 0 never. */
EXPORT void stub_fail(const char *name, long nth, int code) {
  set_up();
  struct call *c = call_named(name);
  c->fail_at = nth ? c->count + nth : 0;
  c->code = code;
}
EXPORT long stub_calls(const char *name) { return call_named(name)->count; }
EXPORT long stub_live(int kind) { return live[kind]; }
EXPORT long stub_created(int kind) { return created[kind]; }
EXPORT void stub_set_driver_version(int v) { set_up(); driver_version = v; }
EXPORT void stub_set_devices(int n) { set_up(); devices = n; }
EXPORT void stub_set_memory(uint64_t n) { set_up(); memory_limit = n; }
/* Throws everything away, the context and a fault too. */
EXPORT void stub_reset(void) {
  empty_context();
  sticky = 0;
  retained = live[CONTEXT] = 0;
}
