// How large the sections of an index would be in the files of a table: they are made from the
// rows, as a build makes them, and only counted.
#pragma once

#include <cstdint>

#include "base/cancellation.h"
#include "engine/advice/file_rows.h"

namespace tandem::engine {

struct SectionSizes {
  uint64_t entries = 0;  ///< Of each row's newest value in its file.
  uint64_t bytes = 0;
  uint64_t rows = 0;    ///< Of the sample: rows of files that were indexed, and
  uint64_t micros = 0;  ///< how long that took, without reading them.
};

/// `index` is one of `indexed`. Of a sample both are extrapolated: values and entries cost bytes of
/// their own, as the sections of half the sample and of all of it say, and how many values a file
/// has comes from how many the sample has once. Memory: kSectionEntryBytes of entries, for a sample
/// half as much again; where a file has more, its section is made in parts, each with the keys of
/// its own, and comes out a little too large. Errors: kCorruption, kIoError, kCancelled.
Result<SectionSizes> MeasureSections(const TableView& view, const format::TableRecord& indexed,
                                     const format::IndexRecord& index, RowSample sample,
                                     const base::Cancellation& cancellation);

inline constexpr uint64_t kSectionEntryBytes = 64 << 20;

}  // namespace tandem::engine
