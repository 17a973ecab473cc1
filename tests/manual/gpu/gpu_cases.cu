// What a program can do with a GPU that a profiler must survive: one case per run, named by the first argument. Each
// opens NVTX ranges around a known number of kernels and prints them as JSON, {"kernels": {"RANGE": COUNT}}, before
// the case ends the process in its own way. scripts/gpu/cases.py runs it under deep-profile and compares.
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#if __has_include(<nvtx3/nvToolsExtPayload.h>)
#include <nvtx3/nvToolsExtPayload.h>
#define HAS_PAYLOADS 1
#endif
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#define CHECK(call)                                                                              \
  do {                                                                                           \
    const cudaError_t status = (call);                                                           \
    if (status != cudaSuccess) {                                                                 \
      std::fprintf(stderr, "gpu_cases: %s: %s\n", #call, cudaGetErrorString(status));            \
      std::exit(1);                                                                              \
    }                                                                                            \
  } while (0)

// Runs for so many nanoseconds of the GPU's own timer; 0: ends at once.
__global__ void spin(unsigned long long ns) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (now - begin < ns);
}

__global__ void write_to(int* place) { *place = 1; }

static void launch(int count, unsigned long long ns, cudaStream_t stream = nullptr) {
  for (int i = 0; i < count; ++i) spin<<<1, 32, 0, stream>>>(ns);
  CHECK(cudaGetLastError());
}

static void announce(const char* kernels) {
  std::printf("{\"kernels\": {%s}}\n", kernels);
  std::fflush(stdout);
}

// Twice what the recorder lets pass between two looks at what CUPTI has.
static void wait_for_fetch() { usleep(1'000'000); }

static void warm_up() {
  launch(1, 0);
  CHECK(cudaDeviceSynchronize());
}

static void graph() {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  cudaGraph_t recorded;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  launch(5, 20'000, stream);
  CHECK(cudaStreamEndCapture(stream, &recorded));
  cudaGraphExec_t executable;
  CHECK(cudaGraphInstantiateWithFlags(&executable, recorded, 0));
  announce("\"first\": 15, \"second\": 11, \"inner\": 10");
  nvtxRangePushA("first");
  for (int i = 0; i < 3; ++i) CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaStreamSynchronize(stream));
  nvtxRangePop();
  nvtxRangePushA("second");
  launch(1, 20'000, stream);
  nvtxRangePushA("inner");
  for (int i = 0; i < 2; ++i) CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaStreamSynchronize(stream));
  nvtxRangePop();
  nvtxRangePop();
}

#ifdef HAS_PAYLOADS
struct Step {
  std::uint64_t tokens;
  std::uint64_t bytes;
};

static void payload() {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("cases");
  const nvtxPayloadSchemaEntry_t entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "tokens", nullptr, 0, offsetof(Step, tokens), nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "Message size [bytes]", nullptr, 0, offsetof(Step, bytes), nullptr,
       nullptr},
  };
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.name = "step";
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries;
  schema.numEntries = 2;
  schema.payloadStaticSize = sizeof(Step);
  const std::uint64_t id = nvtxPayloadSchemaRegister(domain, &schema);
  announce("\"step\": 12");
  for (std::uint64_t i = 1; i <= 4; ++i) {
    const Step step = {100 * i, 4096 * i};
    const nvtxPayloadData_t data = {id, sizeof(step), &step};
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = "step";
    attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    attributes.reserved0 = 1;
    attributes.payload.ullValue = reinterpret_cast<std::uintptr_t>(&data);
    nvtxDomainRangePushEx(domain, &attributes);
    launch(3, 50'000);
    CHECK(cudaDeviceSynchronize());
    nvtxDomainRangePop(domain);
  }
}
#endif

