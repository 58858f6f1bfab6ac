// 1. One row is put, flushed and compacted: the file is what any file takes.
// 2. A fifth of the rows is put, put again, flushed and compacted.
// 3. The others are put and flushed, and all are compacted. Of two sizes of files follows how the
//    bytes of a row change with their number.
#include "tools/emulator/measure.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/status_macros.h"
#include "engine/engine.h"
#include "tools/simulation/inline_executor.h"
#include "tools/simulation/manual_clock.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::emulator {
namespace {

constexpr size_t kBatchRows = 128;
constexpr size_t kRowsToFit = 1000;              // Fewer say nothing about the size of files.
constexpr uint64_t kMemstoreBytes = 1ull << 40;  // Never full.
// A merge begins another file when it has collected index entries of so many bytes: small enough
// that it does.
constexpr uint64_t kEntryBytes = 512 << 10;

class Laboratory {
 public:
  explicit Laboratory(const RowShape& shape)
      : shape_(shape), disk_(1, nullptr), executor_(clock_), random_(base::NewSeededRandom(1)) {}

  Status Open();
  /// The memstore grows by what it returns. `sizes`: how; may be null.
  Result<double> Put(std::span<const std::string> keys, size_t first, MemstoreSizes* sizes,
                     size_t batch_rows = kBatchRows);
  /// The newest files: of a flush or of all.
  struct Written {
    double bytes = 0, index_bytes = 0;
    double files = 0, first_rows = 0;  ///< The first has so many rows.
  };
  Result<Written> Flush();
  Result<Written> Compact();
  double raw_bytes() const { return raw_bytes_; }  ///< Of all puts.
  double log_bytes() { return static_cast<double>(engine_->GetStatistics().log_bytes); }

 private:
  RegionInfo Region() { return engine_->Info().tables.front().regions.front(); }
  Written Newest();

  const RowShape& shape_;
  test::SimulatedDisk disk_;
  test::ManualClock clock_;
  test::InlineExecutor executor_;
  std::unique_ptr<base::RandomSource> random_;
  std::unique_ptr<engine::Engine> engine_;
  double raw_bytes_ = 0;
};

Status Laboratory::Open() {
  Options options;
  options.create_if_missing = true;
  engine::Tuning tuning;
  tuning.memstore_bytes = tuning.memstores_total_bytes = kMemstoreBytes;
  tuning.merge_entry_bytes = kEntryBytes;
  tuning.region_bytes_max = UINT64_MAX;
  engine::Environment environment;
  environment.file_system = &disk_;
  environment.clock = &clock_;
  environment.random = random_.get();
  environment.executor = &executor_;
  auto opened = engine::Engine::Open("emulated", options, tuning, environment);
  if (!opened.has_value()) return opened.error();
  engine_ = std::move(*opened);
  return engine_->CreateTable(shape_.table());
}

Result<double> Laboratory::Put(std::span<const std::string> keys, size_t first,
                               MemstoreSizes* sizes, size_t batch_rows) {
  const uint64_t before = Region().memstore_bytes;
  for (size_t begin = 0; begin < keys.size(); begin += batch_rows) {
    WriteBatch batch;
    const size_t end = std::min(keys.size(), begin + batch_rows);
    for (size_t i = begin; i < end; ++i) {
      raw_bytes_ += static_cast<double>(shape_.Put(first + i, keys[i], &batch));
    }
    clock_.Advance(1000);
    RETURN_IF_ERROR(engine_->Write({.durability = Durability::kWritten}, batch));
    if (sizes == nullptr) continue;
    const RegionInfo region = Region();
    sizes->Add(static_cast<double>(region.memstore_rows),
               static_cast<double>(region.memstore_bytes));
  }
  return static_cast<double>(Region().memstore_bytes - before);
}

// The files of the newest run.
Laboratory::Written Laboratory::Newest() {
  const RegionInfo region = Region();
  Written written;
  for (const FileInfo& file : region.files) {
    if (file.run != region.files.back().run) continue;
    if (written.files == 0) written.first_rows = static_cast<double>(file.rows);
    written.files += 1;
    written.bytes += static_cast<double>(file.size_bytes);
    written.index_bytes += static_cast<double>(file.index_bytes);
  }
  return written;
}

Result<Laboratory::Written> Laboratory::Flush() {
  RETURN_IF_ERROR(engine_->Flush("t"));
  return Newest();
}

Result<Laboratory::Written> Laboratory::Compact() {
  RETURN_IF_ERROR(engine_->Compact("t"));
  return Newest();
}

std::vector<std::string> Distinct(std::span<const std::string> keys) {
  std::vector<std::string> distinct;
  std::unordered_set<std::string_view> known;
  for (const std::string& key : keys.first(std::min(keys.size(), kMeasuredKeys))) {
    if (known.insert(key).second) distinct.push_back(key);
  }
  return distinct;
}

// A memstore has tables as large as the one before it had in the end: half full, or nearly full, by
// chance of the limit. So each size is that of a memstore after one of at most twice its rows.
Result<MemstoreSizes> MeasureMemstores(const RowShape& shape, std::span<const std::string> keys) {
  constexpr size_t kRowsFirst = 64, kPoints = 16;
  Laboratory laboratory(shape);
  RETURN_IF_ERROR(laboratory.Open());
  MemstoreSizes sizes;
  double known = 0;
  for (size_t rows = std::min(kRowsFirst, keys.size());; rows = std::min(2 * rows, keys.size())) {
    const auto some = keys.first(rows);
    RETURN_IF_ERROR(laboratory.Put(some, 0, nullptr).status());
    RETURN_IF_ERROR(laboratory.Flush().status());
    MemstoreSizes later;
    const size_t batch_rows = std::min(kBatchRows, std::max<size_t>(1, rows / kPoints));
    RETURN_IF_ERROR(laboratory.Put(some, 0, &later, batch_rows).status());
    RETURN_IF_ERROR(laboratory.Flush().status());
    for (const auto& [count, bytes] : later.points()) {
      if (count <= known) continue;
      sizes.Add(count, bytes);
      known = count;
    }
    if (rows == keys.size()) return sizes;
  }
}

/// A row took so many bytes in a file of so many.
struct RowIn {
  double rows, bytes;
};

/// A line through both over the logarithm of the rows. More rows do not make a row larger.
FileCosts Fitted(const RowIn& few, const RowIn& many) {
  FileCosts costs;
  const double doublings = std::log2(many.rows / few.rows);
  if (doublings > 0.5) costs.per_doubling = std::min(0.0, (many.bytes - few.bytes) / doublings);
  costs.row = many.bytes + costs.per_doubling * std::log2(FileCosts::kRows / many.rows);
  return costs;
}

}  // namespace

