// Evaluating a bound predicate on a row, and translating it to index key ranges.
#include "engine/predicate/bound.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "engine/predicate/key_ranges.h"
#include "format/cell/overflow_value.h"
#include "format/value_list.h"
#include "index/entries.h"

namespace tandem::engine {
namespace {

using Kind = BoundNode::Kind;

bool NodeMayAcceptAbsent(const BoundNode& node) {
  if (node.kind == Kind::kLeaf) {
    return node.leaf.is_row_key || node.leaf.column.is_of_row_key() || node.leaf.accepts_null;
  }
  const bool is_and = node.kind == Kind::kAnd;
  for (const BoundNode& child : node.children) {
    if (NodeMayAcceptAbsent(child) != is_and) return !is_and;
  }
  return is_and;
}

// Calls use(column) for each condition that is not on the row key.
template <typename Use>
void ForEachColumn(const BoundNode& node, const Use& use) {
  if (node.kind == Kind::kLeaf && !node.leaf.is_row_key && !node.leaf.column.is_of_row_key()) {
    node.leaf.column.ForEachJoined(use);
  }
  for (const BoundNode& child : node.children) ForEachColumn(child, use);
}

// The index key of a bound's key. No stored value need have it.
std::string Encode(const std::string& bound, const format::IndexColumnRecord& column) {
  if (ComparesAsBytes(column.type)) return format::BoundKey(column, bound);
  std::string key = bound;
  if (column.descending) format::InvertIndexKey(&key);
  return key;
}

// The range between two ends given in the order of the index.
format::KeyRange Between(const std::optional<ValueBound>& low,
                         const std::optional<ValueBound>& high,
                         const format::IndexColumnRecord& column) {
  format::KeyRange range;
  if (!low.has_value() || !high.has_value()) range = format::PresentRange(column);
  if (low.has_value()) {
    std::string key = Encode(low->key, column);
    // Every encoded key has a successor: the largest is that of an absent value in a descending
    // column.
    range.low = low->inclusive ? std::move(key) : *format::Successor(key);
  }
  if (high.has_value()) {
    std::string key = Encode(high->key, column);
    range.high = high->inclusive ? *format::Successor(key) : std::move(key);
  }
  return range;
}

}  // namespace

ColumnType TextType(ColumnType type) {
  switch (type) {
    case ColumnType::kInt64Be:
      return ColumnType::kInt64;
    case ColumnType::kUint64Be:
      return ColumnType::kUint64;
    case ColumnType::kDoubleBe:
      return ColumnType::kDouble;
    case ColumnType::kBoolBe:
      return ColumnType::kBool;
    case ColumnType::kTimestampBe:
      return ColumnType::kTimestamp;
    default:
      return type;
  }
}

bool AsksRowKey(const BoundNode& node) {
  if (node.kind == Kind::kLeaf) return node.leaf.is_row_key || node.leaf.column.is_of_row_key();
  return std::ranges::any_of(node.children, AsksRowKey);
}

const format::Cell* FindNewest(const format::IndexColumnRecord& column,
                               std::span<const format::Cell> cells) {
  for (const format::Cell& cell : cells) {
    if (cell.qualifier == column.qualifier && cell.family == column.family) return &cell;
  }
  return nullptr;
}

void FindJoined(const format::IndexColumnRecord& column, std::span<const format::Cell> cells,
                std::vector<const format::Cell*>* puts) {
  puts->clear();
  for (const format::IndexColumnRecord& joined : column.joined) {
    puts->push_back(FindNewest(joined, cells));
  }
}

std::vector<format::KeyRange> RangesOf(const BoundLeaf& leaf,
                                       const format::IndexColumnRecord& column) {
  std::vector<format::KeyRange> ranges;
  for (const ValueInterval& interval : leaf.values.intervals()) {
    format::KeyRange range = column.descending ? Between(interval.high, interval.low, column)
                                               : Between(interval.low, interval.high, column);
    // A range next to a bound that is not a value may be empty.
    if (!IsEmpty(range)) ranges.push_back(std::move(range));
  }
  if (column.descending) std::reverse(ranges.begin(), ranges.end());
  return ranges;
}

// Looks at rows, with its scratch memory.
class BoundPredicate::Evaluator {
 public:
  explicit Evaluator(const BoundNode& root) : root_(root) {}

