// A writer of sections over a file that keeps nothing.
#include "engine/advice/section_sizes.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/status_macros.h"
#include "format/block/section_writer.h"
#include "format/hash.h"
#include "index/entries.h"
#include "index/section_writer.h"

namespace tandem::engine {
namespace {

constexpr uint32_t kAlignment = 64;
constexpr uint64_t kWindowBytes = 512 << 10;
// Rows between two looks at the memory of the entries.
constexpr uint32_t kRowsBetween = 1024;

/// Takes what is written, and keeps nothing.
class NoFile final : public base::File {
 public:
  Result<size_t> Read(uint64_t, std::span<char>) override {
    return Status::IoError("nothing is kept of this file");
  }
  Status Write(uint64_t offset, std::string_view data) override {
    size_bytes_ = std::max(size_bytes_, offset + data.size());
    return {};
  }
  Status DataSync() override { return {}; }
  Result<uint64_t> Size() override { return size_bytes_; }
  Status Truncate(uint64_t size_bytes) override {
    size_bytes_ = size_bytes;
    return {};
  }
  Status Preallocate(uint64_t) override { return {}; }
  const std::string& name() const override { return name_; }

 private:
  uint64_t size_bytes_ = 0;
  const std::string name_ = "sections that are measured";
};

/// How many distinct values a sample has, and how many of them once. Of many values those with the
/// smallest hashes stand for all.
class ValueCounts {
 public:
  void Add(std::string_view key) {
    const uint64_t hash = format::Hash64(key);
    if (hash > largest_) return;
    ++counts_[hash];
    while (counts_.size() > kCountsMax) {
      largest_ /= 2;
      std::erase_if(counts_, [this](const auto& each) { return each.first > largest_; });
    }
  }
  /// Of all rows, of which the sample is a part: of the values that it has once, so many have
  /// others beside them as a table of random rows would have.
  double ValuesOf(double times_as_many_rows) const {
    const auto once = static_cast<double>(
        std::ranges::count_if(counts_, [](const auto& each) { return each.second == 1; }));
    const auto others = static_cast<double>(counts_.size()) - once;
    return (std::sqrt(times_as_many_rows) * once + others) / Share();
  }

 private:
  static constexpr size_t kCountsMax = 1 << 15;
  double Share() const { return static_cast<double>(largest_) / static_cast<double>(UINT64_MAX); }

  uint64_t largest_ = UINT64_MAX;
  std::unordered_map<uint64_t, uint32_t> counts_;
};

/// Adds the time until it goes. Of many short times the sum is right, though each is in whole
/// microseconds.
class Stopwatch {
 public:
  Stopwatch(base::Clock* clock, int64_t* micros)
      : clock_(*clock), micros_(*micros), begin_(clock->MonotonicMicros()) {}
  ~Stopwatch() { micros_ += clock_.MonotonicMicros() - begin_; }

 private:
  base::Clock& clock_;
  int64_t& micros_;
  const int64_t begin_;
};

/// A section of rows that are added, numbered as they come: of a sample, too, the ordinals are
/// those of neighbours.
class MeasuredSection {
 public:
  struct Figures {
    double entries = 0, values = 0, bytes = 0;
  };

  MeasuredSection(const format::IndexRecord& index, Compression compression)
      : index_(index), compression_(compression) {}

  Status AddRow(std::string_view key, std::span<const format::Cell> cells) {
    const Stopwatch watch(clock_.get(), &micros_);
    if (!writer_.has_value()) writer_.emplace(index_, compression_);
    writer_->AddRow(format::Ordinal(count_++), key, cells);
    const bool is_full = count_ % kRowsBetween == 0 && writer_->memory_bytes() > kSectionEntryBytes;
    return is_full ? Write() : Status();
  }

  /// Makes the section of the rows so far.
  Status End() {
    const Stopwatch watch(clock_.get(), &micros_);
    return Write();
  }

  const Figures& figures() const { return figures_; }
  int64_t micros() const { return micros_; }

 private:
  Status Write() {
    if (!writer_.has_value()) return {};
    if (writer_->is_complete()) {
      NoFile file;
      format::SectionWriter out(&file, {}, kAlignment);
      ASSIGN_OR_RETURN(const format::IndexSummary summary, writer_->Write(&out, count_));
      figures_.entries += static_cast<double>(summary.current_entries);
      figures_.values += static_cast<double>(summary.current_values);
      for (const format::SectionEntry& section : out.sections()) {
        figures_.bytes += static_cast<double>(section.size_bytes);
      }
    }
    writer_.reset();
    count_ = 0;
    return {};
  }

  const format::IndexRecord& index_;
  const Compression compression_;
  std::optional<format::IndexSectionWriter> writer_;
  uint32_t count_ = 0;
  Figures figures_;
  const std::unique_ptr<base::Clock> clock_ = base::NewSystemClock();
  int64_t micros_ = 0;
};

/// The section of one file.
class FileMeasurer {
 public:
  FileMeasurer(const format::TableRecord& table, const format::IndexRecord& index, bool is_sample)
      : index_(index),
        is_sample_(is_sample),
        all_(index, CompressionOf(table, index)),
        half_(index, CompressionOf(table, index)) {}

