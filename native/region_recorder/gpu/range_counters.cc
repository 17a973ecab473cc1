#include "range_counters.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>

#include "../caller_state.hpp"
#include "../clock.hpp"
#include "../descriptor.hpp"
#include "../memory.hpp"
#include "../record.hpp"
#include "counter_request.hpp"

namespace region_recorder::gpu {

std::atomic<bool> is_counting{false};

namespace {

namespace range = cupti::range;

constexpr std::size_t kMostContexts = 32;
// Of one image of counter data; a further one follows.
constexpr std::uint32_t kRangesInImage = 1000;
constexpr std::size_t kMostImageBytes = std::size_t{1} << 30;
constexpr std::size_t kMostConfigBytes = std::size_t{256} << 20;
constexpr std::uint32_t kMostFiles = 100'000;

CounterRequest request;
const Subscription* subscription_in_use = nullptr;

const range::Functions& call() { return subscription_in_use->cupti().call.range; }

// One thread at a time calls CUPTI for counters, and nobody waits for another: a thread in CUPTI may wait for the GPU, or for a
// lock that a thread has which waits here.
std::atomic<bool> is_taken{false};
std::atomic<pthread_t> turn_of{};

class [[nodiscard]] Turn {
 public:
  explicit Turn(int attempts = 1) noexcept {
    while (is_taken.exchange(true, std::memory_order_acquire)) {
      if (--attempts <= 0) return;
      usleep(100);
    }
    is_mine_ = true;
    turn_of.store(pthread_self(), std::memory_order_relaxed);
  }
  ~Turn() {
    if (!is_mine_) return;
    turn_of.store(pthread_t{}, std::memory_order_relaxed);
    is_taken.store(false, std::memory_order_release);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  explicit operator bool() const noexcept { return is_mine_; }

 private:
  bool is_mine_ = false;
};

constexpr int kAttemptsAtEnd = 20'000;

// What one context measures into one image.
struct Session {
  cupti::Context context;
  bool is_refused;  // CUPTI said no, and is not asked again
  range::Object object;
  std::uint32_t number;  // in this process
  char file[64];
  FileContents config;
  std::uint8_t* image;
  std::size_t image_bytes;
  std::uint32_t ranges;  // measured in this image
};

// These belong to whose turn it is.
Session sessions[kMostContexts];
std::uint32_t last_number = 0;
std::uint32_t measured_ranges = 0;
std::uint32_t next_file = 0;
std::uint64_t last_beyond = 0;  // the last range that was not measured: see key_of
bool is_initialised = false;

// By session the range that is measured: see key_of; 0: none. Written by whose turn it is. A thread looks here without its turn, so
// that the end of another range neither waits for one nor takes it from a launch.
std::atomic<std::uint64_t> open_ranges[kMostContexts];
// What could not be measured, or not well.
std::atomic<std::uint32_t> missed_launches{0};
std::atomic<std::uint32_t> late_ends{0};
std::atomic<std::uint32_t> beyond_limit{0};

std::atomic<std::uint64_t>& open_range_of(const Session& session) {
  return open_ranges[&session - sessions];
}

// A range of a thread; never 0, since serials begin with 1.
std::uint64_t key_of(const ThreadRecorder& thread, std::uint32_t serial) {
  return std::uint64_t{thread.thread_id} << 32 | serial;
}

bool is_open_anywhere(std::uint64_t range) {
  for (const auto& open : open_ranges) {
    if (open.load(std::memory_order_relaxed) == range) return true;
  }
  return false;
}

void write_failure(ThreadRecorder& thread, cupti::Result result, const char* text) {
  Record record(format::kCounterFailure);
  record.add(static_cast<std::uint32_t>(result));
  record.add(thread.stream.intern(narrow_text(text)));
  thread.stream.append(record.words());
}

void write_failure_of_call(ThreadRecorder& thread, const char* function, cupti::Result result) {
  const char* name = nullptr;
  const cupti::Functions& cupti = subscription_in_use->cupti().call;
  if (cupti.GetResultString(result, &name) != cupti::kSuccess) name = nullptr;
  char text[256];
  snprintf(text, sizeof(text), "%s: %s", function, name == nullptr ? "unknown error" : name);
  write_failure(thread, result, text);
}

// Parameters of a function that takes an object alone.
range::ObjectParams params_of(const Session& session) {
  range::ObjectParams params{};
  params.struct_size = sizeof(params);
  params.object = session.object;
  return params;
}

void forget_image(Session& session) {
  if (session.image != nullptr) munmap(session.image, session.image_bytes);
  if (session.config.bytes != nullptr) munmap(session.config.bytes, session.config.length + 1);
  session.image = nullptr;
  session.config = {};
}

void refuse(Session& session) {
  open_range_of(session).store(0, std::memory_order_relaxed);
  if (session.object != nullptr) {
    range::ObjectParams params = params_of(session);
    static_cast<void>(call().RangeProfilerDisable(&params));
  }
  const cupti::Context context = session.context;
  forget_image(session);
  session = {};
  session.context = context;
  session.is_refused = true;
}

void refuse_for(ThreadRecorder& thread, Session& session, const char* text) {
  write_failure(thread, cupti::kSuccess, text);
  refuse(session);
}

void refuse_after(ThreadRecorder& thread, Session& session, const char* function,
                  cupti::Result result) {
  write_failure_of_call(thread, function, result);
  refuse(session);
}

// The name is the same in each pass: contexts and images are numbered as they come, over all processes of the run.
bool claim_file(Session& session, std::uint32_t device) {
  for (; next_file < kMostFiles; ++next_file) {
    snprintf(session.file, sizeof(session.file), "device-%u-%u.counters", device, next_file);
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof(path), "%s/%s", request.results, session.file);
    if (length <= 0 || length >= PATH_MAX) return false;
    // Interrupted, it may have made the file or not: that number is left out.
    const int opened = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (opened >= 0) {
      ++next_file;
      ::close(opened);
      return true;
    }
    if (errno != EEXIST && errno != EINTR) return false;
  }
  return false;
}

bool write_whole(int file, const std::uint8_t* bytes, std::size_t length) {
  std::size_t done = 0;
  while (done < length) {
    const ssize_t written = ::write(file, bytes + done, length - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    done += static_cast<std::size_t>(written);
  }
  return true;
}

// An empty file says that nothing came of it.
bool write_image(const Session& session) {
  char path[PATH_MAX];
  const int length = snprintf(path, sizeof(path), "%s/%s", request.results, session.file);
  if (length <= 0 || length >= PATH_MAX || exceeds_size_limit(session.image_bytes)) return false;
  Descriptor file(open_descriptor(path, O_WRONLY));
  if (!file.valid()) return false;
  const bool is_written = write_whole(file.get(), session.image, session.image_bytes);
  if (!is_written && ftruncate(file.get(), 0) != 0) return false;
  return file.close() && is_written;
}

const char* why_unsupported(const range::DeviceSupportedParams& answer) {
  const struct {
    range::SupportLevel level;
    const char* reason;
  } causes[] = {
      {answer.architecture, "the GPU is too old for counters of ranges: they need compute capability 7.5"},
      {answer.sli, "CUPTI has no counters while SLI is enabled"},
      {answer.virtual_gpu, "the virtual GPU does not allow profiling"},
      {answer.confidential_compute, "confidential computing does not allow profiling"},
      {answer.mining, "crypto mining GPUs do not allow profiling"},
      {answer.wsl, "this WSL (Windows Subsystem for Linux) does not allow profiling"},
  };
  for (const auto& cause : causes) {
    if (cause.level == range::kUnsupported || cause.level == range::kDisabled) return cause.reason;
  }
  return "CUPTI does not support counters of ranges on this GPU";
}

// What the chip's counters are configured by. False: told.
bool find_config(ThreadRecorder& thread, Session& session, std::uint32_t device) {
  cupti::host::GetChipNameParams chip{};
  chip.struct_size = sizeof(chip);
  chip.device = device;
  const cupti::Result result = call().DeviceGetChipName(&chip);
  if (result != cupti::kSuccess) {
    refuse_after(thread, session, "cuptiDeviceGetChipName", result);
    return false;
  }
  char path[PATH_MAX];
  const int length = snprintf(path, sizeof(path), "%s/%s.config", request.images,
                              chip.chip == nullptr ? "" : chip.chip);
  if (length > 0 && length < PATH_MAX) session.config = read_file(path, kMostConfigBytes);
  if (session.config.bytes != nullptr && session.config.length > 0) return true;
  char text[256];
  snprintf(text, sizeof(text), "there is no configuration of counters for chip %.64s",
           chip.chip == nullptr ? "(unknown)" : chip.chip);
  refuse_for(thread, session, text);
  return false;
}

bool check_device(ThreadRecorder& thread, Session& session, std::uint32_t device) {
  if (!is_initialised) {
    cupti::host::ProfilerInitializeParams initialise{};
    initialise.struct_size = sizeof(initialise);
    const cupti::Result result = call().ProfilerInitialize(&initialise);
    if (result != cupti::kSuccess) {
      refuse_after(thread, session, "cuptiProfilerInitialize", result);
      return false;
    }
    is_initialised = true;
  }
  range::DeviceSupportedParams support{};
  support.struct_size = range::kDeviceSupportedSize;
  support.device = static_cast<std::int32_t>(device);
  support.api = range::kRangeProfiling;
  const cupti::Result result = call().ProfilerDeviceSupported(&support);
  if (result != cupti::kSuccess) {
    refuse_after(thread, session, "cuptiProfilerDeviceSupported", result);
    return false;
  }
  if (support.supported == range::kSupported) return true;
  refuse_for(thread, session, why_unsupported(support));
  return false;
}

// Memory for what is measured; of a later pass with what the passes before it have measured. False: told.
bool make_image(ThreadRecorder& thread, Session& session) {
  range::GetCounterDataSizeParams size{};
  size.struct_size = sizeof(size);
  size.object = session.object;
  size.names = request.metrics;
  size.count = request.metric_count;
  size.most_ranges = kRangesInImage;
  size.most_nodes = kRangesInImage;
  cupti::Result result = call().RangeProfilerGetCounterDataSize(&size);
  if (result != cupti::kSuccess) {
    refuse_after(thread, session, "cuptiRangeProfilerGetCounterDataSize", result);
    return false;
  }
  if (size.bytes == 0 || size.bytes > kMostImageBytes) {
    refuse_for(thread, session, "cuptiRangeProfilerGetCounterDataSize tells of no size that can be right");
    return false;
  }
  if (request.previous != nullptr) {
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof(path), "%s/%s", request.previous, session.file);
    const FileContents before =
        length > 0 && length < PATH_MAX ? read_file(path, kMostImageBytes) : FileContents{};
    session.image = reinterpret_cast<std::uint8_t*>(before.bytes);
    session.image_bytes = before.length;
    if (before.bytes != nullptr && before.length == size.bytes) return true;
    refuse_for(thread, session, "the run for the pass before measured something else");
    return false;
  }
  session.image = static_cast<std::uint8_t*>(allocate_pages(size.bytes));
  session.image_bytes = size.bytes;
  if (session.image == nullptr) {
    refuse_for(thread, session, "there is no memory for what is measured");
    return false;
  }
  range::CounterDataImageInitializeParams initialise{};
  initialise.struct_size = sizeof(initialise);
  initialise.object = session.object;
  initialise.bytes = session.image_bytes;
  initialise.image = session.image;
  result = call().RangeProfilerCounterDataImageInitialize(&initialise);
  if (result == cupti::kSuccess) return true;
  refuse_after(thread, session, "cuptiRangeProfilerCounterDataImageInitialize", result);
  return false;
}

bool configure_and_start(ThreadRecorder& thread, Session& session) {
  range::SetConfigParams config{};
  config.struct_size = range::kSetConfigSize;
  config.object = session.object;
  config.config = reinterpret_cast<const std::uint8_t*>(session.config.bytes);
  config.config_bytes = session.config.length;
  config.image = session.image;
  config.image_bytes = session.image_bytes;
  config.range_mode = range::kUserRange;
  config.replay_mode = request.passes > 1 ? range::kApplicationReplay : range::kUserReplay;
  config.most_ranges = kRangesInImage;
  config.nesting_levels = 1;
  config.first_nesting_level = 1;
  config.pass = request.pass;
  config.target_nesting_level = 1;
  cupti::Result result = call().RangeProfilerSetConfig(&config);
  if (result != cupti::kSuccess) {
    refuse_after(thread, session, "cuptiRangeProfilerSetConfig", result);
    return false;
  }
  range::ObjectParams start = params_of(session);
  result = call().RangeProfilerStart(&start);
  if (result == cupti::kSuccess) return true;
  refuse_after(thread, session, "cuptiRangeProfilerStart", result);
  return false;
}

// Null where there are too many contexts. Else it may be refused.
Session* begin_session(ThreadRecorder& thread, cupti::Context context) {
  Session* free = nullptr;
  for (Session& session : sessions) {
    if (session.context == context) free = &session;
    else if (session.context == nullptr && free == nullptr) free = &session;
  }
  if (free == nullptr) return nullptr;
  Session& session = *free;
  session = {};
  session.context = context;
  std::uint32_t device = 0;
  cupti::Result result = call().GetDeviceId(context, &device);
  if (result != cupti::kSuccess) {
    refuse_after(thread, session, "cuptiGetDeviceId", result);
    return free;
  }
  if (!check_device(thread, session, device) || !find_config(thread, session, device)) return free;
  if (!claim_file(session, device)) {
    refuse_for(thread, session, "no file can be made for what is measured");
    return free;
  }
  range::EnableParams enable{};
  enable.struct_size = sizeof(enable);
  enable.context = context;
  result = call().RangeProfilerEnable(&enable);
  if (result != cupti::kSuccess) {
    refuse_after(thread, session, "cuptiRangeProfilerEnable", result);
    return free;
  }
  session.object = enable.object;
  if (!make_image(thread, session) || !configure_and_start(thread, session)) return free;
  session.number = ++last_number;
  Record record(format::kCounterSession);
  record.add(session.number);
  record.add(device);
  record.add(thread.stream.intern(narrow_text(session.file)));
  thread.stream.append(record.words());
  return free;
}

// False: told, and nothing more is measured in this context.
bool close_range(ThreadRecorder& thread, Session& session) {
  if (open_range_of(session).exchange(0, std::memory_order_relaxed) == 0) return true;
  range::ObjectParams params = params_of(session);
  const cupti::Result result = call().RangeProfilerPopRange(&params);
  if (result == cupti::kSuccess) return true;
  refuse_after(thread, session, "cuptiRangeProfilerPopRange", result);
  return false;
}

void finish_session(ThreadRecorder& thread, Session& session) {
  if (session.object == nullptr || !close_range(thread, session)) return;
  range::StopParams stop{};
  stop.struct_size = range::kStopSize;
  stop.object = session.object;
  cupti::Result result = call().RangeProfilerStop(&stop);
  if (result != cupti::kSuccess)
    return refuse_after(thread, session, "cuptiRangeProfilerStop", result);
  range::DecodeDataParams decode{};
  decode.struct_size = sizeof(decode);
  decode.object = session.object;
  result = call().RangeProfilerDecodeData(&decode);
  if (result != cupti::kSuccess)
    return refuse_after(thread, session, "cuptiRangeProfilerDecodeData", result);
  range::ObjectParams disable = params_of(session);
  result = call().RangeProfilerDisable(&disable);
  session.object = nullptr;
  if (result != cupti::kSuccess)
    return refuse_after(thread, session, "cuptiRangeProfilerDisable", result);
  if (!write_image(session)) return refuse_for(thread, session, "what was measured could not be written");
  Record record(format::kCounterSessionEnd);
  record.add(session.number);
  record.add(static_cast<std::uint32_t>(decode.dropped));
  record.add(session.ranges);
  record.add(stop.is_last != 0 ? 1 : 0);
  thread.stream.append(record.words());
  forget_image(session);
  session = {};
}

void open_range(ThreadRecorder& thread, Session& session, const OpenRanges::Range& target) {
  char name[16];
  snprintf(name, sizeof(name), "%u", session.ranges + 1);
  range::PushRangeParams push{};
  push.struct_size = sizeof(push);
  push.object = session.object;
  push.name = name;
  const cupti::Result result = call().RangeProfilerPushRange(&push);
  if (result != cupti::kSuccess)
    return refuse_after(thread, session, "cuptiRangeProfilerPushRange", result);
  ++session.ranges;
  ++measured_ranges;
  open_range_of(session).store(key_of(thread, target.serial), std::memory_order_relaxed);
  Record record(format::kCounterRange);
  record.add(0);
  record.add(session.number);
  record.add(session.ranges);
  record.add(thread.open_ranges.position(target));
  thread.stream.append_at(now_ns(), record.words());
}

bool is_open_in(const Session& session, const ThreadRecorder& thread,
                const OpenRanges::Range& target) {
  return open_range_of(session).load(std::memory_order_relaxed) == key_of(thread, target.serial);
}

Session* session_of(cupti::Context context) {
  for (Session& session : sessions) {
    if (session.context == context) return &session;
  }
  return nullptr;
}

// The range of this thread takes its turn in this context, or none does.
void switch_range(ThreadRecorder& thread, cupti::Context context, const OpenRanges::Range* target) {
  Session* session = session_of(context);
  if (session == nullptr && target == nullptr) return;
  if (session != nullptr) {
    if (session->is_refused) return;
    if (target != nullptr && is_open_in(*session, thread, *target)) return;
    if (!close_range(thread, *session) || target == nullptr) return;
  }
  if (measured_ranges >= request.most_ranges) {
    const std::uint64_t range = key_of(thread, target->serial);
    if (range != last_beyond) beyond_limit.fetch_add(1);
    last_beyond = range;
    return;
  }
  if (session != nullptr && session->ranges == kRangesInImage) {
    finish_session(thread, *session);
    if (session->is_refused) return;
    session = nullptr;
  }
  if (session == nullptr) session = begin_session(thread, context);
  if (session != nullptr && !session->is_refused) open_range(thread, *session, *target);
}

}  // namespace

void prepare_counters() noexcept {
  const char* const path = getenv(kCountersVariable);
  if (path == nullptr || *path == '\0') return;
  if (request.read(path)) is_counting.store(true);
}

void open_counted_range(ThreadRecorder& thread, std::uint32_t domain, const Text& domain_name,
                        const Text& name) noexcept {
  const OpenRanges::Range* const around = thread.open_ranges.innermost();
  OpenRanges::Range opened{};
  opened.domain = domain;
  opened.is_included = (around != nullptr && around->is_included) || request.includes(domain_name, name);
  opened.is_excluded = (around != nullptr && around->is_excluded) || request.excludes(domain_name, name);
  opened.is_operation = request.is_operation(domain_name);
  thread.open_ranges.push(opened);
}

void close_counted_range(ThreadRecorder& thread, std::uint32_t domain) noexcept {
  const std::uint32_t serial = thread.open_ranges.pop(domain);
  if (serial == 0) return;
  const std::uint64_t range = key_of(thread, serial);
  if (!is_open_anywhere(range)) return;
  const Turn turn;
  if (!turn) {
    // It ends with the next launch.
    late_ends.fetch_add(1);
    return;
  }
  for (Session& session : sessions) {
    if (open_range_of(session).load(std::memory_order_relaxed) != range) continue;
    const KeptCallerState kept;
    static_cast<void>(close_range(thread, session));
  }
}

bool begin_counters(const Subscription& subscription) noexcept {
  subscription_in_use = &subscription;
  if (call().RangeProfilerEnable != nullptr) return true;
  CurrentThread thread;
  if (thread) {
    write_failure(*thread.operator->(), cupti::kSuccess,
                  "this CUPTI has no Range Profiler, which came with CUDA 12.6");
  }
  return false;
}

bool is_calling_cupti() noexcept {
  return pthread_equal(turn_of.load(std::memory_order_relaxed), pthread_self()) != 0;
}

void count_work(ThreadRecorder& thread, cupti::Context context) noexcept {
  if (context == nullptr) return;
  const OpenRanges::Range* const target = thread.open_ranges.measured(request.level);
  const Turn turn;
  if (!turn) {
    if (target != nullptr) missed_launches.fetch_add(1);
    return;
  }
  const KeptCallerState kept;
  switch_range(thread, context, target);
}

void finish_counters() noexcept {
  CurrentThread thread;
  if (!thread) return;
  const Turn turn(kAttemptsAtEnd);
  if (!turn) return write_failure(*thread.operator->(), cupti::kSuccess, "another thread did not come out of CUPTI");
  for (Session& session : sessions) finish_session(*thread.operator->(), session);
}

void end_counters() noexcept {
  finish_counters();
  is_counting.store(false);
  CurrentThread thread;
  if (!thread) return;
  Record record(format::kCounterTally);
  record.add(missed_launches.load());
  record.add(late_ends.load());
  record.add(beyond_limit.load());
  thread->stream.append(record.words());
}

void forget_counters() noexcept {
  // CUDA does not survive a fork, nor do the parent's sessions.
  if (subscription_in_use != nullptr) is_counting.store(false);
}

}  // namespace region_recorder::gpu
