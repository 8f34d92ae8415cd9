/* A stand-in for libcupti: it hands over scripted records from a thread of its
 * own, as CUPTI does. The program of the test makes it record by fake_launch and
 * the like, and the environment by FAKE_*:
 *   FAKE_REFUSE   "cuptiSubscribe:39": that function returns the code
 *   FAKE_DROPS    records to count as dropped
 *   FAKE_PERIODIC hand over what is there soon after each launch, as the flush
 *                 period would */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef VERSION
#define VERSION 130001
#endif
#define EXPORT __attribute__((visibility("default")))

typedef void (*request)(uint8_t **, size_t *, size_t *);
typedef void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t);
typedef void (*callback)(void *, int, uint32_t, const void *);
static request ask;
static complete give;
static callback notify;
static void *notified;
static int enabled[64], watched[4][512];

/* Records wait here until they are handed over. */
enum { RECORD = 256, MOST = 1 << 16 };
static uint8_t (*queue)[RECORD];
static int queued;
static uint32_t correlation;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int refusal(const char *function) {
  const char *s = getenv("FAKE_REFUSE");
  size_t n = strlen(function);
  return s && !strncmp(s, function, n) && s[n] == ':' ? atoi(s + n + 1) : 0;
}
#define REFUSE if (refusal(__func__)) return refusal(__func__)

EXPORT int cuptiGetVersion(uint32_t *v) { REFUSE; *v = VERSION; return 0; }
EXPORT int cuptiGetResultString(int r, const char **s) {
  if (r == 39) { *s = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"; return 0; }
  if (r == 35) { *s = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"; return 0; }
  return 1;
}
EXPORT int cuptiSubscribe(void **subscriber, callback f, void *data) {
  REFUSE;
  *subscriber = &notify;
  notify = f, notified = data;
  return 0;
}
EXPORT int cuptiEnableCallback(uint32_t on, void *subscriber, int domain, uint32_t id) {
  REFUSE;
  if (subscriber != &notify) return 1;
  watched[domain][id] = on;
  return 0;
}
EXPORT int cuptiGetCallbackName(int domain, uint32_t id, const char **name) {
  if (domain == 2 && id == 211) { *name = "cudaLaunchKernel_v7000"; return 0; }
  if (domain == 1 && id == 307) { *name = "cuLaunchKernel"; return 0; }
  return 1;
}
EXPORT int cuptiActivityRegisterCallbacks(request r, complete c) { REFUSE; ask = r; give = c; return 0; }
EXPORT int cuptiActivityEnable(int kind) {
  char name[40];
  snprintf(name, sizeof name, "cuptiActivityEnable-%d", kind);
  if (refusal(name)) return refusal(name);
  enabled[kind] = 1;
  return 0;
}
EXPORT int cuptiActivityDisable(int kind) { enabled[kind] = 0; return 0; }
EXPORT int cuptiActivityFlushPeriod(uint32_t ms) { REFUSE; return ms ? 0 : 1; }
EXPORT int cuptiGetTimestamp(uint64_t *t) { *t = 5000; return 0; }
EXPORT int cuptiActivityGetNumDroppedRecords(void *c, uint32_t s, size_t *n) {
  static int once;
  const char *drops = getenv("FAKE_DROPS");
  (void)c, (void)s;
  *n = drops && !once++ ? (size_t)atoi(drops) : 0;
  return 0;
}
EXPORT int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **record) {
  uint8_t *next = *record ? *record + RECORD : buffer;
  if (next + RECORD > buffer + valid) return 12;
  *record = next;
  return 0;
}

static void *deliver(void *unused) {
  (void)unused;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < queued;) {
    uint8_t *buffer = 0;
    size_t size = 0, most = 0, used = 0;
    ask(&buffer, &size, &most);
    if (!buffer) break;
    for (; i < queued && used + RECORD <= size; i++, used += RECORD) memcpy(buffer + used, queue[i], RECORD);
    give(0, 0, buffer, size, used);
  }
  queued = 0;
  pthread_mutex_unlock(&lock);
  return 0;
}
EXPORT int cuptiActivityFlushAll(uint32_t forced) {
  pthread_t t;
  (void)forced;
  if (pthread_create(&t, 0, deliver, 0)) return 999;
  pthread_join(t, 0);
  return 0;
}

static uint8_t *add(uint32_t kind) {
  static uint8_t nowhere[RECORD];
  if (!enabled[kind]) return nowhere;
  if (!queue) queue = malloc(MOST * sizeof *queue);
  if (queued == MOST) return nowhere;
  uint8_t *r = queue[queued++];
  memset(r, 0xee, RECORD); /* what is not set must not be read */
  memcpy(r, &kind, 4);
  return r;
}
static void w16(uint8_t *r, int at, uint16_t v) { memcpy(r + at, &v, 2); }
static void w32(uint8_t *r, int at, uint32_t v) { memcpy(r + at, &v, 4); }
static void w64(uint8_t *r, int at, uint64_t v) { memcpy(r + at, &v, 8); }

