// A table whose keys are led by salts, hashes or moduli beside a plain one with the same rows.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "test/api/small_database.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {

using Fields = std::vector<RowKeyField>;

inline const RowKeySchema& Plain() {
  static const RowKeySchema schema = *RowKeySchema::Parse("user:text, at:int64");
  return schema;
}

/// A table "t" with leading bytes and a table "plain" without, which have the same rows, with
/// indexes over d:c, a number, and d:e, a letter.
class Twins {
 public:
  Twins(const std::string& declaration, unsigned seed)
      : database(OpenSmall(directory_.path())),
        schema(*RowKeySchema::Parse(declaration)),
        needs_user_(declaration.find("hash(user") != std::string::npos),
        random_(seed) {
    TableOptions table = {.name = "t", .families = {{.name = "d"}}};
    table.row_key = declaration;
    for (const char* definition : {"c::int64", "e"}) {
      table.indexes.push_back(*IndexOptions::Parse(definition));
      table.indexes.back().name = table.indexes.back().columns[0].qualifier;
    }
    BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
    table.name = "plain";
    table.row_key.clear();
    BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
  }

  uint64_t Below(uint64_t end) { return random_() % end; }
  Fields RandomFields() {
    return {{"user", std::string(1 + Below(2), static_cast<char>('a' + Below(3)))},
            {"at", std::to_string(static_cast<int64_t>(Below(60)) - 20)}};
  }
  void Write() {
    WriteBatch batch;
    for (int i = 0; i < 20; ++i) {
      const Fields fields = RandomFields();
      const std::string key = *schema.Encode(fields), plain = *Plain().Encode(fields);
      if (Below(4) == 0) {
        batch.DeleteRow("t", key);
        batch.DeleteRow("plain", plain);
      } else {
        const std::string value = std::to_string(Below(1000));
        batch.Put("t", key, "d", "c", value);
        batch.Put("plain", plain, "d", "c", value);
        const std::string other(1, static_cast<char>('p' + Below(3)));
        batch.Put("t", key, "d", "e", other);
        batch.Put("plain", plain, "d", "e", other);
      }
    }
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  /// Some rows: of all unless a hash needs the user, of one user, or of a time.
  void PickRows(Fields* prefix, RowKeyBounds* bounds) {
    const uint64_t shape = Below(4);
    if (shape >= 1 || needs_user_) *prefix = {RandomFields()[0]};
    if (shape < 2) return;
    const auto from = static_cast<int64_t>(Below(60)) - 20;
    *bounds = {.field = "at", .from = std::to_string(from)};
    if (shape == 3) bounds->to = std::to_string(from + 1 + static_cast<int64_t>(Below(30)));
  }
  /// Flushes, splits, merges, in turn with writes.
  void Change() {
    const uint64_t choice = Below(10);
    if (choice < 6) return Write();
    if (choice == 6) BOOST_REQUIRE_EQUAL(database->Flush("t").ToString(), "OK");
    if (choice == 7) {
      (void)database->Split("t", {.key = *schema.Encode(RandomFields())});  // It may begin one.
    }
    if (choice == 8) (void)database->MergeRegions("t");  // There may be one region.
    if (choice == 9) BOOST_REQUIRE_EQUAL(database->Compact("t").ToString(), "OK");
  }
  /// "user/at=value" of each row that the cursor returns.
  std::string Rows(const std::string& table, Result<Cursor>* cursor) const {
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    std::string rows;
    while ((*cursor)->Next()) rows += TextOf(table, (*cursor)->row());
    BOOST_REQUIRE_EQUAL((*cursor)->status().ToString(), "OK");
    return rows;
  }
  std::string TextOf(const std::string& table, const RowView& row) const {
    const auto fields = (table == "t" ? schema : Plain()).Decode(row.key());
    BOOST_REQUIRE_EQUAL(fields.status().ToString(), "OK");
    return (*fields)[0].value + "/" + (*fields)[1].value + "=" +
           std::string(row.Find("d", "c").value_or("")) + " ";
  }
  /// All rows of table "t", a page after the other, each by a cursor of its own. `open` returns one
  /// for such options, which have a limit and a token.
  template <typename Options, typename Open>
  std::string Pages(Options options, uint64_t page_rows, const Open& open) const {
    std::string rows;
    options.limit = page_rows;
    while (true) {
      Result<Cursor> cursor = open(options);
      BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
      uint64_t count = 0;
      for (; cursor->Next(); ++count) rows += TextOf("t", cursor->row());
      BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
      if (count < page_rows) return rows;
      options.after = *cursor->Token();
    }
  }
  /// The rows from the last one back, the nearest first.
  template <typename Options, typename Open>
  std::string Back(Options options, const Open& open) const {
    Result<Cursor> cursor = open(options);
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    std::string last;
    while (cursor->Next()) last = TextOf("t", cursor->row());
    if (last.empty()) return last;
    options.before = *cursor->Token();
    Result<Cursor> back = open(options);
    return last + Rows("t", &back);
  }

 private:
  TemporaryDirectory directory_;

 public:
  std::unique_ptr<Database> database;
  const RowKeySchema schema;

  /// What a get finds: the same in both tables.
  void CheckGet(const ReadOptions& read) {
    const Fields fields = RandomFields();
    const auto found = database->Get(read, "t", *schema.Encode(fields));
    const auto expected = database->Get(read, "plain", *Plain().Encode(fields));
    BOOST_REQUIRE_EQUAL(found.status().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(expected.status().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(found->has_value(), expected->has_value());
    if (!found->has_value()) return;
    BOOST_REQUIRE_EQUAL(TextOf("t", (*found)->view()), TextOf("plain", (*expected)->view()));
  }

 private:
  const bool needs_user_;
  std::mt19937_64 random_;
};

}  // namespace tandem::test
