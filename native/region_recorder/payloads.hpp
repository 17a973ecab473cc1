// NVTX's extensions: ranges and marks with structures that the program describes, counters, and events that it hands over
// later.
#pragma once

#include <cstdint>

#include "events.hpp"
#include "nvtx/payload_protocol.hpp"
#include "thread.hpp"

namespace region_recorder {

// Writes the recorder's functions into the slots of a program's copy of the extension. False: another extension.
bool attach_payloads(nvtx::protocol::payload::Module& module) noexcept;
bool attach_counters(nvtx::protocol::payload::Module& module) noexcept;

// Whether the records of payloads name the message that one has, which may stand elsewhere in the program's memory.
enum class PayloadTexts { kNone, kAll };

// Writes the records of an event's payloads, for the event that follows; gives how many.
std::uint32_t write_payloads(CurrentThread& thread, nvtx::protocol::DomainHandle domain,
                             const Payloads& payloads, PayloadTexts texts) noexcept;

// The message that the payloads have, else the name of a schema. Valid until the next call for this thread.
Text text_of_payloads(nvtx::protocol::DomainHandle domain, const Payloads& payloads,
                      CurrentThread& thread) noexcept;

template <typename Call>
void attach_extension(const nvtx::protocol::payload::Segment& segment, unsigned function, Call* call) {
  if (function < segment.slots) segment.functions[function] = reinterpret_cast<std::intptr_t>(call);
}

// The slots of deferred events and their clocks.
void attach_deferred(const nvtx::protocol::payload::Segment& segment) noexcept;

// The bytes that a payload has, as far as that is known; 0 where it is not.
std::size_t size_of_payload(nvtx::protocol::DomainHandle domain,
                            const nvtx::protocol::payload::Data& data) noexcept;

}  // namespace region_recorder
