#include "demangle.hpp"

#include <dlfcn.h>
#include <pthread.h>

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
  return nullptr;
}

// No static variable of a function: its guard would need the C++ library.
pthread_once_t once = PTHREAD_ONCE_INIT;
Demangle demangle = nullptr;

}  // namespace

Demangled::Demangled(const char* name) noexcept {
  if (std::strncmp(name, "_Z", 2) != 0) return;
  pthread_once(&once, [] { demangle = find_demangle(); });
  if (demangle == nullptr) return;
  int status = 0;
  text_ = demangle(name, nullptr, nullptr, &status);
}

Demangled::~Demangled() { std::free(text_); }

}  // namespace region_recorder::gpu
