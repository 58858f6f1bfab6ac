// The queue is an intrusive list of requests, which live on the stacks of their writers, so joining
// it allocates nothing and cannot fail.
#include "engine/commit/commit_queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/guarded.h"
#include "base/passing.h"
#include "base/status_macros.h"
#include "engine/commit/group_writes.h"
#include "engine/commit/row_checks.h"
#include "engine/commit/unique_check.h"

namespace tandem::engine {
namespace {

// A group grows no further than this, so that its first writer does not wait for a large frame.
constexpr uint64_t kGroupBytesMax = 1 << 20;
// kBuffered promises to reach the operating system within 100 ms.
constexpr int64_t kBufferedDelayMicros = 90'000;
// How often a writer reads files again before the leader does it. A flush of a row's region between
// its read and its commit is rare.
constexpr uint32_t kReadsMax = 3;

// Adds the operations of a batch that has its sequences.
void AddOperations(const WritePlan& plan, const CompletionPoint& point, GroupWrites* writes) {
  wal::GroupReader reader = wal::GroupReader::OfBatch(plan.batch, point.first, point.timestamp);
  wal::Operation operation;
  while (reader.Next(&operation)) {
    for (const auto& table : plan.tables) {
      if (table->record->id != operation.table) continue;
      writes->Add(*table->record, operation.row, operation.cells);
    }
  }
}

}  // namespace

struct CommitQueue::Request {
  enum class State : uint8_t { kWaits, kLeads, kDone };

  WritePlan* plan = nullptr;                       // A batch, or
  const std::function<Status()>* alone = nullptr;  // a task.
  Durability durability = Durability::kMemory;
  LoggingHold* hold = nullptr;  // For a batch that depends on stored data,
  bool reads_alone = false;     // whose files the leader reads,
  Completion completion;        // and what became of it.
  Request* next = nullptr;
  Status status;  // The leader's until the request is done.
  // For this request alone: the writer that wakes up waits for no other one.
  base::Mutex mutex;
  base::CondVar turn;  // Signalled when it no longer waits.
  State state GUARDED_BY(mutex) = State::kWaits;

