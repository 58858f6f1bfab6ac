// Values of every type of index, and operations that mix them.
#include "test/tools/reader_history.h"

#include <bit>
#include <cmath>
#include <cstdio>

#include "test/tools/require_ok.h"
#include "tools/tandem/bytes_text.h"

namespace tandem::test {
namespace {

constexpr int kOperations = 2'500;

struct TypedColumn {
  const char* name;
  ColumnType type;
};
constexpr TypedColumn kTyped[] = {
    {"bytes", ColumnType::kBytes},         {"text", ColumnType::kText},
    {"int64", ColumnType::kInt64},         {"uint64", ColumnType::kUint64},
    {"double", ColumnType::kDouble},       {"bool", ColumnType::kBool},
    {"timestamp", ColumnType::kTimestamp}, {"int64be", ColumnType::kInt64Be},
    {"uint64be", ColumnType::kUint64Be},   {"doublebe", ColumnType::kDoubleBe},
    {"boolbe", ColumnType::kBoolBe},       {"timestampbe", ColumnType::kTimestampBe},
};
const std::string kFamilies[] = {"d", "e, \\", "f\xff\\"};

std::string RandomBytes(TestRandom& random, size_t size_max) {
  if (random.OneIn(2))
    return random.Text(size_max, std::string_view("ab\0\x01\xff\"\\\n\xc3\xa9", 10));
  std::string bytes(random.Below(size_max + 1), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random.Below(256));
  return bytes;
}

std::string BigEndian(uint64_t number) {
  std::string bytes(8, '\0');
  for (int i = 7; i >= 0; --i, number >>= 8) bytes[i] = static_cast<char>(number);
  return bytes;
}

double RandomDouble(TestRandom& random) {
  if (random.OneIn(2)) return (static_cast<double>(random.Below(400)) - 200) / 4;
  const double any = std::bit_cast<double>(random.Next());
  return std::isfinite(any) ? any : -0.0;
}

/// A value that fits the type; small worlds, so that rows share values.
std::string RandomValue(TestRandom& random, ColumnType type) {
  const uint64_t number = random.Next() >> (random.OneIn(3) ? random.Below(64) : 60);
  switch (type) {
    case ColumnType::kBytes:
      return RandomBytes(random, random.OneIn(20) ? 900 : 12);
    case ColumnType::kText:
      return random.Text(4, "xyz") + (random.OneIn(2) ? "\xc3\xa9" : "");
    case ColumnType::kInt64:
      return std::to_string(static_cast<int64_t>(random.OneIn(2) ? number : -number));
    case ColumnType::kTimestamp:
      return random.OneIn(2) ? "2024-02-29T23:59:59.000001Z" : std::to_string(number / 2);
    case ColumnType::kUint64:
      return std::to_string(number);
    case ColumnType::kDouble: {
      char text[40];
      std::snprintf(text, sizeof(text), "%.17g", RandomDouble(random));
      return text;
    }
    case ColumnType::kBool:
      return random.OneIn(2) ? "true" : "false";
    case ColumnType::kBoolBe:
      return std::string(1, static_cast<char>(random.Below(2)));
    case ColumnType::kDoubleBe:
      return BigEndian(
          std::bit_cast<uint64_t>(random.OneIn(20) ? -INFINITY : RandomDouble(random)));
    default:
      return BigEndian(number);
  }
}

// Between them every type, direction, width and lead.
// What leads the keys at first, and later; then their fields.
struct RowKeys {
  const char* lead;
  const char* later;
  const char* fields;
};
constexpr RowKeys kRowKeys[] = {
    {"salt(4), ", "salt(9), ", "user:text, at:timestamp desc"},
    {"", "salt(5), ", "user:text, at:timestamp"},
    {"hash(id, 3), mod(id, 300), ", "hash(id, 3), mod(id, 400), ",
     "reverse(id), id:int64, rest:bytes"},
    {"mod(n, 7), ", "salt(200), ", "b:bytes desc, n:uint64 desc, u:uuid"},
    {"mod(at, 4, 3), ", "salt(9), mod(at, 5), ", "at:timestamp desc, id:int64"},
    {"", "mod(id, 300, 200), ", "user:text, id:int64"},
    {"salt(1000), ", "salt(900), ",
     "reverse(name), name:text(9) desc, c:bytes(3), u:uuid desc, last:text"},
    {"hash(raw, 8), ", "hash(t, 8), ",
     "raw:bytes, reverse(t), t:text, n:int64 desc, reverse(f), f:bytes(2) desc"},
};

std::string RandomField(TestRandom& random, const RowKeyPart& part) {
  switch (part.type) {
    case RowKeyType::kText:
      return "x" + random.Text(5, "xyz") + (random.OneIn(2) ? "\xc3\xa9" : "");
    case RowKeyType::kBytes:
      return part.width_bytes == 0 ? RandomBytes(random, 6)
                                   : BigEndian(random.Next()).substr(0, part.width_bytes);
    case RowKeyType::kUint64:
      return std::to_string(random.Next() >> random.Below(64));
    case RowKeyType::kUuid:
      return tools::EncodeHex(BigEndian(random.Next()) + BigEndian(random.Next()));
    default:
      return std::to_string(static_cast<int64_t>(random.Next()) >> random.Below(64));
  }
}

TableOptions RandomTable(TestRandom& random) {
  TableOptions table;
  table.name = "t";
  for (const std::string& name : kFamilies) {
    const Compression compression = random.OneIn(2) ? Compression::kNone : Compression::kZstd;
    table.families.push_back({.name = name,
                              .max_versions = static_cast<uint32_t>(1 + random.Below(4)),
                              .compression = compression,
                              .block_size_bytes = random.OneIn(2) ? 512u : 8192u});
  }
  for (const TypedColumn& column : kTyped) {
    table.indexes.push_back({column.name, {{"d", column.name, column.type, random.OneIn(2)}}});
  }
  table.indexes.push_back({"other", {{kFamilies[1], "x", ColumnType::kBytes, false}}});
  table.indexes.push_back({"hour", {*IndexColumn::Parse("date_trunc('hour', timestamp)")}});
  table.indexes.push_back({"start", {*IndexColumn::Parse("upper(substr(text, 1, 2)) DESC")}});
  table.indexes.push_back({"json", {*IndexColumn::Parse("json(double, '$')::double")}});
  IndexOptions all{"all", *IndexColumn::ParseList("text, lower(text) DESC, double::double DESC, "
                                                  "bool::bool, int64::int64")};
  all.columns.push_back({kFamilies[1], "x", ColumnType::kBytes, random.OneIn(2)});
  table.indexes.push_back(std::move(all));
  for (const char* where : {"d:bool::bool = true", "d:int64::int64 IS NULL OR NOT d:text > 'm'"}) {
    IndexOptions partial = table.indexes[random.Below(std::size(kTyped))];
    partial.name = std::string("partial ") + where[2];
    partial.where = where;
    table.indexes.push_back(std::move(partial));
  }
  IndexOptions covering = *IndexOptions::Parse("text DESC INCLUDE (bool, int64, double)");
  covering.name = "covering";
  covering.include.push_back({kFamilies[1], "x"});
  table.indexes.push_back(std::move(covering));
  table.split_keys = {"g", std::string("p\0", 2)};
  return table;
}

// Some rows of a typed table have keys of other bytes.
std::string RandomKey(TestRandom& random, const std::string& row_key) {
  std::string key = static_cast<char>('a' + random.Below(26)) + RandomBytes(random, 14);
  if (row_key.empty() || random.OneIn(3)) return key;
  const RowKeySchema schema = *RowKeySchema::Parse(row_key);
  std::vector<RowKeyField> fields;
  for (const RowKeyPart& part : schema.parts()) {
    if (part.kind == RowKeyPart::Kind::kField) fields.push_back({part.field, ""});
    if (part.kind == RowKeyPart::Kind::kField) fields.back().value = RandomField(random, part);
  }
  Result<std::string> encoded = schema.Encode(fields);
  RequireOk(encoded.status());
  return random.OneIn(8) ? *encoded + key : *encoded;
}

int64_t RandomTime(TestRandom& random) { return static_cast<int64_t>(random.Below(9)) - 3; }

}  // namespace

History::History(TestRandom* random, const std::string& path)
    : random_(*random), whole_family_(random->OneIn(2)) {
  Options options;
  options.create_if_missing = true;
  auto opened = Database::Open(path, options);
  RequireOk(opened.status());
  database_ = std::move(*opened);
  TableOptions table = RandomTable(random_);
  if (!random_.OneIn(4)) {
    const RowKeys& keys = kRowKeys[random_.Below(std::size(kRowKeys))];
    table.row_key = std::string(keys.lead) + keys.fields;
    if (!random_.OneIn(3)) later_row_key_ = std::string(keys.later) + keys.fields;
  }
  RequireOk(database_->CreateTable(table));
  for (int i = 0; i < 60; ++i) keys_.push_back(RandomKey(random_, table.row_key));
}

std::vector<std::string> History::IndexNames() {
  std::vector<std::string> names = {"other", "hour", "start", "json", "all"};
  for (const TypedColumn& column : kTyped) names.emplace_back(column.name);
  return names;
}

void History::Run() {
  for (int i = 0; i < kOperations; ++i) {
    WriteBatch batch;
    AddOperation(&batch, i);
    RequireOk(database_->Write({.durability = Durability::kMemory}, batch));
    if (i == kOperations / 2 && !later_row_key_.empty()) {
      RequireOk(database_->ChangeRowKey("t", later_row_key_));
      for (int k = 0; k < 30; ++k) keys_.push_back(RandomKey(random_, later_row_key_));
    }
    if (random_.OneIn(600)) RequireOk(database_->Flush("t"));
    if (random_.OneIn(1500)) RequireOk(database_->Compact("t"));
    if (random_.OneIn(400)) {
      auto snapshot = database_->TakeSnapshot();
      RequireOk(snapshot.status());
      snapshots_.push_back(std::move(*snapshot));
    }
  }
}

void History::Close() {
  snapshots_.clear();
  RequireOk(database_->Close());
}

void History::CompactAndClose() {
  snapshots_.clear();
  RequireOk(database_->Compact("t"));
  Close();
}

void History::AddOperation(WriteBatch* batch, int number) {
  // Where no family is to have all rows, each row lacks one.
  const size_t chosen = random_.Below(keys_.size());
  const std::string& row = keys_[chosen];
  size_t family = random_.Below(3);
  if (!whole_family_ && chosen % 3 == family) family = (family + 1) % 3;
  const std::string& name = kFamilies[family];
  const TypedColumn& typed = kTyped[random_.Below(std::size(kTyped))];
  const std::string column = family == 0 ? typed.name : random_.Text(1, "xy");
  const uint64_t what = random_.Below(16);
  if (what < 3) return AddDelete(batch, row, {name, column});
  if (what < 5) {
    const std::string& wide = keys_[number % 2];
    const std::string value(random_.Below(4000), 'w');
    return batch->Put("t", wide, name, "w" + std::to_string(number), value);
  }
  if (what == 5 && random_.OneIn(20)) {
    const size_t bytes = 65'530 + random_.Below(random_.OneIn(3) ? 2'500'000 : 20);
    return batch->Put("t", row, name, "far", std::string(bytes, 'f') + RandomBytes(random_, 9));
  }
  const std::string value =
      family == 0 ? RandomValue(random_, typed.type) : RandomBytes(random_, 30);
  batch->Put("t", row, name, column, value, RandomTime(random_));
}

void History::AddDelete(WriteBatch* batch, const std::string& row, const ColumnName& column) {
  const int64_t timestamp = RandomTime(random_);
  switch (random_.Below(7)) {
    case 0:
      return batch->DeleteRow("t", row);
    case 1:
      return batch->DeleteFamily("t", row, column.family, timestamp);
    case 2:
    case 3:
      return batch->DeleteColumn("t", row, column.family, column.qualifier, timestamp);
    default:
      return batch->DeleteCell("t", row, column.family, column.qualifier, timestamp);
  }
}

}  // namespace tandem::test
