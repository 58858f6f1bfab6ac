// Each cursor's source is used inside a gate of its own, so that no lock is held across I/O to
// close it.
#include "engine/open_handles.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/jobs/bulk_loader.h"

namespace tandem::engine {
namespace {

// At most this many handles are named in a message.
constexpr size_t kNamed = 8;

OpenHandles::Taken TakenBy(const SnapshotPoint& point) {
  return {point.point().sequence.value, point.point().now_micros};
}

// "2 cursors (of 'a', 'b')"; empty when there is none.
std::string List(const std::vector<std::string>& open, std::string_view noun,
                 std::string_view what) {
  if (open.empty()) return {};
  std::string text = std::to_string(open.size());
  text.append(" ").append(noun).append(open.size() == 1 ? " (of " : "s (of ").append(what);
  for (size_t i = 0; i < std::min(open.size(), kNamed); ++i) {
    text.append(i == 0 ? "" : ", ").append(open[i]);
  }
  return text + (open.size() > kNamed ? ", ...)" : ")");
}

// A row in pieces counts once.
uint64_t RowsIn(std::span<const RowView> views) {
  return std::ranges::count_if(views, [](const RowView& view) { return !view.continues(); });
}

}  // namespace

SnapshotState::SnapshotState(std::shared_ptr<OpenHandles> open_handles, SnapshotPoint pinned)
    : handles(std::move(open_handles)), point(std::move(pinned)) {
  if (point.own != nullptr) return;  // Listed with its transaction.
  base::MutexLock lock(handles->mutex_);
  handles->snapshots_.insert(TakenBy(point));
}

SnapshotState::~SnapshotState() {
  if (point.own != nullptr) return;
  base::MutexLock lock(handles->mutex_);
  const auto found = handles->snapshots_.find(TakenBy(point));
  if (found != handles->snapshots_.end()) handles->snapshots_.erase(found);
}

// It stays in the list until its source is gone, so that Invalidate never returns too early.
OpenCursor::~OpenCursor() {
  {
    GatePass pass(open_->gate);
    if (pass.inside()) {
      EndWatch(/*is_whole=*/false, {});
      open_->source.reset();
    }
  }
  watch_.reset();
  batch_->Clear();
  base::MutexLock lock(handles_->mutex_);
  handles_->Unlist(open_.get());
  std::vector<std::unique_ptr<format::RowBatch>>& kept = handles_->batches_;
  const bool is_kept = kept.size() < kept.capacity() && batch_->is_usual();
  if (is_kept) kept.push_back(std::move(batch_));
}

OpenPin::~OpenPin() {
  Release();
  base::MutexLock lock(handles_->mutex_);
  handles_->pins_.erase(source_);
}

Result<bool> OpenPin::Read(RegionView view, const ReadOptions& options, std::string_view row) {
  GatePass pass(source_->gate);
  if (!pass.inside()) return Status::Closed("the pinned row's database is closed");
  source_->holds_row.store(true, std::memory_order_relaxed);
  source_->reader.Release();  // Before its key changes.
  source_->key = row;
  Result<bool> found = source_->reader.Read(std::move(view), options, source_->key);
  if (found.has_value() && *found) {
    row_ = source_->reader.row();
    return true;
  }
  source_->reader.Release();
  source_->holds_row.store(false, std::memory_order_relaxed);
  return found;
}

void OpenPin::Release() {
  GatePass pass(source_->gate);
  if (!pass.inside()) return;
  source_->reader.Release();
  source_->holds_row.store(false, std::memory_order_relaxed);
}

Result<bool> OpenCursor::Next(RowView* row) {
  GatePass pass(open_->gate);
  if (!pass.inside()) return Status::Closed("the cursor's database is closed");
  if (watch_ == nullptr) return NextInside(row);
  rows_read_ -= RowsIn(left_);  // Of a read that was cancelled within a batch.
  Result<bool> more = false;
  {
    const QueryWatch::Timing timing(watch_.get());
    more = NextInside(row);
  }
  if (more.has_value() && *more) {
    rows_read_ += RowsIn(batch_->rows());
  } else {
    EndWatch(/*is_whole=*/more.has_value(), more.status());
  }
  return more;
}

// Requires: the caller is inside the gate, so that the database is there. A row that was read along
// with others, and not asked for, was not returned.
void OpenCursor::EndWatch(bool is_whole, const Status& status) {
  if (watch_ == nullptr) return;
  watch_->End(rows_read_ - RowsIn(left_), is_whole, status);
  watch_.reset();
}

Result<bool> OpenCursor::NextInside(RowView* row) {
  // Not the end, if the batch had more rows.
  const Status status = origin_.limits.cancellation.Check();
  if (is_in_batch_ && left_.empty() && status.ok() && open_->source->is_at_end()) return false;
  if (is_in_batch_) GetPositionInBatch(&before_batch_);
  is_in_batch_ = false;
  left_ = {};
  if (!status.ok()) return WithProgress(status);
  const Result<bool> more = open_->source->NextBatch(batch_.get());
  if (!more.has_value()) return WithProgress(more.error());
  if (!*more) return false;
  if (origin_.limits.meter != nullptr) origin_.limits.meter->ForgetPassed();
  is_in_batch_ = true;
  left_ = batch_->rows();
  *row = left_.front();
  left_ = left_.subspan(1);
  return true;
}

// Of the row that was given last. Reuses the memory of `*position`: it is asked for every batch.
void OpenCursor::GetPositionInBatch(std::optional<Position>* position) const {
  if (!position->has_value()) position->emplace();
  const auto assign = [](std::string_view bytes, std::optional<std::string>* out) {
    if (!out->has_value()) out->emplace();
    (*out)->assign(bytes);
  };
  const std::string_view entry = open_->source->entry();
  if (!entry.empty()) assign(entry, &(*position)->entry);
  assign(batch_->rows()[batch_->size() - left_.size() - 1].key(), &(*position)->key);
}

// Of a read that was stopped it is where that was, if that is known.
std::optional<Position> OpenCursor::Where() const {
  std::optional<Position> position;
  if (is_in_batch_) {
    GetPositionInBatch(&position);
    return position;
  }
  const ReadMeter* const meter = origin_.limits.meter.get();
  if (meter != nullptr && meter->passed().has_value()) return meter->passed();
  return before_batch_;
}

// Says how far a read came that its budget stopped.
Status OpenCursor::WithProgress(const Status& status) const {
  if (status.code() != StatusCode::kOverBudget || origin_.limits.meter == nullptr) return status;
  const std::optional<Position> where = Where();
  std::string message(status.message());
  if (!where.has_value()) {
    message += "; no row was reached";
  } else if (where->key.has_value()) {
    message += "; it came to row " + base::Quote(*where->key);
  } else {
    message += "; it is done with a part of the index";
  }
  return Status::OverBudget(message + ". Go on with the cursor's token, or give it more");
}

Result<std::string> OpenCursor::Token() const {
  GatePass pass(open_->gate);
  if (!pass.inside()) return Status::Closed("the cursor's database is closed");
  const std::optional<Position> where = Where();
  if (where.has_value()) return EncodeToken(origin_.scope, *where);
  if (origin_.from.has_value()) return EncodeToken(origin_.scope, origin_.from->position);
  return std::string();
}

std::unique_ptr<OpenCursor> OpenHandles::NewCursor(std::unique_ptr<RowSource> source,
                                                   std::string_view table, CursorOrigin origin) {
  auto open = std::make_shared<OpenSource>();
  open->table = table;
  open->source = std::move(source);
  auto cursor =
      std::make_unique<OpenCursor>(shared_from_this(), open, TakeBatch(), std::move(origin));
  base::MutexLock lock(mutex_);
  sources_.push_back(std::move(open));
  sources_.back()->place = sources_.size() - 1;
  return cursor;
}

void OpenHandles::Unlist(OpenSource* open) {
  const size_t place = std::exchange(open->place, OpenSource::kUnlisted);
  if (place == OpenSource::kUnlisted) return;
  if (place + 1 < sources_.size()) {
    sources_[place] = std::move(sources_.back());
    sources_[place]->place = place;
  }
  sources_.pop_back();
}

OpenTransaction::OpenTransaction(Snapshot snapshot, int64_t begun_micros)
    : begun_micros_(begun_micros),
      snapshot_(std::make_unique<const Snapshot>(std::move(snapshot))) {}

Result<const Snapshot*> OpenTransaction::Enter() {
  if (!gate_.Enter()) return Status::Closed("the transaction's database is closed");
  base::MutexLock lock(mutex_);
  if (is_expired_) {
    gate_.Leave();
    return Status::Cancelled("the transaction was open for too long (transaction_age_max_micros)");
  }
  ++entries_;
  return snapshot_.get();
}

void OpenTransaction::Leave() {
  std::unique_ptr<const Snapshot> released;
  {
    base::MutexLock lock(mutex_);
    if (--entries_ == 0 && is_expired_) released = std::move(snapshot_);
  }
  released.reset();
  gate_.Leave();
}

void OpenTransaction::Expire() {
  std::unique_ptr<const Snapshot> released;
  base::MutexLock lock(mutex_);
  is_expired_ = true;
  if (entries_ == 0) released = std::move(snapshot_);
}

void OpenTransaction::Close() {
  gate_.Close();
  Expire();
}

std::optional<OpenHandles::Taken> OpenTransaction::taken() const {
  base::MutexLock lock(mutex_);
  if (snapshot_ == nullptr) return std::nullopt;
  return TakenBy(snapshot_->state().point);
}

std::shared_ptr<OpenTransaction> OpenHandles::NewTransaction(Snapshot snapshot,
                                                             int64_t begun_micros) {
  auto open = std::make_shared<OpenTransaction>(std::move(snapshot), begun_micros);
  base::MutexLock lock(mutex_);
  transactions_.insert(open);
  return open;
}

void OpenHandles::EndTransaction(const std::shared_ptr<OpenTransaction>& open) {
  {
    base::MutexLock lock(mutex_);
    transactions_.erase(open);
  }
  open->Expire();
}

std::optional<int64_t> OpenHandles::ExpireTransactions(int64_t begun_micros) {
  std::vector<std::shared_ptr<OpenTransaction>> expired;
  std::optional<int64_t> oldest;
  {
    base::MutexLock lock(mutex_);
    for (const auto& open : transactions_) {
      if (!open->taken().has_value()) continue;
      if (open->begun_micros() <= begun_micros) {
        expired.push_back(open);
      } else if (!oldest.has_value() || open->begun_micros() < *oldest) {
        oldest = open->begun_micros();
      }
    }
  }
  for (const auto& open : expired) open->Expire();
  return oldest;
}

OpenLoad::OpenLoad(std::unique_ptr<BulkLoader> loader)
    : table_(loader->table()->name), loader_(std::move(loader)) {}
OpenLoad::~OpenLoad() = default;

void OpenLoad::End() {
  gate_.Close();
  loader_.reset();
}

std::shared_ptr<OpenLoad> OpenHandles::NewLoad(std::unique_ptr<BulkLoader> loader) {
  auto open = std::make_shared<OpenLoad>(std::move(loader));
  base::MutexLock lock(mutex_);
  loads_.insert(open);
  return open;
}

// Whoever takes it off the list ends it; the other is Invalidate.
void OpenHandles::EndLoad(const std::shared_ptr<OpenLoad>& open) {
  {
    base::MutexLock lock(mutex_);
    if (loads_.erase(open) == 0) return;
  }
  open->End();
}

std::vector<OpenHandles::Taken> OpenHandles::transactions() const {
  std::vector<Taken> all;
  base::MutexLock lock(mutex_);
  for (const auto& open : transactions_) {
    if (const auto taken = open->taken()) all.push_back(*taken);
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::unique_ptr<format::RowBatch> OpenHandles::TakeBatch() {
  {
    base::MutexLock lock(mutex_);
    batches_.reserve(kBatchesKept);  // So that a cursor's end allocates nothing.
    if (!batches_.empty()) {
      std::unique_ptr<format::RowBatch> batch = std::move(batches_.back());
      batches_.pop_back();
      return batch;
    }
  }
  return std::make_unique<format::RowBatch>();
}

std::unique_ptr<OpenPin> OpenHandles::NewPin(std::string_view table) {
  auto source = std::make_shared<PinSource>(table);
  auto pin = std::make_unique<OpenPin>(shared_from_this(), source);
  base::MutexLock lock(mutex_);
  pins_.insert(std::move(source));
  return pin;
}

std::unique_ptr<SnapshotState> OpenHandles::NewSnapshot(SnapshotPoint point) {
  return std::make_unique<SnapshotState>(shared_from_this(), std::move(point));
}

Status OpenHandles::CheckNoneOpen() const {
  std::vector<std::string> cursors, pins, snapshots, transactions, loads;
  for (const auto& [sequence, time] : this->transactions()) {
    transactions.push_back(std::to_string(sequence));
  }
  {
    base::MutexLock lock(mutex_);
    for (const auto& open : sources_) cursors.push_back(base::Quote(open->table));
    for (const auto& pin : pins_) {
      if (pin->holds_row.load(std::memory_order_relaxed)) pins.push_back(base::Quote(pin->table));
    }
    for (const auto& [sequence, time] : snapshots_) snapshots.push_back(std::to_string(sequence));
    for (const auto& open : loads_) loads.push_back(base::Quote(open->table()));
  }
  const size_t count =
      cursors.size() + pins.size() + snapshots.size() + transactions.size() + loads.size();
  if (count == 0) return {};
  std::sort(cursors.begin(), cursors.end());
  std::sort(pins.begin(), pins.end());
  std::sort(loads.begin(), loads.end());
  std::string open;
  for (const std::string& part :
       {List(cursors, "cursor", ""), List(pins, "pinned row", ""),
        List(snapshots, "snapshot", "sequence "), List(transactions, "transaction", "sequence "),
        List(loads, "bulk load", "")}) {
    if (!open.empty() && !part.empty()) open += " and ";
    open += part;
  }
  return Status::Busy(open + (count == 1 ? " is open" : " are open"));
}

std::vector<OpenHandles::Taken> OpenHandles::snapshots() const {
  std::vector<Taken> all = transactions();
  base::MutexLock lock(mutex_);
  all.insert(all.end(), snapshots_.begin(), snapshots_.end());
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<std::string> OpenHandles::cursors() const {
  std::vector<std::string> tables;
  {
    base::MutexLock lock(mutex_);
    for (const auto& open : sources_) tables.push_back(open->table);
    for (const auto& pin : pins_) {
      if (pin->holds_row.load(std::memory_order_relaxed)) tables.push_back(pin->table);
    }
  }
  std::sort(tables.begin(), tables.end());
  return tables;
}

void OpenHandles::Invalidate() {
  std::vector<std::shared_ptr<OpenSource>> sources;
  std::set<std::shared_ptr<PinSource>> pins;
  std::set<std::shared_ptr<OpenTransaction>> transactions;
  std::set<std::shared_ptr<OpenLoad>> loads;
  {
    base::MutexLock lock(mutex_);
    transactions.swap(transactions_);
    loads.swap(loads_);
    sources.swap(sources_);
    for (const auto& open : sources) open->place = OpenSource::kUnlisted;
    pins.swap(pins_);
    snapshots_.clear();
  }
  for (const auto& open : sources) {
    open->gate.Close();
    open->source.reset();
  }
  for (const auto& pin : pins) {
    pin->gate.Close();
    pin->reader.Release();
  }
  for (const auto& open : transactions) open->Close();
  for (const auto& open : loads) open->End();
}

}  // namespace tandem::engine
