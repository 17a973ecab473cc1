#include "libraries.hpp"

#include <dlfcn.h>
#include <glob.h>
#if !defined(__APPLE__)
#include <link.h>  // dl_iterate_phdr
#endif
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace region_recorder::gpu {
namespace {

// Newest first. From CUDA 12 on one name serves all minor versions.
struct Soname {
  const char* name;
  int cuda_major;
};
constexpr Soname kSonames[] = {
    {"libcupti.so.14", 14},   {"libcupti.so.13", 13},   {"libcupti.so.12", 12},
    {"libcupti.so.11.8", 11},
    {"libcupti.so.11.7", 11}, {"libcupti.so.11.6", 11}, {"libcupti.so.11.5", 11},
    {"libcupti.so.11.4", 11}, {"libcupti.so.11.3", 11}, {"libcupti.so.11.2", 11},
    {"libcupti.so.11.1", 11}, {"libcupti.so.11.0", 11}, {"libcupti.so.10.2", 10},
    {"libcupti.so.10.1", 10}, {"libcupti.so.10.0", 10},
};

// Below a toolkit's root. What it keeps for one kind of machine comes last; Conda's has it nowhere else.
constexpr const char* kToolkitFolders[] = {
    "extras/CUPTI/lib64",
    "lib64",
    "lib",
#if defined(__x86_64__)
    "targets/x86_64-linux/lib",
#elif defined(__aarch64__)
    "targets/sbsa-linux/lib",     // servers
    "targets/aarch64-linux/lib",  // Jetson
#endif
};

// Below a directory of Python packages.
constexpr const char* kPackageFolders[] = {"nvidia/cu13/lib", "nvidia/cuda_cupti/lib"};

// It stays for the life of the process: its threads may be anywhere in its code at any time.
constexpr int kOpen = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;

template <typename Call>
bool find(void* library, const char* prefix, const char* name, Call& call) {
  char symbol[96];
  snprintf(symbol, sizeof(symbol), "%s%s", prefix, name);
  call = reinterpret_cast<Call>(dlsym(library, symbol));
  return call != nullptr;
}

bool load_functions(void* library, cupti::Functions& call) {
  find(library, "cupti", "ActivityRegisterTimestampCallback",
       call.ActivityRegisterTimestampCallback);
  find(library, "cupti", "ActivityEnableAllSyncRecords", call.ActivityEnableAllSyncRecords);
#define FIND(name) find(library, "cupti", #name, call.shared.name)
  FIND(Subscribe_v2);
  FIND(ActivityRegisterCallbacks_v2);
  FIND(ActivityEnable_v2);
  FIND(ActivityDisable_v2);
  FIND(ActivityGetNextRecord_v2);
  FIND(GetTimestamp_v2);
#undef FIND
#define FIND(name) find(library, "cupti", #name, call.range.name)
  const bool counts_by_range =
      FIND(ProfilerInitialize) && FIND(ProfilerDeviceSupported) && FIND(DeviceGetChipName) &&
      FIND(GetDeviceId) && FIND(RangeProfilerEnable) && FIND(RangeProfilerDisable) &&
      FIND(RangeProfilerSetConfig) && FIND(RangeProfilerStart) && FIND(RangeProfilerStop) &&
      FIND(RangeProfilerPushRange) && FIND(RangeProfilerPopRange) &&
      FIND(RangeProfilerDecodeData) && FIND(RangeProfilerGetCounterDataSize) &&
      FIND(RangeProfilerCounterDataImageInitialize);
#undef FIND
  if (!counts_by_range) call.range = {};
#define FIND(name) find(library, "cupti", #name, call.sampling.name)
  const bool samples =
      FIND(PmSamplingEnable) && FIND(PmSamplingDisable) && FIND(PmSamplingSetConfig) &&
      FIND(PmSamplingStart) && FIND(PmSamplingStop) && FIND(PmSamplingDecodeData) &&
      FIND(PmSamplingGetCounterDataSize) && FIND(PmSamplingCounterDataImageInitialize) &&
      FIND(PmSamplingGetCounterDataInfo) && FIND(PmSamplingCounterDataGetSampleInfo);
#undef FIND
  if (!samples) call.sampling = {};
#define FIND(name) find(library, "cupti", #name, call.name)
  return FIND(GetVersion) && FIND(GetResultString) && FIND(GetTimestamp) &&
         FIND(GetCallbackName) && FIND(Subscribe) && FIND(Unsubscribe) && FIND(EnableCallback) &&
         FIND(ActivityRegisterCallbacks) && FIND(ActivityEnable) && FIND(ActivityDisable) &&
         FIND(ActivityFlushAll) && FIND(ActivityGetNextRecord) && FIND(ActivityGetNumDroppedRecords);
#undef FIND
}

// Tries libraries until one will do.
class Search {
 public:
  Search(const Driver& driver, Cupti& found) : driver_(driver), found_(found) {}

  bool open(const char* path, int flags = kOpen) {
    void* const library = dlopen(path, flags);
    if (library == nullptr) return false;
    return load_functions(library, found_.call) &&
           found_.call.GetVersion(&found_.version) == cupti::kSuccess;
  }

  // By its name alone, where the linker looks. `flags` may say: only what is loaded already.
  bool open_anywhere(int flags = kOpen) {
    for (const Soname& soname : kSonames) {
      if (suits(soname) && open(soname.name, flags)) return true;
    }
    return false;
  }

  bool open_in(const char* directory) {
    for (const Soname& soname : kSonames) {
      if (!suits(soname)) continue;
      char path[PATH_MAX];
      const int length = snprintf(path, sizeof(path), "%s/%s", directory, soname.name);
      if (length > 0 && length < PATH_MAX && open(path)) return true;
    }
    return false;
  }

  bool open_below(const char* root, const char* folder) {
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof(path), "%s/%s", root, folder);
    return length > 0 && length < PATH_MAX && open_in(path);
  }

  bool open_in_toolkits() {
    const char* const roots[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), getenv("CONDA_PREFIX"),
                                 "/usr/local/cuda"};
    for (const char* root : roots) {
      if (root == nullptr || *root == '\0') continue;
      for (const char* folder : kToolkitFolders) {
        if (open_below(root, folder)) return true;
      }
    }
    return false;
  }

  bool open_in_packages(const char* packages) {
    for (const char* folder : kPackageFolders) {
      if (open_below(packages, folder)) return true;
    }
    return false;
  }

  // Packages of the environment that the program runs in.
  bool open_in_environments() {
    for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
      const char* const root = getenv(variable);
      if (root != nullptr && *root != '\0' && open_in_python(root, strlen(root))) return true;
    }
    return false;
  }

  // Packages of every python3 on PATH: a machine with PyTorch has CUPTI there, and perhaps nowhere
  // else, also for programs that are not in Python.
  bool open_beside_pythons() {
    const char* place = getenv("PATH");
    while (place != nullptr && *place != '\0') {
      const std::size_t length = strcspn(place, ":");
      constexpr char kPrograms[] = "/bin";
      constexpr std::size_t kLength = sizeof(kPrograms) - 1;
      char python[PATH_MAX];
      const int written =
          snprintf(python, sizeof(python), "%.*s/python3", static_cast<int>(length), place);
      if (length > kLength && written < PATH_MAX && access(python, X_OK) == 0 &&
          strncmp(place + length - kLength, kPrograms, kLength) == 0 &&
          open_in_python(place, length - kLength)) {
        return true;
      }
      place += length + (place[length] == ':' ? 1 : 0);
    }
    return false;
  }

  // Beside other CUDA libraries of the program that came as Python packages.
  bool open_beside_loaded() {
    char packages[PATH_MAX] = {};
#if !defined(__APPLE__)
    // Not opened in there: dl_iterate_phdr holds the linker's lock.
    dl_iterate_phdr(find_packages, packages);
#endif
    return packages[0] != '\0' && open_in_packages(packages);
  }

 private:
  // CUPTI refuses a driver that is older than itself.
  bool suits(const Soname& soname) const {
    return driver_.version == 0 || soname.cuda_major <= driver_.version / 1000;
  }

  // In site-packages, or Debian's dist-packages, below the first `length` letters of a root.
  bool open_in_python(const char* root, std::size_t length) {
    char pattern[PATH_MAX];
    const int written = snprintf(pattern, sizeof(pattern), "%.*s/lib/python3*/*-packages",
                                 static_cast<int>(length), root);
    if (written <= 0 || written >= PATH_MAX) return false;
    glob_t places{};
    bool opened = false;
    if (glob(pattern, 0, nullptr, &places) == 0) {
      for (std::size_t i = 0; i < places.gl_pathc && !opened; ++i) {
        opened = open_in_packages(places.gl_pathv[i]);
      }
    }
    globfree(&places);
    return opened;
  }

