// The time and the explanation of one query, for EventListener::OnSlowQuery.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/predicate/given_values.h"
#include "engine/runtime/monitor.h"
#include "engine/source/read_trace.h"
#include "tandem/options.h"
#include "tandem/predicate.h"

namespace tandem::engine {

/// What a query was asked for, copied: its cursor may outlive the call.
struct WatchedCall {
  std::string table;
  std::string_view call;  ///< "query", "count" or "aggregate".
  Predicate predicate;
  ParameterValues values;
  QueryOptions options;
  std::vector<ColumnName> columns;
  std::vector<std::string> families;
};

/// Threads: one at a time.
class QueryWatch {
 public:
  /// `longest_micros`: what is longer is told to `monitor`, which outlives the watch unless that is
  /// destroyed without End.
  QueryWatch(Monitor* monitor, int64_t longest_micros, WatchedCall call)
      : monitor_(monitor), longest_micros_(longest_micros), call_(std::move(call)) {}

  const std::shared_ptr<ReadTrace>& trace() const { return trace_; }
  /// The columns that are read of a row, where only the call itself finds them.
  void SetColumns(std::vector<ColumnName> columns) { call_.columns = std::move(columns); }

  /// Counts the time of its scope. `watch` may be null.
  class Timing {
   public:
    explicit Timing(QueryWatch* watch)
        : watch_(watch), began_micros_(watch == nullptr ? 0 : watch->monitor_->NowMicros()) {}
    ~Timing() {
      if (watch_ != nullptr) watch_->micros_ += watch_->monitor_->NowMicros() - began_micros_;
    }
    Timing(const Timing&) = delete;
    Timing& operator=(const Timing&) = delete;

   private:
    QueryWatch* const watch_;
    const int64_t began_micros_;
  };

  /// The query has ended: tells of it if it was slow. Only the first call has an effect. Does not
  /// throw: without memory for the event nobody hears of it. Requires: the caller holds no lock.
  void End(uint64_t rows, bool is_whole, const Status& status);

 private:
  void Tell(uint64_t rows, bool is_whole, const Status& status);

  Monitor* const monitor_;
  const int64_t longest_micros_;
  WatchedCall call_;
  const std::shared_ptr<ReadTrace> trace_ = std::make_shared<ReadTrace>();
  int64_t micros_ = 0;
  bool has_ended_ = false;
};

}  // namespace tandem::engine
