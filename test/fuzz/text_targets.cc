// What users hand over as text: predicates, the command line, the formats that import reads,
// scripts of the stress harness.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>

#include "engine/predicate/bound.h"
#include "engine/predicate/field_ranges.h"
#include "engine/predicate/key_ranges.h"
#include "engine/predicate/text_test.h"
#include "engine/storage/files.h"
#include "format/functions.h"
#include "format/row_key/key_fields.h"
#include "format/text_terms.h"
#include "format/value_text.h"
#include "index/key.h"
#include "tandem/predicate.h"
#include "tandem/row_key.h"
#include "test/fuzz/target.h"
#include "tools/stress/script.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/declarations.h"
#include "tools/tandem/input.h"
#include "tools/tandem/output.h"
#include "tools/tandem/record_reader.h"
#include "tools/tandem/row_key_template.h"

namespace tandem::fuzz {
namespace {

// A table with an index of each type over columns c0, c1, ...; each also the other way around.
const format::TableRecord& TableOfAllTypes() {
  static const format::TableRecord kTable = [] {
    format::TableRecord table;
    table.name = "t";
    table.families.push_back({});
    table.families[0].options.name = "d";
    for (const auto type : {ColumnType::kText, ColumnType::kInt64, ColumnType::kUint64,
                            ColumnType::kDouble, ColumnType::kBool, ColumnType::kTimestamp}) {
      for (const bool descending : {false, true}) {
        format::IndexRecord& index = table.indexes.emplace_back();
        const std::string name = "c" + std::to_string((table.indexes.size() - 1) / 2);
        index.columns.push_back({format::FamilyId(0), name, type, descending});
      }
    }
    const auto add_of = [&](std::string name, ColumnType type, Function function) {
      format::IndexColumnRecord& column = table.indexes.emplace_back().columns.emplace_back();
      column = {format::FamilyId(0), std::move(name), type, false, {std::move(function)}};
    };
    add_of("c0", ColumnType::kText, Function::Lower());
    add_of("c1", ColumnType::kInt64, Function::Length());
    table.row_key = "salt(3), user:text, at:timestamp desc, tag:bytes(2), name:text";
    table.former_row_keys = {"mod(at, 2), user:text, at:timestamp desc, tag:bytes(2), name:text"};
    return table;
  }();
  return kTable;
}

// Each value that rows may have is in the condition's set when it is in the ranges of the index.
void CheckRanges(const engine::BoundLeaf& leaf, const format::IndexColumnRecord& column) {
  static const std::string kValues[] = {"",
                                        "0",
                                        "1",
                                        "-1",
                                        "7",
                                        "true",
                                        "false",
                                        "a",
                                        "ab",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "18446744073709551615",
                                        "1e308",
                                        "-1e308",
                                        "2026-01-01T00:00:00Z"};
  const std::vector<format::KeyRange> ranges = RangesOf(leaf, column);
  for (size_t i = 0; i < ranges.size(); ++i) {
    Expect(!engine::IsEmpty(ranges[i]), "no range is empty");
    Expect(i == 0 || ranges[i - 1].high <= ranges[i].low, "ranges ascend and are disjoint");
  }
  format::IndexColumnRecord ascending = column;
  ascending.descending = false;
  for (const std::string& value : kValues) {
    std::string stored, key;
    if (!format::AppendIndexKey(column, value, &stored).ok()) continue;
    Expect(format::AppendIndexKey(ascending, value, &key).ok(), "it fits either way around");
    const bool in_ranges = std::any_of(ranges.begin(), ranges.end(),
                                       [&](const auto& range) { return range.Contains(stored); });
    const bool in_set =
        leaf.values.Contains(engine::ComparesAsBytes(column.type) ? std::string_view(value) : key);
    Expect(in_ranges == in_set, "index and scan agree");
  }
}

void CheckNode(const engine::BoundNode& node) {
  for (const engine::BoundNode& child : node.children) CheckNode(child);
  if (node.kind != engine::BoundNode::Kind::kLeaf || node.leaf.is_row_key) return;
  for (const format::IndexRecord& index : TableOfAllTypes().indexes) {
    const format::IndexColumnRecord& column = index.columns[0];
    if (format::HasSameValues(column, node.leaf.column)) CheckRanges(node.leaf, column);
  }
}

// A key that satisfies the predicate is in the ranges that its conditions on fields leave.
void CheckFields(engine::BoundPredicate* predicate) {
  static const engine::KeyRanges kKeys = [] {
    engine::KeyRanges keys;
    const RowKeyEpochs epochs = *format::KeysOf(TableOfAllTypes());
    for (const char* user : {"", "a", "ab", "b"}) {
      for (const char* at : {"-1", "0", "7", "1735689600000000"}) {
        for (const std::string& key : *epochs.Keys(std::vector<RowKeyField>{
                 {"user", user}, {"at", at}, {"tag", "a7"}, {"name", user}})) {
          keys.push_back({key, key + '\0'});
        }
      }
    }
    return keys;
  }();
  const engine::KeyRanges ranges = engine::RowsByFields(predicate->root());
  for (size_t i = 0; i < ranges.size(); ++i) {
    Expect(!engine::IsEmpty(ranges[i]), "no range is empty");
    if (i > 0) Expect(*ranges[i - 1].high < ranges[i].low, "ranges ascend and are apart");
  }
  for (const format::KeyRange& key : kKeys) {
    const auto matches = predicate->Matches(key.low, {});
    if (!matches.has_value() || !*matches) continue;
    Expect(!engine::Intersect(ranges, {key}).empty(), "a match is in the ranges");
  }
}

// Looks for the parameters, and binds a number to each.
void CheckParameters(const Predicate& predicate) {
  const uint32_t count = predicate.parameter_count();
  if (count == 0) return;
  const engine::ParameterValues values(count, "7");
  const auto uses = engine::BoundPredicate::FindParameters(predicate, TableOfAllTypes());
  const auto bound =
      engine::BoundPredicate::Bind(predicate, TableOfAllTypes(), {.values = &values});
  if (bound) {
    Expect(uses.has_value() && !uses->empty(), "a bound parameter is used");
    CheckNode(bound->root());
  }
}

void RunPredicate(std::string_view input) {
  const auto predicate = Predicate::Parse(input);
  if (!predicate) return;
  auto bound = engine::BoundPredicate::Bind(*predicate, TableOfAllTypes());
  if (bound) {
    CheckNode(bound->root());
    CheckFields(&*bound);
  }
  CheckParameters(*predicate);
  const auto again = Predicate::Parse(predicate->ToString());
  Expect(again.has_value(), "a printed predicate parses");
  Expect(again->ToString() == predicate->ToString(), "a parsed predicate prints as before");
}

std::vector<std::string> PredicateSeeds() {
  return {"section = 'games' AND size BETWEEN 1000000 AND 2000000 AND NOT maintainer IS NULL",
          "(a:b >= x'00ff' OR \"c d\" IN (1, 2.5, TRUE)) AND _row PREFIX 'p''q'",
          "d LIKE 'p%' AND e <> -7 AND f IS NOT NULL",
          "c0 = ? AND c1 IN (?, ?7, 3) OR NOT c5 BETWEEN ?2 AND ? AND _row PREFIX ?",
          "c0 PREFIX 'a' OR c1 < 9223372036854775808 AND NOT c1 = +0 AND c1 != 7",
          "c2 > -1 OR c3 <= 1e309 OR c3 > -1e-400 OR c4 != TRUE OR NOT c5 IN ()",
          "c5 BETWEEN '2025-01-01T00:00:00Z' AND 99999999999999999999 AND c0 > x'ff'",
          "lower(c0) = 'ab' AND NOT length(c1) > 7 OR json(d, '$.a[1].\"b c\"')::int64 IS NULL",
          "substr(reverse(c0), 1, 2) PREFIX ? AND bucket(c1, 7) IN (1, 2)",
          "_row.user = 'a' AND (_row.at < 7 OR _row.at >= '2025-01-01' AND c0 = 'a')",
          "(_row.user, _row.at, _row.tag) > ('a', 0, 'a7') OR NOT _row.name PREFIX 'a'",
          "_row.user IN ('a', 'b') AND _row.at BETWEEN -1 AND 7 AND _row.tag != x'6137'",
          "c0 REGEXP '^a(b|c)+$' OR d NOT REGEXP ? AND NOT e REGEXP x'ff'"};
}

// A pattern, a line feed, and a text: a match has the trigrams that an index is asked for.
void RunRegexp(std::string_view input) {
  const size_t line = std::min(input.find('\n'), input.size());
  const std::string_view text = input.substr(std::min(line + 1, input.size()));
  format::ValueList list;
  format::AddTrigrams(text, &list);
  std::set<std::string_view> trigrams;
  for (size_t i = 0; i < list.size(); ++i) trigrams.insert(list[i]);
  const auto has_form = [&](const engine::TrigramForms& forms) {
    return std::ranges::any_of(forms, [&](const auto& form) { return trigrams.contains(form); });
  };
  const auto has_part = [&](const engine::LiteralPart& part) {
    return std::ranges::all_of(part.trigrams, has_form);
  };
  for (const auto encoding : {engine::RegexpEncoding::kUtf8, engine::RegexpEncoding::kBytes}) {
    if (encoding == engine::RegexpEncoding::kUtf8 && !format::IsUtf8(text)) continue;
    const auto regexp = engine::Regexp::Compile(input.substr(0, line), encoding);
    if (!regexp || !(*regexp)->MatchesPartOf(text)) continue;
    for (const engine::LiteralParts& parts : engine::PartsNeededBy({.regexp = *regexp})) {
      Expect(std::ranges::any_of(parts, has_part), "a match has one of the parts");
    }
  }
}

std::vector<std::string> RegexpSeeds() {
  return {"(err|fail)or.*[0-9]{2,}$\nan error: 17",
          "(?i)stra(\xc3\x9f|ss)e|\xce\xa3\xce\xb1\xcf\x82\nSTRA\xe1\xba\x9e"
          "E",
          "^(?:abc)?d\\x{17f}\\pL+\\b(a|b|c).*?(?:xyz|uvw)\nd\xc5\xbfz abxyz",
          "\xa5zzz\xe6\x97\n\xe6\x97\xa5zzz\xe6\x97\xa5"};
}

// A column of an index, a line feed, and a value that its functions get.
void RunFunctions(std::string_view input) {
  constexpr size_t kNumberBytes = 32;  // The longest text that a number becomes.
  const size_t line = std::min(input.find('\n'), input.size());
  if (const auto index = IndexOptions::Parse(input.substr(0, line))) {
    const auto read_again = IndexOptions::Parse(index->ToString());
    Expect(read_again.has_value(), "a printed index parses");
    Expect(read_again->ToString() == index->ToString(), "a parsed index prints as before");
  }
  const auto column = IndexColumn::Parse(input.substr(0, line));
  if (!column) return;
  const auto again = IndexColumn::Parse(column->ToString());
  Expect(again.has_value(), "a printed column parses");
  Expect(again->ToString() == column->ToString(), "a parsed column prints as before");
  if (column->functions.empty() || line == input.size()) return;
  const std::string_view value = input.substr(line + 1);
  std::string made, repeated;
  const bool is_made = format::ApplyFunctions(column->functions, value, 7, &made);
  Expect(is_made == format::ApplyFunctions(column->functions, value, 7, &repeated),
         "functions depend on their value alone");
  if (!is_made) return;
  Expect(made == repeated, "functions depend on their value alone");
  Expect(made.size() <= std::max(value.size(), kNumberBytes), "what is made is no longer");
}

std::vector<std::string> FunctionSeeds() {
  return {"lower(d:name)\nAbC",
          "substr(reverse(n), 2, 3) DESC\na\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z",
          "json(doc, '$.a[1].\"b c\"')::int64\n{\"a\":[null,{\"b c\":-1.5e3}],\"d\":\"\\u00e4\"}",
          "date_trunc('quarter', at)\n2026-02-28T23:59:59.25+01:00",
          "bucket(hash(upper(x)), 16)\nvalue",
          "city, lower(name) DESC WHERE active = true OR NOT x IS NULL\n",
          "length(json(x, '$'))\n\"text\""};
}

// A declaration of row keys, a line feed, and a key.
void RunRowKeys(std::string_view input) {
  const size_t line = std::min(input.find('\n'), input.size());
  const auto schema = RowKeySchema::Parse(input.substr(0, line));
  if (!schema) return;
  const auto again = RowKeySchema::Parse(schema->ToString());
  Expect(again.has_value(), "a printed declaration parses");
  Expect(again->parts() == schema->parts(), "a printed declaration means the same");
  if (line == input.size()) return;
  const std::string_view key = input.substr(line + 1);
  const auto fields = schema->Decode(key);
  if (!fields) return;
  const auto encoded = schema->Encode(*fields);
  Expect(encoded.has_value() && *encoded == key, "the fields of a key make the key");
  const auto ranges = schema->Ranges(*fields);
  Expect(ranges->size() == 1 && ranges->front().start == key, "a key is a range");
}

std::vector<std::string> RowKeySeeds() {
  using std::string_literals::operator""s;
  return {"user:text, at:timestamp desc\nann\0\x7f\xf9\xb8\xb7\xb9\xdf\xbf\xff"s,
          "salt(8), user:text\n\7a",
          "hash(user, 4), user:text\nH,\x89Hann",
          "mod(id, 7), id:int64\n\6\x7f\xff\xff\xff\xff\xff\xff\xff",
          "mod(id, 4, 3), id:int64\n\3\2\x7f\xff\xff\xff\xff\xff\xff\xff",
          "salt(300), reverse(id), id:uint64 desc, b:bytes, t:text(4) asc\n\1\2345678901\0\1abcd"s,
          "reverse(b), b:bytes(2) desc, u:uuid, rest:bytes\nab0123456789abcdef\xff"};
}

// The texts of the command line, and names of files.
void RunArguments(std::string_view input) {
  (void)tools::ParseFamily(input);
  (void)tools::ParseIndex(input);
  (void)tools::ParseColumns(input);
  (void)tools::ParseScope(input);
  (void)tools::ParseSize(input);
  (void)tools::ParseDuration(input);
  (void)tools::ParseTime("--at", input);
  (void)tools::ParseKeys(input);
  (void)tools::ParseCell(input);
  (void)tools::ParseOrder(input);
  (void)tools::ParseOutputMode(input);
  (void)tools::ParseBytes(input);
  (void)tools::DecodeHex(input);
  (void)tools::DecodeBase64(input);
  const tools::Field fields[] = {{"a", "1"}, {"b", "2"}};
  std::string key;
  if (const auto pieces = tools::RowKeyTemplate::Parse(input); pieces) {
    (void)pieces->Build(fields, &key);
  }
  if (const auto file = engine::ParseFileName(std::string(input)); file) {
    Expect(file->name == input && file->number.value != 0, "a file's name has its number");
  }
  if (const auto bytes = tools::ParseEscaped(input); bytes) {
    const auto again = tools::ParseEscaped(tools::EscapeBytes(*bytes));
    Expect(again.has_value() && *again == *bytes, "escaped bytes are read back");
  }
}

std::vector<std::string> ArgumentSeeds() {
  return {"d,versions=3,ttl=7d,compression=none,block-size=8KiB",
          "n=d:col:int64:desc",
          "a,f:b\\x2c",
          "64MiB",
          "{a}/{b}\\x7b",
          "store-17",
          "manifest-0",
          "f:c=\\x00v",
          "2026-02-28T23:59:59.25+01:00"};
}

void ReadRecords(const char* format, std::string_view input) {
  // An empty stream cannot be opened on memory, and says nothing.
  if (input.empty()) return;
  const tools::OwnedFile file(fmemopen(const_cast<char*>(input.data()), input.size(), "rb"));
  Expect(file != nullptr, "memory can be read as a file");
  // Few bytes at a time, so that records lie over the ends of reads.
  constexpr size_t kReadBytes = 100;
  tools::InputBuffer buffer(file.get(), "input", kReadBytes);
  auto reader = tools::NewRecordReader({format}, &buffer);
  Expect(reader.has_value(), "the format is known");
  tools::Record record;
  while (true) {
    const auto more = (*reader)->Next(&record);
    if (!more || !*more) return;
    Expect(!record.problem.empty() || tools::FindRepeated(record.fields) == nullptr,
           "names of a record differ");
  }
}

// Formats with separators, whose first line names the fields; and those of one line a record.
void RunSeparated(std::string_view input) {
  ReadRecords("csv", input);
  ReadRecords("tsv", input);
}
void RunLineFormats(std::string_view input) {
  ReadRecords("apt-contents", input);
  ReadRecords("dpkg-log", input);
}
void RunJsonLines(std::string_view input) { ReadRecords("jsonl", input); }
void RunDeb822(std::string_view input) { ReadRecords("deb822", input); }

std::vector<std::string> SeparatedSeeds() {
  return {"a,b\n1,\"x\"\"y\"\n,\"\n\"\n", "a\r\n1\r\n", "a\tb\n1\t\\t\\x00\n\\N\t\n",
          "row\tfamily\tcolumn\ttimestamp\tvalue\nr\td\tc\t-5\tv\n",
          "row,family,column,timestamp,value\nr,d,c,-5,v\nr,d,e,6,\"w\"\n"};
}
std::vector<std::string> JsonSeeds() {
  return {R"({"a":"x","n":1.5,"b_b64":"AAE=","t":true,"u":"é\n"})"
          "\n{}\n",
          R"({"row":"r","cells":[{"family":"d","column_b64":"AA==","timestamp":-5,"value":"v"}]})"
          "\n"};
}
std::vector<std::string> Deb822Seeds() {
  return {"Package: a\nDescription: b\n c\n .\n\n# no\nPackage: d\nDepends:\n e,\n f\n"};
}
std::vector<std::string> LineFormatSeeds() {
  return {"usr/bin/a b.tar.gz   utils/one,two,non-free/net/three\nnothing\n",
          "2026-01-02 03:04:05 startup archives unpack\n"
          "2026-01-02 03:04:05 install a:amd64 <none> 1.2-3\n"
          "2026-01-02 03:04:05 status installed a:amd64 1.2-3\n"};
}

void RunScript(std::string_view input) {
  const auto script = stress::ParseScript(input);
  if (!script) return;
  const std::string printed = stress::Print(*script);
  const auto again = stress::ParseScript(printed);
  Expect(again.has_value(), "a printed script parses");
  Expect(stress::Print(*again) == printed, "a parsed script prints as before");
}

std::vector<std::string> ScriptSeeds() {
  return {
      "tandem-operations 1\nmode crash\nseed 7\nrows 9\n# why\n"
      "write synced put t r d - c v e \\x00; delete-column t r d 5 c\n"
      "lie memory delete-row t '' 3; delete-family t r d -; delete-cell t r d 4 3*x\n"
      "flush t\ncompact t\nsplit t 3\nmerge-regions t 4\nwork 0\nadvance "
      "5\nsnapshot\nrelease\ncheck t 4\nverify\n",
      "tandem-operations 1\nmode faults\nseed 1\nrows 2\nreopen\nkill\npower-off-at 3\n"
      "crash random 5 torn 0\nfault sync 2 sticky io\nheal\nspace 4096\n"};
}

}  // namespace

std::span<const Target> TextTargets() {
  static const Target kTargets[] = {{"predicate", RunPredicate, PredicateSeeds},
                                    {"regexp", RunRegexp, RegexpSeeds},
                                    {"functions", RunFunctions, FunctionSeeds},
                                    {"row_keys", RunRowKeys, RowKeySeeds},
                                    {"arguments", RunArguments, ArgumentSeeds, Shape::kPlain, 128},
                                    {"separated", RunSeparated, SeparatedSeeds},
                                    {"jsonl", RunJsonLines, JsonSeeds},
                                    {"deb822", RunDeb822, Deb822Seeds},
                                    {"line_formats", RunLineFormats, LineFormatSeeds},
                                    {"stress_script", RunScript, ScriptSeeds}};
  return kTargets;
}

}  // namespace tandem::fuzz
