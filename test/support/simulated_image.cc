// See simulated_image.h.
#include "test/support/simulated_image.h"

#include <algorithm>
#include <utility>

namespace tandem::test {
namespace {

constexpr uint64_t kSectorBytes = 512;

void ApplyName(const NameEffect& effect, std::map<std::string, std::shared_ptr<Inode>>& names) {
  if (effect.inode == nullptr) {
    names.erase(effect.name);
  } else {
    names[effect.name] = effect.inode;
  }
}

}  // namespace

Survival::Survival(const CrashPolicy& policy)
    : policy_(policy), random_(base::NewSeededRandom(policy.seed)) {
  // A few survivors, half of them or nearly all: each finds other bugs.
  constexpr uint64_t kShares[] = {1, 4, 7};
  kept_of_eight_ = kShares[random_->Next64() % 3];
}

bool Survival::Keeps() {
  if (policy_.kept != CrashPolicy::Kept::kRandom) return policy_.kept == CrashPolicy::Kept::kAll;
  return random_->Next64() % 8 < kept_of_eight_;
}

std::vector<Effect> Survival::Survivors(const Effect& effect) {
  if (!Keeps()) return {};
  const bool is_random = policy_.kept == CrashPolicy::Kept::kRandom;
  const bool may_tear = is_random && policy_.torn && effect.kind == Effect::Kind::kBytes;
  if (may_tear && random_->Next64() % 4 == 0) return Torn(effect);
  return {effect};
}

std::vector<Effect> Survival::Torn(const Effect& effect) {
  const bool is_prefix = random_->Next64() % 2 == 0;
  bool is_cut = false;
  std::vector<Effect> survivors;
  for (uint64_t at = 0; at < effect.bytes.size();) {
    const uint64_t sector_left = kSectorBytes - (effect.offset + at) % kSectorBytes;
    const uint64_t count = std::min<uint64_t>(sector_left, effect.bytes.size() - at);
    const bool is_kept = random_->Next64() % 2 == 0;
    is_cut = is_cut || (is_prefix && !is_kept);
    if (is_kept && !is_cut) {
      survivors.push_back({.kind = Effect::Kind::kBytes,
                           .id = effect.id,
                           .offset = effect.offset + at,
                           .bytes = effect.bytes.substr(at, count)});
    }
    at += count;
  }
  return survivors;
}

void Image::Apply(const Effect& effect) {
  switch (effect.kind) {
    case Effect::Kind::kBytes:
      if (bytes.size() < effect.offset + effect.bytes.size()) {
        bytes.resize(effect.offset + effect.bytes.size());
      }
      bytes.replace(effect.offset, effect.bytes.size(), effect.bytes);
      break;
    case Effect::Kind::kGrow:
      size_bytes = std::max(size_bytes, effect.size);
      break;
    case Effect::Kind::kResize:
      size_bytes = effect.size;
      bytes.resize(std::min<uint64_t>(bytes.size(), size_bytes));
      reserved_bytes = std::min(reserved_bytes, size_bytes);
      break;
    case Effect::Kind::kReserve:
      reserved_bytes = std::max(reserved_bytes, effect.size);
      break;
  }
}

void Image::Settle() { bytes.resize(size_bytes); }

void Inode::Change(Effect effect) {
  visible.Apply(effect);
  visible.Settle();
  pending.push_back(std::move(effect));
}

void Inode::Sync(uint64_t last_id) {
  auto effect = pending.begin();
  for (; effect != pending.end() && effect->id <= last_id; ++effect) durable.Apply(*effect);
  pending.erase(pending.begin(), effect);
}

void Inode::FailSync(Survival* survival) {
  for (const Effect& effect : pending) {
    if (survival == nullptr) break;
    for (const Effect& part : survival->Survivors(effect)) durable.Apply(part);
  }
  pending.clear();
}

void Inode::Crash(Survival& survival) {
  for (const Effect& effect : pending) {
    for (const Effect& part : survival.Survivors(effect)) durable.Apply(part);
  }
  pending.clear();
  durable.Settle();
  visible = durable;
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

void DirectoryImage::Change(NameEffect effect) {
  ApplyName(effect, visible);
  pending.push_back(std::move(effect));
}

void DirectoryImage::Sync(uint64_t last_id) {
  auto effect = pending.begin();
  for (; effect != pending.end() && effect->id <= last_id; ++effect) ApplyName(*effect, durable);
  pending.erase(pending.begin(), effect);
}

void DirectoryImage::Crash(Survival& survival) {
  for (const NameEffect& effect : pending) {
    if (survival.Keeps()) ApplyName(effect, durable);
  }
  pending.clear();
  visible = durable;
}

DirectoryImage* DiskImage::Find(const std::string& path) {
  const auto found = directories_.find(path);
  return found == directories_.end() ? nullptr : &found->second;
}

std::shared_ptr<Inode> DiskImage::NewInode() {
  auto inode = std::make_shared<Inode>();
  inode->id = ++last_inode_id_;
  inodes_[inode->id] = inode;
  return inode;
}

std::vector<std::shared_ptr<Inode>> DiskImage::LiveInodes() const {
  std::vector<std::shared_ptr<Inode>> live;
  for (const auto& [id, weak] : inodes_) {
    if (auto inode = weak.lock()) live.push_back(std::move(inode));
  }
  return live;
}

uint64_t DiskImage::used_bytes() const {
  uint64_t used = 0;
  for (const auto& inode : LiveInodes()) used += inode->used_bytes();
  return used;
}

void DiskImage::Crash(const CrashPolicy& policy) {
  Survival survival(policy);
  DropHandles();
  for (auto& [path, directory] : directories_) directory.Crash(survival);
  for (const auto& inode : LiveInodes()) {
    inode->Crash(survival);
    inode->is_linked = false;
    inode->more_names = 0;
  }
  for (auto& [path, directory] : directories_) {
    for (auto& [name, inode] : directory.visible) inode->AddName();
  }
}

void DiskImage::DropHandles() {
  for (auto& [path, directory] : directories_) directory.lock_holder = nullptr;
  for (const auto& inode : LiveInodes()) inode->open_count = 0;
  std::erase_if(inodes_, [](const auto& entry) { return entry.second.expired(); });
}

void DiskImage::CopyFrom(const DiskImage& other) {
  last_inode_id_ = other.last_inode_id_;
  last_effect_id_ = other.last_effect_id_;
  std::map<uint64_t, std::shared_ptr<Inode>> copies;
  for (const auto& inode : other.LiveInodes()) {
    auto copy = std::make_shared<Inode>(*inode);
    copy->open_count = 0;
    inodes_[copy->id] = copy;
    copies[copy->id] = std::move(copy);
  }
  for (const auto& [path, directory] : other.directories_) {
    DirectoryImage& copy = directories_[path] = directory;
    copy.lock_holder = nullptr;
    for (auto& [name, inode] : copy.visible) inode = copies[inode->id];
    for (auto& [name, inode] : copy.durable) inode = copies[inode->id];
    for (NameEffect& effect : copy.pending) {
      if (effect.inode != nullptr) effect.inode = copies[effect.inode->id];
    }
  }
}

}  // namespace tandem::test
