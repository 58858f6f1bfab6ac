// Answers of Tandem; see answers.h.
#include "tools/bench/answers.h"
#include "tools/bench/tandem_w1.h"

namespace tandem::bench {
namespace {

class TandemAnswers : public AnswerStore {
 public:
  explicit TandemAnswers(const std::string& path) {
    database_ = OpenTandem(path);
    TableOptions table;
    table.name = kRowsTable;
    table.families = {{.name = "d"}};
    table.indexes = ThreeIndexes();
    table.indexes.push_back({"open", {{"d", "open"}}});
    Check(database_->CreateTable(table));
  }
  ~TandemAnswers() override { Check(database_->Close()); }

  void Insert(const W1Row& row, const std::string& open) override {
    AddRow(kRowsTable, row, &batch_);
    batch_.Put(kRowsTable, row.key, "d", "open", open);
  }
  void Commit() override {
    Check(database_->Write({}, batch_));
    batch_.Clear();
  }
  void Settle() override { Check(database_->Compact(kRowsTable)); }

  void Ask(Question question, const AnswerValues& values, Consumer* consumer) override {
    const Predicate predicate = PredicateOf(question, values);
    if (question == Question::kCount || question == Question::kCountRange) {
      auto count = database_->Count({}, kRowsTable, predicate);
      Check(count.status());
      ++consumer->rows;
      return consumer->Value(std::to_string(*count));
    }
    auto cursor = database_->Query({}, kRowsTable, predicate, OptionsOf(question, values));
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
      case Question::kCountRange:
        return TimesBetween(values.low, values.high);
      case Question::kTop:
      case Question::kPage:
      case Question::kPageByTime:
        return {};
      case Question::kTopOfStatus:
      case Question::kCount:
      case Question::kPageOfStatus:
        return Predicate::Equal("status", values.status);
    }
    return {};
  }
  static QueryOptions OptionsOf(Question question, const AnswerValues& values) {
    switch (question) {
      case Question::kTop:
      case Question::kTopOfStatus:
        return {.order_by = "ts", .descending = true, .limit = 10};
      case Question::kPage:
        return {.limit = kPageRows, .offset = values.rows_before_page};
      case Question::kPageByTime:
        return {.order_by = "ts", .limit = kPageRows, .offset = values.rows_before_page};
      case Question::kPageOfStatus:
        return {.limit = kPageRows, .offset = values.rows_before_page_of_status};
      default:
        return {};
    }
  }

  std::unique_ptr<Database> database_;
  WriteBatch batch_;
};

}  // namespace

std::unique_ptr<AnswerStore> NewTandemAnswers(const std::string& path) {
  return std::make_unique<TandemAnswers>(path);
}

}  // namespace tandem::bench
