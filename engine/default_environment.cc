// The parts live in one object that the Environment owns.
#include "engine/default_environment.h"

#include <algorithm>
#include <memory>
#include <string>

#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/runtime/background.h"
#include "format/registry/registered.h"
#include "format/schema.h"

namespace tandem::engine {
namespace {

constexpr uint64_t kMemoryBytesMin = 8 << 20;
// A dense bitmap over 30 million rows takes 4 MB: by default ten of them fit.
constexpr uint64_t kOverlapPart = 16;
// For all concurrent merges together: by default each of eight inputs of a merge gets a mebibyte.
// Those within it take a third more (RunningMerge::PartOf).
constexpr uint64_t kMergeWindowPart = 16;
constexpr uint64_t kMergeWindowBytesMin = 512 << 10;
// For all concurrent merges together. What else a file takes while it is written or read is a few
// bytes for each of its rows; by default 8 bytes of ten million.
constexpr uint64_t kMergeEntryPart = 8;
constexpr uint64_t kMergeEntryBytesMin = 1 << 20;
constexpr uint64_t kMemoryOfFileRow = 64;
// By default enough for eight cursors, each of which alone can keep a fast disk busy.
constexpr uint64_t kReadBufferPart = 8;
constexpr uint64_t kHitPart = 32;
constexpr uint64_t kSortPart = 8;
constexpr uint32_t kThreadsMax = 64;
constexpr uint64_t kLogSegmentBytesMin = 1 << 20;
// A quarter for rings and half of the rest for operations in flight leaves six files for calls.
constexpr uint32_t kOpenFilesMin = 16;
constexpr uint64_t kRegionBytesMin = 1 << 20;
// A handle costs the kernel about a kilobyte, so a limit of millions is not used in full.
constexpr uint64_t kOpenFilesByDefault = 64 << 10;
constexpr uint32_t kRingPart = 4;
// At most this many cursors read through rings at a time; the others read one block at a time.
constexpr uint32_t kRingsMax = 64;

// The executor is destroyed first: its jobs use the others.
struct OwnedParts {
  std::unique_ptr<base::Clock> clock;
  std::unique_ptr<base::RandomSource> random;
  std::unique_ptr<base::FileSystem> file_system;
  std::unique_ptr<base::Executor> executor;
};

Status CheckOptions(const Options& options) {
  if (options.memory_bytes < kMemoryBytesMin) {
    return Status::InvalidArgument("memory_bytes is " + std::to_string(options.memory_bytes) +
                                   ", expected " + std::to_string(kMemoryBytesMin) + " or more");
  }
  if (options.background_threads == 0 || options.background_threads > kThreadsMax) {
    return Status::InvalidArgument("background_threads is " +
                                   std::to_string(options.background_threads) + ", expected 1 to " +
                                   std::to_string(kThreadsMax));
  }
  if (options.region_bytes_max != 0 && options.region_bytes_max < kRegionBytesMin) {
    return Status::InvalidArgument("region_bytes_max is " +
                                   std::to_string(options.region_bytes_max) + ", expected 0 or " +
                                   std::to_string(kRegionBytesMin) + " or more");
  }
  if (options.slow_query_micros < 0) {
    return Status::InvalidArgument("slow_query_micros is " +
                                   std::to_string(options.slow_query_micros) +
                                   ", expected 0 or more");
  }
  for (const auto& [name, observer] : options.observers) {
    if (format::IsValidName(name) && observer != nullptr) continue;
    return Status::InvalidArgument("observer " + base::Quote(name) +
                                   (observer == nullptr ? " is null" : " has an invalid name"));
  }
  RETURN_IF_ERROR(format::CheckRegistry(options.functions));
  if (options.open_files_max != 0 && options.open_files_max < kOpenFilesMin) {
    return Status::InvalidArgument("open_files_max is " + std::to_string(options.open_files_max) +
                                   ", expected 0 or " + std::to_string(kOpenFilesMin) + " or more");
  }
  return {};
}

uint32_t OpenFilesMax(const Options& options) {
  if (options.open_files_max != 0) return options.open_files_max;
  const uint64_t half = base::OpenFilesLimit() / 2;
  return static_cast<uint32_t>(std::clamp<uint64_t>(half, kOpenFilesMin, kOpenFilesByDefault));
}

uint32_t RingsMax(const Options& options) {
  return std::min(OpenFilesMax(options) / kRingPart, kRingsMax);
}

std::unique_ptr<base::FileSystem> NewFileSystem(const Options& options, std::string* note) {
  if (options.io == IoBackend::kPosix) return base::NewPosixFileSystem();
  std::string fallback_reason;
  std::unique_ptr<base::FileSystem> file_system =
      base::NewUringFileSystem(&fallback_reason, RingsMax(options));
  if (!fallback_reason.empty()) {
    *note = "reads go through POSIX calls instead of io_uring";
    if (options.io == IoBackend::kUring) *note += ", which was asked for";
    *note += ": " + fallback_reason;
  }
  return file_system;
}

}  // namespace

Result<Environment> DefaultEnvironment(const Options& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  auto parts = std::make_shared<OwnedParts>();
  parts->clock = base::NewSystemClock();
  parts->random = base::NewSystemRandom();
  Environment environment;
  parts->file_system = NewFileSystem(options, &environment.io_note);
  ASSIGN_OR_RETURN(parts->executor, NewThreadPool(options.background_threads, parts->clock.get()));
  environment.file_system = parts->file_system.get();
  environment.clock = parts->clock.get();
  environment.random = parts->random.get();
  environment.executor = parts->executor.get();
  environment.owner = std::move(parts);
  return environment;
}

Tuning TuningFor(const Options& options) {
  Tuning tuning;
  tuning.memstores_total_bytes = options.memory_bytes / 5;
  tuning.memstore_bytes = tuning.memstores_total_bytes / 2;
  tuning.overlap_bytes = options.memory_bytes / kOverlapPart;
  tuning.block_cache_bytes =
      options.memory_bytes - tuning.memstores_total_bytes - tuning.overlap_bytes;
  tuning.cache_lent_bytes = tuning.memstores_total_bytes;
  tuning.region_bytes_max = options.region_bytes_max == 0 ? UINT64_MAX : options.region_bytes_max;
  tuning.open_files_max = OpenFilesMax(options);
  tuning.rings_max = RingsMax(options);
  tuning.merge_window_bytes =
      std::clamp(options.memory_bytes / kMergeWindowPart / options.background_threads / 4 * 3,
                 kMergeWindowBytesMin, Tuning().merge_window_bytes);
  tuning.merge_entry_bytes =
      std::max(options.memory_bytes / kMergeEntryPart / options.background_threads / 4 * 3,
               kMergeEntryBytesMin);
  tuning.file_rows = static_cast<uint32_t>(
      std::min<uint64_t>(options.memory_bytes / kMemoryOfFileRow, kRowsPerFileMax));
  tuning.sort_bytes = options.memory_bytes / kSortPart;
  tuning.read_buffer_bytes = options.memory_bytes / kReadBufferPart;
  tuning.hit_bytes = options.memory_bytes / kHitPart;
  tuning.log_segment_bytes =
      std::clamp(tuning.memstore_bytes, kLogSegmentBytesMin, Tuning().log_segment_bytes);
  return tuning;
}

}  // namespace tandem::engine