  Result<bool> Matches(std::string_view row, std::span<const format::Cell> cells);
  void BeginColumns();
  Result<bool> AddColumn(std::span<const format::Cell> visible);

 private:
  // What a version says of a condition.
  enum class Verdict : uint8_t { kFalse, kTrue, kAbsent };
  static Verdict Of(bool matches) { return matches ? Verdict::kTrue : Verdict::kFalse; }
  // What the cells of a row that were looked at say of a condition that several of them decide.
  struct Several {
    const BoundLeaf* leaf = nullptr;
    bool has_any = false;         // That has a value.
    std::optional<bool> decided;  // Whatever the others say.

    bool Matches() const { return decided.value_or(has_any ? leaf->every : leaf->accepts_null); }
  };
  Result<bool> Matches(const BoundNode& node, std::string_view row,
                       std::span<const format::Cell> cells);
  Status Add(const format::Cell& cell, Several* several);
  Result<bool> MatchesSeveral(const BoundLeaf& leaf, std::span<const format::Cell> cells);
  void ListFamilyLeaves(const BoundNode& node);
  Result<Verdict> Judge(const BoundLeaf& leaf, const format::Cell& cell);
  Verdict JudgeText(const BoundLeaf& leaf, const format::Cell& cell);
  Verdict JudgeValues(const BoundLeaf& leaf, const format::Cell& cell);
  bool AreSameValues(const BoundLeaf& leaf, const format::Cell& cell) const;
  bool MatchesField(const BoundLeaf& leaf, std::string_view row);

