// The columns that a read concerns: of each family all of them, some, or none.
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
  /// What the set has of one family.
  struct Family {
    format::FamilyId id;
    bool all = false;
    std::vector<std::string> qualifiers;  ///< Sorted, unique; empty when `all`.

    bool Contains(std::string_view qualifier) const;
  };

  /// Every family of the table.
  static ColumnSet AllOf(const format::TableRecord& table);

  void Add(format::FamilyId family, std::string_view qualifier);
  void AddFamily(format::FamilyId family);
  void Add(const ColumnSet& other);
  /// Makes every family that it has something of whole.
  void Widen();

  bool empty() const { return families_.empty(); }
  /// By id.
  std::span<const Family> families() const { return families_; }
  /// nullptr when the set has nothing of the family.
  const Family* Find(format::FamilyId family) const;

 private:
  Family* FindOrAdd(format::FamilyId family);

  std::vector<Family> families_;
};

}  // namespace tandem::engine
