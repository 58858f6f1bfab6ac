// One range of sequences covers all unlogged operations. It may cover logged ones too, which costs
// an unneeded flush, but it takes constant memory for any number of batches.
#include "engine/region/unlogged.h"

namespace tandem::engine {
namespace {

// The memstore that is flushed for the write, and its successor.
constexpr uint32_t kLoggedMemstores = 2;

}  // namespace

void Unlogged::Note(format::SequenceNumber first, format::SequenceNumber last) {
  if (first_.value == 0) first_ = first;
  last_ = last;
}

void Unlogged::Switched(format::SequenceNumber flushed_through) {
  if (logged_memstores_ > 0) --logged_memstores_;
  if (last_ <= flushed_through) first_ = last_ = format::SequenceNumber();
}

void Unlogged::Hold() {
  holds_.fetch_add(1, std::memory_order_relaxed);
  logged_memstores_ = kLoggedMemstores;
}

}  // namespace tandem::engine