// ncu's range replay cannot capture the second range's stream-ordered allocation.
static void memory() {
  announce("\"plain\": 1, \"ordered\": 1");
  constexpr std::size_t kBytes = 64 << 20;
  void* place = nullptr;
  nvtxRangePushA("plain");
  CHECK(cudaMalloc(&place, kBytes));
  CHECK(cudaMemset(place, 1, kBytes));
  launch(1, 50'000);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(place));
  nvtxRangePop();
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  nvtxRangePushA("ordered");
  CHECK(cudaMallocAsync(&place, kBytes, stream));
  launch(1, 50'000, stream);
  CHECK(cudaFreeAsync(place, stream));
  CHECK(cudaStreamSynchronize(stream));
  nvtxRangePop();
}

// As cuBLAS and CUTLASS launch on Hopper.
static void launch_ex() {
  announce("\"launch_ex\": 4");
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(4);
  config.blockDim = dim3(32);
  config.attrs = &attribute;
  config.numAttrs = 1;
  nvtxRangePushA("launch_ex");
  for (int i = 0; i < 4; ++i) CHECK(cudaLaunchKernelEx(&config, spin, 50'000ULL));
  CHECK(cudaDeviceSynchronize());
  nvtxRangePop();
}

// As a training loop: nothing waits between one step and the next.
static void steps() {
  announce("\"step\": 6");
  for (int i = 0; i < 3; ++i) {
    nvtxRangePushA("step");
    launch(2, 50'000);
    nvtxRangePop();
  }
  CHECK(cudaDeviceSynchronize());
}

static void in_threads() {
  announce("\"thread 0\": 100, \"thread 1\": 100, \"thread 2\": 100, \"thread 3\": 100");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([i] {
      cudaStream_t stream;
      CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      nvtxRangePushA(("thread " + std::to_string(i)).c_str());
      launch(100, 5'000, stream);
      CHECK(cudaStreamSynchronize(stream));
      nvtxRangePop();
    });
  for (std::thread& thread : threads) thread.join();
}

// Ten kernels that are over, five that run for a tenth of a second each.
static void some_of_which_run() {
  nvtxRangePushA("over");
  launch(10, 20'000);
  CHECK(cudaDeviceSynchronize());
  nvtxRangePop();
  nvtxRangePushA("running");
  launch(5, 100'000'000);
  nvtxRangePop();
}

static void reset_while_running() {
  announce("\"over\": 10, \"running\": 5");
  some_of_which_run();
  CHECK(cudaDeviceReset());
}

static void destroy_while_running() {
  // By hand, since the signature of cuCtxCreate depends on the toolkit.
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  const auto create = reinterpret_cast<CUresult (*)(CUcontext*, unsigned, CUdevice)>(
      driver == nullptr ? nullptr : dlsym(driver, "cuCtxCreate_v2"));
  const auto destroy =
      reinterpret_cast<CUresult (*)(CUcontext)>(driver == nullptr ? nullptr : dlsym(driver, "cuCtxDestroy_v2"));
  CUcontext context = nullptr;
  if (create == nullptr || destroy == nullptr || create(&context, 0, 0) != CUDA_SUCCESS) {
    std::fprintf(stderr, "gpu_cases: no context of its own\n");
    std::exit(1);
  }
  announce("\"over\": 10, \"running\": 5");
  some_of_which_run();
  const CUresult status = destroy(context);
  if (status == CUDA_SUCCESS) return;
  std::fprintf(stderr, "gpu_cases: cuCtxDestroy: error %d\n", static_cast<int>(status));
  std::exit(1);
}

static void exit_while_running() {
  announce("\"over\": 10, \"running\": 5");
  some_of_which_run();
}

static void killed() {
  announce("\"finished\": 50, \"open\": 10");
  nvtxRangePushA("finished");
  launch(50, 20'000);
  CHECK(cudaDeviceSynchronize());
  nvtxRangePop();
  nvtxRangePushA("open");
  launch(10, 20'000);
  CHECK(cudaDeviceSynchronize());
  wait_for_fetch();
  raise(SIGKILL);
}

static void fault() {
  announce("\"before\": 10");
  nvtxRangePushA("before");
  launch(10, 20'000);
  CHECK(cudaDeviceSynchronize());
  nvtxRangePop();
  wait_for_fetch();
  nvtxRangePushA("fault");
  write_to<<<1, 1>>>(nullptr);
  CHECK(cudaDeviceSynchronize());
}

static void out_of_memory() {
  announce("\"before\": 10");
  nvtxRangePushA("before");
  launch(10, 20'000);
  CHECK(cudaDeviceSynchronize());
  nvtxRangePop();
  nvtxRangePushA("allocation");
  void* place = nullptr;
  CHECK(cudaMalloc(&place, std::size_t{1} << 50));
}

// What a tool adds to a launch and to a range: prints the time of each in nanoseconds, of the best of five rounds.
static void costs() {
  constexpr int kRanges = 2'000;
  constexpr int kLaunches = 10;
  long long best[2] = {1LL << 62, 1LL << 62};
  for (int round = 0; round < 5; ++round) {
    for (const bool with_ranges : {false, true}) {
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < kRanges; ++i) {
        if (with_ranges) nvtxRangePushA("range");
        for (int j = 0; j < kLaunches; ++j) spin<<<1, 32>>>(0);
        if (with_ranges) nvtxRangePop();
      }
      CHECK(cudaDeviceSynchronize());
      const long long ns =
          std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin).count();
      if (ns < best[with_ranges]) best[with_ranges] = ns;
    }
  }
  std::printf("{\"ns_per_launch\": %.1f, \"ns_per_launch_in_ranges\": %.1f, \"launches_per_range\": %d}\n",
              static_cast<double>(best[0]) / (kRanges * kLaunches),
              static_cast<double>(best[1]) / (kRanges * kLaunches), kLaunches);
}

struct Case {
  const char* name;
  void (*run)();
  bool warm;
};

static const Case kCases[] = {
    {"graph", graph, true},
#ifdef HAS_PAYLOADS
    {"payload", payload, true},
#endif
    {"memory", memory, true},
    {"launch-ex", launch_ex, true},
    {"steps", steps, true},
    {"threads", in_threads, true},
    {"reset-while-running", reset_while_running, true},
    {"destroy-while-running", destroy_while_running, false},
    {"exit-while-running", exit_while_running, true},
    {"killed", killed, true},
    {"fault", fault, true},
    {"out-of-memory", out_of_memory, true},
    {"costs", costs, true},
};

int main(int count, char** arguments) {
  for (const Case& one : kCases) {
    if (count != 2 || std::strcmp(arguments[1], one.name) != 0) continue;
    if (one.warm) warm_up();
    one.run();
    return 0;
  }
  std::fprintf(stderr, "usage: gpu_cases CASE; there are:\n");
  for (const Case& one : kCases) std::fprintf(stderr, "  %s\n", one.name);
  return 2;
}
