// Calls that go from one loaded library into another pass through slots that the dynamic linker fills: one for each function that
// a library imports. Here such calls are led elsewhere, without a change to anybody's code.
#pragma once

#include <cstddef>

namespace region_recorder::gpu {

struct Imports {
  const char* const* names;
  std::size_t count;
  // What is to be called in place of `target`, which `names[name]` is bound to. Null: nothing else.
  void* (*replacement)(std::size_t name, void* target);
};

// Redirects these imports in all loaded libraries that came since the last call, but for the recorder itself. Cheap where none
// came. Returns at once where another thread is at it. What the system refuses to change stays as it is, and is counted.
void redirect_new_imports(const Imports& imports) noexcept;

// Slots that could not be redirected so far.
std::size_t refused_slots() noexcept;

}  // namespace region_recorder::gpu
