// A predicate over rows with one value of each column, made once a read, so that a row costs a few
// comparisons. It decides as BoundPredicate::Matches does, which is its reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/predicate/bound.h"
#include "format/types.h"

namespace tandem::engine {

/// Threads: one at a time (it keeps scratch memory). Lifetime: the bound tree outlives it.
class PlainFilter {
 public:
  /// nullopt: some condition needs more than the newest Put of one column of the family, as it is
  /// stored: the row key, several values, or what functions make of it.
  static std::optional<PlainFilter> Of(const BoundNode& root, format::FamilyId family);

  /// The qualifiers of the columns that it needs, sorted, each once.
  const std::vector<std::string>& columns() const { return columns_; }
  /// Whether a row satisfies the predicate that has these values, one for each of columns(); a null
  /// view says that it lacks the column. No value may be an overflow value.
  bool Matches(std::span<const std::string_view> values) { return Matches(root_, values); }

 private:
  /// How values are compared.
  enum class By : uint8_t { kOneValue, kOtherValues, kSet, kKey };
  struct Node {
    BoundNode::Kind kind = BoundNode::Kind::kAnd;
    std::vector<Node> children = {};
    // Of a leaf:
    const BoundLeaf* leaf = nullptr;
    size_t column = 0;
    By by = By::kSet;
    std::string_view value = {};  ///< Of kOneValue, and the one that kOtherValues has not.
  };

  PlainFilter() = default;
  bool AddColumns(const BoundNode& node, format::FamilyId family);
  Node Made(const BoundNode& node) const;
  bool Matches(const Node& node, std::span<const std::string_view> values);
  bool MatchesLeaf(const Node& node, std::string_view value);

  Node root_;
  std::vector<std::string> columns_;
  std::string key_;
};

}  // namespace tandem::engine
