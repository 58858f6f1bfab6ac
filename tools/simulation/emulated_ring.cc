// See emulated_ring.h.
#include "tools/simulation/emulated_ring.h"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <vector>

#include "base/random.h"
#include "format/hash.h"
#include "tools/simulation/simulated_file.h"
#include "tools/simulation/simulated_handles.h"

namespace tandem::test {
namespace {

using Kind = base::IoRequest::Kind;
using base::RingCompletion;
using base::RingOperation;

constexpr size_t kSectorBytes = 512;
constexpr char kGarbage = '\xdb';

int ErrnoOf(const Status& status) { return status.code() == StatusCode::kNoSpace ? ENOSPC : EIO; }

class EmulatedRing final : public base::Ring {
 public:
  EmulatedRing(std::shared_ptr<SimulatedState> state, uint32_t depth, const RingHabits& habits)
      : state_(std::move(state)),
        random_(base::NewSeededRandom(state_->random->Next64())),
        depth_(depth),
        habits_(habits) {}

  bool Takes(const base::File& file) const override {
    return dynamic_cast<const SimulatedFile*>(&file) != nullptr;
  }
  bool Push(const RingOperation& operation) override;
  int Enter(unsigned wait_count) override;
  int Await() override;
  bool Reap(RingCompletion* completion) override;

 private:
  struct Taken {
    RingOperation operation;
    uint64_t last_effect = 0;  // When it was taken.
    uint64_t hash = 0;         // Of what a write was given.
  };

  bool Chance(uint32_t of_1000) { return random_->Next64() % 1000 < of_1000; }
  uint64_t Below(uint64_t limit) { return random_->Next64() % limit; }
  int Refusal();
  std::optional<RingFault> Judge(RingFault::Of of) {
    return habits_.faults == nullptr ? std::nullopt : habits_.faults->Judge(of);
  }
  void Take(const RingOperation& operation);
  void CompleteOne();
  int Result(const Taken& taken);
  int Transfer(const Taken& taken, size_t length);
  size_t LengthFor(size_t size);
  void Flush();

