// The same calls as own_client.hpp, made through the CUDA toolkit's NVTX headers. Included by
// nvtx.hpp only.
#pragma once

#include <nvtx3/nvToolsExt.h>

namespace nvtx::toolkit_client {

// Two linked copies of these headers are two clients; hidden for the same reason as own_client.hpp.
#pragma GCC visibility push(hidden)

using DomainHandle = nvtxDomainHandle_t;
using RangeId = nvtxRangeId_t;

inline nvtxEventAttributes_t message_only(const char* message) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = message;
  return attributes;
}

inline DomainHandle create_domain(const char* name) { return nvtxDomainCreateA(name); }
inline void destroy_domain(DomainHandle domain) { nvtxDomainDestroy(domain); }

inline int push(DomainHandle domain, const char* message) {
  const nvtxEventAttributes_t attributes = message_only(message);
  return nvtxDomainRangePushEx(domain, &attributes);
}

inline int pop(DomainHandle domain) { return nvtxDomainRangePop(domain); }

inline RangeId start(DomainHandle domain, const char* message) {
  const nvtxEventAttributes_t attributes = message_only(message);
  return nvtxDomainRangeStartEx(domain, &attributes);
}

inline void end(DomainHandle domain, RangeId range) { nvtxDomainRangeEnd(domain, range); }

inline void mark(DomainHandle domain, const char* message) {
  const nvtxEventAttributes_t attributes = message_only(message);
  nvtxDomainMarkEx(domain, &attributes);
}

#pragma GCC visibility pop

}  // namespace nvtx::toolkit_client
