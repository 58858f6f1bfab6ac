// Encoding, decoding, and hashing what was asked for.
#include "engine/query/token.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/status_macros.h"
#include "engine/predicate/index_order.h"
#include "format/byte_reader.h"
#include "format/coding.h"
#include "format/hash.h"
#include "index/key.h"

namespace tandem::engine {
namespace {

constexpr uint8_t kVersion = 1;
constexpr uint8_t kHasEntry = 1, kHasKey = 2;
constexpr size_t kHeaderBytes = 42, kChecksumBytes = 8;

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string ToText(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() * 4 + 2) / 3);
  uint32_t bits = 0, count = 0;
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<uint8_t>(c);
    for (count += 8; count >= 6; count -= 6) text += kDigits[bits >> (count - 6) & 63];
  }
  if (count > 0) text += kDigits[bits << (6 - count) & 63];
  return text;
}

// nullopt: no text that ToText makes.
std::optional<std::string> FromText(std::string_view text) {
  std::string bytes;
  uint32_t bits = 0, count = 0;
  for (const char c : text) {
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 255);
  }
  if (count >= 6 || (bits & ((1u << count) - 1)) != 0) return std::nullopt;
  return bytes;
}

std::string_view BytesOf(const format::DatabaseId& id) {
  return {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()};
}

// What was asked for, piece by piece: each with its size, so that none runs into the next.
class Asked {
 public:
  Asked() = default;
  /// Goes on after `begun`, the bytes of another one.
  explicit Asked(std::string_view begun) { size_ = begun.copy(bytes_.data(), bytes_.size()); }

  Asked& Add(std::string_view piece) {
    AddNumber(piece.size());
    if (piece.size() > bytes_.size() - size_) Mix();
    if (piece.size() > bytes_.size()) {
      hash_ = format::Hash64(piece, hash_);
    } else {
      size_ += piece.copy(bytes_.data() + size_, piece.size());
    }
    return *this;
  }
  Asked& AddNumber(uint64_t number) {
    if (bytes_.size() - size_ < sizeof(number)) Mix();
    std::memcpy(bytes_.data() + size_, &number, sizeof(number));
    size_ += sizeof(number);
    return *this;
  }
  Asked& AddOptional(const std::optional<int64_t>& number) {
    return AddNumber(number.has_value()).AddNumber(static_cast<uint64_t>(number.value_or(0)));
  }
  Asked& AddRanges(const std::vector<RowRange>& ranges) {
    AddNumber(ranges.size());
    for (const RowRange& range : ranges) {
      Add(range.start).Add(range.end);
      if (range.leading_bytes > 0) Add("leading").AddNumber(range.leading_bytes);
    }
    return *this;
  }
  Asked& AddPredicate(const Predicate& predicate) {
    AddNumber(static_cast<uint64_t>(predicate.kind())).AddNumber(predicate.is_row_key());
    Add(predicate.family()).Add(predicate.qualifier());
    AddNumber(predicate.type().has_value() ? 1 + static_cast<uint64_t>(*predicate.type()) : 0);
    AddNumber(predicate.functions().size());
    if (!predicate.functions().empty()) Add(TextOf(predicate.functions(), ""));
    AddNumber(predicate.values().size());
    for (const std::string& value : predicate.values()) Add(value);
    for (const uint32_t parameter : predicate.parameters()) AddNumber(parameter);
    AddNumber(predicate.children().size());
    for (const Predicate& child : predicate.children()) AddPredicate(child);
    return *this;
  }
  /// What decides which rows a read returns.
  Asked& AddRead(const ReadOptions& options) {
    AddNumber(options.columns.size());
    for (const ColumnName& column : options.columns) Add(column.family).Add(column.qualifier);
    AddNumber(options.families.size());
    for (const std::string& family : options.families) Add(family);
    return AddOptional(options.as_of).AddOptional(options.since);
  }
  uint64_t Hash() {
    Mix();
    return hash_;
  }
  /// Empty: they were more than one piece has.
  std::string Bytes() const {
    return hash_ == 0 ? std::string(bytes_.data(), size_) : std::string();
  }

 private:
  void Mix() {
    hash_ = format::Hash64({bytes_.data(), size_}, hash_);
    size_ = 0;
  }

