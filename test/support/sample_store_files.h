// Sound store files for the fuzzer to start from, small but of every shape, stored uncompressed.
#pragma once

#include <string>
#include <vector>

#include "format/cell/cell.h"
#include "format/types.h"
#include "store_file/scanner.h"
#include "tandem/status.h"

namespace tandem::test {

inline constexpr format::FileId kSampleId{{9, 9, 9, 1, 2, 3, 4, 5}};

/// One family with versions and deletes; many rows with postings of every form; three families that
/// rows have in part; wide rows and overflow values.
std::vector<std::string> SampleStoreFiles();
/// The same shapes in as few rows as possible, for tests that read them many thousand times: one
/// family with versions and deletes; three families that rows have in part.
std::vector<std::string> SmallStoreFiles();
/// A value with a Roaring list of postings.
std::string RoaringPostings();
/// A wide row of few cells in two chunks, and a row that is not wide.
std::string SmallWideRow();
/// A row with an overflow value, the shortest that there is.
std::string SmallOverflowValue();
/// The same with a blocked list, for which it takes two thousand rows.
std::string BlockedPostings();

/// Reads every cell of the current row of `rows`, wide or not, and every overflow value in it.
Status ReadCells(format::RowStream* rows, std::vector<format::Cell>* cells);

}  // namespace tandem::test
