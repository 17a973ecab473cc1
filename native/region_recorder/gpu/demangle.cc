#include "demangle.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace region_recorder::gpu {
namespace {

using Demangle = char* (*)(const char* name, char* buffer, std::size_t* bytes, int* status);

// The program's own: the recorder does not link a C++ library, so that it brings no second one along.
Demangle find_demangle() {
  constexpr const char* kSymbol = "__cxa_demangle";
  if (void* const own = dlsym(RTLD_DEFAULT, kSymbol)) return reinterpret_cast<Demangle>(own);
  for (const char* name : {"libstdc++.so.6", "libc++abi.so.1"}) {
    void* const library = dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) continue;
    if (void* const symbol = dlsym(library, kSymbol)) return reinterpret_cast<Demangle>(symbol);
  }
  dlerror();  // of our own call alone
  return nullptr;
}

// Null before the first name: threads that come at the same time each look, and find the same. No static variable of a
// function, whose guard would need the C++ library.
std::atomic<Demangle> known{nullptr};
std::atomic<bool> searched{false};

Demangle demangler() {
  if (!searched.load(std::memory_order_acquire)) {
    known.store(find_demangle(), std::memory_order_relaxed);
    searched.store(true, std::memory_order_release);
  }
  return known.load(std::memory_order_relaxed);
}

}  // namespace

Demangled::Demangled(const char* name) noexcept {
  if (std::strncmp(name, "_Z", 2) != 0) return;
  const Demangle demangle = demangler();
  if (demangle == nullptr) return;
  int status = 0;
  text_ = demangle(name, nullptr, nullptr, &status);
}

Demangled::~Demangled() { std::free(text_); }

}  // namespace region_recorder::gpu
