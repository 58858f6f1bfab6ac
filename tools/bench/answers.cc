// See answers.h.
#include "tools/bench/answers.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "tools/bench/measuring.h"

namespace tandem::bench {
namespace {

struct NamedQuestion {
  Question question;
  const char* name;
  const char* rows_name;
  bool in_micros = false;  // A call; otherwise rows a second.
};
constexpr NamedQuestion kQuestions[] = {
    {Question::kAnd, "AND of two 10 %", "AND of two 10 %"},
    {Question::kOr, "OR of 20 values", "OR of 20 values"},
    {Question::kNot, "NOT of 99 %", "1 % of the rows"},
    {Question::kComplement, "the other 1 %", "1 % of the rows"},
    {Question::kTop, "last 10 by ts", "last 10 by ts", true},
    {Question::kTopOfStatus, "last 10 by ts of a status", "last 10 by ts of a status", true},
    {Question::kCount, "count of a status", "count of a status", true},
    {Question::kCountRange, "count of a tenth of ts", "count of a tenth of ts", true},
    {Question::kPage, "page 100,000 by key", "page 100,000 by key", true},
    {Question::kPageByTime, "page 100,000 by ts", "page 100,000 by ts", true},
    {Question::kPageOfStatus, "late page of a status", "late page of a status", true},
};

// Pages before the one that is asked for.
constexpr uint64_t kPageNumber = 99'999;

const char* OpenOf(uint64_t i) { return Mix(i ^ 0x0123) % 100 == 0 ? "no" : "yes"; }

AnswerValues ValuesOf(const W1& w1) {
  AnswerValues values{.status = w1.targets().back().value};
  char city[16];
  for (int number = 40; number < 60; ++number) {
    values.cities.emplace_back(city, std::snprintf(city, sizeof city, "city-%04d", number));
  }
  W1Row row;
  w1.Row(w1.rows() / 2, &row);
  values.low = row.ts;
  w1.Row(w1.rows() / 2 + w1.rows() / 10, &row);
  values.high = row.ts;
  values.rows_before_page = std::min(kPageNumber * kPageRows, w1.rows() / 10 * 9);
  values.rows_before_page_of_status = w1.rows() / 10 / 10 * 9;
  return values;
}

void Measure(const NamedQuestion& named, const AnswerValues& values, double seconds,
             AnswerStore* store) {
  Consumer proof;
  store->Ask(named.question, values, &proof);
  Consumer all;
  uint64_t calls = 0;
  const Usage begin = UsageNow();
  do {
    store->Ask(named.question, values, &all);
    ++calls;
  } while (SecondsNow() - begin.seconds < seconds);
  Figure figure = FigureBetween(named.name, begin, UsageNow());
  figure.row_bytes = all.bytes;
  figure.rows_name = named.rows_name;
  figure.proof = ProofOf(proof);
  if (!named.in_micros) return PrintRate(figure, all.rows);
  figure.items = calls;
  figure.value = figure.seconds * 1e6 / static_cast<double>(calls);
  Print(figure);
}

}  // namespace

void MeasureAnswers(const Arguments& arguments) {
  const auto open = arguments.engine == "sqlite" ? NewSqliteAnswers : NewTandemAnswers;
  const auto store = open(arguments.path);
  const W1 w1(arguments.rows);
  W1Row row;
  for (uint64_t i = 0; i < w1.rows(); ++i) {
    w1.Row(i, &row);
    store->Insert(row, OpenOf(i));
    if ((i + 1) % kBatchRows == 0 || i + 1 == w1.rows()) store->Commit();
  }
  store->Settle();
  const AnswerValues values = ValuesOf(w1);
  for (const NamedQuestion& named : kQuestions) {
    Measure(named, values, arguments.seconds, store.get());
  }
}

}  // namespace tandem::bench
