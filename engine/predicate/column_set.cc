// Sets of columns as sorted lists: a read names few families and columns.
#include "engine/predicate/column_set.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace tandem::engine {

bool ColumnSet::Family::Contains(std::string_view qualifier) const {
  return all || std::binary_search(qualifiers.begin(), qualifiers.end(), qualifier, std::less<>());
}

ColumnSet ColumnSet::AllOf(const format::TableRecord& table) {
  ColumnSet columns;
  for (const format::FamilyRecord& family : table.families) {
    if (!family.dropped) columns.AddFamily(family.id);
  }
  return columns;
}

ColumnSet::Family* ColumnSet::FindOrAdd(format::FamilyId family) {
  auto at = std::partition_point(families_.begin(), families_.end(),
                                 [=](const Family& other) { return other.id < family; });
  if (at == families_.end() || at->id != family) {
    at = families_.insert(at, {.id = family, .all = false, .qualifiers = {}});
  }
  return &*at;
}

void ColumnSet::Add(format::FamilyId family, std::string_view qualifier) {
  Family* own = FindOrAdd(family);
  if (own->Contains(qualifier)) return;
  const auto at = std::lower_bound(own->qualifiers.begin(), own->qualifiers.end(), qualifier);
  own->qualifiers.insert(at, std::string(qualifier));
}

void ColumnSet::AddFamily(format::FamilyId family) {
  Family* own = FindOrAdd(family);
  own->all = true;
  own->qualifiers.clear();
}

void ColumnSet::Add(const ColumnSet& other) {
  for (const Family& family : other.families_) {
    if (family.all) AddFamily(family.id);
    if (family.qualifiers.empty()) continue;
    Family* own = FindOrAdd(family.id);
    if (own->all) continue;
    std::vector<std::string> both;
    both.reserve(own->qualifiers.size() + family.qualifiers.size());
    std::set_union(own->qualifiers.begin(), own->qualifiers.end(), family.qualifiers.begin(),
                   family.qualifiers.end(), std::back_inserter(both));
    own->qualifiers = std::move(both);
  }
}

void ColumnSet::Widen() {
  for (Family& family : families_) {
    family.all = true;
    family.qualifiers.clear();
  }
}

const ColumnSet::Family* ColumnSet::Find(format::FamilyId family) const {
  for (const Family& own : families_) {
    if (own.id == family) return &own;
  }
  return nullptr;
}

}  // namespace tandem::engine
