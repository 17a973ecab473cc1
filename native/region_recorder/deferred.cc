// Samples of counters, and events that the program hands over after they happened, with the clocks of their time stamps.
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include "caller_state.hpp"
#include "clock.hpp"
#include "definitions.hpp"
#include "memory.hpp"
#include "payloads.hpp"
#include "process.hpp"
#include "record.hpp"

namespace region_recorder {
namespace {

namespace protocol = nvtx::protocol;
namespace payload = nvtx::protocol::payload;
using protocol::DomainHandle;

// A function of the program that reads one of its clocks. Kept as long as the process lives.
struct Timer {
  DomainHandle domain;
  std::uint64_t time_domain;
  std::int64_t (*read)();
  std::int64_t (*read_with_data)(void*);
  void* data;
  std::atomic<std::uint64_t> read_ns;  // when it was read last
  Timer* older;
};

// Clocks drift little in this time, and reading all of them takes as long as some events.
constexpr std::uint64_t kBetweenReadings = 10'000'000;

Arena arena;
std::atomic<Timer*> newest_timer{nullptr};
std::atomic<std::uint64_t> clocks_read_ns{0};

std::uint32_t id_of(const Domain* domain) {
  return domain == nullptr ? format::kDefaultDomain : domain->id;
}

// Whether it is this thread's turn to read.
bool is_due(std::atomic<std::uint64_t>& last, std::uint64_t now) {
  std::uint64_t before = last.load(std::memory_order_relaxed);
  return (before == 0 || now - before >= kBetweenReadings) &&
         last.compare_exchange_strong(before, now, std::memory_order_relaxed);
}

void write_pair(CurrentThread& thread, DomainHandle handle, std::uint64_t first, std::uint64_t second,
                std::int64_t first_time, std::int64_t second_time) {
  const Domain* const domain = domain_of(handle);
  if (domain != nullptr) thread->stream.introduce_domain(domain->id, domain->name);
  Record record(format::kClockPair);
  record.add(id_of(domain));
  record.add64(first);
  record.add64(second);
  record.add64(static_cast<std::uint64_t>(first_time));
  record.add64(static_cast<std::uint64_t>(second_time));
  thread->stream.append(record.words());
}

std::int64_t signed_nanoseconds(clockid_t clock) {
  return static_cast<std::int64_t>(nanoseconds(clock));
}

// Other clocks of this machine beside ours: batches may be of any.
void read_clocks(CurrentThread& thread) {
  if (!is_due(clocks_read_ns, now_ns())) return;
  const auto pair = [&thread](std::uint64_t type, std::int64_t time) {
    write_pair(thread, nullptr, type, payload::kMonotonic, time, static_cast<std::int64_t>(now_ns()));
  };
  pair(payload::kRealtime, signed_nanoseconds(CLOCK_REALTIME));
#if defined(__linux__)
  pair(payload::kMonotonicRaw, signed_nanoseconds(CLOCK_MONOTONIC_RAW));
  pair(payload::kBootTime, signed_nanoseconds(CLOCK_BOOTTIME));
#endif
  if (!may_read_counter()) return;
#if defined(__x86_64__)
  pair(payload::kProcessorClock, static_cast<std::int64_t>(__builtin_ia32_rdtsc()));
#elif defined(__aarch64__)
  std::int64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  pair(payload::kProcessorClock, ticks);
#endif
}

struct Reading {
  std::int64_t theirs;
  std::int64_t ours;
};

// Outside every event of this thread: it is the program's function, and may call NVTX.
Reading read_timer(const Timer& timer) {
  const std::int64_t theirs =
      timer.read != nullptr ? timer.read() : timer.read_with_data(timer.data);
  return {theirs, static_cast<std::int64_t>(now_ns())};
}

void write_reading(const Timer& timer, const Reading& reading) {
  CurrentThread thread;
  if (thread) {
    write_pair(thread, timer.domain, timer.time_domain, payload::kMonotonic, reading.theirs, reading.ours);
  }
}

void read_timers(DomainHandle domain) {
  for (Timer* timer = newest_timer.load(std::memory_order_acquire); timer != nullptr; timer = timer->older) {
    if (timer->domain != domain || !is_due(timer->read_ns, now_ns())) continue;
    write_reading(*timer, read_timer(*timer));
  }
}

void add_timer(DomainHandle domain, std::uint64_t time_domain, std::int64_t (*read)(),
               std::int64_t (*read_with_data)(void*), void* data) {
  if (read == nullptr && read_with_data == nullptr) return;
  void* const memory = arena.allocate(sizeof(Timer));
  if (memory == nullptr) return;
  auto* const timer = new (memory) Timer{domain, time_domain, read, read_with_data, data, {now_ns()}, nullptr};
  timer->older = newest_timer.load(std::memory_order_acquire);
  while (!newest_timer.compare_exchange_weak(timer->older, timer, std::memory_order_acq_rel)) {
  }
  write_reading(*timer, read_timer(*timer));
}

// Into a stream that has all definitions.
void write_deferred(CurrentThread& thread, DomainHandle domain, std::uint64_t scope,
                    const Payloads& payloads) {
  const std::uint32_t written = write_payloads(thread, domain, payloads, PayloadTexts::kAll);
  Record record(format::kDeferred);
  record.add(id_of(domain_of(domain)));
  record.add64(scope);
  record.add(written);
  if (!thread->stream.append(record.words())) count_dropped();
}

void begin_batch(CurrentThread& thread, DomainHandle handle) {
  const Domain* const domain = domain_of(handle);
  if (domain != nullptr) thread->stream.introduce_domain(domain->id, domain->name);
  thread->stream.introduce_definitions();
  read_clocks(thread);
}

void write_sample(DomainHandle handle, std::uint64_t counter, format::SampleKind kind,
                  const void* bytes, std::size_t size) {
  const KeptErrno kept;
  const std::uint64_t time = event_time();
  if (size > format::kMaxPayloadBytes) size = format::kMaxPayloadBytes;
  CurrentThread thread;
  if (!thread) return;
  const Domain* const domain = domain_of(handle);
  if (domain != nullptr) thread->stream.introduce_domain(domain->id, domain->name);
  thread->stream.introduce_definitions();
  Record record(format::kSample);
  record.add(0);
  record.add64(counter);
  record.add(id_of(domain));
  record.add(kind);
  record.add(static_cast<std::uint32_t>(size));
  if (!thread->stream.append_at(time, record.words_before(size), bytes, size)) count_dropped();
}

// The time stamp of each sample; false where they stand in the samples themselves, if anywhere.
class BatchTimes {
 public:
  explicit BatchTimes(const payload::CounterBatch& batch, std::size_t samples) noexcept
      : batch_(batch), samples_(samples) {
    const std::size_t stamps = batch.timestamps == nullptr ? 0 : batch.timestamps_size / sizeof(std::int64_t);
    is_interval_ = (batch.flags & (payload::kBeginAndInterval | payload::kEndAndInterval)) != 0;
    is_known_ = stamps >= (is_interval_ ? 2 : samples) && stamps != 0;
  }
  bool is_known() const noexcept { return is_known_; }
  std::int64_t of(std::size_t i) const noexcept {
    if (!is_interval_) return batch_.timestamps[i];
    const auto steps = (batch_.flags & payload::kEndAndInterval) != 0
                           ? static_cast<std::int64_t>(i) - static_cast<std::int64_t>(samples_ - 1)
                           : static_cast<std::int64_t>(i);
    // Unsigned, since the program's numbers may be any.
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(batch_.timestamps[0]) +
                                     static_cast<std::uint64_t>(steps) *
                                         static_cast<std::uint64_t>(batch_.timestamps[1]));
  }

