// What a call notes of its reads, so that they can be explained when it has ended.
#pragma once

#include <utility>
#include <vector>

#include "engine/source/read_counters.h"
#include "tandem/explanation.h"

namespace tandem::engine {

/// Of a call that makes several reads (an aggregate) it has the plan of the first one, and what all
/// of them have looked at. Threads: one at a time, which its reads share.
class ReadTrace {
 public:
  /// Notes how the call's rows are found. Only the first call has an effect.
  void SetPlan(Explanation plan) {
    if (has_plan_) return;
    has_plan_ = true;
    plan_ = std::move(plan);
  }
  bool has_plan() const { return has_plan_; }

  /// A read has begun. Lifetime: `counters` until End.
  void Begin(const ReadCounters* counters) { running_.push_back(counters); }
  void End(const ReadCounters* counters) {
    std::erase(running_, counters);
    Add(*counters);
  }
  /// What was looked at by another read, which did not begin here: a part that another thread read.
  void Add(const ReadCounters& counters) { Add(counters, &ended_); }

  /// The plan with what was looked at so far.
  Explanation Explain() const {
    ReadCounters all = ended_;
    for (const ReadCounters* const counters : running_) Add(*counters, &all);
    Explanation explanation = plan_;
    explanation.rows_from_index = all.from_index;
    explanation.candidate_rows += all.rows;
    explanation.candidate_blocks += all.blocks;
    explanation.candidate_bytes += all.bytes;
    explanation.single_source_by_bitmap = all.single_source_by_bitmap;
    explanation.single_source_by_filter = all.single_source_by_filter;
    explanation.single_source_by_key = all.single_source_by_key;
    explanation.merged_rows = all.merged;
    explanation.skipped_by_reading = all.passed_over;
    if (all.passed_over == 0) explanation.read_to_skip.clear();
    return explanation;
  }

 private:
  static void Add(const ReadCounters& counters, ReadCounters* sum) {
    sum->rows += counters.rows;
    sum->blocks += counters.blocks;
    sum->bytes += counters.bytes;
    sum->single_source_by_bitmap += counters.single_source_by_bitmap;
    sum->single_source_by_filter += counters.single_source_by_filter;
    sum->single_source_by_key += counters.single_source_by_key;
    sum->merged += counters.merged;
    sum->from_index += counters.from_index;
    sum->passed_over += counters.passed_over;
  }

  bool has_plan_ = false;
  Explanation plan_;
  std::vector<const ReadCounters*> running_;
  ReadCounters ended_;
};

}  // namespace tandem::engine