/* What the program of the test does, as the driver would show it. The offsets are
 * written out here a second time, on purpose; offsets.c compares both with NVIDIA's. */
EXPORT void fake_device(void) {
  uint8_t *r = add(8);
  static const char *name = "Stand-in GPU";
  w32(r, 104, 9), w32(r, 108, 0), w32(r, 112, 0), w64(r, 136, (uintptr_t)name);
}
EXPORT void fake_launch(const char *name, uint64_t start, uint64_t end, uint64_t node) {
  pthread_mutex_lock(&lock);
  uint32_t c = ++correlation;
  uint8_t *r = add(5);
  w32(r, 4, 211), w64(r, 8, 900), w64(r, 16, 1900), w32(r, 24, getpid()), w32(r, 28, 77), w32(r, 32, c), w32(r, 36, 0);
  r = add(4);
  w32(r, 4, 307), w64(r, 8, 1000), w64(r, 16, 1800), w32(r, 24, getpid()), w32(r, 28, 77), w32(r, 32, c), w32(r, 36, 0);
  r = add(10);
  w16(r, 6, 42), w64(r, 16, start), w64(r, 24, end), w32(r, 40, 0), w32(r, 44, 1), w32(r, 48, 7);
  for (int i = 0; i < 3; i++) w32(r, 52 + 4 * i, 100 + i), w32(r, 64 + 4 * i, 32 >> i);
  w32(r, 76, 1024), w32(r, 80, 65536), w32(r, 84, 16), w32(r, 92, c), w64(r, 104, (uintptr_t)name);
  w64(r, 144, node), w32(r, 156, node ? 3 : 0);
  pthread_mutex_unlock(&lock);
  if (getenv("FAKE_PERIODIC")) deliver(0);
}
EXPORT void fake_memory(void) {
  pthread_mutex_lock(&lock);
  uint8_t *r = add(1);
  r[4] = 1, r[5] = 2, r[6] = 3;
  w64(r, 8, 4096), w64(r, 16, 2000), w64(r, 24, 2750), w32(r, 32, 0), w32(r, 36, 1), w32(r, 40, 7), w32(r, 44, ++correlation), w64(r, 64, 0), w32(r, 72, 0);
  r = add(22);
  r[4] = 10, r[5] = 3, r[6] = 3;
  w64(r, 8, 512), w64(r, 16, 2800), w64(r, 24, 2900), w32(r, 32, 0), w32(r, 36, 1), w32(r, 40, 7), w32(r, 60, ++correlation), w64(r, 72, 5), w32(r, 80, 1);
  r = add(2);
  w64(r, 8, 256), w64(r, 16, 3000), w64(r, 24, 3100), w32(r, 32, 0), w32(r, 36, 1), w32(r, 40, 7), w32(r, 44, ++correlation), w16(r, 50, 3), w64(r, 64, 0), w32(r, 72, 0);
  for (int op = 1; op <= 2; op++) {
    r = add(49);
    w32(r, 4, op), w32(r, 8, 3), w32(r, 12, ++correlation), w64(r, 16, 0x7f0000000000), w64(r, 24, 1 << 20), w64(r, 32, 800 + 10000 * (op - 1));
    w32(r, 48, getpid()), w32(r, 52, 0), w32(r, 56, 1), w32(r, 60, 7);
  }
  r = add(17);
  w32(r, 4, 2), w64(r, 24, 100), w64(r, 32, 400);
  pthread_mutex_unlock(&lock);
}
/* cudaProfilerStart and -Stop, with the driver's inside. */
EXPORT void fake_profiler(int start) {
  uint32_t runtime = start ? 171 : 172, driver = start ? 308 : 309;
  int sites[2] = {0, 1};
  if (!notify) return;
  if (watched[2][runtime]) notify(notified, 2, runtime, &sites[0]);
  for (int i = 0; i < 2; i++) if (watched[1][driver]) notify(notified, 1, driver, &sites[i]);
  if (watched[2][runtime]) notify(notified, 2, runtime, &sites[1]);
}
/* A context that is made, or about to end. */
EXPORT void fake_context(int made) {
  int nothing[4] = {0};
  if (notify && watched[3][made ? 1 : 2]) notify(notified, 3, made ? 1 : 2, nothing);
}
/* Somebody else's registration: what was lent does not come back, and what follows
 * goes elsewhere. */
static void ask_other(uint8_t **buffer, size_t *size, size_t *most) { *buffer = malloc(1 << 16), *size = 1 << 16, *most = 0; }
static void give_other(void *c, uint32_t s, uint8_t *buffer, size_t size, size_t valid) { (void)c, (void)s, (void)size, (void)valid; free(buffer); }
EXPORT void fake_take_over(void) {
  uint8_t *buffer;
  size_t size, most;
  ask(&buffer, &size, &most);
  ask = ask_other, give = give_other;
}
