// BoundPredicate::Bind: from the user's tree to the bound one.
//
// 1. A column is looked up: its family must exist, its type is what it is cast to, else its
//    own.
// 2. A leaf becomes a set of values; literals become keys that compare as the column's values do.
//    A comparison of tuples becomes an OR of what decides at each column, and a condition on the
//    first column that every match satisfies, so that it is a range for whoever looks for one.
// 3. NOT is pushed down: AND and OR are swapped, a leaf is complemented.
// 4. A group nested in a group of the same kind is merged into it. Its leaves over one column are
//    combined into one leaf in a single step: a thousand conditions cost as much as one IN with a
//    thousand values.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/status_macros.h"
#include "engine/predicate/bound.h"
#include "engine/predicate/column_parser.h"
#include "engine/predicate/literal.h"
#include "format/functions.h"
#include "format/row_key/field.h"
#include "format/row_key/key_fields.h"
#include "format/text_terms.h"
#include "index/entries.h"

namespace tandem::engine {
namespace {

using Kind = Predicate::Kind;

// Conditions with REGEXP of one predicate: each may keep 8 MiB while the query runs.
constexpr size_t kRegexpsMax = 16;

// The kind of node that AND or OR becomes.
BoundNode::Kind GroupKind(Kind kind, bool negated) {
  return (kind == Kind::kAnd) != negated ? BoundNode::Kind::kAnd : BoundNode::Kind::kOr;
}

// Whether a leaf can become one with others over its column. Two values of one row may satisfy an
// AND each in part, and values that satisfy a test are no intervals.
bool IsCombined(BoundNode::Kind kind, const BoundLeaf& leaf) {
  if (leaf.test.has_value()) return false;
  if (!leaf.has_several_values()) return true;
  return leaf.every == (kind == BoundNode::Kind::kAnd);
}

// Every value is in all values, or none: that is the same as one of them.
void SimplifyEvery(BoundLeaf* leaf) {
  if (leaf->test.has_value()) return;
  if (leaf->values.is_all() || leaf->values.empty()) leaf->every = false;
}

// Combines the leaves over one column of an AND or OR. Requires: `leaves` is not empty, and all are
// combined.
BoundLeaf Combine(BoundNode::Kind kind, std::vector<BoundLeaf*> leaves) {
  std::vector<const ValueSet*> sets;
  const bool is_and = kind == BoundNode::Kind::kAnd;
  bool accepts_null = is_and;
  for (const BoundLeaf* leaf : leaves) {
    sets.push_back(&leaf->values);
    accepts_null = is_and ? accepts_null && leaf->accepts_null : accepts_null || leaf->accepts_null;
  }
  ValueSet values = is_and ? ValueSet::IntersectionOf(sets) : ValueSet::UnionOf(sets);
  BoundLeaf combined{leaves[0]->is_row_key, std::move(leaves[0]->column), std::move(values),
                     accepts_null};
  combined.any_version = leaves[0]->any_version;
  combined.key_fields = leaves[0]->key_fields;
  combined.field = leaves[0]->field;
  combined.every = leaves[0]->every;
  SimplifyEvery(&combined);
  return combined;
}

// Combines the leaves over each column into one, at the position of the first.
Status CombineLeaves(const base::Cancellation& cancellation, BoundNode* group) {
  // Functions as text, which has an order.
  using Column = std::tuple<bool, uint32_t, std::string, ColumnType, std::string>;
  std::map<Column, std::vector<BoundLeaf*>> columns;
  std::vector<BoundNode> kept;
  const auto column_of = [](const BoundLeaf& leaf) {
    const Functions& functions = leaf.column.functions;
    return Column(leaf.is_row_key, leaf.column.family.value, leaf.column.qualifier,
                  leaf.column.type, functions.empty() ? std::string() : TextOf(functions, ""));
  };
  for (BoundNode& child : group->children) {
    RETURN_IF_ERROR(cancellation.Check());
    if (child.kind == BoundNode::Kind::kLeaf && IsCombined(group->kind, child.leaf)) {
      columns[column_of(child.leaf)].push_back(&child.leaf);
    }
  }
  for (BoundNode& child : group->children) {
    RETURN_IF_ERROR(cancellation.Check());
    if (child.kind == BoundNode::Kind::kLeaf && IsCombined(group->kind, child.leaf)) {
      std::vector<BoundLeaf*>& leaves = columns[column_of(child.leaf)];
      if (leaves.front() != &child.leaf) continue;
      if (leaves.size() > 1) child.leaf = Combine(group->kind, leaves);
    }
    kept.push_back(std::move(child));
  }
  group->children = std::move(kept);
  return {};
}

// What a field compares as, which is its plain bytes. kInt64: it has no parts and no beginnings.
ColumnType TypeOfField(const RowKeyPart& field) {
  if (field.type == RowKeyType::kText) return ColumnType::kText;
  return field.type == RowKeyType::kBytes ? ColumnType::kBytes : ColumnType::kInt64;
}

class Binder {
 public:
  /// `uses`, when not null, gets the uses of parameters, which then need no values.
  Binder(const format::TableRecord& table, const BindOptions& options,
         std::vector<ParameterUse>* uses)
      : table_(table),
        cancellation_(options.cancellation),
        values_(options.values),
        versions_(options.versions),
        functions_(options.functions == nullptr ? format::kNoFunctions : *options.functions),
        uses_(uses) {}

