// See contents_process.h.
#include "tools/bench/contents_process.h"

#include "tools/bench/cold_cache.h"
#include "tools/bench/measuring.h"
#include "tools/tandem/record_reader.h"

namespace tandem::bench {
namespace {

constexpr double kSeconds = 0.2;

ContentsRow RowOf(const tools::Record& record) {
  ContentsRow row;
  row.key = *record.row_key;
  for (const tools::Field& field : record.fields) {
    for (int i = 0; i < 3; ++i) {
      if (field.name == kContentsColumns[i]) row.columns[i] = field.value;
    }
  }
  return row;
}

void Check(const Status& status) {
  if (!status.ok()) Fail(status.ToString());
}

// Any rows will do where there is a limit, so only their number is compared.
uint64_t ProofOf(const ContentsQuery& query, const Consumer& consumer) {
  Consumer counted;
  counted.rows = consumer.rows;
  return bench::ProofOf(query.limit == 0 ? consumer : counted);
}

}  // namespace

std::vector<ContentsQuery> ContentsQueries() {
  using Kind = ContentsQuery::Kind;
  // The path prefix ends with '/', whose next byte is '0'.
  return {{"package = libboost1.81-dev", Kind::kRows, 0, "libboost1.81-dev", ""},
          {"count of section = doc", Kind::kCount, 1, "doc", ""},
          {"extension = html, limit 1000", Kind::kRows, 2, "html", "", 1000},
          {"package from perl to perm", Kind::kRows, 0, "perl", "perm"},
          {"key prefix usr/share/vim/", Kind::kKeyPrefix, 0, "usr/share/vim/", "usr/share/vim0"}};
}

std::unique_ptr<ContentsPeer> OpenContents(const std::string& engine, const std::string& path) {
  if (engine == "tandem") return NewTandemContents(path);
  if (engine == "rocksdb" && NewRocksDbContents != nullptr) return NewRocksDbContents(path);
  if (engine == "sqlite" && NewSqliteContents != nullptr) return NewSqliteContents(path);
  Fail("no engine '" + engine + "' for the large set in this build");
}

void LoadContents(const std::string& engine, const std::string& path, const std::string& contents) {
  auto file = tools::OpenInput(contents);
  Check(file.status());
  tools::InputBuffer input(file->get(), contents);
  const auto reader = tools::NewAptContentsReader(&input);
  const auto peer = OpenContents(engine, path);
  tools::Record record;
  for (uint64_t rows = 0;;) {
    const auto more = reader->Next(&record);
    Check(more.status());
    if (!*more) break;
    if (!record.problem.empty()) continue;  // As `tandem import` skips it.
    peer->Add(RowOf(record));
    if (++rows % kContentsBatchRows == 0) peer->Commit();
  }
  peer->Commit();
  peer->Settle();
}

void MeasureContentsQuery(const std::string& engine, const std::string& path, size_t number) {
  const ContentsQuery query = ContentsQueries().at(number);
  DropPageCache(path);
  const auto peer = OpenContents(engine, path);
  DropPageCache(path);
  Consumer cold;
  const Usage begin = UsageNow();
  peer->Run(query, &cold);
  Figure figure = FigureBetween(std::string("cold ") + query.name, begin, UsageNow());
  figure.items = 1;
  figure.value = figure.seconds * 1e3;
  figure.rows_name = query.name;
  figure.proof = ProofOf(query, cold);
  Print(figure);

  uint64_t runs = 0;
  Consumer last;
  const Usage warm = UsageNow();
  do {
    last = {};
    peer->Run(query, &last);
    ++runs;
  } while (SecondsNow() - warm.seconds < kSeconds);
  figure = FigureBetween(query.name, warm, UsageNow());
  figure.items = runs;
  figure.value = figure.seconds * 1e3 / static_cast<double>(runs);
  figure.rows_name = query.name;
  figure.proof = ProofOf(query, last);
  Print(figure);
}

}  // namespace tandem::bench
