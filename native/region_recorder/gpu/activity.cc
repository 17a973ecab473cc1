#include "activity.hpp"

#include <pthread.h>

#include <cstdint>

#include "../caller_state.hpp"
#include "../lock.hpp"
#include "../memory.hpp"
#include "../process.hpp"
#include "../record.hpp"
#include "../steady_wait.hpp"
#include "../thread.hpp"
#include "demangle.hpp"
#include "gpu_recording.hpp"

namespace region_recorder::gpu {
namespace {

// Some 5000 kernels. Only pages that were written cost memory.
constexpr std::size_t kBufferBytes = 1024 * 1024;

const Subscription* subscription_in_use = nullptr;

// Buffers that CUPTI has given back, each with a pointer to the next one in its first bytes. Not
// under the file's lock: CUPTI asks for a buffer inside the program's launches, and must not
// wait there for a file that grows.
Mutex pool_mutex;
void* free_buffers = nullptr;
// Buffers whose records are being written down.
int being_read = 0;
pthread_cond_t was_read = PTHREAD_COND_INITIALIZER;

constexpr std::uint64_t kLongestWaitNs = 2'000'000'000;

void* take_buffer() {
  {
    const Lock lock(pool_mutex);
    if (lock && free_buffers != nullptr) {
      void* const buffer = free_buffers;
      free_buffers = *static_cast<void**>(buffer);
      return buffer;
    }
  }
  return allocate_pages(kBufferBytes);
}

// False: the lock cannot be had, so that the end of the program will not wait for this buffer.
bool begin_reading() {
  const Lock lock(pool_mutex);
  if (lock) ++being_read;
  return static_cast<bool>(lock);
}

void end_reading(void* buffer, bool was_counted) {
  const Lock lock(pool_mutex);
  if (!lock) return;
  *static_cast<void**>(buffer) = free_buffers;
  free_buffers = buffer;
  if (was_counted) --being_read;
  pthread_cond_broadcast(&was_read);
}

// Writes the records of one buffer into the calling thread's stream; counts those that it cannot write. Without a
// stream, inside another event or without memory for one, that is all of them.
class Writer {
 public:
  explicit Writer(CurrentThread& thread) : thread_(thread) {}

  void write(const cupti::Record& activity) {
    if (!thread_) {
      ++unwritten_;
      return;
    }
    switch (activity.kind()) {
      case cupti::kConcurrentKernel: return write_kernel(activity);
      case cupti::kMemcpy: return write_copy(activity, cupti::kMemcpyPlaces);
      case cupti::kPeerMemcpy: return write_copy(activity, cupti::kPeerMemcpyPlaces);
      case cupti::kMemset: return write_set(activity);
      case cupti::kSynchronization: return write_wait(activity);
      default: return;  // nothing else was asked for
    }
  }

  // How many records are missing so far is told once, with the buffer that lost them.
  void tell_losses(std::size_t dropped_by_cupti) {
    tell(format::kDroppedByCupti, dropped_by_cupti);
    tell(format::kUnfinished, unfinished_);
    if (unwritten_ > 0) count_unwritten_work(unwritten_);
  }

 private:
  void write_kernel(const cupti::Record& activity) {
    if (!finished(activity, cupti::kKernelPlaces)) return;
    const std::uint32_t name = intern_name(activity.text(cupti::kKernelName));
    Record record(format::kKernel);
    add_common(record, activity, cupti::kKernelPlaces);
    record.add(name);
    add_graph(record, activity, cupti::kKernelPlaces);
    append(record);
  }

  void write_copy(const cupti::Record& activity, const cupti::Places& places) {
    if (!finished(activity, places)) return;
    Record record(format::kMemoryCopy);
    add_common(record, activity, places);
    record.add64(activity.u64(cupti::kBytes));
    record.add(activity.u8(cupti::kCopyKind));
    add_graph(record, activity, places);
    append(record);
  }

  void write_set(const cupti::Record& activity) {
    if (!finished(activity, cupti::kMemsetPlaces)) return;
    Record record(format::kMemorySet);
    add_common(record, activity, cupti::kMemsetPlaces);
    record.add64(activity.u64(cupti::kBytes));
    add_graph(record, activity, cupti::kMemsetPlaces);
    append(record);
  }

