/* A program that "uses CUDA": at "init" it does what the driver does at cuInit,
 * and then what its arguments say, one after another, through the stand-in. */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *stub;
static void *fake(const char *name) {
  if (!stub) stub = dlopen(getenv("FAKE_CUPTI"), RTLD_NOW);
  void *f = stub ? dlsym(stub, name) : 0;
  if (!f) { fprintf(stderr, "no %s\n", name); _exit(70); }
  return f;
}
#define LAUNCH ((void (*)(const char *, uint64_t, uint64_t, uint64_t))fake("fake_launch"))

static int before(void) {
  void *lib = dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW | RTLD_LOCAL);
  if (!lib) { fprintf(stderr, "%s\n", dlerror()); return 0; }
  int (*initialize)(void) = (int (*)(void))dlsym(lib, "InitializeInjection");
  return initialize && initialize();
}

int main(int argc, char **argv) {
  static uint64_t at = 10000;
  for (int i = 1; i < argc; i++) {
    const char *a = argv[i];
    if (!strcmp(a, "init")) { if (!before()) return 71; }
    else if (!strcmp(a, "device")) ((void (*)(void))fake("fake_device"))();
    else if (!strcmp(a, "memory")) ((void (*)(void))fake("fake_memory"))();
    else if (!strcmp(a, "take-over")) ((void (*)(void))fake("fake_take_over"))();
    else if (!strcmp(a, "context")) ((void (*)(int))fake("fake_context"))(1);
    else if (!strcmp(a, "release")) ((void (*)(int))fake("fake_context"))(0);
    else if (!strcmp(a, "start")) ((void (*)(int))fake("fake_profiler"))(1);
    else if (!strcmp(a, "stop")) ((void (*)(int))fake("fake_profiler"))(0);
    else if (!strncmp(a, "launch:", 7)) /* launch:NAME, 1.5 µs */
      LAUNCH(a + 7, at, at + 1500, 0), at += 2000;
    else if (!strncmp(a, "many:", 5))
      for (int n = atoi(a + 5); n; n--) LAUNCH(n % 2 ? "odd" : "even", at, at + 1500, 0), at += 2000;
    else if (!strcmp(a, "node")) LAUNCH("in_graph", at, at + 1500, 0x300000001ull), at += 2000;
    else if (!strcmp(a, "running")) LAUNCH("running", 0, 0, 0);
    else if (!strcmp(a, "backwards")) LAUNCH("backwards", at + 5, at, 0);
    else if (!strcmp(a, "unload")) { /* another kernel's name at the same place */
      char *name = strdup("first_name");
      LAUNCH(name, at, at + 1500, 0), at += 2000;
      int (*flush)(uint32_t) = (int (*)(uint32_t))fake("cuptiActivityFlushAll");
      flush(0);
      strcpy(name, "other_name");
      LAUNCH(name, at, at + 1500, 0), at += 2000;
    }
    else if (!strcmp(a, "exit")) exit(0);
    else if (!strcmp(a, "_exit")) _exit(0);
    else if (!strcmp(a, "kill")) kill(getpid(), SIGKILL);
    else if (!strcmp(a, "term")) { kill(getpid(), SIGTERM); sleep(30); return 72; }
    else if (!strcmp(a, "ignore-term")) signal(SIGTERM, SIG_IGN);
    else if (!strcmp(a, "close-all")) { for (int fd = 3; fd < 256; fd++) close(fd); if (open("victim", O_RDWR | O_CREAT | O_EXCL, 0600) != 3) return 73; }
    else if (!strcmp(a, "chdir")) { if (chdir("/")) return 74; }
    else if (!strcmp(a, "limit")) { /* of a file's size: 64 KiB, as a disk that is full */
      struct rlimit l = {1 << 16, 1 << 16};
      signal(SIGXFSZ, SIG_IGN);
      setrlimit(RLIMIT_FSIZE, &l);
    }
    else if (!strcmp(a, "fork")) { /* a child that goes on with the rest */
      pid_t child = fork();
      if (child) { int status; waitpid(child, &status, 0); return WIFEXITED(status) ? WEXITSTATUS(status) : 75; }
    }
    else if (!strcmp(a, "fork-exit")) { /* a child that only exits, by exit */
      pid_t child = fork();
      if (!child) exit(0);
      waitpid(child, 0, 0);
    }
    else if (!strcmp(a, "exec")) { argv[i] = argv[0]; execv("/proc/self/exe", argv + i); return 76; }
    else if (!strncmp(a, "return:", 7)) return atoi(a + 7);
    else { fprintf(stderr, "what is %s?\n", a); return 77; }
  }
  return 0;
}
