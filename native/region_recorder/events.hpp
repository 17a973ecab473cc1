// The NVTX calls that are recorded, by module of the protocol.
#pragma once

#include <cstdint>

#include "nvtx/protocol.hpp"

namespace region_recorder {

// One module's function table in the program.
class Slots {
 public:
  Slots(nvtx::protocol::FunctionTable table, unsigned size) noexcept : table_(table), size_(size) {}

  // A program built with an older NVTX may have a shorter table.
  template <typename Call>
  void attach(unsigned index, Call* call) noexcept {
    if (index < size_ && table_[index] != nullptr) {
      *table_[index] = reinterpret_cast<nvtx::protocol::Function>(call);
    }
  }

 private:
  nvtx::protocol::FunctionTable table_;
  unsigned size_;
};

// For events of other modules: what they mean is the same.
int record_push(nvtx::protocol::DomainHandle domain,
                const nvtx::protocol::EventAttributes& attributes) noexcept;
int record_pop(nvtx::protocol::DomainHandle domain) noexcept;
std::uint64_t record_start(nvtx::protocol::DomainHandle domain,
                           const nvtx::protocol::EventAttributes& attributes) noexcept;
void record_end(std::uint64_t id) noexcept;
void record_mark(nvtx::protocol::DomainHandle domain,
                 const nvtx::protocol::EventAttributes& attributes) noexcept;

void attach_core(Slots slots) noexcept;
void attach_core2(Slots slots) noexcept;

}  // namespace region_recorder
