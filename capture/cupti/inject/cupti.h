/* What is used of CUPTI, by its documented names and numbers: NVIDIA's headers are
 * not needed to build. */
#include <stddef.h>
#include <stdint.h>

enum { DRIVER_DOMAIN = 1, RUNTIME_DOMAIN = 2, RESOURCE_DOMAIN = 3 };
enum { CONTEXT_CREATED = 1, CONTEXT_ENDS = 2 };
enum { SITE_ENTER = 0, SITE_EXIT = 1 };
enum { DRIVER_START = 308, DRIVER_STOP = 309, RUNTIME_START = 171, RUNTIME_STOP = 172 };
enum {
  MEMCPY = 1, MEMSET = 2, KERNEL = 3, DRIVER = 4, RUNTIME = 5, DEVICE = 8,
  CONCURRENT_KERNEL = 10, OVERHEAD = 17, PEERCPY = 22, MEMORY2 = 49
};
/* The layouts below hold since CUDA 12.4 (API version 22), and CUPTI of 12.0
 * hangs in a flush after a traced graph. */
enum { OLDEST = 22 };

typedef void (*buffer_request)(uint8_t **, size_t *, size_t *);
typedef void (*buffer_complete)(void *, uint32_t, uint8_t *, size_t, size_t);
typedef void (*callback)(void *, int, uint32_t, const void *);

static struct {
  int (*get_version)(uint32_t *);
  int (*result_string)(int, const char **);
  int (*subscribe)(void **, callback, void *);
  int (*enable_callback)(uint32_t, void *, int, uint32_t);
  int (*callback_name)(int, uint32_t, const char **);
  int (*register_callbacks)(buffer_request, buffer_complete);
  int (*enable)(int);
  int (*disable)(int);
  int (*flush)(uint32_t);
  int (*flush_period)(uint32_t);
  int (*next)(uint8_t *, size_t, uint8_t **);
  int (*dropped)(void *, uint32_t, size_t *);
  int (*timestamp)(uint64_t *);
} cupti;

static const struct { const char *name; void **slot; } symbols[] = {
  {"cuptiGetVersion", (void **)&cupti.get_version},
  {"cuptiGetResultString", (void **)&cupti.result_string},
  {"cuptiSubscribe", (void **)&cupti.subscribe},
  {"cuptiEnableCallback", (void **)&cupti.enable_callback},
  {"cuptiGetCallbackName", (void **)&cupti.callback_name},
  {"cuptiActivityRegisterCallbacks", (void **)&cupti.register_callbacks},
  {"cuptiActivityEnable", (void **)&cupti.enable},
  {"cuptiActivityDisable", (void **)&cupti.disable},
  {"cuptiActivityFlushAll", (void **)&cupti.flush},
  {"cuptiActivityFlushPeriod", (void **)&cupti.flush_period},
  {"cuptiActivityGetNextRecord", (void **)&cupti.next},
  {"cuptiActivityGetNumDroppedRecords", (void **)&cupti.dropped},
  {"cuptiGetTimestamp", (void **)&cupti.timestamp},
};

/* What is enabled for a trace. Without kernels there is none; the rest is extra. */
static const int kinds[] = {CONCURRENT_KERNEL, MEMCPY, PEERCPY, MEMSET, RUNTIME, DRIVER, MEMORY2, OVERHEAD};
enum { KINDS = sizeof kinds / sizeof *kinds };