 private:
  const payload::CounterBatch& batch_;
  std::size_t samples_;
  bool is_interval_;
  bool is_known_;
};

// Bytes of one sample of a counter: see define_counter for the words.
std::size_t sample_bytes(DomainHandle handle, std::uint64_t counter) {
  const Domain* const domain = domain_of(handle);
  for (const Definition* each = newest_definition(); each != nullptr; each = each->older) {
    const std::uint32_t* const words = each->words;
    if ((words[0] & 0xff) != format::kCounter || each->domain != domain) continue;
    if (words[3] != format::low_half(counter) || words[4] != format::high_half(counter)) continue;
    const std::uint64_t schema = words[5] | std::uint64_t{words[6]} << 32;
    const KnownSchema* const known = find_schema(handle, schema);
    return known != nullptr ? known->static_size : info_of(schema).size;
  }
  return 0;
}

// What the extensions call.
namespace calls {

std::int64_t timestamp_get() noexcept { return static_cast<std::int64_t>(event_time()); }

std::uint64_t time_domain_register(DomainHandle domain, const payload::TimeDomain* time) noexcept {
  const KeptErrno kept;
  return time == nullptr ? 0 : define_time_domain(domain, *time);
}

void timer_source(DomainHandle domain, std::uint64_t time_domain, std::uint64_t,
                  std::int64_t (*read)()) noexcept {
  const KeptErrno kept;
  add_timer(domain, time_domain, read, nullptr, nullptr);
}

void timer_source_with_data(DomainHandle domain, std::uint64_t time_domain, std::uint64_t,
                            std::int64_t (*read)(void*), void* data) noexcept {
  const KeptErrno kept;
  add_timer(domain, time_domain, nullptr, read, data);
}

void time_sync_point(DomainHandle domain, std::uint64_t first, std::uint64_t second,
                     std::int64_t first_time, std::int64_t second_time) noexcept {
  const KeptErrno kept;
  CurrentThread thread;
  if (thread) write_pair(thread, domain, first, second, first_time, second_time);
}

void time_sync_point_table(DomainHandle domain, std::uint64_t source, std::uint64_t destination,
                           const payload::SyncPoint* points, std::size_t count) noexcept {
  const KeptErrno kept;
  CurrentThread thread;
  if (!thread || points == nullptr) return;
  for (std::size_t i = 0; i < count; ++i) {
    write_pair(thread, domain, source, destination, points[i].source, points[i].destination);
  }
}

void timestamp_conversion_factor(DomainHandle handle, std::uint64_t source, std::uint64_t destination,
                                 double slope, std::int64_t source_time,
                                 std::int64_t destination_time) noexcept {
  const KeptErrno kept;
  CurrentThread thread;
  if (!thread) return;
  const Domain* const domain = domain_of(handle);
  if (domain != nullptr) thread->stream.introduce_domain(domain->id, domain->name);
  std::uint64_t bits;
  std::memcpy(&bits, &slope, sizeof(bits));
  Record record(format::kConversion);
  record.add(id_of(domain));
  record.add64(source);
  record.add64(destination);
  record.add64(bits);
  record.add64(static_cast<std::uint64_t>(source_time));
  record.add64(static_cast<std::uint64_t>(destination_time));
  thread->stream.append(record.words());
}

void event_submit(DomainHandle domain, const payload::Data* data, std::size_t count) noexcept {
  const KeptErrno kept;
  read_timers(domain);
  CurrentThread thread;
  if (!thread || data == nullptr || count == 0) return;
  begin_batch(thread, domain);
  write_deferred(thread, domain, 0, {data, count});
}

void event_batch_submit(DomainHandle domain, const payload::EventBatch* batch) noexcept {
  const KeptErrno kept;
  read_timers(domain);
  CurrentThread thread;
  if (!thread || batch == nullptr || batch->events == nullptr) return;
  const KnownSchema* const schema = find_schema(domain, batch->schema);
  // Without the size of one, nothing tells where the next begins.
  if (schema == nullptr || schema->static_size == 0) return count_dropped();
  begin_batch(thread, domain);
  const char* at = static_cast<const char*>(batch->events);
  for (std::size_t left = batch->size; left >= schema->static_size;
       left -= schema->static_size, at += schema->static_size) {
    const payload::Data event{batch->schema, schema->static_size, at};
    write_deferred(thread, domain, batch->scope, {&event, 1});
  }
}

std::uint64_t counter_register(DomainHandle domain, const payload::Counter* counter) noexcept {
  const KeptErrno kept;
  return counter == nullptr ? 0 : define_counter(domain, *counter);
}

void counter_sample_int64(DomainHandle domain, std::uint64_t counter, std::int64_t value) noexcept {
  write_sample(domain, counter, format::kInteger, &value, sizeof(value));
}

void counter_sample_float64(DomainHandle domain, std::uint64_t counter, double value) noexcept {
  write_sample(domain, counter, format::kFloatingPoint, &value, sizeof(value));
}

void counter_sample(DomainHandle domain, std::uint64_t counter, const void* values,
                    std::size_t size) noexcept {
  if (values != nullptr) write_sample(domain, counter, format::kBytesOfSchema, values, size);
}

void counter_sample_no_value(DomainHandle domain, std::uint64_t counter, std::uint8_t reason) noexcept {
  const std::uint32_t word = reason;
  write_sample(domain, counter, format::kNoValue, &word, sizeof(word));
}

void counter_batch_submit(DomainHandle handle, const payload::CounterBatch* batch) noexcept {
  const KeptErrno kept;
  read_timers(handle);
  CurrentThread thread;
  if (!thread || batch == nullptr || batch->samples == nullptr) return;
  const std::size_t size = sample_bytes(handle, batch->counter);
  if (size == 0 || size > format::kMaxPayloadBytes) return count_dropped();
  begin_batch(thread, handle);
  const std::size_t samples = batch->size / size;
  const BatchTimes times(*batch, samples);
  for (std::size_t i = 0; i < samples; ++i) {
    Record record(format::kBatchSample);
    record.add64(batch->counter);
    record.add(id_of(domain_of(handle)));
    record.add(times.is_known() ? 1 : 0);
    record.add64(times.is_known() ? static_cast<std::uint64_t>(times.of(i)) : 0);
    record.add(static_cast<std::uint32_t>(size));
    const char* const at = static_cast<const char*>(batch->samples) + i * size;
    if (!thread->stream.append(record.words_before(size), at, size)) count_dropped();
  }
}

}  // namespace calls
}  // namespace

