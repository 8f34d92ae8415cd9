/* The library that `mage profile --backend cupti` has the CUDA driver load into
 * the program it traces (CUDA_INJECTION64_PATH). It asks NVIDIA's CUPTI for the
 * process's activity and appends it to a text file of this process's own, one
 * line per event; ../format.go describes the lines and reads them.
 *
 * It must not disturb its host: no output but that file, no descriptor kept open
 * (a daemon may close it and give its number to another file), no exit, and
 * whatever fails is a line of the file. It is linked without libc's version tags
 * (build.sh says how), so only the functions declared by the headers below that
 * every glibc since 2.17 has may be used.
 *
 * The environment tells it what to do:
 *   MAGE_TRACE_FILE       absolute prefix of the files; the process id is added
 *   MAGE_TRACE_LIBRARIES  libcupti files to try, best first, separated by ':'
 *   MAGE_TRACE_RANGE      "cuda": only between cudaProfilerStart and -Stop */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* ---- what is used of CUPTI, by its documented numbers ---------------------- */

enum { DRIVER_DOMAIN = 1, RUNTIME_DOMAIN = 2 };
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

/* ---- the file: text gathered in memory, appended by whole deliveries ------- */

enum { TEXT = 1 << 16, PATH = 4096, BUFFER = 1 << 20, NAMES = 4096, CALLS = 2048, PERIOD_MS = 200 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held to write lines */
static char path[PATH];
static pid_t owner;      /* the process that was injected, not its forks */
static char text[TEXT];
static size_t used;
static off_t whole;      /* the file's length up to the last whole line written */
static int failed;       /* errno of the first write that failed */
static int finished;     /* no line follows the end */
static uint64_t lines[128]; /* how many of each letter */
static uint64_t lost;    /* records that CUPTI dropped */
static int lent;         /* buffers that CUPTI has */

static void append(void) {
  if (used == 0 || failed) { used = 0; return; }
  int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0) { failed = errno; used = 0; return; }
  size_t done = 0;
  while (done < used) {
    ssize_t n = write(fd, text + done, used - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) { failed = n < 0 ? errno : EIO; break; }
    done += n;
  }
  if (!failed && text[used - 1] == '\n')
    whole = lseek(fd, 0, SEEK_END);
  if (failed) {
    /* A disk that is full keeps the whole lines, and often a last short one. */
    if (ftruncate(fd, whole) == 0) {
      static char why[] = "E write 000 %\n";
      for (int i = 10, e = failed; i > 7; i--, e /= 10) why[i] = '0' + e % 10;
      if (write(fd, why, sizeof why - 1) < 0) { /* its missing end says so too */ }
    }
  }
  close(fd);
  used = 0;
}

static void put(char c) {
  if (used == TEXT) append();
  text[used++] = c;
}

static void number(uint64_t n) {
  char digits[20];
  int i = 0;
  do digits[i++] = '0' + n % 10; while (n /= 10);
  put(' ');
  while (i) put(digits[--i]);
}

static void word(const char *s) {
  static const char hex[] = "0123456789ABCDEF";
  put(' ');
  if (!s || !*s) { put('%'); return; } /* no name: an escape without its digits */
  for (; *s; s++) {
    unsigned char c = *s;
    if (c > ' ' && c != '%' && c != 127) put(c);
    else put('%'), put(hex[c >> 4]), put(hex[c & 15]);
  }
}

static void begin(char letter) { lines[(int)letter]++; put(letter); }
static void end(void) { put('\n'); }

static int writable(void) { return path[0] && !finished && getpid() == owner; }

/* An E line: a call that failed, its code, and the name of the code. */
static void complain(const char *what, int code, const char *why) {
  pthread_mutex_lock(&lock);
  if (writable()) {
    begin('E'), word(what), number(code), word(why), end();
    append();
  }
  pthread_mutex_unlock(&lock);
}

static int check(const char *what, int result) {
  if (result == 0) return 1;
  const char *name = 0;
  if (cupti.result_string) cupti.result_string(result, &name);
  complain(what, result, name);
  return 0;
}

/* ---- records ---------------------------------------------------------------- */

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

/* ---- the traced range ------------------------------------------------------- */

static int tracing;

static void mark(const char *what) {
  uint64_t now = 0;
  cupti.timestamp(&now);
  pthread_mutex_lock(&lock);
  if (writable()) begin('T'), word(what), number(now), end(), append();
  pthread_mutex_unlock(&lock);
}

