// What NVTX's opaque handles stand for: domains and registered strings. They stay valid for the
// life of the process, in forked children too: nothing here is ever freed or moved.
#pragma once

#include <cstdint>

#include "nvtx/protocol.hpp"
#include "text.hpp"

namespace region_recorder {

struct Domain {
  std::uint32_t id;  // from 1; format::kDefaultDomain is no handle
  Text name;
  Domain* next;
};

struct RegisteredString {
  Text text;
  RegisteredString* next;
};

// The handle for a name or text, the same for the same one: two copies of NVTX that create one
// domain share it. Null when there is no memory.
Domain* domain_of_name(const Text& name) noexcept;
RegisteredString* registered_string(const Text& text) noexcept;

inline nvtx::protocol::DomainHandle handle_of(Domain* domain) noexcept {
  return reinterpret_cast<nvtx::protocol::DomainHandle>(domain);
}
inline const Domain* domain_of(nvtx::protocol::DomainHandle handle) noexcept {
  return reinterpret_cast<const Domain*>(handle);
}
inline nvtx::protocol::StringHandle handle_of(RegisteredString* string) noexcept {
  return reinterpret_cast<nvtx::protocol::StringHandle>(string);
}
inline const RegisteredString* string_of(nvtx::protocol::StringHandle handle) noexcept {
  return reinterpret_cast<const RegisteredString*>(handle);
}

}  // namespace region_recorder
