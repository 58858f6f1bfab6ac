// Rows that several indexes lead to together, complements, and the first rows of an order, in
// Tandem and in SQLite, which plans such queries too. The rows are those of W1 with one column
// more: `open` is 'no' in about every hundredth, 'yes' in the others. Each column has an index.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/bench/workload.h"

namespace tandem::bench {

enum class Question : uint8_t {
  kAnd,          ///< Of one status and within a tenth of all time: 1 % of the rows.
  kOr,           ///< Of one of 20 cities.
  kNot,          ///< NOT open = 'yes'.
  kComplement,   ///< The same rows, asked for by open = 'no'.
  kTop,          ///< The last 10 in time, the latest first.
  kTopOfStatus,  ///< The last 10 in time of one status, the latest first.
  kCount,        ///< How many have one status: a tenth.
  kCountRange,   ///< How many are within a tenth of all time.
  kPage,         ///< Page 100,000 by key, or that behind nine tenths of the rows.
  kPageByTime,   ///< The same page in time.
  kPageOfStatus  ///< The page by key behind nine tenths of the rows of one status.
};

/// What the questions compare with.
struct AnswerValues {
  std::string status = {};
  std::vector<std::string> cities = {};
  std::string low = {}, high = {};          ///< low <= ts < high.
  uint64_t rows_before_page = 0;            ///< Of all rows,
  uint64_t rows_before_page_of_status = 0;  ///< and of one status.
};

inline constexpr uint64_t kPageRows = 20;

/// Every call ends the process with a message when the engine reports an error.
class AnswerStore {
 public:
  virtual ~AnswerStore() = default;
  virtual void Insert(const W1Row& row, const std::string& open) = 0;
  virtual void Commit() = 0;
  /// Returns when everything is in files and merged.
  virtual void Settle() = 0;
  /// Whole rows, or a number as one value.
  virtual void Ask(Question question, const AnswerValues& values, Consumer* consumer) = 0;
};

/// Creates the database in the directory `path`. Weak: without address when it was not built.
std::unique_ptr<AnswerStore> NewTandemAnswers(const std::string& path);
[[gnu::weak]] std::unique_ptr<AnswerStore> NewSqliteAnswers(const std::string& path);

}  // namespace tandem::bench
