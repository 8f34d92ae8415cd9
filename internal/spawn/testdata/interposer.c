/* Stands for a profiler: sees what the process starts through the C library, and
 * marks the child as followed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <spawn.h>
#include <stdlib.h>

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr,
                char *const argv[], char *const env[]) {
  int (*real)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[], char *const[]) =
      dlsym(RTLD_NEXT, "posix_spawn");
  int n = 0;
  while (env[n]) n++;
  char **more = calloc(n + 2, sizeof *more);
  for (int i = 0; i < n; i++) more[i] = env[i];
  more[n] = "FOLLOWED=yes";
  int r = real(pid, path, actions, attr, argv, more);
  free(more);
  return r;
}
