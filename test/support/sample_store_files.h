// Sound store files for the fuzzer to start from, small but of every shape, stored uncompressed.
#pragma once

#include <string>
#include <vector>

#include "format/cell.h"
#include "format/row_stream.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::test {

inline constexpr format::FileId kSampleId{{9, 9, 9, 1, 2, 3, 4, 5}};

/// One family with versions and deletes; many rows with postings of every form; three families that
/// rows have in part; wide rows and far values.
std::vector<std::string> SampleStoreFiles();

/// Reads every cell of the row that `rows` stands on, wide or not, and every far value in it.
Status ReadCells(format::RowStream* rows, std::vector<format::Cell>* cells);

}  // namespace tandem::test
