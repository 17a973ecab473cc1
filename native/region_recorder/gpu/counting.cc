#include "counting.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "../descriptor.hpp"
#include "../record.hpp"

namespace region_recorder::gpu {
namespace {

namespace range = cupti::range;

constexpr std::size_t kMostConfigBytes = std::size_t{256} << 20;
constexpr std::uint32_t kMostFiles = 100'000;

CounterRequest request;
const Subscription* subscription_in_use = nullptr;

std::atomic<bool> is_taken{false};
std::atomic<pthread_t> turn_of{};

// These belong to whose turn it is.
std::uint32_t next_file = 0;
bool is_initialised = false;

bool write_whole(int file, const void* bytes, std::size_t length) {
  std::size_t done = 0;
  while (done < length) {
    const ssize_t written = ::write(file, static_cast<const char*>(bytes) + done, length - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    done += static_cast<std::size_t>(written);
  }
  return true;
}

const char* why_unsupported(const range::DeviceSupportedParams& answer) {
  const struct {
    range::SupportLevel level;
    const char* reason;
  } causes[] = {
      {answer.architecture, "the GPU is too old for counters: they need compute capability 7.5"},
      {answer.sli, "CUPTI has no counters while SLI is enabled"},
      {answer.virtual_gpu, "the virtual GPU does not allow profiling"},
      {answer.confidential_compute, "confidential computing does not allow profiling"},
      {answer.mining, "crypto mining GPUs do not allow profiling"},
      {answer.wsl, "this WSL (Windows Subsystem for Linux) does not allow profiling"},
  };
  for (const auto& cause : causes) {
    if (cause.level == range::kUnsupported || cause.level == range::kDisabled) return cause.reason;
  }
  return "CUPTI does not support these counters on this GPU";
}

void write_failure(ThreadRecorder& thread, cupti::Result result, const char* text) {
  Record record(format::kCounterFailure);
  record.add(static_cast<std::uint32_t>(result));
  record.add(thread.stream.intern(narrow_text(text)));
  thread.stream.append(record.words());
}

}  // namespace

bool read_counter_request() noexcept {
  const char* const path = getenv(kCountersVariable);
  return path != nullptr && *path != '\0' && request.read(path);
}

const CounterRequest& counter_request() noexcept { return request; }

void count_with(const Subscription& subscription) noexcept { subscription_in_use = &subscription; }

const cupti::Functions& counting_calls() noexcept { return subscription_in_use->cupti().call; }

std::uint32_t counting_version() noexcept { return subscription_in_use->cupti().version; }

Turn::Turn(int attempts) noexcept {
  while (is_taken.exchange(true, std::memory_order_acquire)) {
    if (--attempts <= 0) return;
    usleep(100);
  }
  is_mine_ = true;
  turn_of.store(pthread_self(), std::memory_order_relaxed);
}

Turn::~Turn() {
  if (!is_mine_) return;
  turn_of.store(pthread_t{}, std::memory_order_relaxed);
  is_taken.store(false, std::memory_order_release);
}

bool is_calling_cupti() noexcept {
  return pthread_equal(turn_of.load(std::memory_order_relaxed), pthread_self()) != 0;
}

void tell_counter_failure(ThreadRecorder& thread, const char* text) noexcept {
  write_failure(thread, cupti::kSuccess, text);
}

void tell_counter_failure(ThreadRecorder& thread, const char* function,
                          cupti::Result result) noexcept {
  const char* name = nullptr;
  if (counting_calls().GetResultString(result, &name) != cupti::kSuccess) name = nullptr;
  char text[256];
  snprintf(text, sizeof(text), "%s: %s", function, name == nullptr ? "unknown error" : name);
  write_failure(thread, result, text);
}

bool check_device(ThreadRecorder& thread, std::uint32_t device, range::ProfilerApi way) noexcept {
  const range::Functions& call = counting_calls().range;
  if (!is_initialised) {
    cupti::host::ProfilerInitializeParams initialise{};
    initialise.struct_size = sizeof(initialise);
    const cupti::Result result = call.ProfilerInitialize(&initialise);
    if (result != cupti::kSuccess) {
      tell_counter_failure(thread, "cuptiProfilerInitialize", result);
      return false;
    }
    is_initialised = true;
  }
  range::DeviceSupportedParams support{};
  support.struct_size = range::kDeviceSupportedSize;
  support.device = static_cast<std::int32_t>(device);
  support.api = way;
  const cupti::Result result = call.ProfilerDeviceSupported(&support);
  if (result != cupti::kSuccess) {
    tell_counter_failure(thread, "cuptiProfilerDeviceSupported", result);
    return false;
  }
  if (support.supported == range::kSupported) return true;
  tell_counter_failure(thread, why_unsupported(support));
  return false;
}

bool find_chip(ThreadRecorder& thread, std::uint32_t device, const char*& chip) noexcept {
  cupti::host::GetChipNameParams params{};
  params.struct_size = sizeof(params);
  params.device = device;
  const cupti::Result result = counting_calls().range.DeviceGetChipName(&params);
  if (result != cupti::kSuccess) {
    tell_counter_failure(thread, "cuptiDeviceGetChipName", result);
    return false;
  }
  chip = params.chip == nullptr ? "(unknown)" : params.chip;
  return true;
}

bool find_config(ThreadRecorder& thread, const char* chip, FileContents& config) noexcept {
  char path[PATH_MAX];
  const int length = snprintf(path, sizeof(path), "%s/%s.config", request.images, chip);
  if (length > 0 && length < PATH_MAX) config = read_file(path, kMostConfigBytes);
  if (config.bytes != nullptr && config.length > 0) return true;
  char text[256];
  snprintf(text, sizeof(text), "there is no configuration of counters for chip %.64s", chip);
  tell_counter_failure(thread, text);
  return false;
}

void release(FileContents& contents) noexcept {
  if (contents.bytes != nullptr) munmap(contents.bytes, contents.length + 1);
  contents = {};
}

bool claim_file(ThreadRecorder& thread, std::uint32_t device, ResultFile& file) noexcept {
  for (; next_file < kMostFiles; ++next_file) {
    snprintf(file.name, sizeof(file.name), "device-%u-%u.counters", device, next_file);
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof(path), "%s/%s", request.results, file.name);
    if (length <= 0 || length >= PATH_MAX) break;
    // Interrupted, it may have made the file or not: that number is left out.
    const int opened = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (opened >= 0) {
      ++next_file;
      ::close(opened);
      return true;
    }
    if (errno != EEXIST && errno != EINTR) break;
  }
  tell_counter_failure(thread, "no file can be made for what is measured");
  return false;
}

bool write_file(const ResultFile& file, const char* suffix, const void* bytes,
                std::size_t length) noexcept {
  char path[PATH_MAX];
  const int size = snprintf(path, sizeof(path), "%s/%s%s", request.results, file.name, suffix);
  if (size <= 0 || size >= PATH_MAX || exceeds_size_limit(length)) return false;
  Descriptor opened(open_descriptor(path, O_WRONLY | O_CREAT, 0666));
  if (!opened.valid()) return false;
  const bool is_written = write_whole(opened.get(), bytes, length);
  if (!is_written && ftruncate(opened.get(), 0) != 0) return false;
  return opened.close() && is_written;
}

void tell_session(ThreadRecorder& thread, std::uint32_t session, std::uint32_t device,
                  const ResultFile& file) noexcept {
  Record record(format::kCounterSession);
  record.add(session);
  record.add(device);
  record.add(thread.stream.intern(narrow_text(file.name)));
  thread.stream.append(record.words());
}

void tell_session_end(ThreadRecorder& thread, std::uint32_t session, std::size_t dropped,
                      std::uint32_t measured, bool is_last_pass) noexcept {
  Record record(format::kCounterSessionEnd);
  record.add(session);
  record.add(static_cast<std::uint32_t>(dropped));
  record.add(measured);
  record.add(is_last_pass ? 1 : 0);
  thread.stream.append(record.words());
}

}  // namespace region_recorder::gpu
