// What users hand over as text: predicates, and the formats that import reads.
#include <cstdio>
#include <memory>

#include "tandem/predicate.h"
#include "test/fuzz/target.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/declarations.h"
#include "tools/tandem/input.h"
#include "tools/tandem/record_reader.h"

namespace tandem::fuzz {
namespace {

void RunPredicate(std::string_view input) {
  const auto predicate = Predicate::Parse(input);
  if (!predicate) return;
  const auto again = Predicate::Parse(predicate->ToString());
  Expect(again.has_value(), "a printed predicate parses");
  Expect(again->ToString() == predicate->ToString(), "a parsed predicate prints as before");
}

std::vector<std::string> PredicateSeeds() {
  return {"section = 'games' AND size BETWEEN 1000000 AND 2000000 AND NOT maintainer IS NULL",
          "(a:b >= x'00ff' OR \"c d\" IN (1, 2.5, TRUE)) AND _row PREFIX 'p''q'",
          "d LIKE 'p%' AND e <> -7 AND f IS NOT NULL"};
}

// The texts of the command line.
void RunArguments(std::string_view input) {
  (void)tools::ParseFamily(input);
  (void)tools::ParseIndex(input);
  (void)tools::ParseColumns(input);
  (void)tools::ParseScope(input);
  (void)tools::ParseSize(input);
  (void)tools::ParseDuration(input);
  (void)tools::DecodeBase64(input);
  if (const auto bytes = tools::ParseEscaped(input); bytes) {
    const auto again = tools::ParseEscaped(tools::EscapeBytes(*bytes));
    Expect(again.has_value() && *again == *bytes, "escaped bytes are read back");
  }
}

std::vector<std::string> ArgumentSeeds() {
  return {"d,versions=3,ttl=7d,compression=none,block-size=8KiB", "n=d:col:int64:desc",
          "a,f:b\\x2c", "64MiB"};
}

void ReadRecords(const char* format, std::string_view input) {
  // An empty stream cannot be opened on memory, and says nothing.
  if (input.empty()) return;
  const tools::OwnedFile file(fmemopen(const_cast<char*>(input.data()), input.size(), "rb"));
  Expect(file != nullptr, "memory can be read as a file");
  tools::InputBuffer buffer(file.get(), "input");
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

void RunCsv(std::string_view input) { ReadRecords("csv", input); }
void RunJsonLines(std::string_view input) { ReadRecords("jsonl", input); }
void RunDeb822(std::string_view input) { ReadRecords("deb822", input); }
void RunTsv(std::string_view input) { ReadRecords("tsv", input); }
void RunContents(std::string_view input) { ReadRecords("apt-contents", input); }
void RunDpkgLog(std::string_view input) { ReadRecords("dpkg-log", input); }

std::vector<std::string> CsvSeeds() { return {"a,b\n1,\"x\"\"y\"\n,\"\n\"\n", "a\r\n1\r\n"}; }
std::vector<std::string> JsonSeeds() {
  return {R"({"a":"x","n":1.5,"b_b64":"AAE=","t":true,"u":"é\n"})"
          "\n{}\n"};
}
std::vector<std::string> Deb822Seeds() {
  return {"Package: a\nDescription: b\n c\n .\n\n# no\nPackage: d\nDepends:\n e,\n f\n"};
}

std::vector<std::string> TsvSeeds() {
  return {"a\tb\n1\t\\t\\x00\n\\N\t\n", "row\tfamily\tcolumn\ttimestamp\tvalue\nr\td\tc\t-5\tv\n"};
}
std::vector<std::string> ContentsSeeds() {
  return {"usr/bin/a b.tar.gz   utils/one,two,non-free/net/three\nnothing\n"};
}
std::vector<std::string> DpkgLogSeeds() {
  return {
      "2026-01-02 03:04:05 startup archives unpack\n"
      "2026-01-02 03:04:05 install a:amd64 <none> 1.2-3\n"
      "2026-01-02 03:04:05 status installed a:amd64 1.2-3\n"};
}

}  // namespace

std::span<const Target> TextTargets() {
  static const Target kTargets[] = {{"predicate", RunPredicate, PredicateSeeds},
                                    {"arguments", RunArguments, ArgumentSeeds},
                                    {"csv", RunCsv, CsvSeeds},
                                    {"jsonl", RunJsonLines, JsonSeeds},
                                    {"tsv", RunTsv, TsvSeeds},
                                    {"deb822", RunDeb822, Deb822Seeds},
                                    {"apt_contents", RunContents, ContentsSeeds},
                                    {"dpkg_log", RunDpkgLog, DpkgLogSeeds}};
  return kTargets;
}

}  // namespace tandem::fuzz
