/* A stand-in for libcupti: it delivers scripted kernel records from a thread of
 * its own, as CUPTI does, in records longer than the ones it imitates by
 * STUB_EXTRA bytes, as a newer CUPTI would. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef STUB_EXTRA
#define STUB_EXTRA 40
#endif
#ifndef STUB_VERSION
#define STUB_VERSION 130500
#endif

/* The prefix of CUpti_ActivityKernel9 to its end, unused fields as padding. */
struct __attribute__((packed)) __attribute__((aligned(8))) kernel {
  uint32_t kind;
  uint8_t cache, shared_config;
  uint16_t registers;
  uint32_t partitioned[2];
  uint64_t start, end, completed;
  uint32_t device, context, stream;
  int32_t grid[3], block[3];
  int32_t static_shared, dynamic_shared;
  uint32_t local_per_thread, local_total;
  uint32_t correlation;
  int64_t grid_id;
  const char *name;
  void *reserved;
  uint64_t queued, submitted;
  uint8_t launch[4];
  uint32_t shared_executed;
  uint64_t graph_node;
  uint8_t rest[208 - 152];
  uint8_t extra[STUB_EXTRA];
};

typedef void (*request)(uint8_t **, size_t *, size_t *);
typedef void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t);
static request ask;
static complete give;
static int enabled, enable_result, launches, bad_time;
static size_t dropped;

/* The test's controls. */
void stub_launch(int n) { if (enabled) launches += n; }
void stub_refuse(int result) { enable_result = result; }
void stub_bad_time(int kind) { bad_time = kind; }
int stub_enabled(void) { return enabled; }

int cuptiGetVersion(uint32_t *v) { *v = STUB_VERSION; return 0; }
int cuptiGetResultString(int r, const char **s) {
  switch (r) {
  case 39: *s = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"; return 0;
  case 15: *s = "CUPTI_ERROR_NOT_INITIALIZED"; return 0;
  case 12: *s = "CUPTI_ERROR_MAX_LIMIT_REACHED"; return 0;
  }
  return 1;
}
int cuptiActivityRegisterCallbacks(request r, complete c) { ask = r; give = c; return 0; }
int cuptiActivityEnable(int kind) { if (!ask) return 15; if (kind != 10) return 21; if (enable_result) return enable_result; enabled = 1; return 0; }
int cuptiActivityDisable(int kind) { if (kind != 10) return 21; enabled = 0; return 0; }
int cuptiActivityGetNumDroppedRecords(void *c, uint32_t s, size_t *n) { *n = dropped; dropped = 0; return 0; }

int cuptiFinalize(void) {
  if (enabled || !ask) return 7;
  ask = 0, give = 0;
  return 0;
}
int stub_attached(void) { return ask != 0; }

static void fill(struct kernel *k, int i) {
  memset(k, 0xee, sizeof *k); /* what is not set must not be read */
  k->kind = i % 3 == 2 ? 1 : 10; /* every third record is a memcpy's */
  k->registers = 40;
  /* Pairs are delivered in the wrong order of time. */
  k->start = 1000000 + 1000 * (uint64_t)(i ^ 1);
  k->end = k->start + 700;
  if (bad_time == 1) k->start = k->end = 0;
  if (bad_time == 2) k->end = k->start - 5;
  for (int j = 0; j < 3; j++) k->grid[j] = i + 10 + j, k->block[j] = 32 >> j;
  k->static_shared = 1024;
  k->dynamic_shared = 65536;
  k->local_per_thread = 16;
  k->correlation = i;
  k->name = i % 2 ? "_Z3oddv" : "even";
  k->graph_node = i % 2 ? 0x1234567890ull : 0;
}

static void *deliver(void *unused) {
  (void)unused;
  for (int i = 0; i < launches;) {
    uint8_t *buffer = 0;
    size_t size = 0, max = 0, used = 0;
    ask(&buffer, &size, &max);
    if (!buffer) { dropped += launches - i; break; }
    for (; i < launches && used + sizeof(struct kernel) <= size; i++, used += sizeof(struct kernel))
      fill((struct kernel *)(buffer + used), i);
    give(0, 0, buffer, size, used);
  }
#ifdef STUB_DROPS
  dropped += launches > 0;
#endif
  launches = 0;
  return 0;
}

int cuptiActivityFlushAll(int forced) {
  pthread_t t;
  (void)forced;
  if (!ask) return 15;
  if (pthread_create(&t, 0, deliver, 0)) return 999;
  pthread_join(t, 0);
  return 0;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **record) {
  uint8_t *next = *record ? *record + sizeof(struct kernel) : buffer;
  if (next + sizeof(struct kernel) > buffer + valid) return 12;
  *record = next;
  return 0;
}