  // The last that the leader does with a request of its group: it may be gone afterwards.
  void Wake(State to) EXCLUDES(mutex) {
    base::MutexLock lock(mutex);
    state = to;
    turn.NotifyOne();
  }
  State Wait() EXCLUDES(mutex) {
    base::MutexLock lock(mutex);
    while (state == State::kWaits) turn.Wait(mutex);
    return state;
  }
  bool needs_own_group() const { return alone != nullptr || reads_alone; }
  uint64_t bytes() const {
    return plan == nullptr ? 0 : std::max(plan->batch.bytes().size(), plan->size_bytes);
  }
};

CommitQueue::CommitQueue(CommitDependencies dependencies, format::SequenceNumber last)
    : deps_(std::move(dependencies)),
      last_sequence_(last.value),
      buffered_write_(deps_.jobs, base::Priority::kHigh, [this] { WriteBufferedInBackground(); }),
      delay_(deps_.delay_micros_max) {}

Status CommitQueue::Commit(WritePlan* plan, Durability durability) {
  // Regions are flushed one at a time, so only the log keeps a batch over several of them atomic if
  // a crash comes in between. A flush syncs the log first.
  if (plan->spans_regions || plan->reads() || plan->must_be_logged) {
    durability = std::max(durability, Durability::kBuffered);
  }
  if (plan->reads()) return CommitReader(plan, durability);
  Request request;
  request.plan = plan;
  request.durability = durability;
  return Submit(&request);
}

// A batch that depends on stored data.
Status CommitQueue::CommitReader(WritePlan* plan, Durability durability) {
  LoggingHold hold;
  uint32_t reads = 0;
  while (true) {
    Request request;
    request.plan = plan;
    request.durability = durability;
    request.hold = &hold;
    request.reads_alone = reads >= kReadsMax;
    if (!request.reads_alone) {
      RETURN_IF_ERROR(Read(plan));
      if (plan->is_stale) return {};
      // With checks, the leader says whether the batch conflicts, which is another error.
      if (plan->checks == nullptr) RETURN_IF_ERROR(plan->read_set.violation);
    }
    RETURN_IF_ERROR(Submit(&request));
    if (plan->is_stale) return {};
    switch (request.completion.outcome) {
      case Completion::Outcome::kComplete:
        return {};
      case Completion::Outcome::kMoved:
        ++reads;
        break;
      case Completion::Outcome::kTooLong:
        reads = kReadsMax;
        break;
      case Completion::Outcome::kUnlogged:
        // Once at most: these regions log everything from now on.
        for (Region* region : request.completion.unlogged) RETURN_IF_ERROR(deps_.flush(region));
        break;
    }
  }
}

// What the plan depends on in files, and the holders of its entries. `alone`: where the leader will
// complete it that reads for it.
Status CommitQueue::Read(WritePlan* plan, const CompletionPoint* alone) {
  if (plan->checks != nullptr) {
    RETURN_IF_ERROR(
        CheckGoneRows(*deps_.regions, deps_.snapshots, /*by_leader=*/alone != nullptr, plan));
    if (plan->is_stale || !plan->completes()) return {};
  }
  if (!plan->unique_rows.empty()) return ReadForUnique(plan, alone);
  return ReadFiles(*deps_.regions, deps_.snapshots->visible(), plan);
}

Status CommitQueue::ReadForUnique(WritePlan* plan, const CompletionPoint* alone) {
  // Planned with records that are gone, it may name an index that no table has.
  plan->is_stale = plan->changes != deps_.regions->changes();
  if (plan->is_stale) return {};
  const auto registration = deps_.snapshots->RegisterRead();
  RETURN_IF_ERROR(ReadFiles(*deps_.regions, registration->point().sequence, plan));
  if (plan->is_stale) return {};
  const int64_t next = std::max(deps_.time->last_timestamp() + 1, deps_.time->Now());
  return FindHolders(
      {.regions = deps_.regions, .time = deps_.time, .resources = deps_.read_resources},
      registration, alone != nullptr ? alone->timestamp : next, plan);
}

Status CommitQueue::SubmitAlone(const std::function<Status()>& task) {
  Request request;
  request.alone = &task;
  return Submit(&request);
}

Status CommitQueue::SyncThrough(format::SequenceNumber sequence) {
  if (deps_.log->synced_through() >= sequence) return {};
  format::SequenceNumber written;
  RETURN_IF_ERROR(RunAlone([this, &written] {
    RETURN_IF_ERROR(deps_.log->WriteBuffered());
    written = deps_.log->written();
    return Status();
  }));
  return deps_.log->SyncBeside(written);
}

Status CommitQueue::WriteBuffered() {
  return RunAlone([this] { return deps_.log->WriteBuffered(); });
}

// Waits until the request is done, or until it is to lead: it is first in the queue, and there is
// no other leader. In the second case, leads one group, which begins with this request.
// The group is awake before the next one is taken: its members may be in that again.
Status CommitQueue::Submit(Request* request) {
  if (Enqueue(request)) {
    const Group group = TakeGroup();
    const Status status = Lead(group);
    NoteGroup(group);
    Finish(group, status);
    Guarded([this] {
      deps_.after_group();
      return Status();
    }).Ignore("what could not be done for want of memory is done after the next group");
    HandOver();
  }
  return request->status;
}

// True: this request leads. False: it is done.
bool CommitQueue::Enqueue(Request* request) {
  {
    base::MutexLock lock(mutex_);
    (queue_last_ == nullptr ? queue_first_ : queue_last_->next) = request;
    queue_last_ = request;
    if (++queued_ == delay_.expected()) all_queued_.NotifyOne();
    if (!leading_) return leading_ = true;
  }
  return request->Wait() == Request::State::kLeads;
}

CommitQueue::Group CommitQueue::TakeGroup() {
  base::MutexLock lock(mutex_);
  AwaitWriters();
  Group group;
  group.first = queue_first_;
  for (Request* request = queue_first_; request != nullptr; request = request->next) {
    const bool is_first = request == group.first;
    if (!is_first && (request->needs_own_group() || group.first->needs_own_group() ||
                      group.bytes + request->bytes() > kGroupBytesMax)) {
      break;
    }
    group.last = request;
    group.bytes += request->bytes();
    group.batches += request->plan != nullptr ? 1 : 0;
    ++group.requests;
    if (request->plan != nullptr && request->plan->reads()) group.last_reader = request;
    group.durability = std::max(group.durability, request->durability);
  }
  queued_ -= group.requests;
  queue_first_ = group.last->next;
  if (queue_first_ == nullptr) queue_last_ = nullptr;
  group.last->next = nullptr;
  return group;
}

// The leader is the first in the queue; those whom it waits for queue behind it.
void CommitQueue::AwaitWriters() {
  const Request& leader = *queue_first_;
  if (leader.durability != Durability::kSynced || leader.needs_own_group()) return;
  if (!delay_.IsDue(queued_)) return;
  while (queued_ < delay_.expected() && all_queued_.WaitFor(mutex_, delay_.micros())) {
  }
  delay_.NoteDelay(queued_);
}

void CommitQueue::NoteGroup(const Group& group) {
  if (group.durability != Durability::kSynced) return;
  base::MutexLock lock(mutex_);
  delay_.NoteGroup(group.requests, queued_, sync_micros_);
}

Status CommitQueue::Lead(const Group& group) {
  return Guarded(
      [&] { return group.first->alone != nullptr ? (*group.first->alone)() : CommitGroup(group); });
}

// The leader's own request is the first; nobody waits for it. What could not be completed has an
// error of its own, and the rest of the group goes on.
void CommitQueue::Finish(const Group& group, const Status& status) {
  if (!status.ok()) group.first->status = status;
  for (Request* request = group.first->next; request != nullptr;) {
    Request* next = request->next;
    if (!status.ok()) request->status = status;
    request->Wake(Request::State::kDone);
    request = next;
  }
}

// To the first in the queue, which stays there until it leads.
void CommitQueue::HandOver() {
  Request* next;
  {
    base::MutexLock lock(mutex_);
    next = queue_first_;
    leading_ = next != nullptr;
  }
  if (next != nullptr) next->Wake(Request::State::kLeads);
}

// The commit protocol. A failure before the group is in the log leaves nothing behind but unused
// sequence numbers, which are never assigned again; a later one turns the database read-only.
Status CommitQueue::CommitGroup(const Group& group) {
  RETURN_IF_ERROR(deps_.health->CheckWritable());
  RETURN_IF_ERROR(SettleCatalog());
  ASSIGN_OR_RETURN(LogGroup frame, Encode(group));
  if (frame.count == 0) return {};
  const Durability level = LevelOf(group);
  RETURN_IF_ERROR(LogFrame(&frame, level));
  if (level == Durability::kMemory) NoteUnlogged(group, frame);
  RETURN_IF_ERROR(Apply(frame));
  deps_.snapshots->Publish(last_sequence());
  return {};
}

Status CommitQueue::SettleCatalog() {
  if (!catalog_in_doubt_) return {};
  RETURN_IF_ERROR(deps_.settle_catalog());
  catalog_in_doubt_ = false;
  return {};
}

// Assigns sequence numbers and timestamps, and builds the payload. Stale plans are left out, and
// batches that cannot be completed.
Result<LogGroup> CommitQueue::Encode(const Group& group) {
  LogGroup frame;
  frame.first = format::SequenceNumber(last_sequence().value + 1);
  frame.timestamp = deps_.time->NextTimestamp();
  frame.payload.reserve(group.bytes + group.batches * sizeof(uint64_t) * 2);
  GroupWrites earlier;
  bool is_reader_ahead = group.last_reader != nullptr;
  uint32_t batches = 0;  // In the payload.
  uint32_t finished = 0;
  for (Request* request = group.first; request != nullptr; request = request->next) {
    WritePlan* plan = request->plan;
    is_reader_ahead &= request != group.last_reader;
    plan->is_stale = plan->changes != deps_.regions->changes();
    if (plan->is_stale) continue;
    const CompletionPoint point{.first = format::SequenceNumber(frame.first.value + frame.count),
                                .timestamp = frame.timestamp + batches,
                                .now_micros = plan->reads() ? deps_.time->Now() : 0,
                                .earlier = &earlier,
                                .reads_alone = request->reads_alone};
    if (plan->reads()) request->status = Complete(request, point);
    if (!request->status.ok()) continue;
    if (request->completion.outcome != Completion::Outcome::kComplete) continue;
    ++finished;
    if (plan->batch.operation_count() == 0) continue;
    frame.count += plan->batch.operation_count();
    plan->last_sequence = format::SequenceNumber(frame.first.value + frame.count - 1);
    wal::AppendBatch(plan->batch, &frame.payload);
    ++batches;
    if (is_reader_ahead) AddOperations(*plan, point, &earlier);
  }
  deps_.time->AssignTimestamps(frame.timestamp, finished);
  last_sequence_.fetch_add(frame.count, std::memory_order_acq_rel);
  return frame;
}

// Leaves `plan.batch` empty if there is nothing to write, or not yet.
Status CommitQueue::Complete(Request* request, const CompletionPoint& point) {
  WritePlan* plan = request->plan;
  if (plan->completes()) plan->batch.Clear();
  // Regions may have been split since the batch was planned.
  for (auto& table : plan->tables) table = deps_.regions->Find(table->record->id);
  if (point.reads_alone) {
    const Status read = Read(plan, &point);
    if (!read.ok()) plan->batch.Clear();
    RETURN_IF_ERROR(read);
  }
  Result<Completion> completion = CompleteChecked(point, plan);
  if (!completion.has_value()) {
    plan->batch.Clear();
    return completion.error();
  }
  request->completion = *std::move(completion);
  if (request->completion.outcome == Completion::Outcome::kUnlogged) {
    for (Region* region : request->completion.unlogged) request->hold->Add(&region->unlogged());
  }
  Count(request->completion, point.reads_alone);
  return {};
}

// What conflicts with others is told before what a unique index refuses.
Result<Completion> CommitQueue::CompleteChecked(const CompletionPoint& point, WritePlan* plan) {
  ASSIGN_OR_RETURN(Completion completed, CompleteRows(point, plan));
  const bool makes_entries = plan->holds && !plan->unique_rows.empty();
  if (!makes_entries || completed.outcome != Completion::Outcome::kComplete) return completed;
  ASSIGN_OR_RETURN(completed.outcome, CheckEntries(point, *plan, &recent_entries_));
  completed.entries_moved = completed.outcome == Completion::Outcome::kMoved;
  return completed;
}

// A batch that is not applied, since its condition does not hold, conflicts with nothing.
Result<Completion> CommitQueue::CompleteRows(const CompletionPoint& point, WritePlan* plan) {
  Completion completed;
  if (plan->completes()) {
    ASSIGN_OR_RETURN(completed, CompleteWrite(point, plan));
    const bool is_known = completed.outcome == Completion::Outcome::kComplete ||
                          completed.outcome == Completion::Outcome::kUnlogged;
    if (plan->checks == nullptr || !is_known || !plan->holds) return completed;
  }
  ASSIGN_OR_RETURN(Completion checked, CheckRows(point, *plan));
  if (checked.outcome == Completion::Outcome::kMoved) return checked;
  for (Region* region : checked.unlogged) {
    std::vector<Region*>& all = completed.unlogged;
    if (std::find(all.begin(), all.end(), region) == all.end()) all.push_back(region);
  }
  if (!completed.unlogged.empty()) completed.outcome = Completion::Outcome::kUnlogged;
  return completed;
}

void CommitQueue::Count(const Completion& completion, bool reads_alone) {
  base::MutexLock lock(counts_mutex_);
  switch (completion.outcome) {
    case Completion::Outcome::kComplete:
      ++counts_.completed;
      counts_.caught_up += completion.caught_up ? 1 : 0;
      counts_.caught_up_in_group += completion.caught_up_in_group ? 1 : 0;
      counts_.alone += reads_alone ? 1 : 0;
      return;
    case Completion::Outcome::kMoved:
      ++(completion.entries_moved ? counts_.entries_moved : counts_.moved);
      return;
    case Completion::Outcome::kTooLong:
      return;
    case Completion::Outcome::kUnlogged:
      ++counts_.unlogged;
      return;
  }
}

// The level of the group. Each batch of a kMemory group is in a single region; if that region logs
// everything, the group is logged too. So it is if the region was split after the batch was
// planned: the batch may be in two regions now.
Durability CommitQueue::LevelOf(const Group& group) {
  if (group.durability > Durability::kMemory) return group.durability;
  for (const Request* request = group.first; request != nullptr; request = request->next) {
    if (request->plan->is_stale) continue;
    Region& region = *request->plan->region;
    if (region.is_retired() || region.unlogged().logs_everything()) return Durability::kBuffered;
  }
  return Durability::kMemory;
}

void CommitQueue::NoteUnlogged(const Group& group, const LogGroup& frame) {
  for (const Request* request = group.first; request != nullptr; request = request->next) {
    if (request->plan->is_stale) continue;
    request->plan->region->unlogged().Note(frame.first, frame.last());
  }
}

Status CommitQueue::LogFrame(LogGroup* frame, Durability durability) {
  switch (durability) {
    case Durability::kMemory:
      return {};
    case Durability::kBuffered:
      // The task queues after this group, so it writes what is buffered here.
      buffered_write_.Schedule(kBufferedDelayMicros);
      // Buffer gets a copy, since the payload is still needed to apply the group.
      return deps_.log->Buffer(*frame);
    case Durability::kWritten:
      return deps_.log->Write(*frame);
    case Durability::kSynced:
      RETURN_IF_ERROR(deps_.log->Write(*frame));
      return Sync();
  }
  return Status::InvalidArgument("unknown durability");
}

Status CommitQueue::Sync() {
  const int64_t begin = deps_.clock->MonotonicMicros();
  const Status status = deps_.log->Sync();
  sync_micros_ = deps_.clock->MonotonicMicros() - begin;
  return status;
}

// A group that was logged, or applied in part, cannot be taken back. It stays invisible, and the
// database turns read-only.
Status CommitQueue::Apply(const LogGroup& frame) {
  const Status status =
      Guarded([&] { return deps_.applier->Apply(frame.payload, frame.first, frame.timestamp); });
  if (!status.ok()) deps_.health->TurnReadOnly("applying a logged group", status);
  return status;
}

// What may pass is tried again, anything else turned the database read-only.
void CommitQueue::WriteBufferedInBackground() {
  if (base::MayPass(WriteBuffered())) buffered_write_.Schedule(kBufferedDelayMicros);
}

}  // namespace tandem::engine