  Status AddRow(std::string_view key, std::span<const format::Cell> cells) {
    RETURN_IF_ERROR(all_.AddRow(key, cells));
    ++rows_;
    if (!is_sample_) return {};
    format::FactsOfRow(index_, key, cells, &facts_);
    for (const format::IndexEntry& entry : facts_.entries) {
      if (entry.current) values_.Add(entry.key);
    }
    const bool is_in_half = rows_ / RowSample::kGroupRows % 2 == 0;
    return is_in_half ? half_.AddRow(key, cells) : Status();
  }

  /// Of a file with that number of rows.
  Result<MeasuredSection::Figures> End(uint32_t rows) {
    RETURN_IF_ERROR(all_.End());
    RETURN_IF_ERROR(half_.End());
    MeasuredSection::Figures found = all_.figures();
    if (rows_ == 0 || rows_ == rows) return found;
    const double times = static_cast<double>(rows) / static_cast<double>(rows_);
    const MeasuredSection::Figures half = half_.figures();
    const double values = std::clamp(values_.ValuesOf(times), found.values,
                                     std::max(found.values, found.entries * times));
    // What a value and an entry cost, from two equations.
    const double both = half.values * found.entries - found.values * half.entries;
    double bytes = found.bytes * times;
    if (std::abs(both) > 0.02 * found.values * found.entries) {
      const double of_value = (half.bytes * found.entries - found.bytes * half.entries) / both;
      const double of_entry = (found.bytes - of_value * found.values) / found.entries;
      if (of_value >= 0 && of_entry >= 0)
        bytes = of_value * values + of_entry * found.entries * times;
    }
    return MeasuredSection::Figures{found.entries * times, values, bytes};
  }

  uint64_t rows() const { return rows_; }
  int64_t micros() const { return all_.micros(); }

 private:
  // An index has that of its column's family.
  static Compression CompressionOf(const format::TableRecord& table,
                                   const format::IndexRecord& index) {
    const format::IndexColumnRecord& column = index.columns.front();
    return column.is_of_row_key() ? table.first_family().options.compression
                                  : table.FindFamily(column.family)->options.compression;
  }

  const format::IndexRecord& index_;
  const bool is_sample_;
  MeasuredSection all_, half_;
  ValueCounts values_;
  format::RowIndexFacts facts_;
  uint64_t rows_ = 0;
};

}  // namespace

Result<SectionSizes> MeasureSections(const TableView& view, const format::TableRecord& indexed,
                                     const format::IndexRecord& index, RowSample sample,
                                     const base::Cancellation& cancellation) {
  IndexedCells kept(indexed);
  std::set<const LiveFile*> measured;  // Regions may share one.
  MeasuredSection::Figures sum;
  SectionSizes sizes;
  uint64_t group = 0, rows_of_all = 0, rows_of_measured = 0;
  for (const auto& region : view.regions) {
    for (const FileSlice& slice : region->files) {
      if (!measured.insert(slice.file.get()).second) continue;
      format::StoreFile* const file = &slice.file->store();
      FileMeasurer measurer(indexed, index, sample.stride > 1);
      const uint32_t step = sample.stride == 1 ? file->row_count() : RowSample::kGroupRows;
      for (uint32_t low = 0; low < file->row_count(); low += step) {
        if (sample.stride > 1 && !sample.Has(group++)) continue;
        format::RowStream rows(file, low, std::min(step, file->row_count() - low) + low,
                               kWindowBytes);
        while (true) {
          RETURN_IF_ERROR(cancellation.Check());
          RETURN_IF_ERROR(rows.Next());
          if (!rows.valid()) break;
          ASSIGN_OR_RETURN(const std::span<const format::Cell> cells, kept.Of(rows));
          RETURN_IF_ERROR(measurer.AddRow(rows.key(), cells));
        }
      }
      ASSIGN_OR_RETURN(const MeasuredSection::Figures figures, measurer.End(file->row_count()));
      sum.entries += figures.entries;
      sum.bytes += figures.bytes;
      rows_of_all += file->row_count();
      if (measurer.rows() > 0) rows_of_measured += file->row_count();
      sizes.rows += measurer.rows();
      sizes.micros += static_cast<uint64_t>(measurer.micros());
    }
  }
  // Small files may have no group of the sample.
  const double times = rows_of_measured == 0 ? 1
                                             : static_cast<double>(rows_of_all) /
                                                   static_cast<double>(rows_of_measured);
  sizes.entries = static_cast<uint64_t>(std::llround(sum.entries * times));
  sizes.bytes = static_cast<uint64_t>(std::llround(sum.bytes * times));
  return sizes;
}

}  // namespace tandem::engine
