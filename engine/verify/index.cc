// An index section is compared with what the rows imply: by sums first, entry by entry where they
// differ.
#include "engine/verify/index.h"

#include <algorithm>
#include <string>

#include "base/quote.h"
#include "base/status_macros.h"
#include "format/corruption.h"
#include "format/hash.h"
#include "index/key.h"

namespace tandem::format {
namespace {

std::string_view PartName(IndexPart part) {
  return part == IndexPart::kCurrent ? "current" : "older";
}

// An entry as a term of the sums.
Hash128 TermOf(IndexPart part, const Hash128& key, uint32_t ordinal) {
  const uint64_t words[3] = {key.low, key.high,
                             uint64_t{ordinal} << 1 | (part == IndexPart::kCurrent ? 1 : 0)};
  return HashOf128({reinterpret_cast<const char*>(words), sizeof(words)});
}

// A record as a term of the sums.
Hash128 TermOf(uint32_t ordinal, std::string_view record) {
  std::string bytes(reinterpret_cast<const char*>(&ordinal), sizeof(ordinal));
  return HashOf128(bytes.append(record));
}

}  // namespace

IndexVerifier::IndexVerifier(const IndexRecord& index, IndexSection* section, uint32_t row_count,
                             Findings* findings)
    : index_(index),
      section_(section),
      row_count_(row_count),
      group_rows_(row_count / kGroupsMax + 1),
      findings_(*findings),
      sums_(row_count / group_rows_ + 1),
      columns_(CoveredColumns(index)),
      record_sums_(columns_.empty() ? 0 : sums_.size()) {
  if (section->records() == nullptr) return;
  records_ = std::make_unique<IndexRecords::Cursor>(*section->records());
}

void IndexVerifier::Add(std::string_view what) {
  findings_.AddOn(topic_, "index " + base::Quote(index_.name) + ": " + std::string(what));
}

std::string IndexVerifier::Describe(IndexPart part, std::string_view key) const {
  std::string text = std::string(PartName(part)) + " entry ";
  const auto value = DecodeEntry(index_, key);
  if (!value.has_value()) {
    return text + "with the malformed key " + base::Quote(key);
  }
  return text + (value->has_value() ? base::Quote(**value) : "of an absent value");
}

Status IndexVerifier::AddRow(uint32_t ordinal, std::string_view row_key,
                             std::span<const Cell> cells) {
  FactsOfRow(index_, row_key, cells, &facts_);
  findings_.set_topic(topic_);
  if (!facts_.complete) {
    Add("row " + std::to_string(ordinal) + " has a value that is too long for a section");
  }
  for (const IndexEntry& entry : facts_.entries) {
    const IndexPart part = entry.current ? IndexPart::kCurrent : IndexPart::kOlder;
    AddTo(&sums_[GroupOf(ordinal)], TermOf(part, HashOf128(entry.key), ordinal));
    (entry.current ? current_ : older_).Add(entry.key, row_key);
    ++findings_.report()->index_entries;
    if (!entry.current || columns_.empty()) continue;
    record_.clear();
    AppendIndexRecord(columns_, row_key, cells, &record_);
    AddTo(&record_sums_[GroupOf(ordinal)], TermOf(ordinal, record_));
  }
  return CompareBits(ordinal);
}

Status IndexVerifier::CompareBits(uint32_t ordinal) {
  const Result<const Bitmap*> present = section_->Present();
  if (!present.has_value()) return findings_.AddError(present.error());
  const Result<const Bitmap*> touched = section_->Touched();
  if (!touched.has_value()) return findings_.AddError(touched.error());
  const std::string row = "row " + std::to_string(ordinal);
  if ((*present)->size() != row_count_ || (*touched)->size() != row_count_) {
    Add("a bitmap does not have one bit a row");
  } else if ((*present)->Test(ordinal) != facts_.present) {
    Add(Mismatch("bit 'present' of " + row, facts_.present, !facts_.present));
  } else if ((*touched)->Test(ordinal) != facts_.touched) {
    Add(Mismatch("bit 'touched' of " + row, facts_.touched, !facts_.touched));
  }
  return {};
}

Status IndexVerifier::Finish() {
  findings_.set_topic(topic_);
  const IndexSummary& summary = section_->summary();
  findings_.Compare("entries of index " + base::Quote(index_.name) + ", current", current_.count,
                    summary.current_entries);
  findings_.Compare("entries of index " + base::Quote(index_.name) + ", older", older_.count,
                    summary.older_entries);
  if (current_ != summary.current_digest)
    Add("the digest of the current part is not that of the rows");
  if (older_ != summary.older_digest) Add("the digest of the older part is not that of the rows");
  for (const IndexPart part : {IndexPart::kCurrent, IndexPart::kOlder}) {
    PartTotals totals;
    Status status = CheckForward(part, &totals);
    if (status.ok()) status = CheckBackward(part, totals);
    if (!status.ok()) {
      is_walked_ = false;
      RETURN_IF_ERROR(findings_.AddError(status));
      continue;
    }
    const bool current = part == IndexPart::kCurrent;
    const std::string name =
        " of index " + base::Quote(index_.name) + ", " + std::string(PartName(part));
    findings_.Compare("entries listed" + name, current ? current_.count : older_.count,
                      totals.entries);
    findings_.Compare("distinct values" + name, totals.values,
                      current ? summary.current_values : summary.older_values);
  }
  if (is_walked_) FindDiffering();
  if (is_walked_ && !columns_.empty() && current_.count > 0) CompareRecords();
  return {};
}

void IndexVerifier::CompareRecords() {
  if (records_ == nullptr) return Add("the file has no records of the columns that it includes");
  for (uint32_t group = 0; group < record_sums_.size(); ++group) {
    if (record_sums_[group] == Hash128{}) continue;
    const uint64_t low = uint64_t{group} * group_rows_;
    const uint64_t high = std::min<uint64_t>(low + group_rows_, row_count_);
    Add("the records of rows " + std::to_string(low) + " to " + std::to_string(high - 1) +
        " are not those that the rows imply");
  }
}

void IndexVerifier::FindDiffering() {
  for (uint32_t group = 0; group < sums_.size(); ++group) {
    if (sums_[group] == Hash128{}) continue;
    const uint64_t low = uint64_t{group} * group_rows_;
    const uint64_t high = std::min<uint64_t>(low + group_rows_, row_count_);
    differing_.push_back({static_cast<uint32_t>(low), static_cast<uint32_t>(high)});
  }
}

Status IndexVerifier::CheckForward(IndexPart part, PartTotals* totals) {
  const std::unique_ptr<IndexValueCursor> cursor = section_->NewCursor(part);
  RETURN_IF_ERROR(cursor->Seek({}));
  std::string previous;
  while (cursor->valid()) {
    if (totals->values > 0 && cursor->key() <= previous) {
      Add("values do not rise at the " + Describe(part, cursor->key()));
    }
    previous = cursor->key();
    RETURN_IF_ERROR(CheckValue(part, cursor.get(), *totals));
    ++totals->values;
    totals->entries += ordinals_.size();
    const Hash128 hash = HashOf128(previous);
    AddTo(&totals->key_sum, hash);
    SubtractListed(part, hash);
    if (part == IndexPart::kCurrent && records_ != nullptr) RETURN_IF_ERROR(SubtractRecords());
    RETURN_IF_ERROR(cursor->Next());
  }
  return {};
}

/// One value: its ordinals ascend and are rows, its counts agree. Leaves the ordinals in ordinals_.
Status IndexVerifier::CheckValue(IndexPart part, IndexValueCursor* cursor,
                                 const PartTotals& before) {
  const std::string_view key = cursor->key();
  ordinals_.clear();
  RETURN_IF_ERROR(cursor->AppendOrdinals(&ordinals_));
  if (ordinals_.empty() || ordinals_.back() >= row_count_ ||
      !std::is_sorted(ordinals_.begin(), ordinals_.end(), std::less_equal<>())) {
    Add("the ordinals do not rise below the number of rows in the " + Describe(part, key));
  }
  if (cursor->count() != ordinals_.size()) {
    Add(Mismatch("rows of the " + Describe(part, key), ordinals_.size(), cursor->count()));
  }
  if (cursor->entries_before() != before.entries) {
    Add(Mismatch("entries before the " + Describe(part, key), before.entries,
                 cursor->entries_before()));
  }
  ASSIGN_OR_RETURN(const uint64_t counted,
                   section_->CountEntries(part, EqualRange(std::string(key))));
  if (counted != ordinals_.size()) {
    Add(Mismatch("count of the " + Describe(part, key), ordinals_.size(), counted));
  }
  return {};
}

// Ordinals beyond the rows are a finding already.
void IndexVerifier::SubtractListed(IndexPart part, const Hash128& key) {
  for (const uint32_t ordinal : ordinals_) {
    if (ordinal < row_count_) SubtractFrom(&sums_[GroupOf(ordinal)], TermOf(part, key, ordinal));
  }
}

// Those of the ordinals of one value.
Status IndexVerifier::SubtractRecords() {
  for (const uint32_t ordinal : ordinals_) {
    std::string_view record;
    ASSIGN_OR_RETURN(const bool has_record, records_->Next(&record));
    const bool is_known = has_record && ordinal < row_count_ && !record_sums_.empty();
    if (is_known) SubtractFrom(&record_sums_[GroupOf(ordinal)], TermOf(ordinal, record));
  }
  return {};
}

Status IndexVerifier::CheckBackward(IndexPart part, const PartTotals& forward) {
  const std::unique_ptr<IndexValueCursor> cursor = section_->NewCursor(part);
  RETURN_IF_ERROR(cursor->SeekBefore(std::nullopt));
  PartTotals backward;
  std::string previous;
  for (; cursor->valid(); ++backward.values) {
    if (backward.values > 0 && cursor->key() >= previous) {
      Add("values do not fall at the " + Describe(part, cursor->key()));
    }
    previous = cursor->key();
    backward.entries += cursor->count();
    AddTo(&backward.key_sum, HashOf128(previous));
    RETURN_IF_ERROR(cursor->Previous());
  }
  if (backward.values != forward.values || backward.entries != forward.entries ||
      backward.key_sum != forward.key_sum) {
    Add("the " + std::string(PartName(part)) + " part read backwards is not what it is forwards");
  }
  return {};
}

void IndexVerifier::Expect(uint32_t ordinal, std::string_view row_key,
                           std::span<const Cell> cells) {
  expected_end_ = ordinal + 1;
  FactsOfRow(index_, row_key, cells, &facts_);
  for (const IndexEntry& entry : facts_.entries) {
    expected_.push_back({ordinal, entry.current, false, HashOf128(entry.key)});
  }
}

void IndexVerifier::BlameCalls() {
  std::string names;
  index_.ForEachColumn([&names](const IndexColumnRecord& column) {
    for (const Function& function : column.functions) {
      if (function.kind != FunctionKind::kCall) continue;
      names += (names.empty() ? "" : " or ") + base::Quote(function.text);
    }
  });
  if (names.empty()) return;
  Add("function " + names + " returns another value than when the file was written");
}

Status IndexVerifier::CompareExpected() {
  findings_.set_topic(topic_);
  if (differing_.back().high > expected_end_) {
    Add("its entries from row " + std::to_string(expected_end_) +
        " on were not compared one by one");
  }
  for (const IndexPart part : {IndexPart::kCurrent, IndexPart::kOlder}) {
    if (Status status = CompareListed(part); !status.ok()) return findings_.AddError(status);
  }
  for (const Expected& entry : expected_) {
    if (entry.found) continue;
    Add("row " + std::to_string(entry.ordinal) + " lacks " +
        (entry.current ? "its current entry" : "an older entry"));
  }
  return {};
}

Status IndexVerifier::CompareListed(IndexPart part) {
  const std::unique_ptr<IndexValueCursor> cursor = section_->NewCursor(part);
  RETURN_IF_ERROR(cursor->Seek({}));
  while (cursor->valid()) {
    ordinals_.clear();
    RETURN_IF_ERROR(cursor->AppendOrdinals(&ordinals_));
    CompareValue(part, cursor->key());
    RETURN_IF_ERROR(cursor->Next());
  }
  return {};
}

// Compares the ordinals in ordinals_.
void IndexVerifier::CompareValue(IndexPart part, std::string_view key) {
  const Hash128 hash = HashOf128(key);
  for (const uint32_t ordinal : ordinals_) {
    if (ordinal >= expected_end_ || sums_[GroupOf(ordinal)] == Hash128{}) continue;
    Expected* match = nullptr;
    auto entry = std::lower_bound(
        expected_.begin(), expected_.end(), ordinal,
        [](const Expected& expected, uint32_t row) { return expected.ordinal < row; });
    for (; entry != expected_.end() && entry->ordinal == ordinal; ++entry) {
      if (entry->key == hash && entry->current == (part == IndexPart::kCurrent)) match = &*entry;
    }
    if (match == nullptr) {
      Add("row " + std::to_string(ordinal) + " does not imply its " + Describe(part, key));
    } else if (match->found) {
      Add("row " + std::to_string(ordinal) + " has twice its " + Describe(part, key));
    } else {
      match->found = true;
    }
  }
}

}  // namespace tandem::format