  // Each query has its hash, asked for or not, so it allocates nothing.
  uint64_t hash_ = 0;
  size_t size_ = 0;
  std::array<char, 512> bytes_;  // Of pieces that hash_ is not of yet.
};

// So that another index of the same name is another order. A load gives a global one another id and
// leaves its order as it is (docs/decisions/0061-a-load-rebuilds-global-indexes.md).
void AddOrder(const format::IndexRecord& index, bool is_global, Asked* asked) {
  asked->Add(index.name);
  if (!is_global) {
    asked->AddNumber(index.id.value);
    return;
  }
  for (const format::IndexColumnRecord& column : index.columns) {
    asked->AddNumber(column.family.value).Add(format::Described(column));
    asked->AddNumber(static_cast<uint64_t>(column.type)).AddNumber(column.descending ? 1 : 0);
  }
}

void AddQuery(const Predicate& predicate, Asked* asked) {
  asked->Add("query").AddPredicate(predicate);
}

Result<uint64_t> HashOf(const QueryRequest& request, const format::TableRecord& table) {
  Asked asked(request.asked);
  if (request.asked.empty()) AddQuery(request.predicate, &asked);
  const size_t values = request.values == nullptr ? 0 : request.values->size();
  asked.AddNumber(values);
  for (size_t i = 0; i < values; ++i) {
    const std::optional<std::string>& value = (*request.values)[i];
    asked.AddNumber(value.has_value());
    if (value.has_value()) asked.Add(*value);
  }
  bool falls = request.query.descending;
  if (!request.query.order_by.empty()) {
    ASSIGN_OR_RETURN(const IndexOrder order,
                     OrderAskedFor(table, request.resources.functions, request.query));
    AddOrder(*order.index, order.is_global, &asked);
    falls = order.falls;
  }
  asked.AddNumber(falls);
  if (request.query.any_version) asked.Add("any_version");
  if (!request.query.ranges.empty()) asked.AddRanges(request.query.ranges);
  return asked.AddRead(request.options).Hash();
}

uint64_t HashOf(const ReadOptions& options, const ScanOptions& scan) {
  Asked asked;
  asked.Add("scan").Add(scan.start).Add(scan.end).Add(scan.prefix).AddNumber(scan.reverse);
  return asked.AddRanges(scan.ranges).AddRead(options).Hash();
}

Status NoToken(std::string_view why) {
  return Status::InvalidArgument(
      "the token " + std::string(why) +
      ": pass one as Cursor::Token gave it, with the call that it is of");
}

// Decodes the token of a call into its origin.
Status Begin(const std::string& after, const std::string& before, bool has_entries,
             CursorOrigin* origin) {
  if (!after.empty() && !before.empty()) {
    return Status::InvalidArgument("after and before are both given: a read has one of them");
  }
  if (after.empty() && before.empty()) return {};
  const bool is_before = after.empty();
  ASSIGN_OR_RETURN(DecodedToken token, DecodeToken(is_before ? before : after, origin->scope));
  // The scope says what the query is, so only a token that was made up can differ here.
  const Position& position = token.position;
  if (has_entries != position.entry.has_value() || (!has_entries && !position.key.has_value())) {
    return NoToken("has no position in the order");
  }
  origin->is_exact = token.sequence == origin->scope.sequence;
  origin->from = ReadFrom{std::move(token.position), is_before};
  return {};
}

}  // namespace

std::string EncodeToken(const TokenScope& scope, const Position& position) {
  std::string bytes;
  const std::string none;
  const std::string& entry = position.entry.has_value() ? *position.entry : none;
  format::AppendU8(&bytes, kVersion);
  format::AppendU8(&bytes, static_cast<uint8_t>((position.entry.has_value() ? kHasEntry : 0) |
                                                (position.key.has_value() ? kHasKey : 0)));
  bytes += BytesOf(scope.database);
  format::AppendU32(&bytes, scope.table.value);
  format::AppendU64(&bytes, scope.query);
  format::AppendU64(&bytes, scope.sequence);
  format::AppendU32(&bytes, static_cast<uint32_t>(entry.size()));
  bytes += entry;
  if (position.key.has_value()) bytes += *position.key;
  format::AppendU64(&bytes, format::Hash64(bytes));
  return ToText(bytes);
}

