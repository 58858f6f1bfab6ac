// See lead_rows.h.
#include "engine/source/lead_rows.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"
#include "index/key.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

format::KeyRange KeysOf(const RowRange& range) {
  format::KeyRange keys{range.start, std::nullopt};
  if (!range.end.empty()) keys.high = range.end;
  return keys;
}

Status Wrong(const RowRange& range, const std::string& why) {
  return Status::InvalidArgument("the range from " + base::Quote(range.start) + " to " +
                                 base::Quote(range.end) + " leaves out " +
                                 std::to_string(range.leading_bytes) + " leading bytes: " + why);
}

// Whether all keys of the range begin with the bytes that it leaves out.
Status CheckLead(const RowRange& range) {
  if (range.start.size() < range.leading_bytes) return Wrong(range, "its start is shorter");
  const std::optional<std::string> end =
      format::Successor(std::string_view(range.start).substr(0, range.leading_bytes));
  if (!end.has_value() || (!range.end.empty() && range.end <= *end)) return {};
  return Wrong(range, "its keys begin with different ones; give a range for each");
}

// No key may be in the ranges of two leads: it would come twice.
Status CheckDisjoint(const std::vector<LeadRows>& leads) {
  std::vector<const format::KeyRange*> all;
  for (const LeadRows& part : leads) {
    for (const format::KeyRange& range : part.rows) all.push_back(&range);
  }
  std::ranges::sort(all, {},
                    [](const format::KeyRange* range) -> const std::string& { return range->low; });
  for (size_t i = 1; i < all.size(); ++i) {
    if (all[i - 1]->high.has_value() && *all[i - 1]->high <= all[i]->low) continue;
    return Status::InvalidArgument("key " + base::Quote(all[i]->low) +
                                   " is in two ranges that leave out different leading bytes");
  }
  return {};
}

}  // namespace

bool HaveLeads(std::span<const RowRange> ranges) {
  return std::ranges::any_of(ranges, [](const RowRange& range) { return range.leading_bytes > 0; });
}

Result<std::vector<LeadRows>> LeadsOf(std::span<const RowRange> ranges, const KeyRanges& within) {
  std::map<std::string, KeyRanges> by_lead;
  for (const RowRange& range : ranges) {
    format::KeyRange keys = KeysOf(range);
    if (IsEmpty(keys)) continue;
    if (range.leading_bytes > 0) RETURN_IF_ERROR(CheckLead(range));
    by_lead[range.start.substr(0, range.leading_bytes)].push_back(std::move(keys));
  }
  if (by_lead.size() > kScanLeadsMax) {
    return Status::InvalidArgument(
        "the ranges of a read begin with " + std::to_string(by_lead.size()) +
        " different leading bytes, the limit is " + std::to_string(kScanLeadsMax));
  }
  std::vector<LeadRows> leads;
  for (auto& [lead, rows] : by_lead) {
    LeadRows part{.lead = lead, .rows = Intersect(Unite(std::move(rows)), within)};
    if (!part.rows.empty()) leads.push_back(std::move(part));
  }
  RETURN_IF_ERROR(CheckDisjoint(leads));
  return leads;
}

KeyRanges RowsOf(const std::vector<LeadRows>& leads) {
  KeyRanges all;
  for (const LeadRows& part : leads) all.insert(all.end(), part.rows.begin(), part.rows.end());
  return Unite(std::move(all));
}

Status CutLeads(const ReadFrom& from, bool reverse, std::vector<LeadRows>* leads) {
  const std::string& key = *from.position.key;
  const auto holds_key = [&key](const LeadRows& part) {
    return std::ranges::any_of(part.rows, [&key](const format::KeyRange& range) {
      return range.low <= key && (!range.high.has_value() || key < *range.high);
    });
  };
  const auto of_key = std::ranges::find_if(*leads, holds_key);
  if (of_key == leads->end()) {
    return Status::InvalidArgument("the token has a position that the read has no key at");
  }
  const std::string rest = key.substr(of_key->lead.size());
  for (LeadRows& part : *leads) {
    std::string border = part.lead + rest;
    // Of two rows with the same rest the one with the larger key comes later.
    const bool is_done = reverse ? border >= key : border <= key;
    if (is_done != reverse) border.push_back('\0');
    const format::KeyRange left = reverse ? format::KeyRange{std::string(), std::move(border)}
                                          : format::KeyRange{std::move(border), std::nullopt};
    part.rows = Intersect(part.rows, {left});
  }
  return {};
}

KeyRanges RowsOf(std::span<const RowRange> ranges) {
  KeyRanges all;
  all.reserve(ranges.size());
  for (const RowRange& range : ranges) all.push_back(KeysOf(range));
  return Unite(std::move(all));
}

}  // namespace tandem::engine
