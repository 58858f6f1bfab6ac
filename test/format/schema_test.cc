// Table records: what is encoded comes back, and no other bytes are taken for a table.
#define BOOST_TEST_DYN_LINK
#include "format/schema.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "base/random.h"
#include "format/coding.h"
#include "format/fields.h"
#include "tandem/limits.h"
#include "test/support/hex.h"
#include "test/support/print.h"
#include "test/support/sample_records.h"

namespace tandem::format {
namespace {

using test::Hex;
using test::SampleTable;

std::string Encoded(const TableRecord& table) {
  std::string bytes;
  EncodeTable(table, &bytes);
  return bytes;
}

StatusCode CodeOf(std::string_view bytes) { return DecodeTable(bytes).status().code(); }

BOOST_AUTO_TEST_SUITE(SchemaSuite)

BOOST_AUTO_TEST_CASE(ATableComesBackAsItWas) {
  TableRecord table = SampleTable(7);
  FamilyOptions& family = table.families[0].options;
  family.max_versions = 4'000'000'000;
  family.ttl_micros = INT64_MAX;
  family.compression = Compression::kNone;
  family.block_size_bytes = 1 << 20;
  table.families[0].id = FamilyId(254);
  table.indexes[0].columns[0].family = FamilyId(254);
  table.indexes[0].columns[0].descending = true;
  table.indexes[0].columns[0].qualifier = std::string("\0\xff", 2);
  table.indexes[0].state = IndexState::kDropping;
  const auto decoded = DecodeTable(Encoded(table));
  BOOST_REQUIRE(decoded.has_value());
  BOOST_TEST(decoded->id.value == 7u);
  BOOST_TEST(decoded->name == "table-7");
  BOOST_TEST((decoded->hash_secret == table.hash_secret));
  const FamilyRecord* found = decoded->FindFamily("f");
  BOOST_REQUIRE(found != nullptr);
  BOOST_TEST(found->options.max_versions == family.max_versions);
  BOOST_TEST(found->options.ttl_micros == family.ttl_micros);
  BOOST_TEST((found->options.compression == Compression::kNone));
  BOOST_TEST(found->options.block_size_bytes == family.block_size_bytes);
  const IndexRecord* index = decoded->FindIndex("by_n");
  BOOST_REQUIRE(index != nullptr);
  BOOST_TEST((index == decoded->FindIndex(IndexId(1))));
  BOOST_TEST((index->state == IndexState::kDropping));
  BOOST_TEST((index->columns[0].qualifier == table.indexes[0].columns[0].qualifier));
  BOOST_TEST((index->columns[0].type == ColumnType::kInt64));
  BOOST_TEST(index->columns[0].descending);
  BOOST_TEST(decoded->FindFamily("") == nullptr);
  BOOST_TEST(decoded->FindIndex("n") == nullptr);
  BOOST_TEST(Encoded(*decoded) == Encoded(table));
}

Condition LeafOf(size_t column, std::optional<ValueBound> low, std::optional<ValueBound> high) {
  Condition leaf{.kind = Condition::Kind::kLeaf, .column = column};
  leaf.values = ValueSet({ValueInterval{std::move(low), std::move(high)}});
  return leaf;
}

BOOST_AUTO_TEST_CASE(APartialIndexComesBack) {
  TableRecord table = SampleTable();
  const FamilyId family = table.families[0].id;
  Condition part{.kind = Condition::Kind::kLeaf, .column = 1};
  part.part = "";
  part.lacks_part = part.accepts_null = true;
  Condition any{.kind = Condition::Kind::kOr};
  any.children = {LeafOf(0, ValueBound{"x"}, ValueBound{"x"}),
                  LeafOf(1, ValueBound{"", false}, std::nullopt),
                  part,
                  LeafOf(0, std::nullopt, ValueBound{"z", false}),
                  {}};
  IndexPredicate where{.text = "x", .columns = {{family, "a"}, {family, "b"}}};
  where.root = {.kind = Condition::Kind::kAnd, .children = {any, {}}};
  table.indexes[0].where = where;
  const auto decoded = DecodeTable(Encoded(table));
  BOOST_REQUIRE_EQUAL(decoded.status().ToString(), "OK");
  BOOST_TEST(Encoded(*decoded) == Encoded(table));
  const Condition& found = decoded->indexes[0].where->root.children.at(0);
  BOOST_TEST(found.children.size() == 5u);
  BOOST_TEST(found.children[0].Accepts("x"));
  BOOST_TEST(!found.children[0].Accepts("y"));
  BOOST_TEST(!found.children[1].Accepts(""));
  BOOST_TEST(found.children[2].accepts_null);
  BOOST_TEST(!found.children[2].Accepts("y"));
  BOOST_TEST(Hex(EncodeCondition(any.children[0])) ==
             "01 01 01 05 01 00 09 06 01 01 78 05 01 78");  // As in docs/format.md.
}

BOOST_AUTO_TEST_CASE(BadPartialIndexesAreRefused) {
  using W = IndexPredicate*;
  constexpr StatusCode kBad = StatusCode::kCorruption;
  const struct {
    const char* what;
    void (*change)(W);
    StatusCode code;
  } cases[] = {
      {"no text", [](W w) { w->text = ""; }, kBad},
      {"long text", [](W w) { w->text.assign(kIndexWhereBytesMax + 1, 'x'); }, kBad},
      {"its family", [](W w) { w->columns[0].family = FamilyId(9); }, kBad},
      {"several values",
       [](W w) {
         w->columns[0].type = ColumnType::kText;
         w->columns[0].functions = {Function::Split(",")};
       },
       kBad},
      {"no such column", [](W w) { w->root.column = 1; }, kBad},
      {"a leaf with children", [](W w) { w->root.children.emplace_back(); }, kBad},
      {"kind", [](W w) { w->root.kind = Condition::Kind(4); }, StatusCode::kUnsupported},
      {"depth",
       [](W w) {
         for (uint32_t i = 0; i <= kIndexWhereDepthMax; ++i) {
           w->root = {.kind = Condition::Kind::kAnd, .children = {w->root}};
         }
       },
       kBad},
  };
  for (const auto& tried : cases) {
    TableRecord table = SampleTable();
    IndexPredicate where{.text = "x", .columns = {{table.families[0].id, "a"}}};
    where.root = LeafOf(0, ValueBound{"x"}, std::nullopt);
    table.indexes[0].where = where;
    BOOST_TEST((CodeOf(Encoded(table)) == StatusCode::kOk));
    tried.change(&*table.indexes[0].where);
    BOOST_TEST((CodeOf(Encoded(table)) == tried.code), tried.what);
  }
}

BOOST_AUTO_TEST_CASE(PartsOfTheRowKeyComeBack) {
  TableRecord table = SampleTable();
  IndexColumnRecord part{.family = kRowKeyFamily, .qualifier = {}, .type = ColumnType::kText};
  part.functions = {Function::SplitPart("/", 2)};
  table.indexes[0].columns = {part};
  const std::string bytes = Encoded(table);
  BOOST_TEST(Hex(bytes).find("01 02 FF 01 03 00 05 01 02 07 01 00 09 09 01 01 10 03 01 02 07 01 2F "
                             "0B 01 01") != std::string::npos,
             Hex(bytes));
  const auto decoded = DecodeTable(bytes);
  BOOST_REQUIRE_MESSAGE(decoded.has_value(), decoded.status().ToString());
  BOOST_TEST(decoded->indexes[0].is_of_row_key_alone());
  BOOST_TEST(decoded->indexes[0].is_of_several());
  BOOST_TEST(HasSameValues(decoded->indexes[0].columns[0], part));
  BOOST_TEST(Encoded(*decoded) == bytes);

  std::vector<IndexColumnRecord> bad(4, part);
  bad[0].functions = {};
  bad[1].functions = {Function::TimestampOf()};
  bad[2].functions = {Function::Split("/")};
  bad[3].qualifier = "q";
  for (const IndexColumnRecord& column : bad) {
    table.indexes[0].columns = {column};
    BOOST_TEST((CodeOf(Encoded(table)) == StatusCode::kCorruption));
  }
  table.indexes[0].columns = {part};
  std::string without_flag = Encoded(table);
  const size_t flag = without_flag.find("\x0b\x01\x01", without_flag.find("\x07\x01/"));
  without_flag[flag] = 12;  // A field that may be ignored.
  BOOST_TEST((CodeOf(without_flag) == StatusCode::kCorruption));
}

BOOST_AUTO_TEST_CASE(JoinedColumnsComeBack) {
  TableRecord table = SampleTable();
  IndexColumnRecord column{.family = FamilyId(0), .qualifier = "a", .type = ColumnType::kText};
  column.functions = {
      Function::Concat({ConcatPart::Text("-"), ConcatPart::Value(), ConcatPart::Column("", "b")})};
  BOOST_REQUIRE(JoinColumns(table, &column).ok());
  BOOST_TEST(column.functions[0].parts[2].family == table.families[0].options.name);
  table.indexes[0].columns = {column};
  const std::string bytes = Encoded(table);
  BOOST_TEST(Hex(bytes).find("01 01 00 03 01 61 05 01 02 07 01 00 09 1B 01 01 11 09 06 01 01 01 "
                             "03 01 2D 09 03 01 01 00 09 09 01 01 02 05 01 00 07 01 62") !=
                 std::string::npos,
             Hex(bytes));
  const auto decoded = DecodeTable(bytes);
  BOOST_REQUIRE_MESSAGE(decoded.has_value(), decoded.status().ToString());
  const IndexRecord& index = decoded->indexes[0];
  BOOST_TEST(index.is_of_several());
  BOOST_TEST(index.needs_order());
  BOOST_TEST(index.places() == 2u);
  BOOST_TEST(HasSameValues(index.columns[0], column));
  BOOST_TEST(Encoded(*decoded) == bytes);

  std::string bad = bytes;
  bad[bad.find(std::string("\x05\x01\x00\x07\x01\x62", 6)) + 2] = 9;
  BOOST_TEST((CodeOf(bad) == StatusCode::kCorruption));  // No such family.
  bad[bad.find("\x05\x01\x09\x07\x01\x62") + 2] = '\xff';
  BOOST_TEST((CodeOf(bad) == StatusCode::kCorruption));  // The row key.
  bad = bytes;
  bad[bad.find("\x01\x01\x11\x09") + 2] = 1;
  BOOST_TEST((CodeOf(bad) == StatusCode::kCorruption));  // lower has no parts.
  bad = bytes;
  bad[bad.find("\x01\x01\x02\x05") + 2] = 3;
  BOOST_TEST((CodeOf(bad) != StatusCode::kOk));  // No such part.
}

BOOST_AUTO_TEST_CASE(JoinedColumnsHaveOneForm) {
  const TableRecord table = SampleTable();
  const auto joined = [&](const char* qualifier, std::vector<ConcatPart> parts) {
    IndexColumnRecord column{.family = FamilyId(0), .qualifier = qualifier};
    column.functions = {Function::Concat(std::move(parts))};
    BOOST_TEST(JoinColumns(table, &column).ToString() == "OK");
    return column;
  };
  const auto value = ConcatPart::Value(), text = ConcatPart::Text("-");
  const auto of = [](const char* name) { return ConcatPart::Column("", name); };
  const IndexColumnRecord plain = joined("a", {value, text, of("b")});
  BOOST_TEST(HasSameValues(plain, joined("b", {of("a"), text, value})));
  BOOST_TEST(!HasSameValues(plain, joined("a", {of("b"), text, value})));
  BOOST_TEST(joined("a", {of("b"), text, value}).qualifier == "b");
  BOOST_TEST(joined("a", {of("a"), value}).joined.empty());
  BOOST_TEST(
      HasSameValues(joined("b", {of("a"), of("a"), value}), joined("a", {value, value, of("b")})));
  IndexColumnRecord lower{.family = FamilyId(0), .qualifier = "a"};
  lower.functions = {Function::Lower(), Function::Concat({of("a"), value})};
  BOOST_TEST(JoinColumns(table, &lower).ok());
  BOOST_TEST(lower.joined.size() == 1u);
  lower.family = kRowKeyFamily;
  BOOST_TEST(JoinColumns(table, &lower).message() ==
             "concat: it joins the row key with texts, and not with columns");
  lower.family = FamilyId(0);
  lower.functions[1].parts[0].family = "none";
  BOOST_TEST((JoinColumns(table, &lower).code() == StatusCode::kNotFound));
}

BOOST_AUTO_TEST_CASE(IndexesOverAFamilyComeBack) {
  TableRecord table = SampleTable();
  const IndexColumnRecord keys{.family = table.families[0].id,
                               .qualifier = {},
                               .functions = {Function::MapKeys(), Function::Lower()}};
  IndexRecord& index = table.indexes[0];
  index = {.id = index.id, .name = "i", .columns = {keys}};
  index.columns[0].type = ColumnType::kText;
  const std::string bytes = Encoded(table);
  const auto decoded = DecodeTable(bytes);
  BOOST_REQUIRE_MESSAGE(decoded.has_value(), decoded.status().ToString());
  BOOST_TEST(decoded->indexes[0].columns[0].is_of_family());
  BOOST_TEST(!decoded->indexes[0].is_of_several());
  BOOST_TEST(Encoded(*decoded) == bytes);

  std::vector<IndexRecord> bad(5, index);
  bad[0].columns[0].qualifier = "q";
  bad[1].columns[0].functions = {Function::Lower(), Function::MapValues()};
  bad[2].columns.push_back({.family = table.families[0].id, .qualifier = "q"});
  bad[3].unique = true;
  bad[4].included.push_back({.family = table.families[0].id, .qualifier = "q"});
  for (const IndexRecord& record : bad) {
    index = record;
    BOOST_TEST((CodeOf(Encoded(table)) == StatusCode::kCorruption));
  }
}

BOOST_AUTO_TEST_CASE(TypesAndTheNextIndexComeBack) {
  TableRecord table = SampleTable();
  BOOST_TEST((table.TypeOf(FamilyId(0), "n") == ColumnType::kInt64));  // Of the index.
  BOOST_TEST((table.TypeOf(FamilyId(0), "m") == ColumnType::kBytes));
  const std::string before = Encoded(table);
  table.next_index = IndexId(2);  // As it follows from the indexes.
  BOOST_TEST(Encoded(table) == before);
  table.columns = {{FamilyId(0), "m", ColumnType::kBool}, {FamilyId(0), "n", ColumnType::kText}};
  table.next_index = IndexId(9);
  const auto decoded = DecodeTable(Encoded(table));
  BOOST_REQUIRE(decoded.has_value());
  BOOST_TEST((decoded->TypeOf(FamilyId(0), "n") == ColumnType::kText));
  BOOST_TEST((decoded->TypeOf(FamilyId(0), "m") == ColumnType::kBool));
  BOOST_TEST(decoded->next_index.value == 9u);
  BOOST_TEST(DecodeTable(before)->next_index.value == 2u);
  std::swap(table.columns[0], table.columns[1]);
  BOOST_TEST(DecodeTable(Encoded(table)).status().code() == StatusCode::kCorruption);
  table.columns = {{FamilyId(7), "m", ColumnType::kBool}};
  BOOST_TEST(DecodeTable(Encoded(table)).status().code() == StatusCode::kCorruption);
}

BOOST_AUTO_TEST_CASE(ADroppedFamilyKeepsItsIdAndLosesItsName) {
  TableRecord table = SampleTable();
  const std::string before = Encoded(table);
  table.families.push_back({.id = FamilyId(3), .options = {.name = "g"}, .dropped = true});
  table.families.push_back({.id = FamilyId(4), .options = {.name = "g"}});
  const std::string bytes = Encoded(table);
  BOOST_TEST(Hex(bytes).find("07 16 01 01 03 03 01 67 05 01 01 07 01 00 09 01 01 0B 02 80 40 "
                             "0D 01 01 07 13 01 01 04 03 01 67") != std::string::npos,
             Hex(bytes));
  const auto decoded = DecodeTable(bytes);
  BOOST_REQUIRE_MESSAGE(decoded.has_value(), decoded.status().ToString());
  BOOST_TEST(decoded->FindFamily("g")->id.value == 4);
  BOOST_TEST(decoded->FindFamily(FamilyId(3))->dropped);
  BOOST_TEST(decoded->family_count() == 2u);
  BOOST_TEST(*decoded->FindFamily(FamilyId(3))->ExpiredThrough(0) == INT64_MAX);
  BOOST_TEST(!decoded->FindFamily(FamilyId(4))->ExpiredThrough(INT64_MAX).has_value());
  BOOST_TEST(Encoded(*decoded) == bytes);

  table.families[0].dropped = true;
  BOOST_TEST(DecodeTable(Encoded(table))->first_family().id.value == 4);
  table.families[2].dropped = true;
  BOOST_TEST(DecodeTable(Encoded(table)).status().code() == StatusCode::kCorruption);
  table.families[0].dropped = table.families[1].dropped = table.families[2].dropped = false;
  BOOST_TEST(DecodeTable(Encoded(table)).status().code() == StatusCode::kCorruption);
}

BOOST_AUTO_TEST_CASE(FormerLimitsOfAFamilyAreKept) {
  TableRecord table = SampleTable();
  std::vector<FormerLimits>& limits = table.families[0].former_limits;
  limits = {{SequenceNumber(300), 2, {}}, {SequenceNumber(301), {}, -1}};
  const std::string bytes = Encoded(table);
  BOOST_TEST(
      Hex(bytes).find("0F 07 01 02 AC 02 03 01 02 0F 07 01 02 AD 02 05 01 01") != std::string::npos,
      Hex(bytes));
  const auto decoded = DecodeTable(bytes);
  BOOST_REQUIRE_MESSAGE(decoded.has_value(), decoded.status().ToString());
  BOOST_TEST((decoded->families[0].former_limits == limits));
  BOOST_TEST(Encoded(*decoded) == bytes);
  BOOST_TEST(decoded->last_limits_change().value == 301u);
  BOOST_TEST(HaveSameFormerLimits(*decoded, table));
  BOOST_TEST(!HaveSameFormerLimits(*decoded, SampleTable()));

  const auto code_of = [&](std::vector<FormerLimits> other) {
    limits = std::move(other);
    return DecodeTable(Encoded(table)).status().code();
  };
  BOOST_TEST(code_of({{SequenceNumber(7), 2, {}}, {SequenceNumber(7), 3, {}}}) ==
             StatusCode::kCorruption);
  BOOST_TEST(code_of({{SequenceNumber(0), 2, {}}}) == StatusCode::kCorruption);
  BOOST_TEST(code_of({{SequenceNumber(7), 0, {}}}) == StatusCode::kCorruption);
  BOOST_TEST(code_of({{SequenceNumber(7), {}, {}}}) == StatusCode::kCorruption);
  std::vector<FormerLimits> many;
  for (uint64_t i = 0; i <= kFormerLimitsMax; ++i) many.push_back({SequenceNumber(i + 1), 2, {}});
  BOOST_TEST(code_of(many) == StatusCode::kUnsupported);
}

BOOST_AUTO_TEST_CASE(TheBytesAreTheGoldenOnes) {
  std::string bytes = Encoded(SampleTable());
  const size_t secret = bytes.find(std::string(kHashSecretBytes, 's'));
  BOOST_REQUIRE(secret != std::string::npos);
  bytes.erase(secret, kHashSecretBytes);
  BOOST_TEST(Hex(bytes) ==
             "01 01 01 "                                // id 1
             "03 07 74 61 62 6C 65 2D 31 "              // name "table-1"
             "05 C0 01 "                                // secret, 192 bytes cut out here
             "07 13 01 01 00 03 01 66 05 01 01 07 01 "  // family 0 "f", 1 version, no TTL,
             "00 09 01 01 0B 02 80 40 "                 // zstd, 8,192
             "09 1A 01 01 01 03 04 62 79 5F 6E "        // index 1 "by_n"
             "05 01 02 07 0C 01 01 00 03 01 6E 05 01 03 07 01 00");  // ready, 0:n int64
}

BOOST_AUTO_TEST_CASE(EveryCutIsRefused) {
  const std::string bytes = Encoded(SampleTable());
  const std::string without_index = [] {
    TableRecord table = SampleTable();
    table.indexes.clear();
    return Encoded(table);
  }();
  for (size_t length = 0; length < bytes.size(); ++length) {
    // A table without indexes is a table: the record's own length is its container's to keep.
    if (length == without_index.size()) continue;
    BOOST_TEST(CodeOf(bytes.substr(0, length)) == StatusCode::kCorruption, "length " << length);
  }
}

BOOST_AUTO_TEST_CASE(UnknownFieldsAreSkippedWhenEvenAndRefusedWhenOdd) {
  std::string bytes = Encoded(SampleTable());
  AppendField(&bytes, 1000, "later");
  BOOST_TEST(CodeOf(bytes) == StatusCode::kOk);
  AppendField(&bytes, 1001, "later");
  BOOST_TEST(CodeOf(bytes) == StatusCode::kUnsupported);
}

BOOST_AUTO_TEST_CASE(FieldsThatDoNotAscendOrRepeatAreRefused) {
  std::string bytes = Encoded(SampleTable());
  std::string name_again = bytes;
  AppendField(&name_again, 3, "x");
  BOOST_TEST(CodeOf(name_again) == StatusCode::kCorruption);
  std::string twice;
  AppendNumberField(&twice, 1, 1);
  BOOST_TEST(CodeOf(twice + bytes) == StatusCode::kCorruption);
  BOOST_TEST(CodeOf(std::string("\0\0", 2) + bytes) == StatusCode::kCorruption);
}

// A table with more families, or more indexes, than this version can have.
void AddFamilies(TableRecord* table) {
  for (uint8_t i = 1; i <= kFamiliesMax; ++i) {
    table->families.push_back(table->families[0]);
    table->families.back().id = FamilyId(i);
    table->families.back().options.name = "f" + std::to_string(i);
  }
}
void AddIndexes(TableRecord* table) {
  for (uint32_t i = 2; i <= kIndexesMax + 1; ++i) {
    table->indexes.push_back(table->indexes[0]);
    table->indexes.back().id = IndexId(i);
    table->indexes.back().name = "by_" + std::to_string(i);
  }
}

BOOST_AUTO_TEST_CASE(ValuesOutOfRangeAreRefused) {
  using T = TableRecord*;
  constexpr StatusCode kBad = StatusCode::kCorruption;
  constexpr StatusCode kLater = StatusCode::kUnsupported;  // What a later version may know.
  const struct {
    const char* what;
    void (*change)(T);
    StatusCode code;
  } cases[] = {
      {"no name", [](T t) { t->name = ""; }, kBad},
      {"long name", [](T t) { t->name = std::string(256, 'x'); }, kBad},
      {"line end", [](T t) { t->name = "a\nb"; }, kBad},
      {"DEL", [](T t) { t->name = "a\x7f"; }, kBad},
      {"no family", [](T t) { t->families.clear(); }, kBad},
      {"no family name", [](T t) { t->families[0].options.name = ""; }, kBad},
      {"no version", [](T t) { t->families[0].options.max_versions = 0; }, kBad},
      {"TTL", [](T t) { t->families[0].options.ttl_micros = -1; }, kBad},
      {"small block", [](T t) { t->families[0].options.block_size_bytes = 511; }, kBad},
      {"large block", [](T t) { t->families[0].options.block_size_bytes = 1 << 21; }, kBad},
      {"index twice", [](T t) { t->indexes.push_back(t->indexes[0]); }, kBad},
      {"no column", [](T t) { t->indexes[0].columns.clear(); }, kBad},
      {"its family", [](T t) { t->indexes[0].columns[0].family = FamilyId(9); }, kBad},
      {"state 0", [](T t) { t->indexes[0].state = IndexState(0); }, kBad},
      {"long qualifier",
       [](T t) { t->indexes[0].columns[0].qualifier.assign(kQualifierBytesMax + 1, 'q'); }, kBad},
      {"compression", [](T t) { t->families[0].options.compression = Compression(2); }, kLater},
      {"type", [](T t) { t->indexes[0].columns[0].type = ColumnType(8); }, kLater},
      {"state 5", [](T t) { t->indexes[0].state = IndexState(5); }, kLater},
      {"many families", AddFamilies, kLater},
      {"many indexes", AddIndexes, kLater},
  };
  for (const auto& tried : cases) {
    TableRecord table = SampleTable();
    tried.change(&table);
    BOOST_TEST(CodeOf(Encoded(table)) == tried.code, tried.what);
  }
}

BOOST_AUTO_TEST_CASE(DamagedBytesNeverPassForAnotherShape) {
  const std::string bytes = Encoded(SampleTable());
  const auto random = base::NewSeededRandom(5);
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = bytes;
    for (uint64_t n = random->Next64() % 3 + 1; n > 0; --n) {
      damaged[random->Next64() % damaged.size()] = static_cast<char>(random->Next64());
    }
    const auto decoded = DecodeTable(damaged);
    // A change that is not noticed must be a table that encodes and decodes as itself.
    if (decoded) BOOST_TEST(Encoded(*DecodeTable(Encoded(*decoded))) == Encoded(*decoded));
  }
}

BOOST_AUTO_TEST_CASE(ObserversComeBackInTheirOrder) {
  TableRecord table = SampleTable(7);
  const std::string before = Encoded(table);
  table.observers = {"z", "a"};
  const std::string encoded = Encoded(table);
  // Field 15, with a length and the bytes of each name.
  BOOST_TEST(encoded == before + "\x0f\x01z\x0f\x01" + "a");
  BOOST_TEST((DecodeTable(encoded)->observers == table.observers));
  BOOST_TEST(DecodeTable(before)->observers.empty());
}

BOOST_AUTO_TEST_CASE(ObserversThatAreWrongAreRefused) {
  const std::string before = Encoded(SampleTable(7));
  const auto decode = [&](const std::string& fields) {
    return DecodeTable(before + fields).status();
  };
  BOOST_TEST((decode("\x0f\x01z\x0f\x01z").code() == StatusCode::kCorruption));
  BOOST_TEST((decode(std::string("\x0f\x00", 2)).code() == StatusCode::kCorruption));
  BOOST_TEST((decode("\x0f\x01\x07").code() == StatusCode::kCorruption));
  std::string many;
  for (char name = 'a'; name < 'a' + 17; ++name) many += std::string("\x0f\x01") + name;
  BOOST_TEST((decode(many).code() == StatusCode::kUnsupported));
}

BOOST_AUTO_TEST_CASE(ARowKeyIsTheTextThatDeclaresIt) {
  TableRecord table = SampleTable(7);
  const std::string before = Encoded(table);
  table.row_key = "salt(8), user:text";
  const std::string encoded = Encoded(table);
  // Field 17.
  BOOST_TEST(encoded == before + "\x11\x12salt(8), user:text");
  BOOST_TEST(DecodeTable(encoded)->row_key == table.row_key);
  BOOST_TEST(DecodeTable(before)->row_key.empty());
}

BOOST_AUTO_TEST_CASE(ARowKeyOfALaterBuildIsUnsupported) {
  const std::string before = Encoded(SampleTable(7));
  const auto code = [&](const std::string& text) {
    const std::string field = "\x11" + std::string(1, static_cast<char>(text.size())) + text;
    return DecodeTable(before + field).status().code();
  };
  BOOST_TEST((code("user:decimal") == StatusCode::kUnsupported));
  BOOST_TEST((code("") == StatusCode::kUnsupported));
  // Only the printed form is stored, so that equal declarations are equal bytes.
  BOOST_TEST((code("user:TEXT") == StatusCode::kUnsupported));
}

BOOST_AUTO_TEST_CASE(FormerRowKeysAreAListOfTexts) {
  TableRecord table = SampleTable(7);
  table.row_key = "salt(8), a:text";
  const std::string before = Encoded(table);
  table.former_row_keys = {"salt(4), a:text", "salt(2), a:text"};
  const std::string encoded = Encoded(table);
  // Field 23.
  BOOST_TEST(encoded == before + "\x17\x0fsalt(4), a:text\x17\x0fsalt(2), a:text");
  BOOST_TEST((DecodeTable(encoded)->former_row_keys == table.former_row_keys));
  BOOST_TEST(DecodeTable(before)->former_row_keys.empty());
}

BOOST_AUTO_TEST_CASE(FormerRowKeysThatCannotBeToldApartAreUnsupported) {
  TableRecord table = SampleTable(7);
  table.row_key = "salt(8), a:text";
  const std::string before = Encoded(table);
  const auto code = [&](const std::vector<std::string>& former) {
    std::string bytes = before;
    for (const std::string& text : former) {
      bytes += "\x17" + std::string(1, static_cast<char>(text.size())) + text;
    }
    return DecodeTable(bytes).status().code();
  };
  BOOST_TEST((code({"salt(4), a:text"}) == StatusCode::kOk));
  BOOST_TEST((code({"salt(8), a:text"}) == StatusCode::kUnsupported));
  BOOST_TEST((code({"salt(4), a:text", "salt(4), a:text"}) == StatusCode::kUnsupported));
  BOOST_TEST((code({"salt(4),a:text"}) == StatusCode::kUnsupported));
  BOOST_TEST((code({"salt(300), a:text"}) == StatusCode::kUnsupported));
  BOOST_TEST((code({"salt(4), b:text"}) == StatusCode::kUnsupported));
  BOOST_TEST((code({"salt(4), a:text", "salt(5), a:text", "salt(6), a:text", "salt(7), a:text"}) ==
              StatusCode::kUnsupported));
  table.row_key.clear();
  const std::string former = "\x17\x0fsalt(4), a:text";
  BOOST_TEST((DecodeTable(Encoded(table) + former).status().code() == StatusCode::kUnsupported));
}

BOOST_AUTO_TEST_CASE(GlobalIndexesAndTheirEntriesComeBack) {
  TableRecord table = SampleTable(7);
  table.next_index = IndexId(2);
  const std::string before = Encoded(table);
  IndexRecord index = table.indexes.front();
  index.id = table.next_index;
  index.name = "global";
  ++table.next_index.value;
  table.global_indexes.push_back({.index = index, .entries = TableId(9)});
  const std::string building = Encoded(table);
  table.global_indexes.front().since = SequenceNumber(0);
  const std::string ready = Encoded(table);
  BOOST_TEST(DecodeTable(before)->global_indexes.empty());
  BOOST_TEST(!DecodeTable(building)->FindGlobal("global")->since.has_value());
  const auto decoded = DecodeTable(ready);
  BOOST_REQUIRE(decoded.has_value());
  BOOST_TEST(Encoded(*decoded) == ready);
  BOOST_TEST(decoded->FindGlobal(index.id)->since->value == 0);
  BOOST_TEST((decoded->FindGlobal("global")->entries == TableId(9)));
  BOOST_TEST(decoded->FindIndex("global") == nullptr);
  BOOST_TEST((decoded->next_index == table.next_index));
  // The field ends with `since`, which is 5, its length and the number.
  BOOST_TEST(ready.ends_with(std::string("\x03\x01\x09\x05\x01\x00", 6)));

  table.global_indexes.front().index.name = table.indexes.front().name;
  BOOST_TEST(CodeOf(Encoded(table)) == StatusCode::kCorruption);
  table.global_indexes.front().index = index;
  table.global_indexes.front().index.unique = true;
  BOOST_TEST(CodeOf(Encoded(table)) == StatusCode::kCorruption);
}

BOOST_AUTO_TEST_CASE(ATableOfEntriesIsNamedByItsIndex) {
  TableRecord table = SampleTable(7);
  table.entries_of = EntriesOf{.table = TableId(12), .index = IndexId(3)};
  BOOST_TEST(CodeOf(Encoded(table)) == StatusCode::kCorruption);
  table.name =
      "\x01"
      "12.3";
  BOOST_TEST((DecodeTable(Encoded(table))->entries_of == table.entries_of));
  table.entries_of.reset();
  BOOST_TEST(CodeOf(Encoded(table)) == StatusCode::kCorruption);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
