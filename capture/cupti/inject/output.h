/* The file: text gathered in memory and appended by whole deliveries. The functions
 * that write lines are called with the lock held. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

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