  const BoundNode& root_;
  format::Cell row_put_;  // Of the row that Matches looks at.
  std::string scratch_;
  // Of the row that Matches looks at: several leaves may be over one multi-valued column.
  format::ValueList values_;
  const format::Cell* values_cell_ = nullptr;  // nullptr: of none.
  const format::IndexColumnRecord* values_column_ = nullptr;
  std::vector<const format::Cell*> joined_;  // Of the leaf that Matches looks at.
  // Of the row that Matches looks at: whether its key has fields, and these.
  std::optional<bool> has_fields_;
  std::vector<std::string> fields_;
  // Of conditions on families, if the row is given column by column.
  std::vector<Several> families_;
};

BoundPredicate::BoundPredicate(std::unique_ptr<const BoundNode> root) : root_(std::move(root)) {}
BoundPredicate::BoundPredicate(const BoundPredicate& other)
    : BoundPredicate(std::make_unique<const BoundNode>(*other.root_)) {}
BoundPredicate& BoundPredicate::operator=(const BoundPredicate& other) {
  return *this = BoundPredicate(other);
}
BoundPredicate::BoundPredicate(BoundPredicate&&) noexcept = default;
BoundPredicate& BoundPredicate::operator=(BoundPredicate&&) noexcept = default;
BoundPredicate::~BoundPredicate() = default;

BoundPredicate BoundPredicate::Of(BoundNode root) {
  return BoundPredicate(std::make_unique<const BoundNode>(std::move(root)));
}

BoundPredicate::Evaluator& BoundPredicate::evaluator() {
  if (evaluator_ == nullptr) evaluator_ = std::make_unique<Evaluator>(*root_);
  return *evaluator_;
}

Result<bool> BoundPredicate::Matches(std::string_view row, std::span<const format::Cell> cells) {
  return evaluator().Matches(row, cells);
}

void BoundPredicate::BeginColumns() { evaluator().BeginColumns(); }

Result<bool> BoundPredicate::AddColumn(std::span<const format::Cell> visible) {
  return evaluator().AddColumn(visible);
}

format::KeyRange RangeOf(const std::string& value, const format::IndexColumnRecord& column) {
  format::KeyRange range{.low = Encode(value, column), .high = std::nullopt};
  range.high = format::Successor(range.low);
  return range;
}

ColumnSet BoundPredicate::Columns() const {
  ColumnSet columns = NamedColumns();
  columns.Add(WholeFamilies());
  return columns;
}

ColumnSet BoundPredicate::NamedColumns() const {
  std::vector<std::pair<format::FamilyId, std::string_view>> names;
  ForEachColumn(root(), [&names](const format::IndexColumnRecord& column) {
    if (!column.is_of_family()) names.emplace_back(column.family, column.qualifier);
  });
  std::sort(names.begin(), names.end());  // In rising order each is added at the end.
  ColumnSet columns;
  for (const auto& [family, qualifier] : names) columns.Add(family, qualifier);
  return columns;
}

ColumnSet BoundPredicate::WholeFamilies() const {
  ColumnSet families;
  ForEachColumn(root(), [&families](const format::IndexColumnRecord& column) {
    if (column.is_of_family()) families.AddFamily(column.family);
  });
  return families;
}

bool BoundPredicate::MayAcceptAbsent() const { return NodeMayAcceptAbsent(root()); }

Result<bool> BoundPredicate::Evaluator::Matches(std::string_view row,
                                                std::span<const format::Cell> cells) {
  values_cell_ = nullptr;
  has_fields_.reset();
  row_put_ = format::RowKeyPut(row);
  const Result<bool> matches = Matches(root_, row, cells);
  families_.clear();
  return matches;
}

Result<bool> BoundPredicate::Evaluator::Matches(const BoundNode& node, std::string_view row,
                                                std::span<const format::Cell> cells) {
  if (node.kind != Kind::kLeaf) {
    const bool is_and = node.kind == Kind::kAnd;
    for (const BoundNode& child : node.children) {
      ASSIGN_OR_RETURN(const bool matches, Matches(child, row, cells));
      if (matches != is_and) return !is_and;
    }
    return is_and;
  }
  const BoundLeaf& leaf = node.leaf;
  if (leaf.is_row_key) return leaf.values.Contains(row);
  if (leaf.key_fields != nullptr) return MatchesField(leaf, row);
  if (leaf.any_version || leaf.column.is_of_family()) [[unlikely]]
    return MatchesSeveral(leaf, cells);
  const format::Cell* cell =
      leaf.column.is_of_row_key() ? &row_put_ : FindNewest(leaf.column, cells);
  if (cell == nullptr) return leaf.accepts_null;
  FindJoined(leaf.column, cells, &joined_);
  ASSIGN_OR_RETURN(const Verdict verdict, Judge(leaf, *cell));
  return verdict == Verdict::kAbsent ? leaf.accepts_null : verdict == Verdict::kTrue;
}

// All fields are of one table, so one key is decoded once.
bool BoundPredicate::Evaluator::MatchesField(const BoundLeaf& leaf, std::string_view row) {
  if (!has_fields_.has_value()) has_fields_ = leaf.key_fields->Decode(row, &fields_);
  return *has_fields_ ? leaf.Accepts(fields_[leaf.field]) : leaf.accepts_null;
}

// The values of a column's versions, or of the columns of a family, are values of one column.
Result<bool> BoundPredicate::Evaluator::MatchesSeveral(const BoundLeaf& leaf,
                                                       std::span<const format::Cell> cells) {
  const auto known = std::ranges::find(families_, &leaf, &Several::leaf);
  if (known != families_.end()) return known->Matches();
  joined_.clear();
  Several several;
  several.leaf = &leaf;
  const format::Cell* previous = nullptr;
  for (const format::Cell& cell : cells) {
    if (!format::HasPutsOf(leaf.column, cell.family, cell.qualifier)) continue;
    const bool is_older = previous != nullptr && format::SameColumn(*previous, cell);
    previous = &cell;
    if (is_older && !leaf.any_version) continue;
    RETURN_IF_ERROR(Add(cell, &several));
    if (several.decided.has_value()) break;
  }
  return several.Matches();
}

Status BoundPredicate::Evaluator::Add(const format::Cell& cell, Several* several) {
  ASSIGN_OR_RETURN(const Verdict verdict, Judge(*several->leaf, cell));
  if (verdict == Verdict::kAbsent) return {};
  several->has_any = true;
  const bool every = several->leaf->every;
  if ((verdict == Verdict::kTrue) != every) several->decided = !every;
  return {};
}

void BoundPredicate::Evaluator::ListFamilyLeaves(const BoundNode& node) {
  if (node.kind == Kind::kLeaf && !node.leaf.is_row_key && node.leaf.column.is_of_family()) {
    families_.emplace_back().leaf = &node.leaf;
  }
  for (const BoundNode& child : node.children) ListFamilyLeaves(child);
}

void BoundPredicate::Evaluator::BeginColumns() {
  families_.clear();
  ListFamilyLeaves(root_);
}

Result<bool> BoundPredicate::Evaluator::AddColumn(std::span<const format::Cell> visible) {
  bool goes_on = false;
  values_cell_ = nullptr;  // The cells may be where those of another column were.
  joined_.clear();
  for (Several& several : families_) {
    const BoundLeaf& leaf = *several.leaf;
    const bool is_of_it = !visible.empty() && visible.front().family == leaf.column.family;
    const size_t count = !is_of_it ? 0 : leaf.any_version ? visible.size() : 1;
    for (size_t i = 0; i < count && !several.decided.has_value(); ++i) {
      RETURN_IF_ERROR(Add(visible[i], &several));
    }
    goes_on |= !several.decided.has_value();
  }
  return goes_on;
}

// A value that does not fit the type is absent. All bytes fit, at any length.
Result<BoundPredicate::Evaluator::Verdict> BoundPredicate::Evaluator::Judge(
    const BoundLeaf& leaf, const format::Cell& cell) {
  scratch_.clear();
  if (format::IsMultiValued(leaf.column)) return JudgeValues(leaf, cell);
  if (leaf.column.type == ColumnType::kText) return JudgeText(leaf, cell);
  if (leaf.column.type != ColumnType::kBytes) {
    const bool fits = format::AppendPutKey(leaf.column, cell, &scratch_, joined_);
    return fits ? Of(leaf.values.Contains(scratch_)) : Verdict::kAbsent;
  }
  if (leaf.values.is_all() && !leaf.test.has_value()) return Verdict::kTrue;
  if (leaf.values.empty()) return Verdict::kFalse;
  if (!cell.is_overflow()) return Of(leaf.Accepts(cell.value));
  RETURN_IF_ERROR(format::ReadOverflowValue(cell, &scratch_));
  return Of(leaf.Accepts(scratch_));
}

// Whether values_ are those of the cell, by the leaf's functions.
bool BoundPredicate::Evaluator::AreSameValues(const BoundLeaf& leaf,
                                              const format::Cell& cell) const {
  return values_cell_ == &cell && values_column_->functions == leaf.column.functions;
}

BoundPredicate::Evaluator::Verdict BoundPredicate::Evaluator::JudgeValues(
    const BoundLeaf& leaf, const format::Cell& cell) {
  if (!AreSameValues(leaf, cell)) {
    format::ValuesOfPut(leaf.column, cell, &values_, joined_);
    values_cell_ = &cell;
    values_column_ = &leaf.column;
  }
  bool has_any = false;
  for (size_t i = 0; i < values_.size(); ++i) {
    std::string_view value = values_[i];
    scratch_.clear();
    if (ComparesAsBytes(leaf.column.type)) {
      if (!format::FitsIndex(leaf.column, value)) continue;
    } else {
      if (!format::AppendKeyIfFits(leaf.column, value, &scratch_)) continue;
      value = scratch_;
    }
    has_any = true;
    if (leaf.Accepts(value) != leaf.every) return Of(!leaf.every);
  }
  return has_any ? Of(leaf.every) : Verdict::kAbsent;
}

BoundPredicate::Evaluator::Verdict BoundPredicate::Evaluator::JudgeText(const BoundLeaf& leaf,
                                                                        const format::Cell& cell) {
  std::string_view text = cell.value;
  if (!leaf.column.functions.empty()) {
    if (!format::ValueOfPut(leaf.column, cell, &scratch_, joined_)) return Verdict::kAbsent;
    text = scratch_;
  } else if (cell.is_overflow()) {
    return Verdict::kAbsent;
  }
  return format::FitsIndex(leaf.column, text) ? Of(leaf.Accepts(text)) : Verdict::kAbsent;
}

}  // namespace tandem::engine
