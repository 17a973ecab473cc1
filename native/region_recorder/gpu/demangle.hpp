// Names of kernels as they stand in the source.
#pragma once

namespace region_recorder::gpu {

// A name demangled, for as long as the object lives.
class Demangled {
 public:
  explicit Demangled(const char* name) noexcept;
  ~Demangled();
  Demangled(const Demangled&) = delete;
  Demangled& operator=(const Demangled&) = delete;

  // Null: it is no mangled name, or the program has no C++ library that could tell.
  const char* text() const noexcept { return text_; }

 private:
  char* text_ = nullptr;
};

}  // namespace region_recorder::gpu