static void start(void) {
  if (__atomic_exchange_n(&tracing, 1, __ATOMIC_ACQ_REL)) return;
  for (int i = 0; i < KINDS; i++) {
    static const char what[] = "cuptiActivityEnable:";
    char call[sizeof what + 2];
    memcpy(call, what, sizeof what - 1);
    call[sizeof what - 1] = '0' + kinds[i] / 10;
    call[sizeof what] = '0' + kinds[i] % 10;
    call[sizeof what + 1] = 0;
    check(call, cupti.enable(kinds[i]));
  }
  mark("start");
}

static void stop(void) {
  if (!__atomic_load_n(&tracing, __ATOMIC_ACQUIRE)) return;
  /* What was launched inside belongs to the range, and is recorded when it ends. */
  int (*synchronize)(void) = (int (*)(void))(uintptr_t)dlsym(RTLD_DEFAULT, "cuCtxSynchronize");
  if (!synchronize) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (driver) synchronize = (int (*)(void))(uintptr_t)dlsym(driver, "cuCtxSynchronize");
  }
  if (synchronize) synchronize();
  mark("stop");
  for (int i = 0; i < KINDS; i++) cupti.disable(kinds[i]);
  __atomic_store_n(&tracing, 0, __ATOMIC_RELEASE);
  cupti.flush(0);
}

static void called(void *unused, int domain, uint32_t id, const void *data) {
  (void)unused;
  int site;
  memcpy(&site, data, sizeof site);
  if (getpid() != owner) return;
  int starts = domain == DRIVER_DOMAIN ? id == DRIVER_START : id == RUNTIME_START;
  int stops = domain == DRIVER_DOMAIN ? id == DRIVER_STOP : id == RUNTIME_STOP;
  /* A call of the runtime contains one of the driver: both may come. */
  if (starts && site == SITE_EXIT) start();
  if (stops && site == SITE_ENTER) stop();
}

/* ---- the end ---------------------------------------------------------------- */

static void finish(void) {
  static int once;
  if (getpid() != owner || __atomic_exchange_n(&once, 1, __ATOMIC_ACQ_REL)) return;
  cupti.flush(0);
  cupti.flush(1); /* by force: also what has not ended, which has no times */
  pthread_mutex_lock(&lock);
  if (writable()) {
    static const char counted[] = "KCFDRMOV";
    count_lost(0, 0);
    begin('Z');
    for (const char *c = counted; *c; c++) number(lines[(int)*c]);
    number(lost), number(__atomic_load_n(&lent, __ATOMIC_RELAXED)), end();
    append();
  }
  finished = 1;
  pthread_mutex_unlock(&lock);
}

static void at_exit(void *unused) { (void)unused; finish(); }

/* A signal that would end the process flushes first, on a thread of its own: a
 * handler may not wait for locks. A program that handles it is left alone. */
static int wake[2];

static void signalled(int n) {
  static int before; /* whoever asks twice does not wait for a flush */
  int saved = errno;
  char c = (char)n;
  if (getpid() != owner || __atomic_exchange_n(&before, 1, __ATOMIC_ACQ_REL) || write(wake[1], &c, 1) != 1)
    signal(n, SIG_DFL), raise(n);
  errno = saved;
}

static void *waiter(void *unused) {
  char n;
  (void)unused;
  for (;;) {
    ssize_t got = read(wake[0], &n, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got != 1) return 0; /* the program closed our descriptors */
    break;
  }
  finish();
  signal(n, SIG_DFL);
  kill(getpid(), n);
  return 0;
}

static void watch_signals(void) {
  static const int fatal[] = {SIGTERM, SIGINT, SIGHUP};
  sigset_t all, before;
  pthread_t thread;
  if (pipe2(wake, O_CLOEXEC)) return;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  int made = pthread_create(&thread, 0, waiter, 0) == 0;
  pthread_sigmask(SIG_SETMASK, &before, 0);
  if (!made) return;
  for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
    struct sigaction now, ours;
    memset(&ours, 0, sizeof ours);
    ours.sa_handler = signalled;
    ours.sa_flags = SA_RESTART;
    if (sigaction(fatal[i], 0, &now) == 0 && now.sa_handler == SIG_DFL) sigaction(fatal[i], &ours, 0);
  }
}

/* ---- the beginning ---------------------------------------------------------- */

