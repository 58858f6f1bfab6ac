// Counters are updated before the listener is called, so that statistics it reads include the
// event.
#include "engine/runtime/monitor.h"

#include <iterator>
#include <tuple>

#include "base/guarded.h"

namespace tandem::engine {

template <typename Telling>
void Monitor::Tell(const Telling& telling) {
  if (listener_ == nullptr) return;
  try {
    telling(*listener_);
  } catch (...) {
    Add(listener_failures_);
  }
}

void Monitor::TellObservers(const ObserverList& observers, std::string_view hook,
                            const std::function<void(Observer&)>& telling) {
  for (size_t i = 0; i < observers.size(); ++i) {
    const Status status = Guarded([&] {
      return observers.Ask(i, hook, [&telling](Observer& observer) {
        telling(observer);
        return Status();
      });
    });
    if (status.ok()) continue;
    Add(observer_failures_);
    Log(status.message());
  }
}

// Without memory for the list of observers, none of them is told, and that counts as one failure.
template <typename Telling>
void Monitor::TellObserversOf(std::string_view table, std::string_view hook,
                              const Telling& telling) {
  if (!observers_of_) return;
  const Status status = Guarded([&] {
    const ObserverList observers = observers_of_(table);
    if (!observers.empty()) TellObservers(observers, hook, std::cref(telling));
    return Status();
  });
  if (!status.ok()) Add(observer_failures_);
}

void Monitor::Log(std::string_view line) {
  Tell([line](EventListener& listener) { listener.OnLogLine(line); });
  if (!log_) return;
  try {
    log_(line);
  } catch (...) {
    Add(listener_failures_);
  }
}

void Monitor::TurnedReadOnly(const Status& reason) {
  Tell([&reason](EventListener& listener) { listener.OnReadOnly(reason); });
}

void Monitor::FlushBegan(const FlushEvent& event) {
  Tell([&event](EventListener& listener) { listener.OnFlushBegin(event); });
  TellObserversOf(event.table, "BeforeFlush",
                  [&event](Observer& observer) { observer.BeforeFlush(event); });
}

void Monitor::FlushEnded(const FlushEvent& event) {
  if (event.status.ok()) {
    Add(flushes_);
    Add(flushed_rows_, event.rows);
    Add(flushed_bytes_, event.bytes);
    Add(flush_micros_, event.micros);
    AddCells(flush_cells_, event.cells);
  } else {
    Add(failed_flushes_);
  }
  Tell([&event](EventListener& listener) { listener.OnFlushEnd(event); });
  TellObserversOf(event.table, "AfterFlush",
                  [&event](Observer& observer) { observer.AfterFlush(event); });
}

void Monitor::AddCells(CellCounters& counters, const CellCounts& cells) {
  const DroppedCells& dropped = cells.dropped;
  const uint64_t counts[] = {cells.in,         cells.out,
                             dropped.replaced, dropped.superseded,
                             dropped.expired,  dropped.of_dropped_families,
                             dropped.deleted,  dropped.delete_markers};
  static_assert(std::size(counts) == std::tuple_size_v<CellCounters>);
  for (size_t i = 0; i < counters.size(); ++i) Add(counters[i], counts[i]);
}

CellCounts Monitor::ValueOf(const CellCounters& counters) {
  const auto value = [&counters](size_t i) { return counters[i].load(std::memory_order_relaxed); };
  return {.in = value(0),
          .out = value(1),
          .dropped = {.replaced = value(2),
                      .superseded = value(3),
                      .expired = value(4),
                      .of_dropped_families = value(5),
                      .deleted = value(6),
                      .delete_markers = value(7)}};
}

// Each call halves the weight of those before it; a short flush weighs little.
void Monitor::NoteFlushRate(uint64_t freed_bytes, uint64_t micros) {
  const auto note = [](Counter& sum, uint64_t amount) {
    sum.store(sum.load(std::memory_order_relaxed) / 2 + amount, std::memory_order_relaxed);
  };
  note(freed_bytes_, freed_bytes);
  note(freeing_micros_, micros);
}

uint64_t Monitor::FlushRate(uint64_t at_first) const {
  const uint64_t micros = freeing_micros_.load(std::memory_order_relaxed);
  if (micros == 0) return at_first;
  return freed_bytes_.load(std::memory_order_relaxed) * 1'000'000 / micros;
}

Status Monitor::RunCompaction(CompactionEvent* event, const JobWork& work) {
  Tell([event](EventListener& listener) { listener.OnCompactionBegin(*event); });
  TellObserversOf(event->table, "BeforeMerge",
                  [event](Observer& observer) { observer.BeforeMerge(*event); });
  const int64_t began = NowMicros();
  event->status = Guarded([&] {
    RunningJob job(&jobs_, {.kind = JobKind::kMerge,
                            .table = event->table,
                            .region_id = event->region_id,
                            .input_bytes = event->input_bytes});
    return work(job.progress());
  });
  event->micros = static_cast<uint64_t>(NowMicros() - began);
  if (event->status.ok()) {
    Add(compactions_);
    Add(compacted_rows_, event->rows);
    Add(compacted_bytes_, event->bytes);
    Add(compaction_micros_, event->micros);
    Add(compaction_input_bytes_, event->input_bytes);
    AddCells(compaction_cells_, event->cells);
  } else if (event->status.code() != StatusCode::kCancelled &&
             event->status.code() != StatusCode::kBusy) {
    Add(failed_compactions_);
  }
  Tell([event](EventListener& listener) { listener.OnCompactionEnd(*event); });
  TellObserversOf(event->table, "AfterMerge",
                  [event](Observer& observer) { observer.AfterMerge(*event); });
  return event->status;
}

void Monitor::Split(const RegionSplitEvent& event) {
  Add(region_splits_);
  Tell([&event](EventListener& listener) { listener.OnRegionSplit(event); });
  TellObserversOf(event.table, "AfterSplit",
                  [&event](Observer& observer) { observer.AfterSplit(event); });
}

void Monitor::Merged(const RegionMergeEvent& event) {
  Add(region_merges_);
  Tell([&event](EventListener& listener) { listener.OnRegionsMerged(event); });
  TellObserversOf(event.table, "AfterMergeRegions",
                  [&event](Observer& observer) { observer.AfterMergeRegions(event); });
}

void Monitor::FoundHot(const HotRegionEvent& event) {
  Log("region " + std::to_string(event.region_id) + " of table '" + std::string(event.table) +
      "' took " + std::to_string(event.count) + " of " + std::to_string(event.of) +
      (event.is_read ? " reads" : " writes") + " of the table in a second, and most for ten");
  Tell([&event](EventListener& listener) { listener.OnHotRegion(event); });
}

void Monitor::OverlapsBuilt(OverlapsEvent event, int64_t began_micros) {
  event.micros = static_cast<uint64_t>(NowMicros() - began_micros);
  Add(overlap_pairs_, event.pairs);
  Tell([&event](EventListener& listener) { listener.OnOverlapsBuilt(event); });
}

void Monitor::SectionBroken(const BrokenSectionEvent& event) {
  Add(broken_sections_);
  Tell([&event](EventListener& listener) { listener.OnBrokenSection(event); });
}

void Monitor::ScrubFound(const ScrubFindingEvent& event) {
  Add(scrub_findings_);
  Tell([&event](EventListener& listener) { listener.OnScrubFinding(event); });
}

void Monitor::QueryWasSlow(const SlowQueryEvent& event) {
  Tell([&event](EventListener& listener) { listener.OnSlowQuery(event); });
}

void Monitor::CountWrite(uint64_t operations, uint64_t bytes) {
  Add(batches_);
  Add(operations_, operations);
  Add(batch_bytes_, bytes);
}

void Monitor::StallBegan(const StallEvent& event) {
  Tell([&event](EventListener& listener) { listener.OnStallBegin(event); });
}

void Monitor::StallEnded(const StallEvent& event) {
  Tell([&event](EventListener& listener) { listener.OnStallEnd(event); });
}

Statistics Monitor::Counters(int64_t time_micros) const {
  const auto value = [](const Counter& counter) { return counter.load(std::memory_order_relaxed); };
  const auto calls = [&](Call call) { return value(calls_[static_cast<size_t>(call)]); };
  Statistics statistics;
  statistics.gets = calls(Call::kGet);
  statistics.multi_gets = calls(Call::kMultiGet);
  statistics.transactions = calls(Call::kTransaction);
  statistics.transaction_conflicts = calls(Call::kConflict);
  const auto conflicts = [&](Conflict cause) {
    return value(conflicts_[static_cast<size_t>(cause)]);
  };
  statistics.conflicts = {.in_group = conflicts(Conflict::kGroup),
                          .in_memstore = conflicts(Conflict::kMemstore),
                          .in_files = conflicts(Conflict::kFiles),
                          .in_range = conflicts(Conflict::kRange),
                          .of_schema = conflicts(Conflict::kSchema),
                          .of_time = conflicts(Conflict::kTime)};
  statistics.replanned_writes = value(replanned_writes_);
  statistics.range_rows_examined = value(range_rows_examined_);
  statistics.range_rows_reread = value(range_rows_reread_);
  statistics.scans = calls(Call::kScan);
  statistics.queries = calls(Call::kQuery);
  statistics.counts = calls(Call::kCount);
  statistics.batches = value(batches_);
  statistics.operations = value(operations_);
  statistics.batch_bytes = value(batch_bytes_);
  statistics.flushes = value(flushes_);
  statistics.flushed_rows = value(flushed_rows_);
  statistics.flushed_bytes = value(flushed_bytes_);
  statistics.flush_micros = value(flush_micros_);
  statistics.failed_flushes = value(failed_flushes_);
  statistics.compactions = value(compactions_);
  statistics.region_splits = value(region_splits_);
  statistics.region_merges = value(region_merges_);
  statistics.compacted_rows = value(compacted_rows_);
  statistics.compacted_bytes = value(compacted_bytes_);
  statistics.compaction_micros = value(compaction_micros_);
  statistics.compaction_input_bytes = value(compaction_input_bytes_);
  statistics.flush_cells = ValueOf(flush_cells_);
  statistics.compaction_cells = ValueOf(compaction_cells_);
  statistics.failed_compactions = value(failed_compactions_);
  statistics.postponed_compactions = value(postponed_compactions_);
  statistics.compaction_paced_micros = value(paced_micros_);
  statistics.overlap_pairs = value(overlap_pairs_);
  statistics.broken_sections = value(broken_sections_);
  statistics.rewritten_files = value(rewritten_files_);
  statistics.stopped = stops_.Counts(time_micros);
  statistics.delayed = delays_.Counts(time_micros);
  const WaitCounts stopped = statistics.stopped.total();
  statistics.stalls = stopped.writes;
  statistics.stall_micros = stopped.micros;
  statistics.delayed_writes = statistics.delayed.total().writes;
  statistics.scrubbed_bytes = value(scrubbed_bytes_);
  statistics.scrub_findings = value(scrub_findings_);
  statistics.listener_failures = value(listener_failures_);
  statistics.observer_failures = value(observer_failures_);
  return statistics;
}

void Stall::Begin(WaitCause cause, const std::string& reason) {
  wait_.WaitFor(cause, reason);
  if (!reason_.empty()) return;
  reason_ = reason;
  monitor_->StallBegan({.reason = reason_});
}

Stall::~Stall() {
  if (reason_.empty()) return;
  monitor_->StallEnded({.reason = reason_, .micros = wait_.End()});
}

}  // namespace tandem::engine
