// The recorder's file format, version 1.10: docs/recording-format.md in C++.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace region_recorder::format {

// First bytes of a file. The leading byte is no ASCII, so that nothing takes the file for text.
constexpr unsigned char kMagic[8] = {0x89, 'N', 'V', 'T', 'X', 'R', 'E', 'C'};
constexpr std::uint16_t kMajor = 1;
constexpr std::uint16_t kMinor = 10;
// Written in the machine's byte order: tells the reader which one that was.
constexpr std::uint32_t kByteOrder = 0x01020304;
constexpr std::uint32_t kChunkMagic = 0x4b4e4843;  // "CHNK" in a little-endian file

// Atomic members are what a reader may see change while the program runs.
struct FileHeader {
  std::atomic<std::uint64_t> magic;  // kMagic, written last
  std::uint16_t major;
  std::uint16_t minor;
  std::uint32_t byte_order;
  std::uint32_t header_bytes;  // chunks begin here
  std::uint32_t unit_bytes;    // chunks begin and end at multiples of this
  std::uint32_t pid;
  std::uint32_t parent_pid;
  std::uint64_t start_ns;           // CLOCK_MONOTONIC
  std::uint64_t start_realtime_ns;  // CLOCK_REALTIME at the same moment
  std::atomic<std::uint64_t> claimed_bytes;  // every chunk below this offset has its header
  std::atomic<std::uint64_t> finished_ns;    // 0: running, or ended without a word
  std::atomic<std::uint64_t> stopped_ns;     // 0: not; else recording had to stop here
  std::atomic<std::uint32_t> stop_errno;     // why
  std::uint32_t executable_bytes;
  std::atomic<std::uint64_t> dropped_events;
  std::atomic<std::uint64_t> unwritten_work;  // records of the GPU's work that are not here
  std::uint8_t boot_id[16];  // of the machine's start that CLOCK_MONOTONIC counts from; zeros: not known
  // Forked children, and theirs, that could not make a recording of their own, and why the last one could not.
  std::atomic<std::uint32_t> unrecorded_children;
  std::atomic<std::uint32_t> unrecorded_errno;
  std::uint64_t seen_end_ns;  // written by who started the process and saw it end, when that did not finish by itself
  // Executable path, `executable_bytes` long, follows, and a RankHeader at the next multiple of 8.
};

// Of a process of a parallel program; zeros elsewhere, and before it was added in 1.5.
struct RankHeader {
  std::uint32_t rank_plus_one;
  std::uint32_t size;
  std::uint32_t local_rank_plus_one;  // on its host; 0: not known
  std::uint32_t host_bytes;           // of the host's name, which follows
};
static_assert(sizeof(RankHeader) == 16);

// How records get into the file: see recording_file.hpp.
enum class Writing : std::uint32_t {
  kMapped = 0,
  kStaged = 1,
  kBuffered = 2,
};

// Behind the place of the RankHeader, kMaxRankBytes of it; zeros before it was added in 1.7.
struct WritingHeader {
  std::atomic<std::uint32_t> writing;
  std::uint32_t pid_namespace;  // inode of /proc/self/ns/pid, which `pid` counts in; 0: not known
};
static_assert(sizeof(WritingHeader) == 8);
static_assert(sizeof(FileHeader) == 128);
static_assert(offsetof(FileHeader, claimed_bytes) == 48);
static_assert(offsetof(FileHeader, dropped_events) == 80);
static_assert(offsetof(FileHeader, unwritten_work) == 88);
static_assert(offsetof(FileHeader, boot_id) == 96);
static_assert(offsetof(FileHeader, unrecorded_children) == 112);
static_assert(std::is_standard_layout_v<FileHeader>);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

struct ChunkHeader {
  std::uint32_t magic;
  std::uint32_t bytes;     // this header included; a multiple of unit_bytes
  std::uint32_t stream;    // what one thread at a time writes, in order
  std::uint32_t sequence;  // position in that stream, from 0
  std::uint64_t base_ns;   // the records' times count from here
  std::atomic<std::uint32_t> used_bytes;  // of records; grows only, after the records are written
  std::uint32_t reserved;
};
static_assert(sizeof(ChunkHeader) == 32);

