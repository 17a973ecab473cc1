// The recording of this process: when it begins, where chunks come from, what a fork changes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "format.hpp"
#include "generation.hpp"
#include "recording_file.hpp"

namespace region_recorder {

// Names the directory of the recordings; without it nothing is recorded.
constexpr const char* kDirectoryVariable = "HYDRACONF_RECORDER_DIR";

// Called by every copy of NVTX in the process; the first call begins the recording. False: there is
// none, because none is wanted or (then stderr has a line) because it cannot be written.
bool begin_recording() noexcept;

// At the first event of a forked child; other threads of it wait for the first one. False in a signal handler that
// interrupted that.
bool enter_forked_child() noexcept;

// False once the recording has ended: nothing is claimed any more.
bool may_claim() noexcept;

// See RecordingFile::claim.
format::ChunkHeader* claim_chunk(std::size_t record_bytes, std::uint32_t stream,
                                 std::uint32_t sequence, std::uint64_t base_ns) noexcept;

// Whether claim_chunk() gives memory that is not the file itself.
bool copies_chunks() noexcept;

// A stream goes on in another chunk.
void leave_chunk(const ChunkMapping& chunk) noexcept;

// A record was added to a copied chunk.
void publish_copied(format::ChunkHeader* chunk, BufferedRecords& buffered) noexcept;

void count_dropped() noexcept;

// Records of the GPU's work that cannot be written are told in the file's header: where there is no room for
// them there is none for a record that says so, either.
void count_unwritten_work(std::uint64_t records) noexcept;

// Never 0.
std::uint64_t next_range_id() noexcept;

}  // namespace region_recorder
