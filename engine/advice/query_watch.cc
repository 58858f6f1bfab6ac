// What is told of a slow query is made when it has ended, and only then.
#include "engine/advice/query_watch.h"

#include <utility>

#include "base/guarded.h"

namespace tandem::engine {

void QueryWatch::End(uint64_t rows, bool is_whole, const Status& status) {
  if (std::exchange(has_ended_, true) || micros_ <= longest_micros_) return;
  Guarded([&] {
    Tell(rows, is_whole, status);
    return Status();
  }).Ignore("the query has ended, whoever hears of it");
}

void QueryWatch::Tell(uint64_t rows, bool is_whole, const Status& status) {
  Explanation explanation = trace_->Explain();
  (call_.call == "aggregate" ? explanation.groups : explanation.rows) = rows;
  const std::string predicate = TextWith(call_.predicate, call_.values);
  monitor_->QueryWasSlow({.table = call_.table,
                          .call = call_.call,
                          .predicate = predicate,
                          .options = &call_.options,
                          .columns = &call_.columns,
                          .families = &call_.families,
                          .explanation = &explanation,
                          .rows = rows,
                          .micros = micros_,
                          .is_whole = is_whole,
                          .status = status});
}

}  // namespace tandem::engine
