/* A stand-in for libnvidia-ml with one device, for tests on machines without a
 * GPU. STUB_LACKS removes optional entry points; STUB_UNSUPPORTED makes every
 * reading NVML_ERROR_NOT_SUPPORTED. Declarations are as in nvml.h. */
#include <string.h>
#include <unistd.h>

typedef struct {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
} process;

static int users;
static int device;

#ifdef STUB_UNSUPPORTED
#define READING return 3;
#else
#define READING
#endif

static int text(char *out, unsigned n, const char *s) {
  if (strlen(s) + 1 > n) return 7;
  strcpy(out, s);
  return 0;
}

int nvmlInit_v2(void) {
#ifdef STUB_NO_DRIVER
  return 9;
#else
  users++;
  return 0;
#endif
}
int nvmlShutdown(void) { return users-- > 0 ? 0 : 1; }
int stub_users(void) { return users; }
const char *nvmlErrorString(int r) {
  switch (r) {
  case 3: return "Not Supported";
  case 6: return "Not Found";
  case 9: return "Driver Not Loaded";
  }
  return "Unknown Error";
}
int nvmlDeviceGetHandleByUUID(const char *uuid, void **out) {
  if (!users) return 1;
  if (strcmp(uuid, "GPU-11111111-2222-3333-4444-555555555555")) return 6;
  *out = &device;
  return 0;
}

#ifndef STUB_LACKS
#define CHECK(d) if (!users) return 1; if ((d) != (void *)&device) return 2; READING
int nvmlSystemGetDriverVersion(char *out, unsigned n) { READING return text(out, n, "580.10.01"); }
int nvmlSystemGetNVMLVersion(char *out, unsigned n) { READING return text(out, n, "13.580.10.01"); }
int nvmlDeviceGetUUID(void *d, char *out, unsigned n) { CHECK(d) return text(out, n, "GPU-11111111-2222-3333-4444-555555555555"); }
int nvmlDeviceGetClockInfo(void *d, int type, unsigned *out) {
  CHECK(d)
  switch (type) {
  case 1: *out = 1755; return 0;
  case 2: *out = 3201; return 0;
  }
  return 2;
}
int nvmlDeviceGetMaxClockInfo(void *d, int type, unsigned *out) { CHECK(d) *out = 1000 + type * 980; return 0; }
int nvmlDeviceGetTemperature(void *d, int sensor, unsigned *out) { CHECK(d) if (sensor) return 2; *out = 41; return 0; }
int nvmlDeviceGetPowerUsage(void *d, unsigned *out) { CHECK(d) *out = 123456; return 0; }
int nvmlDeviceGetEnforcedPowerLimit(void *d, unsigned *out) { CHECK(d) *out = 700000; return 0; }
int nvmlDeviceGetPersistenceMode(void *d, int *out) { CHECK(d) *out = 1; return 0; }
int nvmlDeviceGetCurrentClocksThrottleReasons(void *d, unsigned long long *out) { CHECK(d) *out = 0x1 | 0x4 | 0x40; return 0; }
int nvmlDeviceGetUtilizationRates(void *d, unsigned *out) { CHECK(d) out[0] = 87; out[1] = 12; return 0; }
int nvmlDeviceGetComputeRunningProcesses_v3(void *d, unsigned *n, process *out) {
  CHECK(d)
  if (*n < 4) { *n = 4; return 7; }
  *n = 4;
  process all[4] = {{1, 5, -1, -1}, {getpid(), 6, 0, 0}, {getpid(), 6, 1, 0}, {2, 7, -1, -1}};
  memcpy(out, all, sizeof all);
  return 0;
}
#endif