Result<RowCosts> MeasureCosts(const RowShape& shape, std::span<const std::string> all) {
  if (all.empty()) return Status::InvalidArgument("there is no key to measure rows with");
  const std::vector<std::string> keys = Distinct(all);
  const size_t few = std::max<size_t>(1, keys.size() / 5), rest = keys.size() - few;
  const auto first = std::span(keys).first(few), others = std::span(keys).subspan(few);
  const auto rows = [](size_t count) { return static_cast<double>(count); };

  RowCosts costs;
  ASSIGN_OR_RETURN(costs.memstore, MeasureMemstores(shape, keys));
  Laboratory laboratory(shape);
  RETURN_IF_ERROR(laboratory.Open());
  RETURN_IF_ERROR(laboratory.Put(std::span(keys).first(1), 0, nullptr).status());
  ASSIGN_OR_RETURN(const Laboratory::Written one, laboratory.Flush());
  const double log_before = laboratory.log_bytes(), raw_before = laboratory.raw_bytes();
  RETURN_IF_ERROR(laboratory.Put(first, 0, nullptr).status());
  costs.raw = (laboratory.raw_bytes() - raw_before) / rows(few);
  costs.log = (laboratory.log_bytes() - log_before) / rows(few);
  ASSIGN_OR_RETURN(costs.again, laboratory.Put(first, 0, nullptr));
  costs.again /= rows(few);
  ASSIGN_OR_RETURN(const Laboratory::Written flushed, laboratory.Flush());
  ASSIGN_OR_RETURN(const Laboratory::Written merged, laboratory.Compact());
  if (keys.size() < kRowsToFit) {
    // The size of a small file is mostly what any file takes: the row costs the most that it may.
    costs.flushed.row = flushed.bytes / rows(few);
    costs.merged.row = merged.bytes / rows(few);
    costs.index.row = merged.index_bytes / rows(few);
    return costs;
  }
  costs.file = std::max(0.0, one.bytes - costs.raw);
  RETURN_IF_ERROR(laboratory.Put(others, few, nullptr).status());
  ASSIGN_OR_RETURN(const Laboratory::Written more_flushed, laboratory.Flush());
  ASSIGN_OR_RETURN(const Laboratory::Written all_merged, laboratory.Compact());
  if (all_merged.files > 1) {
    costs.entry = static_cast<double>(kEntryBytes) / all_merged.first_rows;
  }
  // Of files of the mean number of rows.
  const auto row = [&](const Laboratory::Written& written, size_t count) {
    const double bytes = std::max(0.0, written.bytes - written.files * costs.file);
    return RowIn{rows(count) / written.files, bytes / rows(count)};
  };
  const auto entries = [&](const Laboratory::Written& written, size_t count) {
    return RowIn{rows(count) / written.files, written.index_bytes / rows(count)};
  };
  costs.flushed = Fitted(row(flushed, few), row(more_flushed, rest));
  costs.merged = Fitted(row(merged, few), row(all_merged, keys.size()));
  costs.index = Fitted(entries(merged, few), entries(all_merged, keys.size()));
  return costs;
}

}  // namespace tandem::emulator
