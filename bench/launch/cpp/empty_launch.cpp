// Host time to submit an empty kernel through the CUDA driver API, from C++: the
// number that a Go program is compared with (launch_test.go).
//
//   g++ -O2 -o empty_launch empty_launch.cpp -ldl   (or nvcc -O2 -o …)
//   echo 20 | ./empty_launch ../empty.ptx 256
//
// It needs no CUDA headers and no toolkit: libcuda.so.1 (or $MAGE_LIBCUDA) is
// opened at run time. For each line N on the standard input it submits N batches
// to a non-blocking stream, waits for the device after each, and writes one line
// with the host nanoseconds per launch of each batch, the wait excluded.
#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

void *library;

template <typename F>
F symbol(const char *name) {
  void *p = dlsym(library, name);
  if (!p) {
    std::fprintf(stderr, "libcuda does not have %s\n", name);
    std::exit(1);
  }
  return reinterpret_cast<F>(p);
}

void check(int code, const char *call) {
  if (code) {
    std::fprintf(stderr, "%s returned %d\n", call, code);
    std::exit(1);
  }
}

using Handle = void *;

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: empty_launch PTX LAUNCHES_PER_BATCH\n");
    return 2;
  }
  std::ifstream file(argv[1]);
  std::stringstream text;
  text << file.rdbuf();
  const std::string ptx = text.str();
  const int batch = std::atoi(argv[2]);
  if (ptx.empty() || batch < 1) {
    std::fprintf(stderr, "no PTX in %s, or no launches per batch\n", argv[1]);
    return 2;
  }
  const char *path = std::getenv("MAGE_LIBCUDA");
  library = dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW);
  if (!library) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  auto init = symbol<int (*)(unsigned)>("cuInit");
  auto get = symbol<int (*)(int *, int)>("cuDeviceGet");
  auto retain = symbol<int (*)(Handle *, int)>("cuDevicePrimaryCtxRetain");
  auto use = symbol<int (*)(Handle)>("cuCtxSetCurrent");
  auto load = symbol<int (*)(Handle *, const void *, unsigned, int *, void **)>("cuModuleLoadDataEx");
  auto find = symbol<int (*)(Handle *, Handle, const char *)>("cuModuleGetFunction");
  auto create = symbol<int (*)(Handle *, unsigned)>("cuStreamCreate");
  auto wait = symbol<int (*)(Handle)>("cuStreamSynchronize");
  auto launch = symbol<int (*)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle,
                               void **, void **)>("cuLaunchKernel");

  int device;
  Handle context, module, kernel, stream;
  check(init(0), "cuInit");
  check(get(&device, 0), "cuDeviceGet");
  check(retain(&context, device), "cuDevicePrimaryCtxRetain");
  check(use(context), "cuCtxSetCurrent");
  check(load(&module, ptx.c_str(), 0, nullptr, nullptr), "cuModuleLoadDataEx");
  check(find(&kernel, module, "empty"), "cuModuleGetFunction");
  check(create(&stream, 1), "cuStreamCreate");

  for (int batches; std::scanf("%d", &batches) == 1;) {
    std::vector<double> ns;
    for (int b = 0; b < batches; b++) {
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < batch; i++)
        check(launch(kernel, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr), "cuLaunchKernel");
      const std::chrono::duration<double, std::nano> d = std::chrono::steady_clock::now() - start;
      check(wait(stream), "cuStreamSynchronize");
      ns.push_back(d.count() / batch);
    }
    for (double v : ns) std::printf("%.2f ", v);
    std::printf("\n");
    std::fflush(stdout);
  }
  return 0;
}
