#include "device_samples.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <utility>

#include "../caller_state.hpp"
#include "../clock.hpp"
#include "../memory.hpp"
#include "../record.hpp"
#include "counting.hpp"

namespace region_recorder::gpu {
namespace {

namespace sampling = cupti::sampling;

constexpr std::size_t kMostDevices = 32;
constexpr std::size_t kMostContexts = 64;
// Of one image of counter data; a further one follows.
constexpr std::uint32_t kSamplesInImage = 10'000;
// What the device may write before it is read: as CUPTI's own bindings have it.
constexpr std::size_t kBufferBytes = std::size_t{512} << 20;
// Of one emptying: each fills an image.
constexpr int kMostImages = 1'000;
// Of a launch that begins the sampling: five milliseconds, once in a context.
constexpr int kAttemptsToBegin = 50;

const sampling::Functions& call() { return counting_calls().sampling; }

struct Sample {
  std::uint64_t start;
  std::uint64_t end;
};

// The sampling of one device, into one image.
struct Session {
  bool is_used;
  bool is_refused;  // CUPTI said no, or there are enough samples
  std::uint32_t device;
  sampling::Object object;
  std::uint32_t number;  // of the image, in this process
  ResultFile file;
  FileContents config;
  std::uint8_t* image;
  std::size_t image_bytes;
  Sample* times;
  std::uint32_t overflows;  // since the last image
  std::uint32_t samples;    // of all images
};

// These belong to whose turn it is.
Session sessions[kMostDevices];
cupti::Context known_contexts[kMostContexts];
std::size_t known_count = 0;
std::uint32_t last_number = 0;
std::uint32_t beyond_limit = 0;
bool is_over = false;

// Of the last launch: nearly always that of the next one.
std::atomic<cupti::Context> last_context{nullptr};

sampling::ObjectParams params_of(const Session& session) {
  return {sizeof(sampling::ObjectParams), nullptr, session.object};
}

void release_memory(Session& session) {
  if (session.image != nullptr) munmap(session.image, session.image_bytes);
  if (session.times != nullptr) munmap(session.times, kSamplesInImage * sizeof(Sample));
  session.image = nullptr;
  session.times = nullptr;
  release(session.config);
}

void refuse(Session& session) {
  if (session.object != nullptr) {
    sampling::ObjectParams params = params_of(session);
    static_cast<void>(call().PmSamplingDisable(&params));
  }
  session.object = nullptr;
  release_memory(session);
  session.is_refused = true;
}

// These are false, so that callers can return them.
bool refuse_for(ThreadRecorder& thread, Session& session, const char* text) {
  tell_counter_failure(thread, text);
  refuse(session);
  return false;
}

bool refuse_after(ThreadRecorder& thread, Session& session, const char* function,
                  cupti::Result result) {
  tell_counter_failure(thread, function, result);
  refuse(session);
  return false;
}

// By the headers: these chips have no trigger by time.
bool has_time_trigger(const char* chip) {
  return std::strncmp(chip, "TU", 2) != 0 && std::strcmp(chip, "GA100") != 0;
}

bool configure(ThreadRecorder& thread, Session& session, sampling::TriggerMode trigger) {
  sampling::SetConfigParams config{};
  const bool is_cuda_12 = counting_version() < sampling::kVersionOfCuda13;
  config.struct_size = is_cuda_12 ? sampling::kSetConfigSizeOfCuda12 : sampling::kSetConfigSize;
  config.object = session.object;
  config.config = reinterpret_cast<const std::uint8_t*>(session.config.bytes);
  config.config_bytes = session.config.length;
  config.buffer_bytes = kBufferBytes;
  // System clocks are about as fast as one cycle a nanosecond, or faster.
  config.interval = counter_request().interval_ns;
  config.trigger = trigger;
  config.append = sampling::kKeepOldest;
  const cupti::Result result = call().PmSamplingSetConfig(&config);
  return result == cupti::kSuccess ||
         refuse_after(thread, session, "cuptiPmSamplingSetConfig", result);
}

bool make_image(ThreadRecorder& thread, Session& session) {
  sampling::GetCounterDataSizeParams size{};
  size.struct_size = sizeof(size);
  size.object = session.object;
  size.names = counter_request().metrics;
  size.count = counter_request().metric_count;
  size.most_samples = kSamplesInImage;
  const cupti::Result result = call().PmSamplingGetCounterDataSize(&size);
  if (result != cupti::kSuccess)
    return refuse_after(thread, session, "cuptiPmSamplingGetCounterDataSize", result);
  if (size.bytes == 0 || size.bytes > kMostImageBytes)
    return refuse_for(thread, session,
                      "cuptiPmSamplingGetCounterDataSize tells of no size that can be right");
  session.image = static_cast<std::uint8_t*>(allocate_pages(size.bytes));
  session.image_bytes = size.bytes;
  session.times = static_cast<Sample*>(allocate_pages(kSamplesInImage * sizeof(Sample)));
  return (session.image != nullptr && session.times != nullptr) ||
         refuse_for(thread, session, "there is no memory for what is measured");
}

// An image without samples, and a file for it.
bool begin_image(ThreadRecorder& thread, Session& session) {
  if (!claim_file(thread, session.device, session.file)) {
    refuse(session);
    return false;
  }
  sampling::CounterDataImageInitializeParams initialise{};
  initialise.struct_size = sizeof(initialise);
  initialise.object = session.object;
  initialise.bytes = session.image_bytes;
  initialise.image = session.image;
  const cupti::Result result = call().PmSamplingCounterDataImageInitialize(&initialise);
  if (result != cupti::kSuccess)
    return refuse_after(thread, session, "cuptiPmSamplingCounterDataImageInitialize", result);
  session.number = ++last_number;
  tell_session(thread, session.number, session.device, session.file);
  return true;
}

bool start(ThreadRecorder& thread, Session& session) {
  sampling::ObjectParams params = params_of(session);
  const cupti::Result result = call().PmSamplingStart(&params);
  return result == cupti::kSuccess ||
         refuse_after(thread, session, "cuptiPmSamplingStart", result);
}

bool stop(ThreadRecorder& thread, Session& session) {
  sampling::ObjectParams params = params_of(session);
  const cupti::Result result = call().PmSamplingStop(&params);
  return result == cupti::kSuccess ||
         refuse_after(thread, session, "cuptiPmSamplingStop", result);
}

void tell_sampling(ThreadRecorder& thread, const Session& session, sampling::TriggerMode trigger) {
  Record record(format::kSampling);
  record.add(0);
  record.add(session.device);
  record.add(static_cast<std::uint32_t>(trigger));
  record.add64(counter_request().interval_ns);
  const std::uint64_t now = now_ns();
  record.add64(nanoseconds(CLOCK_REALTIME) - now);
  thread.stream.append_at(now, record.words());
}

void begin_session(ThreadRecorder& thread, Session& session, std::uint32_t device) {
  session = {};
  session.is_used = true;
  session.device = device;
  const char* chip = nullptr;
  if (!check_device(thread, device, cupti::range::kPmSampling) ||
      !find_chip(thread, device, chip) || !find_config(thread, chip, session.config)) {
    return refuse(session);
  }
  sampling::EnableParams enable{sizeof(enable), nullptr, device, nullptr};
  const cupti::Result result = call().PmSamplingEnable(&enable);
  if (result != cupti::kSuccess)
    return static_cast<void>(refuse_after(thread, session, "cuptiPmSamplingEnable", result));
  session.object = enable.object;
  const sampling::TriggerMode trigger =
      has_time_trigger(chip) ? sampling::kTimeInterval : sampling::kClockInterval;
  if (!configure(thread, session, trigger) || !make_image(thread, session) ||
      !begin_image(thread, session)) {
    return;
  }
  tell_sampling(thread, session, trigger);
  static_cast<void>(start(thread, session));
}

// Writes the image and the times of its samples.
bool finish_image(ThreadRecorder& thread, Session& session) {
  sampling::GetCounterDataInfoParams info{};
  info.struct_size = sizeof(info);
  info.image = session.image;
  info.bytes = session.image_bytes;
  cupti::Result result = call().PmSamplingGetCounterDataInfo(&info);
  if (result != cupti::kSuccess)
    return refuse_after(thread, session, "cuptiPmSamplingGetCounterDataInfo", result);
  if (info.completed > kSamplesInImage)
    return refuse_for(thread, session, "cuptiPmSamplingGetCounterDataInfo tells of more samples than there can be");
  for (std::size_t i = 0; i < info.completed; ++i) {
    sampling::GetSampleInfoParams sample{};
    sample.struct_size = sizeof(sample);
    sample.object = session.object;
    sample.image = session.image;
    sample.bytes = session.image_bytes;
    sample.index = i;
    result = call().PmSamplingCounterDataGetSampleInfo(&sample);
    if (result != cupti::kSuccess)
      return refuse_after(thread, session, "cuptiPmSamplingCounterDataGetSampleInfo", result);
    session.times[i] = {sample.start, sample.end};
  }
  const auto samples = static_cast<std::uint32_t>(info.completed);
  if (!write_file(session.file, ".times", session.times, samples * sizeof(Sample)) ||
      !write_file(session.file, "", session.image, session.image_bytes)) {
    return refuse_for(thread, session, "what was measured could not be written");
  }
  tell_session_end(thread, session.number, std::exchange(session.overflows, 0), samples, true);
  session.samples += samples;
  return true;
}

// The device's buffer is empty then. False: told, and the device is sampled no more.
bool decode(ThreadRecorder& thread, Session& session, bool goes_on) {
  for (int i = 0; i < kMostImages; ++i) {
    sampling::DecodeDataParams params{};
    params.struct_size = sampling::kDecodeDataSize;
    params.object = session.object;
    params.image = session.image;
    params.bytes = session.image_bytes;
    const cupti::Result result = call().PmSamplingDecodeData(&params);
    const bool is_full = result == cupti::kOutOfMemory;
    if (result != cupti::kSuccess && !is_full)
      return refuse_after(thread, session, "cuptiPmSamplingDecodeData", result);
    if (is_full || params.overflow != 0) ++session.overflows;
    // What the device had no room for is lost: it begins anew.
    if (is_full) return !goes_on || (stop(thread, session) && start(thread, session));
    if (params.stop_reason != sampling::kImageFull) return true;
    if (!finish_image(thread, session) || !begin_image(thread, session)) return false;
  }
  return true;
}

void end_session(ThreadRecorder& thread, Session& session) {
  if (!session.is_used || session.is_refused) return;
  if (!stop(thread, session) || !decode(thread, session, false) || !finish_image(thread, session))
    return;
  sampling::ObjectParams disable = params_of(session);
  const cupti::Result result = call().PmSamplingDisable(&disable);
  session.object = nullptr;
  if (result != cupti::kSuccess)
    return static_cast<void>(refuse_after(thread, session, "cuptiPmSamplingDisable", result));
  refuse(session);
}

bool is_known(cupti::Context context) {
  for (std::size_t i = 0; i < known_count; ++i) {
    if (known_contexts[i] == context) return true;
  }
  return false;
}

void enter_context(ThreadRecorder& thread, cupti::Context context) {
  if (known_count == kMostContexts) return;
  known_contexts[known_count++] = context;
  std::uint32_t device = 0;
  const cupti::Result result = counting_calls().range.GetDeviceId(context, &device);
  if (result != cupti::kSuccess) return tell_counter_failure(thread, "cuptiGetDeviceId", result);
  Session* free = nullptr;
  for (Session& session : sessions) {
    if (session.is_used && session.device == device) return;
    if (!session.is_used && free == nullptr) free = &session;
  }
  if (free != nullptr) begin_session(thread, *free, device);
}

}  // namespace

bool begin_device_samples() noexcept {
  if (call().PmSamplingEnable != nullptr && counting_calls().range.GetDeviceId != nullptr)
    return true;
  CurrentThread thread;
  if (thread) {
    tell_counter_failure(*thread.operator->(),
                         "this CUPTI has no PM Sampling, which came with CUDA 12.6");
  }
  return false;
}

void sample_device_of(ThreadRecorder& thread, cupti::Context context) noexcept {
  if (last_context.load(std::memory_order_relaxed) == context) return;
  // Without a turn the next launch begins the sampling.
  const Turn turn(kAttemptsToBegin);
  if (!turn || is_over) return;
  const KeptCallerState kept;
  if (!is_known(context)) enter_context(thread, context);
  last_context.store(context, std::memory_order_relaxed);
}

void forget_sampled_contexts() noexcept {
  const Turn turn(kAttemptsAtEnd);
  if (!turn) return;
  known_count = 0;
  last_context.store(nullptr, std::memory_order_relaxed);
}

void decode_device_samples() noexcept {
  CurrentThread thread;
  if (!thread) return;
  const Turn turn;
  if (!turn || is_over) return;
  for (Session& session : sessions) {
    if (!session.is_used || session.is_refused) continue;
    if (!decode(*thread.operator->(), session, true)) continue;
    if (session.samples < counter_request().most_ranges) continue;
    ++beyond_limit;
    end_session(*thread.operator->(), session);
  }
}

void end_device_samples() noexcept {
  CurrentThread thread;
  if (!thread) return;
  const Turn turn(kAttemptsAtEnd);
  if (!turn)
    return tell_counter_failure(*thread.operator->(), "another thread did not come out of CUPTI");
  is_over = true;
  for (Session& session : sessions) end_session(*thread.operator->(), session);
  Record record(format::kCounterTally);
  record.add(0);
  record.add(0);
  record.add(beyond_limit);
  thread->stream.append(record.words());
}

}  // namespace region_recorder::gpu
