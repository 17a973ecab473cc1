#include "rank.hpp"

#include <errno.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace region_recorder {
namespace {

// The variables of one kind of launcher. `required` tells it from another one that sets the same rank.
struct Launcher {
  const char* rank;
  const char* size;
  const char* local;
  const char* required;
};

// What is started innermost comes first: torchrun runs in a task of srun, and mpirun in a job of Slurm. The last two know a
// rank of PMIx, whose size is that of the step.
constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_RANK"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", nullptr},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK", nullptr},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", nullptr},
    {"PMIX_RANK", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", nullptr},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_STEP_ID"},
};

// Of a number that is not there, or none: false.
bool read_number(const char* name, std::uint32_t& out) {
  const char* const text = name == nullptr ? nullptr : std::getenv(name);
  if (text == nullptr || *text < '0' || *text > '9') return false;
  char* end = nullptr;
  errno = 0;
  const unsigned long value = std::strtoul(text, &end, 10);
  if (errno != 0 || *end != '\0' || value >= UINT32_MAX) return false;
  out = static_cast<std::uint32_t>(value);
  return true;
}

}  // namespace

void write_rank(void* out) noexcept {
  for (const Launcher& launcher : kLaunchers) {
    std::uint32_t rank = 0;
    std::uint32_t size = 0;
    std::uint32_t local = 0;
    if (launcher.required != nullptr && std::getenv(launcher.required) == nullptr) continue;
    if (!read_number(launcher.rank, rank) || !read_number(launcher.size, size) || rank >= size)
      continue;
    auto* const header = new (out) format::RankHeader{};
    header->rank_plus_one = rank + 1;
    header->size = size;
    header->local_rank_plus_one = read_number(launcher.local, local) ? local + 1 : 0;
    char* const host = reinterpret_cast<char*>(header + 1);
    constexpr std::size_t kRoom = kMaxRankBytes - sizeof(format::RankHeader);
    if (gethostname(host, kRoom) != 0) host[0] = '\0';
    host[kRoom - 1] = '\0';
    header->host_bytes = static_cast<std::uint32_t>(std::strlen(host));
    return;
  }
}

}  // namespace region_recorder
