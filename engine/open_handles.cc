// A cursor's source is used inside a gate of its own, so that cutting it off needs no lock over
// I/O.
#include "engine/open_handles.h"

#include <utility>

namespace tandem::engine {
namespace {

std::string Count(uint64_t count, std::string_view noun) {
  std::string text = std::to_string(count);
  text.append(" ").append(noun);
  return count == 1 ? text : text + "s";
}

}  // namespace

SnapshotState::SnapshotState(std::shared_ptr<OpenHandles> open_handles,
                             std::shared_ptr<const SnapshotRegistry::Registration> registered)
    : handles(std::move(open_handles)), registration(std::move(registered)) {
  handles->snapshots_.fetch_add(1, std::memory_order_relaxed);
}

SnapshotState::~SnapshotState() { handles->snapshots_.fetch_sub(1, std::memory_order_relaxed); }

class OpenHandles::TrackedSource final : public RowSource {
 public:
  TrackedSource(std::shared_ptr<OpenHandles> handles, std::shared_ptr<OpenSource> open)
      : handles_(std::move(handles)), open_(std::move(open)) {}

  // It stays in the list until its source is gone, so that CutOff never returns too early.
  ~TrackedSource() override {
    {
      GatePass pass(open_->gate);
      if (pass.inside()) open_->source.reset();
    }
    base::MutexLock lock(handles_->mutex_);
    handles_->sources_.erase(open_);
  }

  Result<bool> Next(RowView* row) override {
    GatePass pass(open_->gate);
    if (!pass.inside()) return Status::Closed("the cursor's database is closed");
    return open_->source->Next(row);
  }

 private:
  const std::shared_ptr<OpenHandles> handles_;
  const std::shared_ptr<OpenSource> open_;
};

std::unique_ptr<RowSource> OpenHandles::Track(std::unique_ptr<RowSource> source) {
  auto open = std::make_shared<OpenSource>();
  open->source = std::move(source);
  auto tracked = std::make_unique<TrackedSource>(shared_from_this(), open);
  base::MutexLock lock(mutex_);
  sources_.insert(std::move(open));
  return tracked;
}

std::shared_ptr<SnapshotState> OpenHandles::NewSnapshot(
    std::shared_ptr<const SnapshotRegistry::Registration> registration) {
  return std::make_shared<SnapshotState>(shared_from_this(), std::move(registration));
}

Status OpenHandles::CheckNoneOpen() const {
  size_t cursors = 0;
  {
    base::MutexLock lock(mutex_);
    cursors = sources_.size();
  }
  uint64_t snapshots = snapshots_.load(std::memory_order_relaxed);
  if (cut_off_.load(std::memory_order_relaxed)) snapshots = 0;
  if (cursors + snapshots == 0) return Status();
  std::string open;
  if (cursors > 0) open = Count(cursors, "cursor");
  if (snapshots > 0) open += (open.empty() ? "" : " and ") + Count(snapshots, "snapshot");
  return Status::Busy(open + (cursors + snapshots == 1 ? " is open" : " are open"));
}

void OpenHandles::CutOff() {
  cut_off_.store(true, std::memory_order_relaxed);
  std::set<std::shared_ptr<OpenSource>> sources;
  {
    base::MutexLock lock(mutex_);
    sources.swap(sources_);
  }
  for (const auto& open : sources) {
    open->gate.Close();
    open->source.reset();
  }
}

}  // namespace tandem::engine