  /// `*node` is as it was made.
  Status Bind(const Predicate& predicate, bool negated, BoundNode* node) {
    switch (predicate.kind()) {
      case Kind::kTrue:
        node->kind = negated ? BoundNode::Kind::kOr : BoundNode::Kind::kAnd;
        return {};
      case Kind::kNot:
        return Bind(predicate.children()[0], !negated, node);
      case Kind::kAnd:
      case Kind::kOr:
        return BindGroup(predicate, negated, node);
      case Kind::kTuple:
        return BindTuple(predicate, negated, node);
      case Kind::kInvalid:
        return Status::InvalidArgument(predicate.values()[0]);
      default:
        node->kind = BoundNode::Kind::kLeaf;
        return BindLeaf(predicate, negated, node);
    }
  }

 private:
  Status BindGroup(const Predicate& predicate, bool negated, BoundNode* group) {
    group->kind = GroupKind(predicate.kind(), negated);
    RETURN_IF_ERROR(AddTo(predicate, negated, group));
    RETURN_IF_ERROR(CombineLeaves(cancellation_, group));
    KeepOnlyChild(group);
    return {};
  }

  // A group of one is that one.
  static void KeepOnlyChild(BoundNode* group) {
    if (group->children.size() != 1) return;
    BoundNode only = std::move(group->children[0]);
    *group = std::move(only);
  }

  // Adds a predicate to a group; if it is a group of the same kind, adds its children instead.
  Status AddTo(const Predicate& predicate, bool negated, BoundNode* group) {
    if (predicate.kind() == Kind::kNot) {
      return AddTo(predicate.children()[0], !negated, group);
    }
    const bool is_group = predicate.kind() == Kind::kAnd || predicate.kind() == Kind::kOr;
    if (is_group && GroupKind(predicate.kind(), negated) == group->kind) {
      for (const Predicate& child : predicate.children()) {
        RETURN_IF_ERROR(AddTo(child, negated, group));
      }
      return {};
    }
    BoundNode node;
    RETURN_IF_ERROR(Bind(predicate, negated, &node));
    if (node.kind == group->kind) {  // The child bound to a group of this kind.
      std::move(node.children.begin(), node.children.end(), std::back_inserter(group->children));
    } else {
      group->children.push_back(std::move(node));
    }
    return {};
  }

  Status BindLeaf(const Predicate& predicate, bool negated, BoundNode* node) {
    RETURN_IF_ERROR(cancellation_.Check());
    if (predicate.kind() == Kind::kContains) return BindContains(predicate, negated, node);
    if (predicate.kind() == Kind::kRegexp) return BindRegexp(predicate, negated, &node->leaf);
    BoundLeaf& leaf = node->leaf;
    RETURN_IF_ERROR(BindColumn(predicate, &leaf));
    leaf.accepts_null = (predicate.kind() == Kind::kIsNull) != negated;
    ASSIGN_OR_RETURN(leaf.values, ValuesOf(predicate, leaf));
    if (negated) leaf.values = leaf.values.Complement();
    leaf.every = negated && leaf.has_several_values();
    SimplifyEvery(&leaf);
    return {};
  }

  struct TupleColumn {
    BoundLeaf leaf;
    std::vector<Literal> literals;  // By place.

    // The comparison with the literal at `place`.
    BoundNode Compare(Kind kind, size_t place) const {
      BoundNode node;
      node.kind = BoundNode::Kind::kLeaf;
      node.leaf = leaf;
      std::vector<ValueInterval> intervals;
      AddComparison(kind, literals[place], &intervals);
      node.leaf.values = ValueSet(std::move(intervals));
      return node;
    }
  };