  void write_wait(const cupti::Record& activity) {
    const std::uint32_t type = activity.u32(cupti::kWaitType);
    if (type == cupti::kStreamWaitEvent) return;
    Record record(format::kSynchronization);
    record.add(activity.u32(cupti::kWaitCorrelation));
    record.add(activity.u32(cupti::kWaitContext));
    record.add(activity.u32(cupti::kWaitStream));
    record.add64(activity.u64(cupti::kWaitStart));
    record.add64(activity.u64(cupti::kWaitEnd));
    record.add(type);
    append(record);
  }

  bool finished(const cupti::Record& activity, const cupti::Places& places) {
    if (activity.u64(places.start) != 0 && activity.u64(places.end) != 0) return true;
    ++unfinished_;
    return false;
  }

  static void add_common(Record& record, const cupti::Record& activity,
                         const cupti::Places& places) {
    record.add(activity.u32(places.correlation));
    record.add(activity.u32(places.device));
    record.add(activity.u32(places.context));
    record.add(activity.u32(places.stream));
    record.add64(activity.u64(places.start));
    record.add64(activity.u64(places.end));
  }

  static void add_graph(Record& record, const cupti::Record& activity,
                        const cupti::Places& places) {
    // Older records may end before these fields.
    if (subscription_in_use->cupti().version < cupti::kVersionOfCuda11_1) return;
    const std::uint32_t graph = activity.u32(places.graph);
    if (graph == 0) return;
    record.add_flag(format::kHasGraph);
    record.add(graph);
    record.add64(activity.u64(places.graph_node));
  }

  std::uint32_t intern_name(const char* name) {
    const Text text = narrow_text(name);
    const bool is_new = thread_->stream.is_new(text);
    const std::uint32_t id = thread_->stream.intern(text);
    if (!is_new) return id;
    const Demangled demangled(text.bytes);
    if (demangled.text() != nullptr) {
      Record record(format::kDemangled);
      record.add(id);
      record.add(thread_->stream.intern(narrow_text(demangled.text())));
      // Without it the name is shown as it is.
      static_cast<void>(thread_->stream.append(record.words()));
    }
    return id;
  }

  void tell(format::LossReason reason, std::size_t count) {
    if (count == 0) return;
    Record record(format::kLoss);
    record.add(reason);
    record.add(static_cast<std::uint32_t>(count));
    // They count, too, where there is no room for this record.
    if (!thread_ || !thread_->stream.append(record.words())) unwritten_ += count;
  }

  void append(Record& record) {
    if (!thread_->stream.append(record.words())) ++unwritten_;
  }

  CurrentThread& thread_;
  std::size_t unfinished_ = 0;
  std::size_t unwritten_ = 0;
};

}  // namespace

void prepare_activity(const Subscription& subscription) noexcept {
  subscription_in_use = &subscription;
  prepare_steady_waits(was_read);
}

void buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  // Without a buffer CUPTI drops records, and counts them.
  const KeptErrno kept;
  *buffer = static_cast<std::uint8_t*>(take_buffer());
  *bytes = *buffer == nullptr ? 0 : kBufferBytes;
  *most_records = 0;  // as many as fit
}

void buffer_completed(cupti::Context context, std::uint32_t stream, std::uint8_t* buffer,
                      std::size_t, std::size_t valid_bytes) {
  if (buffer == nullptr) return;
  const KeptCallerState kept;
  const bool is_counted = begin_reading();
  cupti::Result read = cupti::kMaxLimitReached;
  {
    CurrentThread thread;
    Writer writer(thread);
    std::uint8_t* record = nullptr;
    // What it answers for a buffer without records, CUPTI does not say.
    while (valid_bytes > 0 && (read = subscription_in_use->next_record(buffer, valid_bytes,
                                                                       &record)) == cupti::kSuccess) {
      writer.write(cupti::Record(record));
    }
    writer.tell_losses(subscription_in_use->dropped(context, stream));
  }
  if (read != cupti::kMaxLimitReached) tell_failure("cuptiActivityGetNextRecord", read);
  end_reading(buffer, is_counted);
}

void wait_for_readers() noexcept {
  const SteadyDeadline deadline(kLongestWaitNs);
  const Lock lock(pool_mutex, Lock::WaitLimit::kAtExit);
  if (!lock) return;
  while (being_read > 0 && deadline.wait(was_read, pool_mutex.native())) {
  }
}

}  // namespace region_recorder::gpu