static int create(const char *prefix) {
  size_t n = strlen(prefix);
  if (n == 0 || n > PATH - 64) return 0;
  /* A process that replaced itself by exec had the same number: count up. */
  for (int attempt = 0; attempt < 1000; attempt++) {
    used = 0;
    number(owner), number(attempt);
    memcpy(path, prefix, n);
    for (size_t i = 0; i < used; i++) path[n + i] = text[i] == ' ' ? '.' : text[i];
    memcpy(path + n + used, ".trace", sizeof ".trace");
    used = 0;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0) { close(fd); return 1; }
    if (errno != EEXIST) break;
  }
  path[0] = 0;
  return 0;
}

/* The library to use: the one that the process has already (a second copy would
 * be a second profiler), then what Mage found, then what the loader finds. */
static void *open_cupti(char *list) {
  static const char *const sonames[] = {"libcupti.so.13", "libcupti.so.12"};
  void *handle;
  for (int i = 0; i < 2; i++)
    if ((handle = dlopen(sonames[i], RTLD_NOW | RTLD_NOLOAD))) return handle;
  const char *why = "MAGE_TRACE_LIBRARIES names no library";
  while (list && *list) {
    char *next = strchr(list, ':');
    if (next) *next++ = 0;
    if (*list && (handle = dlopen(list, RTLD_NOW | RTLD_LOCAL))) return handle;
    const char *reason = dlerror();
    if (reason) why = reason;
    list = next;
  }
  complain("dlopen", 0, why);
  return 0;
}

static int load(void) {
  static char list[1 << 15];
  const char *given = getenv("MAGE_TRACE_LIBRARIES");
  if (given && strlen(given) < sizeof list) memcpy(list, given, strlen(given) + 1);
  void *handle = open_cupti(list);
  if (!handle) return 0;
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    *symbols[i].slot = dlsym(handle, symbols[i].name);
    if (!*symbols[i].slot) { complain("dlsym", 0, symbols[i].name); return 0; }
  }
  uint32_t version = 0;
  if (!check("cuptiGetVersion", cupti.get_version(&version))) return 0;
  pthread_mutex_lock(&lock);
  begin('I'), number(version), end(), append();
  pthread_mutex_unlock(&lock);
  if (version < OLDEST) { complain("cuptiGetVersion", (int)version, "too old"); return 0; }
  return 1;
}

static int on_demand(void *subscriber) {
  static const struct { int domain; uint32_t id; } points[] = {
    {DRIVER_DOMAIN, DRIVER_START}, {DRIVER_DOMAIN, DRIVER_STOP},
    {RUNTIME_DOMAIN, RUNTIME_START}, {RUNTIME_DOMAIN, RUNTIME_STOP},
  };
  for (size_t i = 0; i < sizeof points / sizeof *points; i++)
    if (!check("cuptiEnableCallback", cupti.enable_callback(1, subscriber, points[i].domain, points[i].id))) return 0;
  return 1;
}

extern int __cxa_atexit(void (*)(void *), void *, void *);

/* The first line: format, process, range, name of the program. */
static void header(int demanded) {
  static char program[PATH];
  ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
  program[n > 0 ? n : 0] = 0;
  const char *base = program;
  for (const char *p = program; *p; p++)
    if (*p == '/') base = p + 1;
  pthread_mutex_lock(&lock);
  begin('H'), number(1), number(owner), word(demanded ? "cuda" : "all"), word(base), end(), append();
  pthread_mutex_unlock(&lock);
}

/* Called by the CUDA driver inside the program's first cuInit. */
EXPORT int InitializeInjection(void) {
  const char *prefix = getenv("MAGE_TRACE_FILE"), *range = getenv("MAGE_TRACE_RANGE");
  if (owner == getpid() || !prefix) return 1;
  owner = getpid();
  if (!create(prefix)) return 1;
  int demanded = range && !strcmp(range, "cuda");
  header(demanded);
  void *subscriber = 0;
  if (!load()) return 1;
  /* There is one subscriber: this is where another profiler shows. */
  if (!check("cuptiSubscribe", cupti.subscribe(&subscriber, called, 0))) return 1;
  if (!check("cuptiActivityRegisterCallbacks", cupti.register_callbacks(requested, completed))) return 1;
  check("cuptiActivityEnable:08", cupti.enable(DEVICE));
  check("cuptiActivityFlushPeriod", cupti.flush_period(PERIOD_MS));
  if (demanded) on_demand(subscriber);
  else start();
  __cxa_atexit(at_exit, 0, 0);
  watch_signals();
  return 1;
}
