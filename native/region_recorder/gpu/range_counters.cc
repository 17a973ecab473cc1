#include "range_counters.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstdio>

#include "../caller_state.hpp"
#include "../clock.hpp"
#include "../memory.hpp"
#include "../record.hpp"
#include "counting.hpp"

namespace region_recorder::gpu {
namespace {

namespace range = cupti::range;

constexpr std::size_t kMostContexts = 32;
// Of one image of counter data; a further one follows.
constexpr std::uint32_t kRangesInImage = 1000;

const range::Functions& call() { return counting_calls().range; }

// What one context measures into one image.
struct Session {
  cupti::Context context;
  bool is_refused;  // CUPTI said no, and is not asked again
  range::Object object;
  std::uint32_t number;  // in this process
  ResultFile file;
  FileContents config;
  std::uint8_t* image;
  std::size_t image_bytes;
  std::uint32_t ranges;  // measured in this image
};

// These belong to whose turn it is.
Session sessions[kMostContexts];
std::uint32_t last_number = 0;
std::uint32_t measured_ranges = 0;
std::uint64_t last_beyond = 0;  // the last range that was not measured: see key_of

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

// Parameters of a function that takes an object alone.
range::ObjectParams params_of(const Session& session) {
  range::ObjectParams params{};
  params.struct_size = sizeof(params);
  params.object = session.object;
  return params;
}

void forget_image(Session& session) {
  if (session.image != nullptr) munmap(session.image, session.image_bytes);
  session.image = nullptr;
  release(session.config);
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
  tell_counter_failure(thread, text);
  refuse(session);
}

void refuse_after(ThreadRecorder& thread, Session& session, const char* function,
                  cupti::Result result) {
  tell_counter_failure(thread, function, result);
  refuse(session);
}

// Memory for what is measured; of a later pass with what the passes before it have measured. False: told.
bool make_image(ThreadRecorder& thread, Session& session) {
  range::GetCounterDataSizeParams size{};
  size.struct_size = sizeof(size);
  size.object = session.object;
  size.names = counter_request().metrics;
  size.count = counter_request().metric_count;
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
  const char* const previous = counter_request().previous;
  if (previous != nullptr) {
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof(path), "%s/%s", previous, session.file.name);
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
  config.replay_mode = counter_request().passes > 1 ? range::kApplicationReplay : range::kUserReplay;
  config.most_ranges = kRangesInImage;
  config.nesting_levels = 1;
  config.first_nesting_level = 1;
  config.pass = counter_request().pass;
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
  const char* chip = nullptr;
  if (!check_device(thread, device, range::kRangeProfiling) || !find_chip(thread, device, chip) ||
      !find_config(thread, chip, session.config) || !claim_file(thread, device, session.file)) {
    refuse(session);
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
  tell_session(thread, session.number, device, session.file);
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
  if (!write_file(session.file, "", session.image, session.image_bytes))
    return refuse_for(thread, session, "what was measured could not be written");
  tell_session_end(thread, session.number, decode.dropped, session.ranges, stop.is_last != 0);
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
  if (measured_ranges >= counter_request().most_ranges) {
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

void open_counted_range(ThreadRecorder& thread, std::uint32_t domain, const Text& domain_name,
                        const Text& name) noexcept {
  const OpenRanges::Range* const around = thread.open_ranges.innermost();
  OpenRanges::Range opened{};
  opened.domain = domain;
  opened.is_included = (around != nullptr && around->is_included) || counter_request().includes(domain_name, name);
  opened.is_excluded = (around != nullptr && around->is_excluded) || counter_request().excludes(domain_name, name);
  opened.is_operation = counter_request().is_operation(domain_name);
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

bool begin_range_counters() noexcept {
  if (call().RangeProfilerEnable != nullptr) return true;
  CurrentThread thread;
  if (thread) {
    tell_counter_failure(*thread.operator->(),
                         "this CUPTI has no Range Profiler, which came with CUDA 12.6");
  }
  return false;
}

void count_range_work(ThreadRecorder& thread, cupti::Context context) noexcept {
  const OpenRanges::Range* const target = thread.open_ranges.measured(counter_request().level);
  const Turn turn;
  if (!turn) {
    if (target != nullptr) missed_launches.fetch_add(1);
    return;
  }
  const KeptCallerState kept;
  switch_range(thread, context, target);
}

void finish_range_counters() noexcept {
  CurrentThread thread;
  if (!thread) return;
  const Turn turn(kAttemptsAtEnd);
  if (!turn) return tell_counter_failure(*thread.operator->(), "another thread did not come out of CUPTI");
  for (Session& session : sessions) finish_session(*thread.operator->(), session);
}

void end_range_counters() noexcept {
  finish_range_counters();
  CurrentThread thread;
  if (!thread) return;
  Record record(format::kCounterTally);
  record.add(missed_launches.load());
  record.add(late_ends.load());
  record.add(beyond_limit.load());
  thread->stream.append(record.words());
}

}  // namespace region_recorder::gpu