#if !defined(__APPLE__)
  // .../site-packages/nvidia/cuda_runtime/lib/libcudart.so.12
  static int find_packages(dl_phdr_info* info, std::size_t, void* packages) {
    const char* const name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
    const char* const at = strstr(name, "-packages/nvidia/");
    if (at == nullptr) return 0;
    const int length = static_cast<int>(at - name) + static_cast<int>(strlen("-packages"));
    snprintf(static_cast<char*>(packages), PATH_MAX, "%.*s", length, name);
    return 1;
  }
#endif

  const Driver& driver_;
  Cupti& found_;
};

// What dlopen and dlsym say of a failure is kept for the program's next call of dlerror, which asks about its own.
class NoErrorLeft {
 public:
  NoErrorLeft() = default;
  ~NoErrorLeft() { dlerror(); }
  NoErrorLeft(const NoErrorLeft&) = delete;
  NoErrorLeft& operator=(const NoErrorLeft&) = delete;
};

}  // namespace

bool find_driver(Driver& driver) noexcept {
  const NoErrorLeft cleared;
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
#define FIND(name) find(library, "cu", #name, driver.call.name)
  const bool complete = FIND(DriverGetVersion) && FIND(DeviceGetCount) && FIND(DeviceGet) &&
                        FIND(DeviceGetName) && FIND(DeviceGetAttribute);
#undef FIND
  if (!complete) return false;
  if (driver.call.DriverGetVersion(&driver.version) != cuda_driver::kSuccess) driver.version = 0;
  return true;
}

bool find_cupti(const Driver& driver, Cupti& cupti, char (&why)[PATH_MAX]) noexcept {
  const NoErrorLeft cleared;
  Search search(driver, cupti);
  const char* const wanted = getenv(kCuptiVariable);
  if (wanted != nullptr && *wanted != '\0') {
    if (search.open(wanted) || search.open_in(wanted)) return true;
    snprintf(why, sizeof(why), "%s names no libcupti that can be used: %s", kCuptiVariable, wanted);
    return false;
  }
  if (search.open_anywhere(kOpen | RTLD_NOLOAD) || search.open_anywhere() ||
      search.open_beside_loaded() || search.open_in_environments() ||
      search.open_in_toolkits() || search.open_beside_pythons()) {
    return true;
  }
  snprintf(why, sizeof(why),
           "no libcupti for a driver of CUDA %d.%d was found; it is part of the CUDA toolkit and of "
           "the Python package nvidia-cuda-cupti, and %s names one elsewhere",
           driver.version / 1000, driver.version % 1000 / 10, kCuptiVariable);
  return false;
}

}  // namespace region_recorder::gpu