  Status BindTuple(const Predicate& predicate, bool negated, BoundNode* node) {
    if (versions_ == DecidingVersions::kAny) {
      return Status::InvalidArgument(
          "any_version: a tuple does not compare by any version; write it with AND and OR");
    }
    std::vector<TupleColumn> columns;
    for (const Predicate& child : predicate.children()) {
      RETURN_IF_ERROR(cancellation_.Check());
      TupleColumn& column = columns.emplace_back();
      RETURN_IF_ERROR(BindColumn(child, &column.leaf));
      if (!column.leaf.is_row_key && format::IsMultiValued(column.leaf.column)) {
        return Status::InvalidArgument(format::Described(column.leaf.column) +
                                       " has several values: it does not compare in a tuple");
      }
      for (size_t place = 0; place < child.values().size(); ++place) {
        ASSIGN_OR_RETURN(column.literals.emplace_back(), LiteralAt(child, place, column.leaf));
      }
    }
    const Kind kind = predicate.children()[0].kind();
    std::vector<BoundNode> both;
    if (kind == Kind::kBetween) {
      both.push_back(FromLeft(columns, Kind::kGreaterOrEqual, 0, negated));
      both.push_back(FromLeft(columns, Kind::kLessOrEqual, 1, negated));
    } else {
      both.push_back(FromLeft(columns, kind, 0, negated));
    }
    *node = Grouped(BoundNode::Kind::kAnd, std::move(both));
    if (negated) Negate(node);
    return {};
  }

  // What decides at each column, after equal ones before it. In the place of the last one's
  // comparison the others have the strict one. `is_negated`: it will be.
  static BoundNode FromLeft(const std::vector<TupleColumn>& columns, Kind kind, size_t place,
                            bool is_negated) {
    const bool is_less = kind == Kind::kLess || kind == Kind::kLessOrEqual;
    const Kind strict = is_less ? Kind::kLess : Kind::kGreater;
    std::vector<BoundNode> equal, either;
    for (size_t i = 0; i < columns.size(); ++i) {
      const bool is_last = i + 1 == columns.size();
      if (kind != Kind::kEqual || is_last) {
        std::vector<BoundNode> here = equal;
        here.push_back(columns[i].Compare(is_last ? kind : strict, place));
        either.push_back(Grouped(BoundNode::Kind::kAnd, std::move(here)));
      }
      equal.push_back(columns[i].Compare(Kind::kEqual, place));
    }
    BoundNode decides = Grouped(BoundNode::Kind::kOr, std::move(either));
    if (kind == Kind::kEqual || is_negated) return decides;
    decides.is_bounded = decides.kind == BoundNode::Kind::kOr;
    const Kind loose = is_less ? Kind::kLessOrEqual : Kind::kGreaterOrEqual;
    std::vector<BoundNode> implied;
    implied.push_back(columns[0].Compare(loose, place));
    implied.push_back(std::move(decides));
    return Grouped(BoundNode::Kind::kAnd, std::move(implied));
  }

  // A group by the rules of BoundNode.
  static BoundNode Grouped(BoundNode::Kind kind, std::vector<BoundNode> children) {
    BoundNode group;
    group.kind = kind;
    for (BoundNode& child : children) {
      if (child.kind == kind) {
        std::move(child.children.begin(), child.children.end(), std::back_inserter(group.children));
      } else {
        group.children.push_back(std::move(child));
      }
    }
    (void)CombineLeaves({}, &group);  // Nothing cancels it.
    KeepOnlyChild(&group);
    return group;
  }

  // Requires: no leaf is of a multi-valued column.
  static void Negate(BoundNode* node) {
    if (node->kind == BoundNode::Kind::kLeaf) {
      node->leaf.values = node->leaf.values.Complement();
      node->leaf.accepts_null = !node->leaf.accepts_null;
      return;
    }
    node->kind = node->kind == BoundNode::Kind::kAnd ? BoundNode::Kind::kOr : BoundNode::Kind::kAnd;
    for (BoundNode& child : node->children) Negate(&child);
  }

  Status BindContains(const Predicate& predicate, bool negated, BoundNode* node) {
    BoundLeaf& leaf = node->leaf;
    RETURN_IF_ERROR(BindTested(predicate, "CONTAINS", negated, &leaf));
    ASSIGN_OR_RETURN(const std::string* text, TextAt(predicate, 0, leaf));
    if (text == nullptr) return {};
    const Functions& functions = leaf.column.functions;
    if (!functions.empty() && functions.back().kind == FunctionKind::kWords) {
      BoundNode words = BindWords(*text, negated, std::move(leaf));
      *node = std::move(words);
      return {};
    }
    leaf.values = ValueSet::All();
    leaf.test = TextTest{.part = *text, .negated = negated};
    return {};
  }

