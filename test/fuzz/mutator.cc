// An edit that libFuzzer's own mutations made one byte longer would shift all that follow; so it
// works within edits only.
#include "test/fuzz/mutator.h"

#include <algorithm>
#include <cstring>
#include <random>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t size_max);

namespace tandem::fuzz {
namespace {

// A list of edits in the fuzzer's buffer.
class Edits {
 public:
  Edits(std::span<uint8_t> buffer, size_t size, uint64_t seed)
      : buffer_(buffer),
        count_((size - std::min(size, kEditsAt)) / kEditBytes),
        count_max_(std::min((buffer.size() - kEditsAt) / kEditBytes, kEditsMax)),
        random_(static_cast<unsigned>(seed)) {
    count_ = std::min(count_, count_max_);
  }

  size_t size() const { return kEditsAt + count_ * kEditBytes; }

  void Mutate() {
    switch (Below(6)) {
      case 0:
        return Insert();
      case 1:
        return Remove();
      case 2:
        buffer_[1] = static_cast<uint8_t>(random_());
        return;
      case 3:
        return Nudge();
      default:
        return ChangeBytes();
    }
  }

 private:
  size_t Below(size_t end) { return random_() % end; }
  uint8_t* Edit(size_t i) { return buffer_.data() + kEditsAt + i * kEditBytes; }

  // A random one, or one like a neighbour at another place.
  void Insert() {
    if (count_ == count_max_) return ChangeBytes();
    const size_t at = Below(count_ + 1);
    std::memmove(Edit(at + 1), Edit(at), (count_ - at) * kEditBytes);
    ++count_;
    uint8_t edit[kEditBytes];
    for (uint8_t& byte : edit) byte = static_cast<uint8_t>(random_());
    if (count_ > 1 && Below(2) == 0) {
      std::memcpy(edit, Edit(at == 0 ? 1 : at - 1), kEditBytes);
      edit[2] = static_cast<uint8_t>(edit[2] + 1 + Below(16));
    }
    std::memcpy(Edit(at), edit, kEditBytes);
  }

  void Remove() {
    if (count_ <= 1) return Insert();
    const size_t at = Below(count_--);
    std::memmove(Edit(at), Edit(at + 1), (count_ - at) * kEditBytes);
  }

  // Another place nearby: fields are adjacent.
  void Nudge() {
    if (count_ == 0) return Insert();
    uint8_t* where = Edit(Below(count_)) + (Below(3) == 0 ? 0 : 2);
    uint16_t number = 0;
    std::memcpy(&number, where, sizeof(number));
    number = static_cast<uint16_t>(number + Below(17) - 8);
    std::memcpy(where, &number, sizeof(number));
  }

  void ChangeBytes() {
    if (count_ == 0) return Insert();
    uint8_t* edit = Edit(Below(count_));
    const size_t size = LLVMFuzzerMutate(edit, kEditBytes, kEditBytes);
    std::memset(edit + size, 0, kEditBytes - size);
  }

  std::span<uint8_t> buffer_;
  size_t count_;
  size_t count_max_;
  std::minstd_rand random_;
};

}  // namespace

size_t Mutate(Shape shape, std::span<uint8_t> buffer, size_t size, uint64_t seed) {
  if (shape == Shape::kPlain) return LLVMFuzzerMutate(buffer.data(), size, buffer.size());
  if (buffer.size() <= kEditsAt + kEditBytes) return size;
  if (size < kEditsAt) {
    std::fill(buffer.begin() + static_cast<ptrdiff_t>(size), buffer.begin() + kEditsAt, uint8_t{0});
    size = kEditsAt;
  }
  if (shape == Shape::kEdits) {
    Edits edits(buffer, size, seed);
    edits.Mutate();
    size = edits.size();
  } else {
    size = 1 + LLVMFuzzerMutate(buffer.data() + 1, size - 1, buffer.size() - 1);
  }
  const bool is_sealed = std::minstd_rand(static_cast<unsigned>(seed >> 1))() % 2 == 0;
  const uint8_t others = seed % 8 == 0 ? static_cast<uint8_t>(seed >> 8) : buffer[0];
  buffer[0] = static_cast<uint8_t>((others & ~kChecksumsRight) | (is_sealed ? kChecksumsRight : 0));
  return size;
}

}  // namespace tandem::fuzz
