// NVTX ranges for C++ programs: annotate what runs, and any NVTX tool (Nsight, region_recorder)
// sees it. Without a tool each call costs a load and a branch.
//
//   const nvtx::Domain domain("my.library");
//   nvtx::ScopedRange range(domain, "decode");   // until the end of the scope
//
// Two implementations behind one face, chosen when compiling: the CUDA toolkit's NVTX headers, or
// (NVTX_OWN_CLIENT=1, and wherever those headers are not found) a client of our own that speaks the
// same protocol. Both load a library at run time: link with -ldl where dlopen is not in libc.
#pragma once

#if !defined(NVTX_OWN_CLIENT)
#if __has_include(<nvtx3/nvToolsExt.h>)
#define NVTX_OWN_CLIENT 0
#else
#define NVTX_OWN_CLIENT 1
#endif
#endif

#if NVTX_OWN_CLIENT
#include "own_client.hpp"
#else
#include "toolkit_client.hpp"
#endif

namespace nvtx {

#if NVTX_OWN_CLIENT
namespace client = own_client;
inline constexpr const char* kClientName = "own client";
#else
namespace client = toolkit_client;
inline constexpr const char* kClientName = "nvtx3 headers";
#endif

// Process-wide id of a start/end range; 0 where no tool listens.
using RangeId = client::RangeId;

// A namespace of ranges, by name. Outlives the ranges opened in it.
class Domain {
 public:
  explicit Domain(const char* name) : handle_(client::create_domain(name)) {}
  ~Domain() {
    if (handle_ != nullptr) client::destroy_domain(handle_);
  }
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  // The domain of ranges that name none.
  static const Domain& default_domain() {
    static const Domain instance;
    return instance;
  }

  client::DomainHandle handle() const { return handle_; }

 private:
  Domain() : handle_(nullptr) {}

  client::DomainHandle handle_;
};

// A push/pop range: nests on the calling thread, open from construction to destruction, which must
// both happen on that thread.
class [[nodiscard]] ScopedRange {
 public:
  ScopedRange(const Domain& domain, const char* message) : domain_(domain) {
    client::push(domain_.handle(), message);
  }
  ~ScopedRange() { client::pop(domain_.handle()); }
  ScopedRange(const ScopedRange&) = delete;
  ScopedRange& operator=(const ScopedRange&) = delete;

 private:
  const Domain& domain_;
};

// A start/end range: may overlap others and end on another thread.
[[nodiscard]] inline RangeId start(const Domain& domain, const char* message) {
  return client::start(domain.handle(), message);
}

inline void end(const Domain& domain, RangeId range) { client::end(domain.handle(), range); }

// A point in time.
inline void mark(const Domain& domain, const char* message) {
  client::mark(domain.handle(), message);
}

}  // namespace nvtx