  Status BindRegexp(const Predicate& predicate, bool negated, BoundLeaf* leaf) {
    RETURN_IF_ERROR(BindTested(predicate, "REGEXP", negated, leaf));
    if (++regexps_ > kRegexpsMax) {
      return Status::InvalidArgument("a predicate has more than " + std::to_string(kRegexpsMax) +
                                     " conditions with REGEXP: join patterns with |");
    }
    ASSIGN_OR_RETURN(const std::string* pattern, TextAt(predicate, 0, *leaf));
    if (pattern == nullptr) return {};
    leaf->values = ValueSet::All();
    leaf->test = TextTest{.negated = negated};
    auto compiled = Regexp::Compile(*pattern, EncodingOf(leaf->column));
    if (!compiled.has_value()) {
      return Status::InvalidArgument(Described(*leaf) + ": " +
                                     std::string(compiled.error().message()));
    }
    leaf->test->regexp = *std::move(compiled);
    return {};
  }

  static std::string Described(const BoundLeaf& leaf) {
    return leaf.key_fields == nullptr ? format::Described(leaf.column)
                                      : KeyFieldText(leaf.column.qualifier);
  }

  static RegexpEncoding EncodingOf(const format::IndexColumnRecord& column) {
    return column.type == ColumnType::kText ? RegexpEncoding::kUtf8 : RegexpEncoding::kBytes;
  }

  // The column of a condition that tests each value on its own.
  Status BindTested(const Predicate& predicate, std::string_view operation, bool negated,
                    BoundLeaf* leaf) {
    RETURN_IF_ERROR(BindColumn(predicate, leaf));
    if (leaf->is_row_key) {
      return Status::InvalidArgument("the row key has no " + std::string(operation) +
                                     ", which would read every row");
    }
    RETURN_IF_ERROR(CheckHasParts(*leaf, operation));
    leaf->accepts_null = negated;
    leaf->every = negated && leaf->has_several_values();
    return {};
  }

  // Whether values have parts and beginnings that it may look for.
  static Status CheckHasParts(const BoundLeaf& leaf, std::string_view operation) {
    if (leaf.is_row_key || ComparesAsBytes(leaf.column.type)) return {};
    return Status::InvalidArgument(Described(leaf) + " is neither bytes nor text: it has no " +
                                   std::string(operation));
  }

  // One leaf for each word of the text. What no row can have, or no word at all, is in no row.
  static BoundNode BindWords(const std::string& text, bool negated, BoundLeaf leaf) {
    format::ValueList words;
    const bool has_all = format::AddWords(text, &words);
    std::set<std::string_view> distinct;
    for (size_t i = 0; i < words.size(); ++i) distinct.insert(words[i]);
    BoundNode group;
    if (!has_all || distinct.empty()) {
      group.kind = BoundNode::Kind::kLeaf;
      group.leaf = std::move(leaf);
      if (negated) group.leaf.values = ValueSet::All();
      SimplifyEvery(&group.leaf);
      return group;
    }
    group.kind = GroupKind(Kind::kAnd, negated);
    for (const std::string_view word : distinct) {
      BoundNode& node = group.children.emplace_back();
      node.kind = BoundNode::Kind::kLeaf;
      node.leaf = leaf;
      const ValueBound bound{std::string(word), /*inclusive=*/true};
      node.leaf.values = ValueSet({{bound, bound}});
      if (negated) node.leaf.values = node.leaf.values.Complement();
    }
    KeepOnlyChild(&group);
    return group;
  }

