#include "boot_id.hpp"

#include <fcntl.h>
#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif
#include <unistd.h>

#include <cstddef>
#include <cstring>

namespace region_recorder {
namespace {

constexpr std::size_t kTextBytes = 36;  // of a UUID

std::size_t read_text(char (&text)[kTextBytes + 1]) noexcept {
#if defined(__APPLE__)
  std::size_t bytes = sizeof(text);
  return sysctlbyname("kern.bootsessionuuid", text, &bytes, nullptr, 0) == 0 ? bytes : 0;
#else
  const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t bytes = read(file, text, sizeof(text));
  close(file);
  return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
#endif
}

int digit_value(char digit) noexcept {
  if (digit >= '0' && digit <= '9') return digit - '0';
  const char lower = static_cast<char>(digit | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

void read_boot_id(std::uint8_t (&out)[kBootIdBytes]) noexcept {
  std::memset(out, 0, sizeof(out));
  char text[kTextBytes + 1];
  if (read_text(text) < kTextBytes) return;
  int digits = 0;
  for (std::size_t at = 0; at < kTextBytes; at++) {
    const int value = digit_value(text[at]);
    if (value < 0) continue;
    if (digits == 2 * kBootIdBytes) break;
    out[digits / 2] = static_cast<std::uint8_t>(out[digits / 2] << 4 | value);
    digits++;
  }
}

}  // namespace region_recorder
