// Titles in Tandem, with an index over words(title).
#include <array>
#include <cstdio>
#include <optional>

#include "tools/bench/tandem_w1.h"
#include "tools/bench/titles.h"

namespace tandem::bench {
namespace {

constexpr const char* kTitlesTable = "titles";

class TandemTitles : public TitleStore {
 public:
  explicit TandemTitles(const std::string& path) {
    database_ = OpenTandem(path);
    TableOptions table;
    table.name = kTitlesTable;
    table.families = {{.name = "d"}};
    auto columns = IndexColumn::ParseList("words(d:title)");
    Check(columns.status());
    table.indexes = {{.name = "words", .columns = *std::move(columns)}};
    Check(database_->CreateTable(table));
  }
  ~TandemTitles() override { Check(database_->Close()); }

  void Insert(uint64_t number, std::string_view title) override {
    std::array<char, 16> key;
    const int size =
        std::snprintf(key.data(), key.size(), "%012llu", static_cast<unsigned long long>(number));
    batch_.Put(kTitlesTable, std::string_view(key.data(), static_cast<size_t>(size)), "d", "title",
               title);
  }
  void Commit() override {
    Check(database_->Write({}, batch_));
    batch_.Clear();
  }
  void Settle() override { Check(database_->Compact(kTitlesTable)); }

  void QueryBoth(const std::string& first, const std::string& second, Consumer* consumer) override {
    if (!both_.has_value()) {
      const auto both = Predicate::Parse("words(title) CONTAINS ?");
      Check(both.status());
      auto prepared = database_->Prepare(kTitlesTable, *both);
      Check(prepared.status());
      both_ = *std::move(prepared);
    }
    Check(both_->Bind(1, first + " " + second));
    auto cursor = database_->Query({}, &*both_);
    Check(cursor.status());
    while (cursor->Next()) {
      ++consumer->rows;
      for (const Cell& cell : cursor->row().cells()) consumer->Value(cell.value);
    }
    Check(cursor->status());
  }

 private:
  std::unique_ptr<Database> database_;
  WriteBatch batch_;
  std::optional<PreparedQuery> both_;
};

}  // namespace

std::unique_ptr<TitleStore> NewTandemTitles(const std::string& path) {
  return std::make_unique<TandemTitles>(path);
}

}  // namespace tandem::bench