  Status BindColumn(const Predicate& predicate, BoundLeaf* leaf) {
    if (predicate.is_row_key() && !predicate.qualifier().empty()) return BindField(predicate, leaf);
    leaf->is_row_key = predicate.is_row_key() && predicate.functions().empty();
    if (leaf->is_row_key) return {};
    leaf->any_version = versions_ == DecidingVersions::kAny && !predicate.is_row_key();
    if (predicate.is_row_key()) {
      leaf->column.family = format::kRowKeyFamily;
    } else {
      RETURN_IF_ERROR(BindName(predicate, leaf));
    }
    leaf->column.functions = predicate.functions();
    format::PinFunctions(leaf->column.functions);
    RETURN_IF_ERROR(format::PinCalls(functions_, leaf->column.functions));
    RETURN_IF_ERROR(format::JoinColumns(table_, &leaf->column));
    if (!leaf->column.joined.empty() && versions_ == DecidingVersions::kAny) {
      return Status::InvalidArgument("any_version: " + format::Described(leaf->column) +
                                     " is of several columns, which have no versions in common");
    }
    if (leaf->column.functions.empty()) {
      leaf->column.type =
          predicate.type().value_or(table_.TypeOf(leaf->column.family, predicate.qualifier()));
      return {};
    }
    ASSIGN_OR_RETURN(leaf->column.type,
                     format::TypeOfFunctions(leaf->column.functions, predicate.type()));
    return {};
  }

  Status BindField(const Predicate& predicate, BoundLeaf* leaf) {
    if (key_fields_ == nullptr) {
      Result<RowKeyEpochs> keys = format::KeysOf(table_);
      if (!keys.has_value()) {
        return Status(keys.error().code(), KeyFieldText(predicate.qualifier()) + ": " +
                                               std::string(keys.error().message()));
      }
      key_fields_ = std::make_shared<const format::KeyFields>(*std::move(keys));
    }
    ASSIGN_OR_RETURN(leaf->field, key_fields_->PlaceOf(predicate.qualifier()));
    leaf->key_fields = key_fields_;
    leaf->column.family = format::kRowKeyFamily;
    leaf->column.qualifier = predicate.qualifier();
    leaf->column.type = TypeOfField(*key_fields_->fields()[leaf->field]);
    return {};
  }

  Status BindName(const Predicate& predicate, BoundLeaf* leaf) const {
    const format::FamilyRecord* family =
        predicate.family().empty() ? &table_.first_family() : table_.FindFamily(predicate.family());
    if (family == nullptr) {
      return Status::NotFound("table '" + table_.name + "' has no family '" + predicate.family() +
                              "'");
    }
    leaf->column.family = family->id;
    leaf->column.qualifier = predicate.qualifier();
    return {};
  }

  // The value at `place`, as the user wrote or bound it. While the uses of parameters are looked
  // for, nullptr for a parameter.
  Result<const std::string*> TextAt(const Predicate& predicate, size_t place,
                                    const BoundLeaf& leaf) const {
    const uint32_t parameter = predicate.parameters().empty() ? 0 : predicate.parameters()[place];
    if (parameter == 0) return &predicate.values()[place];
    if (uses_ != nullptr) {
      ParameterUse& use = uses_->emplace_back();
      use.parameter = parameter;
      use.is_row_key = leaf.is_row_key;
      use.is_part = predicate.kind() == Kind::kPrefix || predicate.kind() == Kind::kContains;
      if (predicate.kind() == Kind::kRegexp) use.pattern = EncodingOf(leaf.column);
      use.column = leaf.column;
      use.key_fields = leaf.key_fields;
      use.field = leaf.field;
      return static_cast<const std::string*>(nullptr);
    }
    const bool is_given = values_ != nullptr && parameter <= values_->size();
    if (is_given && (*values_)[parameter - 1].has_value()) return &*(*values_)[parameter - 1];
    return Status::InvalidArgument("parameter ?" + std::to_string(parameter) + " has no value");
  }

  Result<ValueSet> ValuesOf(const Predicate& predicate, const BoundLeaf& leaf) const {
    const Kind kind = predicate.kind();
    if (kind == Kind::kIsNull) return ValueSet();
    if (kind == Kind::kIsNotNull) return ValueSet::All();
    if (kind == Kind::kPrefix) return PrefixOf(predicate, leaf);
    std::vector<ValueInterval> intervals;
    if (kind == Kind::kBetween) {
      ASSIGN_OR_RETURN(const Literal low, LiteralAt(predicate, 0, leaf));
      ASSIGN_OR_RETURN(const Literal high, LiteralAt(predicate, 1, leaf));
      return ValueSet({{AtLeast(low), AtMost(high)}});
    }
    for (size_t place = 0; place < predicate.values().size(); ++place) {
      ASSIGN_OR_RETURN(const Literal literal, LiteralAt(predicate, place, leaf));
      AddComparison(kind, literal, &intervals);
    }
    ValueSet values(std::move(intervals));
    if (kind == Kind::kNotEqual) return values.Complement();
    return values;
  }

