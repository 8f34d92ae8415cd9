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
#include <signal.h>

#include "cupti.h"
#include "output.h"
#include "records.h"

#define EXPORT __attribute__((visibility("default")))

/* ---- the traced range ------------------------------------------------------- */

static int tracing, contexts;

static void note(char letter) {
  uint64_t now = 0;
  cupti.timestamp(&now);
  pthread_mutex_lock(&lock);
  if (writable()) {
    if (letter == 'S') count_lost(0, 0);
    begin(letter), number(now), end(), append();
  }
  pthread_mutex_unlock(&lock);
}

/* Everything is handed over and nothing is under way. A program may now end
 * without running exit handlers, as every Go program does. */
static void settle(void) {
  cupti.flush(0);
  cupti.flush(1);
  note('S');
}

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
  cupti.flush(0);
  for (int i = 0; i < KINDS; i++) cupti.disable(kinds[i]);
  __atomic_store_n(&tracing, 0, __ATOMIC_RELEASE);
  settle();
}

static void called(void *unused, int domain, uint32_t id, const void *data) {
  (void)unused;
  if (getpid() != owner) return;
  if (domain == RESOURCE_DOMAIN) {
    if (id == CONTEXT_CREATED && __atomic_add_fetch(&contexts, 1, __ATOMIC_ACQ_REL) == 1) note('U');
    if (id == CONTEXT_ENDS && __atomic_sub_fetch(&contexts, 1, __ATOMIC_ACQ_REL) == 0) settle();
    return;
  }
  int site;
  memcpy(&site, data, sizeof site);
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

/* Calls to be told of: those of the range if that is demanded, and contexts. */
static int listen(void *subscriber, int demanded) {
  static const struct { int domain; uint32_t id; } points[] = {
    {RESOURCE_DOMAIN, CONTEXT_CREATED}, {RESOURCE_DOMAIN, CONTEXT_ENDS},
    {DRIVER_DOMAIN, DRIVER_START}, {DRIVER_DOMAIN, DRIVER_STOP},
    {RUNTIME_DOMAIN, RUNTIME_START}, {RUNTIME_DOMAIN, RUNTIME_STOP},
  };
  for (size_t i = 0; i < (demanded ? sizeof points / sizeof *points : 2); i++)
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
  if (!listen(subscriber, demanded)) return 1;
  if (!demanded) start();
  __cxa_atexit(at_exit, 0, 0);
  watch_signals();
  return 1;
}
