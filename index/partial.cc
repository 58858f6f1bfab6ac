// Evaluating a predicate in three values.
#include "index/partial.h"

#include <algorithm>
#include <string>

#include "format/cell/overflow_value.h"
#include "format/functions.h"
#include "index/key.h"
#include "index/put_key.h"

namespace tandem::format {
namespace {

class Evaluation {
 public:
  Evaluation(const IndexPredicate& predicate, std::span<const Cell* const> puts)
      : columns_(predicate.columns), puts_(puts) {}

  Truth Of(const Condition& condition) {
    if (condition.kind == Condition::Kind::kLeaf) return OfLeaf(condition);
    const bool is_and = condition.kind == Condition::Kind::kAnd;
    const Truth decides = is_and ? Truth::kFalse : Truth::kTrue;
    Truth all = is_and ? Truth::kTrue : Truth::kFalse;
    for (const Condition& child : condition.children) {
      const Truth truth = Of(child);
      if (truth == decides) return decides;
      all = is_and ? std::min(all, truth) : std::max(all, truth);
    }
    return all;
  }

 private:
  static Truth TruthOfBool(bool is_true) { return is_true ? Truth::kTrue : Truth::kFalse; }

  Truth OfLeaf(const Condition& leaf) {
    const IndexColumnRecord& column = columns_[leaf.column];
    const Cell* put = puts_[leaf.column];
    if (put == nullptr || ArePinnedByOthers(column.functions)) return Truth::kUnknown;
    if (column.type == ColumnType::kBytes) {
      // A value that becomes an overflow value in a file counts as one before that.
      const bool is_long = put->is_overflow() || put->value.size() > kInlineValueBytesMax;
      if (is_long) return Truth::kUnknown;
      return TruthOfBool(leaf.Accepts(put->value));
    }
    scratch_.clear();
    if (column.type != ColumnType::kText) {
      const bool fits = AppendPutKey(column, *put, &scratch_);
      return TruthOfBool(fits ? leaf.Accepts(scratch_) : leaf.accepts_null);
    }
    std::string_view text = put->value;
    bool has_value = !put->is_overflow();
    if (!column.functions.empty()) {
      has_value = ValueOfPut(column, *put, &scratch_);
      text = scratch_;
    }
    const bool fits = has_value && FitsIndex(column, text);
    return TruthOfBool(fits ? leaf.Accepts(text) : leaf.accepts_null);
  }

  std::span<const IndexColumnRecord> columns_;
  std::span<const Cell* const> puts_;
  std::string scratch_;
};

}  // namespace

Truth TruthOf(const IndexPredicate& predicate, std::span<const Cell* const> puts) {
  return Evaluation(predicate, puts).Of(predicate.root);
}

}  // namespace tandem::format