  // If the literal is not a value of the type, its key is the first one after it.
  static ValueBound AtLeast(const Literal& literal) { return {literal.key, true}; }
  static ValueBound Above(const Literal& literal) { return {literal.key, !literal.is_value}; }
  static ValueBound AtMost(const Literal& literal) { return {literal.key, literal.is_value}; }
  static ValueBound Below(const Literal& literal) { return {literal.key, false}; }

  // For kNotEqual, adds the values to exclude.
  static void AddComparison(Kind kind, const Literal& literal,
                            std::vector<ValueInterval>* intervals) {
    switch (kind) {
      case Kind::kLess:
        return intervals->push_back({std::nullopt, Below(literal)});
      case Kind::kLessOrEqual:
        return intervals->push_back({std::nullopt, AtMost(literal)});
      case Kind::kGreater:
        return intervals->push_back({Above(literal), std::nullopt});
      case Kind::kGreaterOrEqual:
        return intervals->push_back({AtLeast(literal), std::nullopt});
      default:
        if (!literal.is_value) return;
        ValueInterval& one = intervals->emplace_back();
        one.low.emplace(literal.key, /*inclusive=*/true);
        one.high = one.low;
    }
  }

  Result<ValueSet> PrefixOf(const Predicate& predicate, const BoundLeaf& leaf) const {
    RETURN_IF_ERROR(CheckHasParts(leaf, "prefixes"));
    ASSIGN_OR_RETURN(const std::string* prefix, TextAt(predicate, 0, leaf));
    if (prefix == nullptr) return ValueSet();
    if (leaf.key_fields != nullptr) return PrefixedBy(*prefix, leaf);
    ValueInterval interval{ValueBound{*prefix, true}, std::nullopt};
    if (const auto after = format::Successor(*prefix); after.has_value()) {
      interval.high = ValueBound{*after, false};
    }
    return ValueSet({std::move(interval)});
  }

  // Of a field. Bounds of one with a width have that many bytes, as its values do.
  static ValueSet PrefixedBy(const std::string& prefix, const BoundLeaf& leaf) {
    const RowKeyPart& field = *leaf.key_fields->fields()[leaf.field];
    const size_t width = field.type == RowKeyType::kBytes ? field.width_bytes : 0;
    if (field.width_bytes != 0 && prefix.size() > field.width_bytes) return {};
    const auto bound = [width](std::string bytes, bool inclusive) {
      if (width != 0) bytes.resize(width, '\0');
      return ValueBound{std::move(bytes), inclusive};
    };
    ValueInterval interval{bound(prefix, true), std::nullopt};
    if (auto after = format::Successor(prefix); after.has_value()) {
      interval.high = bound(*std::move(after), false);
    }
    return ValueSet({std::move(interval)});
  }

  Result<Literal> LiteralAt(const Predicate& predicate, size_t place, const BoundLeaf& leaf) const {
    ASSIGN_OR_RETURN(const std::string* text, TextAt(predicate, place, leaf));
    if (text == nullptr) return Literal();
    if (leaf.key_fields != nullptr) {
      ASSIGN_OR_RETURN(std::string plain,
                       format::PlainBytes(*leaf.key_fields->fields()[leaf.field], *text));
      return Literal{std::move(plain)};
    }
    return leaf.is_row_key ? Literal{*text} : ReadLiteral(leaf.column, *text);
  }

  const format::TableRecord& table_;
  base::Cancellation cancellation_;
  const ParameterValues* const values_;
  const DecidingVersions versions_;
  const format::FunctionRegistry& functions_;
  std::vector<ParameterUse>* const uses_;
  std::shared_ptr<const format::KeyFields> key_fields_;  // Of the table, if a field was named.
  size_t regexps_ = 0;                                   // Conditions with REGEXP so far.
};

}  // namespace

Result<BoundPredicate> BoundPredicate::Bind(const Predicate& predicate,
                                            const format::TableRecord& table,
                                            const BindOptions& options) {
  BoundNode root;
  RETURN_IF_ERROR(Binder(table, options, nullptr).Bind(predicate, /*negated=*/false, &root));
  return Of(std::move(root));
}

Result<std::vector<ParameterUse>> BoundPredicate::FindParameters(const Predicate& predicate,
                                                                 const format::TableRecord& table,
                                                                 const BindOptions& options) {
  std::vector<ParameterUse> uses;
  BoundNode unused;
  RETURN_IF_ERROR(Binder(table, options, &uses).Bind(predicate, /*negated=*/false, &unused));
  return uses;
}

}  // namespace tandem::engine
