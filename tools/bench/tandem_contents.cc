// The large set in Tandem: loaded by `tandem import`, queried through the public API.
#include <tandem/tandem.h>

#include "tools/bench/contents_peer.h"

namespace tandem::bench {
namespace {

constexpr const char* kContentsTable = "contents";

void Check(const Status& status) {
  if (!status.ok()) Fail(status.ToString());
}

class TandemContents : public ContentsPeer {
 public:
  explicit TandemContents(const std::string& path) {
    Options options;
    options.memory_bytes = cache_bytes + cache_bytes / 4;
    auto opened = Database::Open(path, options);
    Check(opened.status());
    database_ = std::move(*opened);
  }
  ~TandemContents() override { Check(database_->Close()); }

  void Add(const ContentsRow&) override { Fail("Tandem is loaded by `tandem import`"); }
  void Commit() override {}
  void Settle() override { Check(database_->Compact(kContentsTable)); }

  void Run(const ContentsQuery& query, Consumer* consumer) override {
    if (query.kind == ContentsQuery::Kind::kKeyPrefix) {
      ScanOptions scan;
      scan.start = query.low;
      scan.end = query.high;
      return ConsumeAll(database_->Scan({}, kContentsTable, scan), consumer);
    }
    const Predicate predicate = PredicateOf(query);
    if (query.kind == ContentsQuery::Kind::kCount) {
      const auto count = database_->Count({}, kContentsTable, predicate);
      Check(count.status());
      consumer->rows += *count;
      return;
    }
    QueryOptions options;
    options.limit = query.limit;
    ConsumeAll(database_->Query({}, kContentsTable, predicate, options), consumer);
  }

 private:
  static Predicate PredicateOf(const ContentsQuery& query) {
    const std::string column = kContentsColumns[query.column];
    if (query.high.empty()) return Predicate::Equal(column, query.low);
    return Predicate::And(
        {Predicate::GreaterOrEqual(column, query.low), Predicate::Less(column, query.high)});
  }

  static void ConsumeAll(Result<Cursor> cursor, Consumer* consumer) {
    Check(cursor.status());
    while (cursor->Next()) {
      ++consumer->rows;
      for (const Cell& cell : cursor->row().cells()) consumer->Value(cell.value);
    }
    Check(cursor->status());
  }

  std::unique_ptr<Database> database_;
};

}  // namespace

std::unique_ptr<ContentsPeer> NewTandemContents(const std::string& path) {
  return std::make_unique<TandemContents>(path);
}

}  // namespace tandem::bench
