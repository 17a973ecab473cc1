#include "devices.hpp"

#include <atomic>

#include "../record.hpp"
#include "../thread.hpp"

namespace region_recorder::gpu {
namespace {

const Driver* driver_in_use = nullptr;
std::atomic<bool> described{false};

struct Device {
  char name[256];
  std::int32_t major;
  std::int32_t minor;
};

bool read_device(const cuda_driver::Functions& call, std::int32_t ordinal, Device& device) {
  std::int32_t handle = 0;
  return call.DeviceGet(&handle, ordinal) == cuda_driver::kSuccess &&
         call.DeviceGetName(device.name, sizeof(device.name), handle) == cuda_driver::kSuccess &&
         call.DeviceGetAttribute(&device.major, cuda_driver::kComputeCapabilityMajor, handle) ==
             cuda_driver::kSuccess &&
         call.DeviceGetAttribute(&device.minor, cuda_driver::kComputeCapabilityMinor, handle) ==
             cuda_driver::kSuccess;
}

void write_device(std::int32_t ordinal, const Device& device) {
  CurrentThread thread;
  if (!thread) return;
  Record record(format::kDevice);
  record.add(static_cast<std::uint32_t>(ordinal));
  record.add(static_cast<std::uint32_t>(device.major));
  record.add(static_cast<std::uint32_t>(device.minor));
  record.add(thread->stream.intern(narrow_text(device.name)));
  thread->stream.append(record.words());
}

}  // namespace

void prepare_devices(const Driver& driver) noexcept { driver_in_use = &driver; }

void describe_devices_once() noexcept {
  if (described.load(std::memory_order_relaxed) || described.exchange(true)) return;
  const cuda_driver::Functions& call = driver_in_use->call;
  std::int32_t count = 0;
  if (call.DeviceGetCount(&count) != cuda_driver::kSuccess) return;
  for (std::int32_t ordinal = 0; ordinal < count; ++ordinal) {
    Device device{};
    if (read_device(call, ordinal, device)) write_device(ordinal, device);
  }
}

}  // namespace region_recorder::gpu