  const std::shared_ptr<SimulatedState> state_;
  const std::unique_ptr<base::RandomSource> random_;
  const size_t depth_;
  const RingHabits habits_;
  std::deque<RingOperation> pushed_;
  std::vector<Taken> in_flight_;
  std::deque<RingCompletion> completions_;  // What Reap sees: at most completion_slots.
  std::deque<RingCompletion> overflow_;
  uint32_t enter_count_ = 0;
};

bool EmulatedRing::Push(const RingOperation& operation) {
  if (pushed_.size() >= depth_) return false;
  pushed_.push_back(operation);
  return true;
}

int EmulatedRing::Enter(unsigned wait_count) {
  Flush();
  const int refusal = Refusal();
  if (refusal != 0) {
    // What the ring has goes on, whatever Enter says.
    if (!in_flight_.empty()) CompleteOne();
    return refusal;
  }
  uint64_t count = pushed_.size();
  if (count > 1 && Chance(habits_.partial_enters)) count = 1 + Below(count);
  for (uint64_t i = 0; i < count; ++i) {
    Take(pushed_.front());
    pushed_.pop_front();
  }
  // Besides what is waited for, a random part gets done meanwhile.
  uint64_t done = in_flight_.empty() ? 0 : Below(in_flight_.size() + 1);
  for (; done > 0; --done) CompleteOne();
  while (completions_.size() < wait_count && !in_flight_.empty()) CompleteOne();
  return static_cast<int>(count);
}

// 0 when this Enter works.
int EmulatedRing::Refusal() {
  ++enter_count_;
  if (const auto fault = Judge(RingFault::Of::kEnter)) return -fault->error;
  if (habits_.breaks_at_enter != 0 && enter_count_ >= habits_.breaks_at_enter) return -EIO;
  if (!overflow_.empty()) return -EBUSY;
  if (!Chance(habits_.refused_enters)) return 0;
  constexpr int kRefusals[] = {-EAGAIN, -EBUSY, -EINTR};
  return kRefusals[Below(3)];
}

void EmulatedRing::Take(const RingOperation& operation) {
  Taken taken{.operation = operation};
  const std::span<char> buffer = operation.buffer;
  if (operation.kind == Kind::kRead) std::fill(buffer.begin(), buffer.end(), kGarbage);
  if (operation.kind == Kind::kWrite) taken.hash = format::Hash64({buffer.data(), buffer.size()});
  taken.last_effect = static_cast<SimulatedFile*>(operation.file)->LastEffect();
  in_flight_.push_back(taken);
}

void EmulatedRing::CompleteOne() {
  const auto chosen = in_flight_.begin() + static_cast<ptrdiff_t>(Below(in_flight_.size()));
  const Taken taken = *chosen;
  in_flight_.erase(chosen);
  const RingCompletion completion{.user_data = taken.operation.user_data, .result = Result(taken)};
  overflow_.push_back(completion);
  if (Chance(habits_.repeated_completions)) overflow_.push_back(completion);
  Flush();
}

void EmulatedRing::Flush() {
  while (!overflow_.empty() && completions_.size() < std::max(habits_.completion_slots, 1u)) {
    completions_.push_back(overflow_.front());
    overflow_.pop_front();
  }
}

int EmulatedRing::Result(const Taken& taken) {
  const size_t size = taken.operation.buffer.size();
  if (const auto fault = Judge(RingFault::Of::kCompletion)) {
    if (fault->error != 0) return -fault->error;
    if (size > 1) return Transfer(taken, size / 2);
  }
  if (Chance(habits_.again)) return -EAGAIN;
  if (Chance(habits_.interrupted)) return -EINTR;
  if (Chance(habits_.cancelled)) return -ECANCELED;
  if (Chance(habits_.io_errors)) return -EIO;
  const RingOperation& operation = taken.operation;
  if (operation.kind == Kind::kWrite && Chance(habits_.no_space)) return -ENOSPC;
  if (operation.kind != Kind::kDataSync) return Transfer(taken, LengthFor(size));
  const Status status = static_cast<SimulatedFile*>(operation.file)->SyncUpTo(taken.last_effect);
  return status.ok() ? 0 : -ErrnoOf(status);
}

int EmulatedRing::Transfer(const Taken& taken, size_t length) {
  const RingOperation& operation = taken.operation;
  const std::string_view bytes(operation.buffer.data(), operation.buffer.size());
  if (operation.kind == Kind::kRead) {
    const auto count = operation.file->Read(operation.offset, operation.buffer.first(length));
    return count.has_value() ? static_cast<int>(*count) : -ErrnoOf(count.error());
  }
  if (format::Hash64(bytes) != taken.hash) {
    state_->control.Report("the buffer of a write to '" + operation.file->name() + "' at " +
                           std::to_string(operation.offset) + " changed while it was in flight");
  }
  const Status status = operation.file->Write(operation.offset, bytes.substr(0, length));
  return status.ok() ? static_cast<int>(length) : -ErrnoOf(status);
}

// A short transfer gets one byte, all but one of a sector, all but the last sector, or any part.
size_t EmulatedRing::LengthFor(size_t size) {
  if (size < 2 || !Chance(habits_.short_transfers)) return size;
  const size_t lengths[] = {1, kSectorBytes - 1, (size - 1) / kSectorBytes * kSectorBytes,
                            1 + static_cast<size_t>(Below(size - 1))};
  const size_t length = lengths[Below(4)];
  return length == 0 || length > size ? 1 : length;
}

int EmulatedRing::Await() {
  Flush();
  if (Chance(habits_.interrupted)) return -EINTR;
  if (completions_.empty() && !in_flight_.empty()) CompleteOne();
  return completions_.empty() ? -EAGAIN : 0;
}

bool EmulatedRing::Reap(RingCompletion* completion) {
  if (completions_.empty()) return false;
  *completion = completions_.front();
  completions_.pop_front();
  return true;
}

}  // namespace

std::unique_ptr<base::Ring> NewEmulatedRing(std::shared_ptr<SimulatedState> state, uint32_t depth,
                                            const RingHabits& habits) {
  return std::make_unique<EmulatedRing>(std::move(state), depth, habits);
}

}  // namespace tandem::test
