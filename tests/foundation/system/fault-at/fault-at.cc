// LD_PRELOAD this: lets one file operation of a process fail. Counted are the libc calls about paths that contain FAULT_WITHIN, and
// those about descriptors that were opened for such a path or inherited with one. The plan is a file, FAULT_PLAN, that is
// mapped by all processes: who tests arms a role there at any time, also of processes that run already (`plan.ts`).
//
// Calls of the C library and not functions of Node's `fs`: so the workers of a sweep, the program under the recorder and the recorder
// in it are included, and what libuv does about an error (it repeats some calls that were interrupted) is done as ever.
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <initializer_list>

namespace {

// As in plan.ts.
enum Operation : uint8_t {
  open_old = 1,
  open_new,
  read_some,
  write_some,
  close_one,
  flush,
  cut,
  rename_one,
  link_one,
  remove_one,
  make_directory,
  look_at,
  list,
};
constexpr int role_count = 16;
constexpr int traced_operations = 4096;
constexpr int last_role = role_count - 1;
constexpr int all_operations = -1;

struct Role {
  std::atomic<int32_t> count;
  int32_t at;
  int32_t error;
  std::atomic<int32_t> hits;
  char what[240];
  uint8_t trace[traced_operations];
};

Role* roles = nullptr;
int own_role = last_role;
const char* within = nullptr;
constexpr int most_descriptors = 65536;
std::atomic<uint8_t> descriptors[most_descriptors];

template <typename Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}
#define REAL(name)                                            \
  ([] {                                                       \
    static const auto found = real<decltype(&name)>(#name);   \
    return found;                                             \
  }())

bool counts(const char* path) { return roles != nullptr && path != nullptr && strstr(path, within) != nullptr; }

bool counts(int descriptor) {
  return roles != nullptr && descriptor >= 0 && descriptor < most_descriptors && descriptors[descriptor].load();
}

void note(int descriptor, bool is_ours) {
  if (descriptor >= 0 && descriptor < most_descriptors) descriptors[descriptor] = is_ours ? 1 : 0;
}

/** Whether this operation is to fail: with errno set. */
bool fails(Operation operation, const char* name, const char* path) {
  Role& role = roles[own_role];
  const int number = ++role.count;
  if (number <= traced_operations) role.trace[number - 1] = operation;
  if (number != role.at && role.at != all_operations) return false;
  if (role.hits++ == 0) snprintf(role.what, sizeof role.what, "%s %s", name, path);
  errno = role.error;
  return true;
}

bool fails(Operation operation, const char* name, int descriptor) {
  char link[64];
  char path[180] = "?";
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = ::syscall(SYS_readlink, link, path, sizeof path - 1);
  path[length < 0 ? 0 : length] = '\0';
  return fails(operation, name, path);
}

__attribute__((constructor)) void begin() {
  within = getenv("FAULT_WITHIN");
  const char* plan = getenv("FAULT_PLAN");
  if (within == nullptr || plan == nullptr) return;
  const int descriptor = REAL(open)(plan, O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return;
  void* mapped = mmap(nullptr, sizeof(Role) * role_count, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  REAL(close)(descriptor);
  if (mapped == MAP_FAILED) return;
  char program[4096];
  const ssize_t length = ::syscall(SYS_readlink, "/proc/self/exe", program, sizeof program - 1);
  program[length < 0 ? 0 : length] = '\0';
  const char* name = strrchr(program, '/');
  const char* worker = getenv("HYDRACONF_WORKER");
  if (worker != nullptr)
    own_role = 1 + atoi(worker) % (last_role - 1);
  else if (name != nullptr && strcmp(name, "/node") == 0)
    own_role = 0;
  for (int inherited = 0; inherited < 16; inherited++) {
    char link[64];
    char path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", inherited);
    const ssize_t size = ::syscall(SYS_readlink, link, path, sizeof path - 1);
    if (size <= 0) continue;
    path[size] = '\0';
    note(inherited, strstr(path, within) != nullptr);
  }
  roles = static_cast<Role*>(mapped);
}

int opened(const char* name, const char* path, int flags, mode_t mode) {
  if (!counts(path)) {
    const int other = real<int (*)(const char*, int, mode_t)>(name)(path, flags, mode);
    note(other, false);
    return other;
  }
  const bool is_write = (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0;
  if (fails(is_write ? open_new : open_old, name, path)) return -1;
  const int descriptor = real<int (*)(const char*, int, mode_t)>(name)(path, flags, mode);
  note(descriptor, true);
  return descriptor;
}

bool has_mode(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

mode_t mode_of(int flags, va_list arguments) { return has_mode(flags) ? va_arg(arguments, mode_t) : 0; }

/** A full disk takes what still fits. */
ssize_t half(int descriptor, const void* bytes, size_t size) {
  const int error = errno;
  if (error == ENOSPC && size > 1) (void)!::syscall(SYS_write, descriptor, bytes, size / 2);
  errno = error;
  return -1;
}

}  // namespace

extern "C" {

#define OPEN(name)                                    \
  int name(const char* path, int flags, ...) {        \
    va_list arguments;                                \
    va_start(arguments, flags);                       \
    const mode_t mode = mode_of(flags, arguments);    \
    va_end(arguments);                                \
    return opened(#name, path, flags, mode);          \
  }
OPEN(open)
OPEN(open64)

#define FOPEN(name)                                                                                  \
  FILE* name(const char* path, const char* mode) {                                                   \
    const bool is_ours = counts(path);                                                               \
    if (is_ours && fails(strcmp(mode, "r") == 0 ? open_old : open_new, #name, path)) return nullptr; \
    FILE* file = REAL(name)(path, mode);                                                             \
    if (file != nullptr) note(fileno(file), is_ours);                                                \
    return file;                                                                                     \
  }
FOPEN(fopen)
FOPEN(fopen64)

int close(int descriptor) {
  if (!counts(descriptor)) return REAL(close)(descriptor);
  const bool is_failing = fails(close_one, "close", descriptor);
  const int error = errno;
  note(descriptor, false);
  // Linux has closed it whatever it says.
  const int result = REAL(close)(descriptor);
  errno = is_failing ? error : errno;
  return is_failing ? -1 : result;
}

ssize_t read(int descriptor, void* bytes, size_t size) {
  if (counts(descriptor) && fails(read_some, "read", descriptor)) return -1;
  return REAL(read)(descriptor, bytes, size);
}
ssize_t pread64(int descriptor, void* bytes, size_t size, off64_t at) {
  if (counts(descriptor) && fails(read_some, "pread64", descriptor)) return -1;
  return REAL(pread64)(descriptor, bytes, size, at);
}
ssize_t readv(int descriptor, const iovec* vectors, int count) {
  if (counts(descriptor) && fails(read_some, "readv", descriptor)) return -1;
  return REAL(readv)(descriptor, vectors, count);
}
ssize_t write(int descriptor, const void* bytes, size_t size) {
  if (counts(descriptor) && fails(write_some, "write", descriptor)) return half(descriptor, bytes, size);
  return REAL(write)(descriptor, bytes, size);
}
ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t at) {
  if (counts(descriptor) && fails(write_some, "pwrite64", descriptor)) {
    const int error = errno;
    if (error == ENOSPC && size > 1) (void)!REAL(pwrite64)(descriptor, bytes, size / 2, at);
    errno = error;
    return -1;
  }
  return REAL(pwrite64)(descriptor, bytes, size, at);
}
ssize_t writev(int descriptor, const iovec* vectors, int count) {
  if (counts(descriptor) && fails(write_some, "writev", descriptor)) return -1;
  return REAL(writev)(descriptor, vectors, count);
}

int fsync(int descriptor) {
  return counts(descriptor) && fails(flush, "fsync", descriptor) ? -1 : REAL(fsync)(descriptor);
}
int fdatasync(int descriptor) {
  return counts(descriptor) && fails(flush, "fdatasync", descriptor) ? -1 : REAL(fdatasync)(descriptor);
}
int ftruncate(int descriptor, off_t size) noexcept {
  return counts(descriptor) && fails(cut, "ftruncate", descriptor) ? -1 : REAL(ftruncate)(descriptor, size);
}
int ftruncate64(int descriptor, off64_t size) noexcept {
  return counts(descriptor) && fails(cut, "ftruncate64", descriptor) ? -1 : REAL(ftruncate64)(descriptor, size);
}

int rename(const char* from, const char* to) noexcept {
  return counts(to) && fails(rename_one, "rename", to) ? -1 : REAL(rename)(from, to);
}
int link(const char* from, const char* to) noexcept {
  return counts(to) && fails(link_one, "link", to) ? -1 : REAL(link)(from, to);
}
int symlink(const char* from, const char* to) noexcept {
  return counts(to) && fails(link_one, "symlink", to) ? -1 : REAL(symlink)(from, to);
}
int unlink(const char* path) noexcept {
  return counts(path) && fails(remove_one, "unlink", path) ? -1 : REAL(unlink)(path);
}
int rmdir(const char* path) noexcept {
  return counts(path) && fails(remove_one, "rmdir", path) ? -1 : REAL(rmdir)(path);
}
int mkdir(const char* path, mode_t mode) noexcept {
  return counts(path) && fails(make_directory, "mkdir", path) ? -1 : REAL(mkdir)(path, mode);
}
char* mkdtemp(char* pattern) noexcept {
  return counts(pattern) && fails(make_directory, "mkdtemp", pattern) ? nullptr : REAL(mkdtemp)(pattern);
}
int access(const char* path, int mode) noexcept {
  return counts(path) && fails(look_at, "access", path) ? -1 : REAL(access)(path, mode);
}
DIR* opendir(const char* path) {
  return counts(path) && fails(list, "opendir", path) ? nullptr : REAL(opendir)(path);
}
int scandir64(const char* path, dirent64*** entries, int (*filter)(const dirent64*),
              int (*compare)(const dirent64**, const dirent64**)) {
  return counts(path) && fails(list, "scandir", path) ? -1 : REAL(scandir64)(path, entries, filter, compare);
}
int statx(int directory, const char* __restrict path, int flags, unsigned mask, struct statx* __restrict buffer) noexcept {
  if (counts(path) && fails(look_at, "statx", path)) return -1;
  return REAL(statx)(directory, path, flags, mask, buffer);
}

/** How libuv asks for what older C libraries do not have. */
long syscall(long number, ...) noexcept {
  va_list arguments;
  va_start(arguments, number);
  long words[6];
  for (long& word : words) word = va_arg(arguments, long);
  va_end(arguments);
  if (roles != nullptr && number == SYS_statx) {
    const char* path = reinterpret_cast<const char*>(words[1]);
    const bool is_descriptor = (words[2] & AT_EMPTY_PATH) != 0 && path[0] == '\0';
    const int descriptor = static_cast<int>(words[0]);
    if (is_descriptor ? counts(descriptor) && fails(look_at, "fstat", descriptor) : counts(path) && fails(look_at, "stat", path))
      return -1;
  }
  if (roles != nullptr && number == SYS_copy_file_range && counts(static_cast<int>(words[2])) &&
      fails(write_some, "copy_file_range", static_cast<int>(words[2])))
    return -1;
  return REAL(syscall)(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

}  // extern "C"