void attach_deferred(const payload::Segment& segment) noexcept {
  attach_extension(segment, payload::kTimestampGet, calls::timestamp_get);
  attach_extension(segment, payload::kTimeDomainRegister, calls::time_domain_register);
  attach_extension(segment, payload::kTimerSource, calls::timer_source);
  attach_extension(segment, payload::kTimerSourceWithData, calls::timer_source_with_data);
  attach_extension(segment, payload::kTimeSyncPoint, calls::time_sync_point);
  attach_extension(segment, payload::kTimeSyncPointTable, calls::time_sync_point_table);
  attach_extension(segment, payload::kTimestampConversionFactor, calls::timestamp_conversion_factor);
  attach_extension(segment, payload::kEventSubmit, calls::event_submit);
  attach_extension(segment, payload::kEventBatchSubmit, calls::event_batch_submit);
}

bool attach_counters(payload::Module& module) noexcept {
  if (module.struct_size < sizeof(module) || module.id != payload::kCountersModuleId) return false;
  if (module.segments_count == 0 || module.segments == nullptr) return false;
  const payload::Segment& segment = module.segments[0];
  attach_extension(segment, payload::kCounterRegister, calls::counter_register);
  attach_extension(segment, payload::kCounterSampleInt64, calls::counter_sample_int64);
  attach_extension(segment, payload::kCounterSampleFloat64, calls::counter_sample_float64);
  attach_extension(segment, payload::kCounterSample, calls::counter_sample);
  attach_extension(segment, payload::kCounterSampleNoValue, calls::counter_sample_no_value);
  attach_extension(segment, payload::kCounterBatchSubmit, calls::counter_batch_submit);
  return true;
}

}  // namespace region_recorder
