// The columns that a read uses: all, some or none of each family.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/schema.h"
#include "format/types.h"

namespace tandem::engine {

class ColumnSet {
 public:
  /// The columns of one family.
  struct Family {
    format::FamilyId id;
    bool all = false;
    std::vector<std::string> qualifiers;  ///< Sorted, unique; empty when `all`.

    bool Contains(std::string_view qualifier) const;
    bool operator==(const Family&) const = default;
  };

  /// Every family of the table that was not dropped.
  static ColumnSet AllOf(const format::TableRecord& table);

  /// Inserts in place: fast for few columns, and for many in rising order.
  void Add(format::FamilyId family, std::string_view qualifier);
  void AddFamily(format::FamilyId family);
  /// Merges the lists: linear in both.
  void Add(const ColumnSet& other);
  /// Adds all columns of every family that is in the set.
  void Widen();

  bool operator==(const ColumnSet&) const = default;

  bool empty() const { return families_.empty(); }
  /// By id.
  std::span<const Family> families() const { return families_; }
  /// nullptr if the set has no column of the family.
  const Family* Find(format::FamilyId family) const;

 private:
  Family* FindOrAdd(format::FamilyId family);

  std::vector<Family> families_;
};

}  // namespace tandem::engine
