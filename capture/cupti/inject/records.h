/* CUPTI's records as lines, and the buffers that they come in. */
#include <stdlib.h>

static uint64_t u64(const uint8_t *r, int at) { uint64_t v; memcpy(&v, r + at, 8); return v; }
static uint32_t u32(const uint8_t *r, int at) { uint32_t v; memcpy(&v, r + at, 4); return v; }
static uint32_t u16(const uint8_t *r, int at) { uint16_t v; memcpy(&v, r + at, 2); return v; }
static const char *string(const uint8_t *r, int at) { const char *s; memcpy(&s, r + at, sizeof s); return s; }

/* A sequence of fields to print: their offsets in the record, by size. */
static void fields(const uint8_t *r, const char *sizes, const uint8_t *at) {
  for (; *sizes; sizes++, at++)
    number(*sizes == '8' ? u64(r, *at) : *sizes == '4' ? u32(r, *at) : *sizes == '2' ? u16(r, *at) : r[*at]);
}

/* The number of a kernel's name, in an N line when it is new. Names are told
 * apart by a hash of their text: a pointer may be of another kernel by now. When
 * the table is full, a name gets a new number each time. */
static uint64_t named(const char *name) {
  static uint64_t seen[NAMES], numbers[NAMES], count;
  uint64_t hash = 14695981039346656037ull;
  for (const char *p = name ? name : ""; *p; p++) hash = (hash ^ (unsigned char)*p) * 1099511628211ull;
  hash |= 1; /* zero marks a free place */
  int full = count >= NAMES / 2;
  for (size_t i = hash % NAMES; ; i = (i + 1) % NAMES) {
    if (seen[i] == hash) return numbers[i];
    if (seen[i]) continue;
    if (!full) seen[i] = hash, numbers[i] = count;
    break;
  }
  begin('N'), number(count), word(name), end();
  return count++;
}

static void call(const uint8_t *r, char letter, int domain) {
  static uint8_t seen[2][CALLS];
  uint32_t id = u32(r, 4);
  if (id < CALLS && !seen[domain - 1][id]) {
    const char *name = 0;
    seen[domain - 1][id] = 1;
    if (cupti.callback_name(domain, id, &name) == 0 && name) begin('A'), number(domain), number(id), word(name), end();
  }
  /* id, start, end, thread, correlation, result */
  begin(letter), fields(r, "488444", (const uint8_t[]){4, 8, 16, 28, 32, 36}), end();
}

static void record(const uint8_t *r) {
  switch (u32(r, 0)) {
  case KERNEL:
  case CONCURRENT_KERNEL: {
    uint64_t name = named(string(r, 104));
    begin('K'), number(name);
    /* start, end, device, context, stream, correlation, grid, block, registers,
     * shared: static, dynamic; local; graph, node */
    fields(r, "884444444444244448", (const uint8_t[]){16, 24, 40, 44, 48, 92, 52, 56, 60, 64, 68, 72, 6, 76, 80, 84, 156, 144});
    end();
    break;
  }
  case MEMCPY: /* kind, from, to, bytes, start, end, device, context, stream, correlation, graph, node */
    begin('C'), fields(r, "111888444448", (const uint8_t[]){4, 5, 6, 8, 16, 24, 32, 36, 40, 44, 72, 64}), end();
    break;
  case PEERCPY: /* the same; kind is "peer to peer" already */
    begin('C'), fields(r, "111888444448", (const uint8_t[]){4, 5, 6, 8, 16, 24, 32, 36, 40, 60, 80, 72}), end();
    break;
  case MEMSET: /* memory, bytes, start, end, device, context, stream, correlation, graph, node */
    begin('F'), fields(r, "2888444448", (const uint8_t[]){50, 8, 16, 24, 32, 36, 40, 44, 72, 64}), end();
    break;
  case DRIVER:
    call(r, 'D', DRIVER_DOMAIN);
    break;
  case RUNTIME:
    call(r, 'R', RUNTIME_DOMAIN);
    break;
  case MEMORY2: /* operation, memory, bytes, address, time, device, context, stream, correlation */
    begin('M'), fields(r, "448884444", (const uint8_t[]){4, 8, 24, 16, 32, 52, 56, 60, 12}), end();
    break;
  case OVERHEAD: /* kind, start, end */
    begin('O'), fields(r, "488", (const uint8_t[]){4, 24, 32}), end();
    break;
  case DEVICE: /* number, major, minor, name */
    begin('V'), fields(r, "444", (const uint8_t[]){112, 104, 108}), word(string(r, 136)), end();
    break;
  }
}

static void count_lost(void *context, uint32_t stream) {
  size_t n = 0;
  if (cupti.dropped(context, stream, &n) == 0 && n) {
    lost += n;
    begin('L'), number(n), end();
  }
}

static void requested(uint8_t **buffer, size_t *size, size_t *most) {
  void *memory = malloc(BUFFER); /* aligned to 16; CUPTI needs 8 */
  *most = 0;
  *buffer = memory;
  *size = memory ? BUFFER : 0; /* without memory CUPTI counts what it drops */
  if (memory) __atomic_add_fetch(&lent, 1, __ATOMIC_RELAXED);
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
  (void)size;
  if (getpid() != owner) return;
  pthread_mutex_lock(&lock);
  if (writable()) {
    uint8_t *r = 0;
    while (valid && cupti.next(buffer, valid, &r) == 0) record(r);
    count_lost(context, stream);
    append();
  }
  pthread_mutex_unlock(&lock);
  free(buffer);
  __atomic_sub_fetch(&lent, 1, __ATOMIC_RELAXED);
}
