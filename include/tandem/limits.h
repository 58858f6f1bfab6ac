// The limits of the engine, as named constants. What is above a limit is refused with an error that
// names the limit; nothing is truncated.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem {

inline constexpr size_t kRowKeyBytesMax = 65'535;    ///< A row key has 1 to this many bytes.
inline constexpr size_t kQualifierBytesMax = 2'048;  ///< A qualifier has 0 to this many bytes.
inline constexpr size_t kNameBytesMax = 255;         ///< Tables, snapshots, ...: 1 to this.
inline constexpr size_t kValueBytesMax = 16 * 1024 * 1024;  ///< One value.
inline constexpr size_t kIndexKeyBytesMax = 2'048;          ///< An indexed value, as encoded.
inline constexpr size_t kDuplicatesListedMax = 100;         ///< In a UniqueReport.
inline constexpr size_t kBatchBytesMax = 64 * 1024 * 1024;  ///< One WriteBatch.
inline constexpr size_t kTransactionRowsMax = 65'536;       ///< Rows read and operations written.
inline constexpr size_t kTransactionRangeRowsMax = 10'000;  ///< To check ranges; see Transaction.
inline constexpr uint64_t kRowPieceBytes = 1024 * 1024;     ///< Cells of one piece of a row.
inline constexpr uint64_t kWholeRowBytesMax = 64 * 1024 * 1024;  ///< A row that is read whole.
inline constexpr uint32_t kRegionsMax = 4096;                    ///< Regions of one table.
inline constexpr size_t kSplitKeysBytesMax = 8 * 1024 * 1024;    ///< All split keys of a table.
inline constexpr uint32_t kFamiliesMax = 64;                     ///< Families of one table.
inline constexpr size_t kFormerLimitsMax = 16;                   ///< Of a family, until compacted.
inline constexpr uint32_t kIndexesMax = 64;                      ///< Indexes of one table.
inline constexpr size_t kIndexColumnsMax = 16;                   ///< Columns of one index.
inline constexpr size_t kIncludedColumnsMax = 16;                ///< That one index includes.
inline constexpr size_t kIndexWhereBytesMax = 4'096;             ///< IndexOptions::where.
inline constexpr uint32_t kIndexWhereDepthMax = 16;              ///< Its levels of AND, OR, NOT.
inline constexpr size_t kFunctionsMax = 8;                       ///< Functions in each other.
inline constexpr size_t kFunctionTextBytesMax = 1'024;           ///< A path.
inline constexpr size_t kFunctionValueBytesMax = 64 * 1024;      ///< A value with functions.
inline constexpr size_t kConcatPartsMax = 16;                    ///< That concat() joins.
inline constexpr size_t kRegexpBytesMax = 4'096;                 ///< A pattern of REGEXP.
inline constexpr size_t kWordBytesMax = 256;                     ///< A word of words().
inline constexpr uint32_t kColumnTypesMax = 1024;                ///< Columns of a table with types.
inline constexpr size_t kRowKeyPartsMax = 16;                    ///< Parts of a typed row key.
inline constexpr size_t kRowKeyTextBytesMax = 1'024;             ///< The text that declares it.
inline constexpr size_t kFormerRowKeysMax = 3;                   ///< Of a table, with rows of each.
inline constexpr size_t kRowKeyRangesMax = 65'536;               ///< Ranges of a prefix of fields.
inline constexpr size_t kScanLeadsMax = 4'096;                   ///< See RowRange::leading_bytes.
inline constexpr size_t kSequencesMax = 1024;                    ///< Sequences of a database.
inline constexpr size_t kNamedSnapshotsMax = 1024;               ///< Named snapshots.
inline constexpr uint32_t kObserversMax = 16;                    ///< Observers of one table.
inline constexpr uint32_t kPredicateDepthMax = 200;              ///< Levels of AND, OR and NOT.
inline constexpr size_t kTupleColumnsMax = 16;                   ///< Columns that compare together.
inline constexpr uint32_t kParametersMax = 32'766;               ///< Parameters of a query.
inline constexpr size_t kExpressionsMax = 64;                    ///< Of a query's rows.
inline constexpr size_t kGroupColumnsMax = 16;                   ///< Columns that rows group by.
inline constexpr size_t kAggregationsMax = 64;                   ///< Values of each group.
inline constexpr uint32_t kSplitPartsMax = 4096;                 ///< Parts of a scan.
inline constexpr uint64_t kSplitPlanRegionsMax = 65'535;         ///< Of a SplitPlan.
inline constexpr uint32_t kReadThreadsMax = 64;                  ///< Of one read.
inline constexpr uint32_t kRowsPerFileMax = 0x7fff'ffff;         ///< Rows of one store file.

}  // namespace tandem