Result<DecodedToken> DecodeToken(std::string_view text, const TokenScope& scope) {
  const std::optional<std::string> decoded = FromText(text);
  if (!decoded.has_value() || decoded->size() < kHeaderBytes + kChecksumBytes) {
    return NoToken("is cut or changed");
  }
  const std::string_view bytes(*decoded);
  const std::string_view summed = bytes.substr(0, bytes.size() - kChecksumBytes);
  if (format::LoadAt<uint64_t>(bytes, summed.size()) != format::Hash64(summed)) {
    return NoToken("is cut or changed");
  }
  const auto version = static_cast<uint8_t>(bytes[0]), flags = static_cast<uint8_t>(bytes[1]);
  if (version != kVersion) {
    return NoToken("has version " + std::to_string(version) + ", this build knows " +
                   std::to_string(kVersion));
  }
  if (bytes.substr(2, scope.database.bytes.size()) != BytesOf(scope.database)) {
    return NoToken("is of another database");
  }
  if (format::LoadAt<uint32_t>(bytes, 18) != scope.table.value) {
    return NoToken("is of another table");
  }
  if (format::LoadAt<uint64_t>(bytes, 22) != scope.query) {
    return NoToken("is of another query (its predicate, values, order, keys or columns differ)");
  }
  DecodedToken token{.position = {}, .sequence = format::LoadAt<uint64_t>(bytes, 30)};
  const uint32_t entry_bytes = format::LoadAt<uint32_t>(bytes, 38);
  const std::string_view rest = summed.substr(kHeaderBytes);
  if (entry_bytes > rest.size()) return NoToken("is cut or changed");
  if ((flags & kHasEntry) != 0) token.position.entry.emplace(rest.substr(0, entry_bytes));
  if ((flags & kHasKey) != 0) token.position.key.emplace(rest.substr(entry_bytes));
  return token;
}

std::string AskedOf(const Predicate& predicate) {
  Asked asked;
  AddQuery(predicate, &asked);
  return asked.Bytes();
}

Result<CursorOrigin> BeginQuery(const QueryRequest& request, const format::DatabaseId& database,
                                const TableView& view, TokenUse use) {
  CursorOrigin origin{.scope = {.database = database,
                                .table = view.table->id,
                                .query = 0,
                                .sequence = view.point.sequence.value},
                      .from = {},
                      .limits = request.Limits()};
  const bool has_token = !request.query.after.empty() || !request.query.before.empty();
  if (has_token || use == TokenUse::kGiven) {
    ASSIGN_OR_RETURN(origin.scope.query, HashOf(request, *view.table));
  }
  RETURN_IF_ERROR(
      Begin(request.query.after, request.query.before, !request.query.order_by.empty(), &origin));
  const std::vector<RowRange>& ranges = request.query.ranges;
  if (ranges.empty()) return origin;
  ASSIGN_OR_RETURN(origin.leads, LeadsOf(ranges, {format::KeyRange()}));
  if (origin.from.has_value() && HaveLeads(ranges) && request.query.order_by.empty()) {
    const bool falls = request.query.descending != origin.from->before;
    RETURN_IF_ERROR(CutLeads(*origin.from, falls, &*origin.leads));
  }
  return origin;
}

Result<CursorOrigin> BeginScan(const ReadOptions& options, const ScanOptions& scan,
                               const format::DatabaseId& database, const TableView& view,
                               base::Clock* clock) {
  CursorOrigin origin{.scope = {.database = database,
                                .table = view.table->id,
                                .query = HashOf(options, scan),
                                .sequence = view.point.sequence.value},
                      .from = {},
                      .limits = ReadLimits::Of(options, clock)};
  RETURN_IF_ERROR(Begin(scan.after, scan.before, /*has_entries=*/false, &origin));
  return origin;
}

ScanOptions ScanFrom(const ScanOptions& scan, const std::optional<ReadFrom>& from) {
  ScanOptions left = scan;
  left.after.clear();
  left.before.clear();
  if (!from.has_value()) return left;
  left.reverse = scan.reverse != from->before;
  const std::string& key = *from->position.key;
  if (left.reverse) {
    // An empty end is no bound, and no row has an empty key.
    if (left.end.empty() || key < left.end) left.end = key.empty() ? std::string(1, '\0') : key;
  } else {
    left.start = std::max(left.start, key + '\0');
  }
  return left;
}

}  // namespace tandem::engine
