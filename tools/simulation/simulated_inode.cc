// See simulated_inode.h.
#include "tools/simulation/simulated_inode.h"

#include <algorithm>
#include <utility>

namespace tandem::test {

Image Image::Of(std::string_view content) {
  Image image{.bytes = std::string(content), .size_bytes = content.size()};
  image.written.Add(0, content.size());
  return image;
}

void Image::Apply(const Effect& effect) {
  switch (effect.kind) {
    case Effect::Kind::kBytes:
      if (bytes.size() < effect.offset + effect.bytes.size()) {
        bytes.resize(effect.offset + effect.bytes.size());
      }
      bytes.replace(effect.offset, effect.bytes.size(), effect.bytes);
      written.Add(effect.offset, effect.offset + effect.bytes.size());
      break;
    case Effect::Kind::kGrow:
      size_bytes = std::max(size_bytes, effect.size);
      break;
    case Effect::Kind::kResize:
      size_bytes = effect.size;
      bytes.resize(std::min<uint64_t>(bytes.size(), size_bytes));
      reserved_bytes = std::min(reserved_bytes, size_bytes);
      zeroed_bytes = std::min(zeroed_bytes, size_bytes);
      written.Cut(size_bytes);
      break;
    case Effect::Kind::kReserve:
      reserved_bytes = std::max(reserved_bytes, effect.size);
      break;
  }
}

void Image::CutToSize() {
  bytes.resize(size_bytes);
  written.Cut(size_bytes);
}

void Inode::KeepOldSectors(const Effect& effect) {
  const uint64_t end = effect.offset + effect.bytes.size();
  if (!visible.written.Touches(effect.offset, end)) return;
  for (uint64_t sector = effect.offset / kSectorBytes; sector * kSectorBytes < end; ++sector) {
    const uint64_t begin = sector * kSectorBytes;
    if (!visible.written.Touches(begin, begin + kSectorBytes)) continue;
    std::string old = visible.bytes.substr(begin, kSectorBytes);
    old.resize(kSectorBytes);
    old_sectors[sector] = std::move(old);
  }
}

void Inode::Change(Effect effect) {
  if (effect.kind == Effect::Kind::kBytes) KeepOldSectors(effect);
  visible.Apply(effect);
  // All of a growth comes before its bytes, so that these never are cut.
  visible.CutToSize();
  if (effect.kind == Effect::Kind::kResize) lost.Cut(effect.size);
  pending.push_back(std::move(effect));
}

uint64_t Inode::KeptSize() const {
  uint64_t size = durable.size_bytes;
  for (const Effect& effect : pending) {
    if (effect.kind == Effect::Kind::kGrow) size = std::max(size, effect.size);
    if (effect.kind == Effect::Kind::kResize) size = effect.size;
  }
  return size;
}

void Inode::Sync(uint64_t last_id) {
  auto effect = pending.begin();
  for (; effect != pending.end() && effect->id <= last_id; ++effect) {
    durable.Apply(*effect);
    // Whoever wrote them again after they were lost has them now.
    if (effect->kind == Effect::Kind::kBytes) {
      lost.Remove(effect->offset, effect->offset + effect->bytes.size());
    }
  }
  pending.erase(pending.begin(), effect);
}

void Inode::FailSync(SyncFailure failure, const Status& status, Survival* survival) {
  if (failure == SyncFailure::kLiar) return;
  for (const Effect& effect : pending) {
    if (effect.kind == Effect::Kind::kBytes) {
      lost.Add(effect.offset, effect.offset + effect.bytes.size());
    }
    if (survival == nullptr) continue;
    for (const Effect& part : survival->Survivors(effect)) durable.Apply(part);
  }
  pending.clear();
  if (failure == SyncFailure::kLate) late_error = status;
  if (failure == SyncFailure::kOncePerHandle) {
    handle_error = status;
    ++error_count;
  }
  if (failure == SyncFailure::kReverted) {
    durable.CutToSize();
    visible = durable;
    // As after a crash, what is there now may be read.
    visible.written.Add(0, visible.size_bytes);
    lost.Clear();
  }
}

void Inode::Evict(base::RandomSource* random) {
  ByteRanges dirty;
  for (const Effect& effect : pending) {
    if (effect.kind == Effect::Kind::kBytes) {
      dirty.Add(effect.offset, effect.offset + effect.bytes.size());
    }
  }
  for (uint64_t page = 0; page < visible.size_bytes; page += kBlockBytes) {
    const std::vector<ByteRanges::Range> ranges = lost.Within(page, page + kBlockBytes);
    // Memory holds pages, and one that was written to again is dirty as a whole.
    if (ranges.empty() || dirty.Touches(page, page + kBlockBytes)) continue;
    if (random->Next64() % 2 == 0) continue;
    for (const auto& [begin, end] : ranges) {
      for (uint64_t at = begin; at < std::min(end, visible.size_bytes); ++at) {
        visible.bytes[at] = at < durable.bytes.size() ? durable.bytes[at] : '\0';
      }
    }
  }
}

void Inode::Crash(Survival& survival, Filler& filler) {
  ByteRanges gone = lost;
  const ByteRanges before = durable.written;
  for (const Effect& effect : pending) {
    if (effect.kind == Effect::Kind::kBytes) {
      gone.Add(effect.offset, effect.offset + effect.bytes.size());
    }
    for (const Effect& part : survival.Survivors(effect)) durable.Apply(part);
  }
  durable.CutToSize();
  FillUnwritten(gone, before, filler);
  // Whatever the blocks hold now is what they will hold.
  durable.written.Add(0, durable.size_bytes);
  visible = durable;
  pending.clear();
  lost.Clear();
  late_error.reset();
  handle_error.reset();
}

// Those of the `gone` bytes that did not survive and lie in blocks that had nothing `before`. What
// the file skipped over has no blocks and stays zeros.
void Inode::FillUnwritten(const ByteRanges& gone, const ByteRanges& before, Filler& filler) {
  for (const auto& [gone_begin, gone_end] : gone.Within(0, durable.size_bytes)) {
    for (const auto& [begin, end] : durable.written.Outside(gone_begin, gone_end)) {
      for (uint64_t at = begin; at < end;) {
        const uint64_t block = at / kBlockBytes * kBlockBytes;
        const uint64_t block_end = std::min(block + kBlockBytes, end);
        const bool is_promised =
            !filler.fills_reserved() && block + kBlockBytes <= durable.reserved_bytes;
        if (!is_promised && !before.Touches(block, block + kBlockBytes)) {
          filler.Fill(&durable.bytes, at, block_end);
        }
        at = block_end;
      }
    }
  }
}

void Inode::Close() {
  if (--open_count == 0) late_error.reset();
}

void Inode::AddName() {
  if (is_linked) ++more_names;
  is_linked = true;
}

void Inode::DropName() {
  if (more_names == 0) is_linked = false;
  if (more_names > 0) --more_names;
}

uint64_t Inode::used_bytes() const {
  if (!is_linked && open_count == 0) return 0;
  return std::max(visible.size_bytes, visible.reserved_bytes);
}

}  // namespace tandem::test
