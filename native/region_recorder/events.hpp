// The NVTX calls that are recorded, by module of the protocol.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nvtx/payload_protocol.hpp"
#include "nvtx/protocol.hpp"
#include "text.hpp"

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

// Structured payloads of an event; none by default.
struct Payloads {
  const nvtx::protocol::payload::Data* data = nullptr;
  std::size_t count = 0;
};

// For events of other modules: what they mean is the same. Attributes without a message have that of the payloads.
int record_push(nvtx::protocol::DomainHandle domain, const Payloads& payloads) noexcept;
int record_pop(nvtx::protocol::DomainHandle domain, const Payloads& payloads) noexcept;
std::uint64_t record_start(nvtx::protocol::DomainHandle domain, const Payloads& payloads) noexcept;
void record_end(nvtx::protocol::DomainHandle domain, std::uint64_t id, const Payloads& payloads) noexcept;
void record_mark(nvtx::protocol::DomainHandle domain, const Payloads& payloads) noexcept;

class CurrentThread;

// The attributes' message as text; valid until the next call for this thread.
Text text_of(const nvtx::protocol::EventAttributes& attributes, CurrentThread& thread) noexcept;

void attach_core(Slots slots) noexcept;
void attach_core2(Slots slots) noexcept;

}  // namespace region_recorder
