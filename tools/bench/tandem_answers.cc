// Answers of Tandem; see answers.h.
#include "tools/bench/answers.h"
#include "tools/bench/tandem_w1.h"

namespace tandem::bench {
namespace {

constexpr const char* kTable = "rows";

class TandemAnswers : public AnswerStore {
 public:
  explicit TandemAnswers(const std::string& path) {
    database_ = OpenTandem(path);
    TableOptions table;
    table.name = kTable;
    table.families = {{.name = "d"}};
    table.indexes = ThreeIndexes();
    table.indexes.push_back({"open", {{"d", "open"}}});
    Check(database_->CreateTable(table));
  }
  ~TandemAnswers() override { Check(database_->Close()); }

  void Insert(const W1Row& row, const std::string& open) override {
    AddRow(kTable, row, &batch_);
    batch_.Put(kTable, row.key, "d", "open", open);
  }
  void Commit() override {
    Check(database_->Write({}, batch_));
    batch_.Clear();
  }
  void Settle() override { Check(database_->Compact(kTable)); }

  void Ask(Question question, const AnswerValues& values, Consumer* consumer) override {
    QueryOptions options;
    const bool is_top = question == Question::kTop || question == Question::kTopOfStatus;
    if (is_top) options = {.order_by = "ts", .descending = true, .limit = 10};
    auto cursor = database_->Query({}, kTable, PredicateOf(question, values), options);
    Check(cursor.status());
    while (cursor->Next()) {
      ++consumer->rows;
      for (const Cell& cell : cursor->row().cells()) consumer->Value(cell.value);
    }
    Check(cursor->status());
  }

 private:
  static Predicate PredicateOf(Question question, const AnswerValues& values) {
    switch (question) {
      case Question::kAnd:
        return Predicate::And(
            {Predicate::Equal("status", values.status), TimesBetween(values.low, values.high)});
      case Question::kOr:
        return Predicate::In("city", values.cities);
      case Question::kNot:
        return Predicate::Not(Predicate::Equal("open", "yes"));
      case Question::kComplement:
        return Predicate::Equal("open", "no");
      case Question::kTop:
        return {};
      case Question::kTopOfStatus:
        return Predicate::Equal("status", values.status);
    }
    return {};
  }

  std::unique_ptr<Database> database_;
  WriteBatch batch_;
};

}  // namespace

std::unique_ptr<AnswerStore> NewTandemAnswers(const std::string& path) {
  return std::make_unique<TandemAnswers>(path);
}

}  // namespace tandem::bench
