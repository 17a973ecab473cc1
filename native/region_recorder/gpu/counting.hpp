// What both ways of reading hardware counters share, of ranges (range_counters.hpp) and of whole devices (device_samples.hpp):
// the request, whose turn it is, the chip's configuration, files, and what is told.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../thread.hpp"
#include "counter_request.hpp"
#include "subscription.hpp"

namespace region_recorder::gpu {

// Path of the request. Without it nothing is counted.
constexpr const char* kCountersVariable = "HYDRACONF_RECORDER_COUNTERS";

constexpr std::size_t kMostImageBytes = std::size_t{1} << 30;

// Reads the request, once in a process and before its first range. False: there is none.
bool read_counter_request() noexcept;
const CounterRequest& counter_request() noexcept;

// The library from now on.
void count_with(const Subscription& subscription) noexcept;
const cupti::Functions& counting_calls() noexcept;
std::uint32_t counting_version() noexcept;

// One thread at a time calls CUPTI for counters, and nobody waits for another: a thread in CUPTI may wait for the GPU, or for a
// lock that a thread has which waits here.
class [[nodiscard]] Turn {
 public:
  explicit Turn(int attempts = 1) noexcept;
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  explicit operator bool() const noexcept { return is_mine_; }

 private:
  bool is_mine_ = false;
};

// For who has to have it: two seconds.
constexpr int kAttemptsAtEnd = 20'000;

// Whether CUPTI calls the driver for us on this thread right now.
bool is_calling_cupti() noexcept;

// Why there are no counters, or fewer.
void tell_counter_failure(ThreadRecorder& thread, const char* text) noexcept;
void tell_counter_failure(ThreadRecorder& thread, const char* function,
                          cupti::Result result) noexcept;

// What follows belongs to whose turn it is. False: told.

// Whether CUPTI has this way of counting on the device.
bool check_device(ThreadRecorder& thread, std::uint32_t device,
                  cupti::range::ProfilerApi way) noexcept;

// Name of the device's chip; CUPTI's.
bool find_chip(ThreadRecorder& thread, std::uint32_t device, const char*& chip) noexcept;

// What the chip's counters are configured by. To be released.
bool find_config(ThreadRecorder& thread, const char* chip, FileContents& config) noexcept;
void release(FileContents& contents) noexcept;

// A file of the results. It is the same in each pass: contexts and images are numbered as they come, over all processes of the
// run.
struct ResultFile {
  char name[64];
};
bool claim_file(ThreadRecorder& thread, std::uint32_t device, ResultFile& file) noexcept;

// An empty file says that nothing came of it. `suffix` follows its name.
bool write_file(const ResultFile& file, const char* suffix, const void* bytes,
                std::size_t length) noexcept;

// CUPTI measures into the file from here on, and has measured.
void tell_session(ThreadRecorder& thread, std::uint32_t session, std::uint32_t device,
                  const ResultFile& file) noexcept;
void tell_session_end(ThreadRecorder& thread, std::uint32_t session, std::size_t dropped,
                      std::uint32_t measured, bool is_last_pass) noexcept;

}  // namespace region_recorder::gpu
