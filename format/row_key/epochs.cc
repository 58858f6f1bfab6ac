// The row keys of a table whose declaration has changed while it had rows. The same fields follow
// what leads the keys of all its declarations:
//
//   - As many bytes lead them. Then keys of one row differ in these alone, and no two rows can have
//     one key.
//   - Or none lead the keys of the oldest one, and a salt or a modulus those of all later ones.
//     Then keys with it are below its N, and those without are not: a key of the oldest that is
//     below is none, and the table had no row there when the others came.
//
// So a key tells by itself which row it is of. The ranges of all are read as one scan, and its
// order is that of the fields.
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"
#include "format/row_key/field.h"
#include "tandem/limits.h"
#include "tandem/row_key.h"

namespace tandem {
namespace {

std::vector<RowKeyPart> FieldsOf(const RowKeySchema& schema) {
  std::vector<RowKeyPart> fields;
  std::ranges::copy_if(schema.parts(), std::back_inserter(fields), [](const RowKeyPart& part) {
    return part.kind == RowKeyPart::Kind::kField;
  });
  return fields;
}

// Whether no key of one can be a key of another row of the other.
Status CheckToldApart(const RowKeySchema& newest, const RowKeySchema& former) {
  const std::string both =
      "row keys " + base::Quote(former.ToString()) + " and " + base::Quote(newest.ToString());
  if (FieldsOf(newest) != FieldsOf(former)) {
    return Status::Unsupported(both + " have different fields, or fields in other bytes");
  }
  const size_t lead = format::LeadBytes(newest.parts());
  const size_t former_lead = format::LeadBytes(former.parts());
  if (lead == former_lead) return {};
  if (former_lead == 0 && format::HasEndOfLeads(newest)) return {};
  return Status::Unsupported(both + " could not be told apart: " + std::to_string(former_lead) +
                             " and " + std::to_string(lead) + " bytes lead them");
}

// Those that begin with the same bytes are equal.
void KeepEachOnce(std::vector<RowRange>* ranges) {
  std::ranges::sort(*ranges, {}, &RowRange::start);
  const auto repeated = std::ranges::unique(*ranges, {}, &RowRange::start);
  ranges->erase(repeated.begin(), repeated.end());
}

}  // namespace

Result<RowKeyEpochs> RowKeyEpochs::Parse(std::string_view declaration,
                                         std::span<const std::string> former) {
  std::vector<RowKeySchema> schemas;
  ASSIGN_OR_RETURN(RowKeySchema newest, RowKeySchema::Parse(declaration));
  schemas.push_back(std::move(newest));
  if (former.size() > kFormerRowKeysMax) {
    return Status::InvalidArgument("there are " + std::to_string(former.size()) +
                                   " former row keys, the limit is " +
                                   std::to_string(kFormerRowKeysMax));
  }
  for (const std::string& text : former) {
    ASSIGN_OR_RETURN(RowKeySchema schema, RowKeySchema::Parse(text));
    const bool repeats = std::ranges::any_of(
        schemas, [&schema](const RowKeySchema& other) { return other.parts() == schema.parts(); });
    if (repeats) {
      return Status::InvalidArgument("row key " + base::Quote(schema.ToString()) + " is repeated");
    }
    for (const RowKeySchema& later : schemas) RETURN_IF_ERROR(CheckToldApart(later, schema));
    schemas.push_back(std::move(schema));
  }
  return RowKeyEpochs(std::move(schemas));
}

Result<std::vector<std::string>> RowKeyEpochs::Keys(std::span<const RowKeyField> fields) const {
  const std::optional<std::string> end_of_leads = format::EndOfLeads(schemas_);
  std::vector<std::string> keys;
  for (const RowKeySchema& schema : schemas_) {
    Result<std::string> key = schema.Encode(fields);
    if (keys.empty()) RETURN_IF_ERROR(key.status());
    if (!key.has_value() || !format::MayHave(schema, end_of_leads, *key)) continue;
    if (std::ranges::find(keys, *key) == keys.end()) keys.push_back(*std::move(key));
  }
  return keys;
}

Result<std::vector<RowKeyField>> RowKeyEpochs::Decode(std::string_view key) const {
  const std::optional<std::string> end_of_leads = format::EndOfLeads(schemas_);
  for (const RowKeySchema& schema : schemas_) {
    if (!format::MayHave(schema, end_of_leads, key)) continue;
    Result<std::vector<RowKeyField>> fields = schema.Decode(key);
    if (fields.has_value()) return fields;
  }
  return newest().Decode(key);  // Why it has none.
}

std::optional<std::string> RowKeyEpochs::NewestKeyOf(std::string_view key) const {
  if (schemas_.size() == 1) return std::nullopt;
  const Result<std::vector<RowKeyField>> fields = Decode(key);
  if (!fields.has_value()) return std::nullopt;
  Result<std::string> newest_key = newest().Encode(*fields);
  if (!newest_key.has_value() || *newest_key == key) return std::nullopt;
  return *std::move(newest_key);
}

Result<std::vector<RowRange>> RowKeyEpochs::Ranges(std::span<const RowKeyField> prefix) const {
  return Between(prefix, {});
}

Result<std::vector<RowRange>> RowKeyEpochs::Between(std::span<const RowKeyField> prefix,
                                                    const RowKeyBounds& bounds) const {
  if (schemas_.size() == 1) return newest().Between(prefix, bounds);
  const std::optional<std::string> end_of_leads = format::EndOfLeads(schemas_);
  std::vector<RowRange> ranges;
  for (const RowKeySchema& schema : schemas_) {
    ASSIGN_OR_RETURN(std::vector<RowRange> some, schema.Between(prefix, bounds));
    format::Clip(schema, end_of_leads, &some);
    std::ranges::move(some, std::back_inserter(ranges));
  }
  KeepEachOnce(&ranges);
  return ranges;
}

// One range of each schema alone would need no merging; those of several do.
Result<ScanOptions> RowKeyEpochs::InFieldOrder(std::span<const RowKeyField> prefix,
                                               const RowKeyBounds& bounds) const {
  if (schemas_.size() == 1) return newest().InFieldOrder(prefix, bounds);
  const std::optional<std::string> end_of_leads = format::EndOfLeads(schemas_);
  ScanOptions scan;
  for (const RowKeySchema& schema : schemas_) {
    ASSIGN_OR_RETURN(ScanOptions some, schema.InFieldOrder(prefix, bounds));
    if (some.ranges.empty()) some.ranges.emplace_back();  // All keys, which nothing leads.
    format::Clip(schema, end_of_leads, &some.ranges);
    const size_t lead_bytes = format::LeadBytes(schema.parts());
    for (RowRange& range : some.ranges) range.leading_bytes = static_cast<uint32_t>(lead_bytes);
    std::ranges::move(some.ranges, std::back_inserter(scan.ranges));
  }
  KeepEachOnce(&scan.ranges);
  if (scan.ranges.size() > kScanLeadsMax) {
    return Status::Unsupported("row key: the keys begin with " +
                               std::to_string(scan.ranges.size()) + " values, of which at most " +
                               std::to_string(kScanLeadsMax) + " are merged; give more fields");
  }
  if (scan.ranges.size() == 1) scan.ranges.front().leading_bytes = 0;
  return scan;
}

Result<ScanOptions> RowKeyEpochs::Newest(std::span<const RowKeyField> prefix, uint64_t count,
                                         const RowKeyBounds& bounds) const {
  ASSIGN_OR_RETURN(ScanOptions scan, newest().Newest(prefix, count, bounds));
  ASSIGN_OR_RETURN(ScanOptions in_order, InFieldOrder(prefix, bounds));
  scan.ranges = std::move(in_order.ranges);
  return scan;
}

}  // namespace tandem
