// What the program describes once, for payloads, counters and batches to refer to: schemas, enumerations, counters,
// scopes, time domains. Kept as the records that each stream gets before it first needs one, as long as the process lives
// (in forked children, too): nothing is ever freed or moved.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nvtx/payload_protocol.hpp"
#include "registry.hpp"

namespace region_recorder {

struct Definition {
  const Definition* older;
  const Domain* domain;  // null: the default domain
  std::uint32_t* words;  // a whole record
};

// Null before the first.
const Definition* newest_definition() noexcept;

// Of a schema, what the recorder itself has to know. The name points into memory that is kept.
struct KnownSchema {
  nvtx::protocol::DomainHandle domain;
  std::uint64_t id;
  const char* name;  // the schema's own, or null
  std::size_t static_size;  // 0: not known
  bool has_message;
  std::uint64_t message_type;
  std::size_t message_offset;
  std::size_t message_bytes;  // of a text that lies in the structure itself; 0: a pointer or handle does
  KnownSchema* next;
};

// The newest of this id; null where there is none.
const KnownSchema* find_schema(nvtx::protocol::DomainHandle domain, std::uint64_t id) noexcept;

// Size and alignment of a predefined type; zeros where they are not known.
nvtx::protocol::payload::TypeInfo info_of(std::uint64_t type) noexcept;

// Of the C types of the program's compiler; see Module::info.
void learn_types(const nvtx::protocol::payload::TypeInfo* known) noexcept;

// Each gives the id: the program's own, or a new one. 0 where there is no memory.
std::uint64_t define_schema(nvtx::protocol::DomainHandle domain,
                            const nvtx::protocol::payload::Schema& schema) noexcept;
std::uint64_t define_enumeration(nvtx::protocol::DomainHandle domain,
                                 const nvtx::protocol::payload::Enum& enumeration) noexcept;
std::uint64_t define_counter(nvtx::protocol::DomainHandle domain,
                             const nvtx::protocol::payload::Counter& counter) noexcept;
std::uint64_t define_scope(nvtx::protocol::DomainHandle domain,
                           const nvtx::protocol::payload::Scope& scope) noexcept;
std::uint64_t define_time_domain(nvtx::protocol::DomainHandle domain,
                                 const nvtx::protocol::payload::TimeDomain& time) noexcept;

}  // namespace region_recorder