// A record is a row of 32-bit words: type | flags << 8 | words << 16, then what its type says.
// "Timed" records hold nanoseconds since the chunk's base in their second word.
enum RecordType : std::uint8_t {
  kString = 1,        // id, bytes, text padded with zeros to whole words
  kDomain = 2,        // id, string
  kThread = 3,        // timed; OS thread id: who writes from here on
  kTime = 4,          // low and high half of a new base
  kThreadName = 5,    // OS thread id, string
  kCategoryName = 6,  // domain, category, string
  kProcessorTime = 7,  // low and high half of a new base of the processor times in this stream
  // What the program describes once for its payloads and counters; see definitions.cc for the words of each.
  kSchema = 8,
  kEnumeration = 9,
  kCounter = 10,
  kScope = 11,
  kTimeDomain = 12,
  kNoInstructions = 13,  // why instructions are not counted: see NoInstructions; errno, level of perf_event_paranoid
  kPush = 16,         // timed; string, attributes
  kPop = 17,          // timed; attributes (domain only)
  kStart = 18,        // timed; low and high half of the range id, string, attributes
  kEnd = 19,          // timed; low and high half of the range id
  kMark = 20,         // timed; string, attributes
  kPayload = 21,      // of the next event: domain, schema (64 bits), string or 0, address (64 bits), number of bytes, these
  kSample = 22,       // timed; counter (64 bits), domain, what the value is, number of bytes, these
  kBatchSample = 23,  // counter (64 bits), domain, whether it has a time stamp, that (64 bits), bytes as above
  kDeferred = 24,     // domain, scope (64 bits), how many payloads precede
  kClockPair = 25,    // domain, two time domains and a time stamp of each at one moment (64 bits each)
  kConversion = 26,   // domain, two time domains, factor (a double), a time stamp of each
  kOtherInjection = 27,  // NVTX_INJECTION64_PATH of this process, which names another library
  // Below: what the GPU did (64 to 127 are kept for that). "GPU time" is two words, see kClock.
  kLaunch = 64,           // timed; correlation
  kKernel = 65,           // correlation, device, context, stream, start, end, name, graph
  kMemoryCopy = 66,       // correlation, device, context, stream, start, end, bytes, kind, graph
  kMemorySet = 67,        // correlation, device, context, stream, start, end, bytes, graph
  kSynchronization = 68,  // correlation, context, stream, start, end, type
  kDevice = 69,           // index, compute capability (major, minor), name
  kClock = 70,            // a GPU time and CLOCK_MONOTONIC at the same moment
  kGpu = 71,              // CUPTI version, driver version, CUPTI's result, text
  kLoss = 72,             // reason, how many
  kDemangled = 73,        // name, the same demangled
  kProgramProfiler = 74,  // timed; the call that asks for CUPTI's subscription, file of the library that makes it
  kUnwatchedCalls = 75,   // how many imports of CUPTI's functions could not be watched for that
  // Hardware counters of ranges: see gpu/range_counters.hpp.
  kCounterRange = 76,       // timed; session, number of the measured range in it, position of the thread's open range
  kCounterSession = 77,     // number, device, file of what is measured
  kCounterSessionEnd = 78,  // number, how many ranges CUPTI dropped, how many were measured, whether no pass is missing
  kCounterFailure = 79,     // CUPTI's result, text
  kCounterTally = 80,       // launches that did not get their turn, ranges that ended late, beginnings beyond the limit
  // Counters of whole devices, in sessions as those of ranges: see gpu/device_samples.hpp.
  kSampling = 81,           // timed; device, trigger mode, interval, CLOCK_REALTIME less CLOCK_MONOTONIC (64 bits each)
};

// Attributes follow in this order, each only where its flag is set. A push, pop, start or end that has three words more ends
// with the instructions that its thread has executed (low and high half), and how often their counter was interrupted.
enum RecordFlags : std::uint8_t {
  kHasDomain = 1,    // domain id; without it the default domain
  kHasCategory = 2,  // category
  kHasColor = 4,     // ARGB
  kHasPayload = 8,   // payload type of NVTX, low and high half of the value's 64 bits
  kHasGraph = 16,    // graph, low and high half of its node
  // Of push, pop, start and end, last of all: blocks that the thread has read from disks and written.
  kHasBlocks = 16,
  kHasKernels = 32,  // of a launch: kernels follow from it
  // Of push, pop, start and end: nanoseconds that the thread has used of processors, since the stream's base of them.
  kHasProcessorTime = 32,
  kHasPrecedence = 32,  // of kProgramProfiler: the recorder has it, and goes on
  kHasFailure = 64,  // of kGpu: nothing is collected, and the text says why
  // Of push, pop, start and end: the thread's page faults (minor, major) and context switches (voluntary, involuntary).
  kHasCounts = 64,
  kTruncated = 128,  // of a string: it was longer than kMaxTextBytes; of a payload, schema, enumeration: not all is here
  kHasPayloads = 128,  // of push, pop, start, end and mark: how many payload records precede
};

// What the value of a sample is.
enum SampleKind : std::uint32_t {
  kBytesOfSchema = 0,
  kInteger = 1,
  kFloatingPoint = 2,
  kNoValue = 3,  // the bytes are NVTX's reason, as a word
};

// Why records of the GPU's work are missing.
enum LossReason : std::uint32_t {
  kDroppedByCupti = 1,  // its buffers were full, or there was no memory for one
  kUnfinished = 2,      // the program ended before the GPU did
};

constexpr std::uint32_t kDefaultDomain = 0;
constexpr std::size_t kMaxTextBytes = 65536;
constexpr std::size_t kMaxPayloadBytes = 16384;
constexpr std::size_t kMaxPayloads = 16;  // of an event

constexpr std::uint32_t record_head(RecordType type, std::uint8_t flags, std::size_t words) {
  return type | std::uint32_t{flags} << 8 | static_cast<std::uint32_t>(words) << 16;
}

constexpr std::uint32_t low_half(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
constexpr std::uint32_t high_half(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

}  // namespace region_recorder::format
