// See simulated_image.h.
#include "tools/simulation/simulated_image.h"

#include <algorithm>
#include <utility>

#include "format/hash.h"

namespace tandem::test {
namespace {

void ApplyName(const NameEffect& effect, std::map<std::string, std::shared_ptr<Inode>>& names) {
  if (effect.inode == nullptr) {
    names.erase(effect.name);
  } else {
    names[effect.name] = effect.inode;
  }
}

}  // namespace

void DirectoryImage::Change(NameEffect effect) {
  ApplyName(effect, visible);
  pending.push_back(std::move(effect));
}

std::vector<std::shared_ptr<Inode>> DirectoryImage::Sync(uint64_t last_id) {
  std::vector<std::shared_ptr<Inode>> removed;
  auto effect = pending.begin();
  for (; effect != pending.end() && effect->id <= last_id; ++effect) {
    const auto found = durable.find(effect->name);
    if (effect->inode == nullptr && found != durable.end()) removed.push_back(found->second);
    ApplyName(*effect, durable);
  }
  pending.erase(pending.begin(), effect);
  return removed;
}

void DirectoryImage::Crash(Survival& survival) {
  for (const NameEffect& effect : pending) {
    if (survival.Keeps(effect.id)) ApplyName(effect, durable);
  }
  pending.clear();
  visible = durable;
}

DirectoryImage* DiskImage::Find(const std::string& path) {
  const auto found = directories_.find(path);
  return found == directories_.end() ? nullptr : &found->second;
}

std::shared_ptr<Inode> DiskImage::NewInode(const std::string& home) {
  auto inode = std::make_shared<Inode>();
  inode->id = ++last_inode_id_;
  inode->home = home;
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

auto DiskImage::NamedInodes() const -> std::map<uint64_t, std::pair<const Inode*, Place>> {
  std::map<uint64_t, std::pair<const Inode*, Place>> named;
  const auto add = [&](const std::string& path, const std::string& name, const Inode* inode) {
    if (inode != nullptr) named.try_emplace(inode->id, inode, Place{path, name});
  };
  for (const auto& [path, directory] : directories_) {
    for (const auto& [name, inode] : directory.visible) add(path, name, inode.get());
    for (const auto& [name, inode] : directory.durable) add(path, name, inode.get());
    for (const NameEffect& effect : directory.pending) add(path, effect.name, effect.inode.get());
  }
  return named;
}

std::vector<uint64_t> DiskImage::PendingIds() const {
  std::vector<uint64_t> ids;
  for (const auto& [id, named] : NamedInodes()) {
    for (const Effect& effect : named.first->pending) ids.push_back(effect.id);
  }
  for (const auto& [path, directory] : directories_) {
    for (const NameEffect& effect : directory.pending) ids.push_back(effect.id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::vector<PendingEffect> DiskImage::PendingEffects() const {
  std::vector<PendingEffect> effects;
  for (const auto& [id, named] : NamedInodes()) {
    const auto& [inode, place] = named;
    for (const Effect& effect : inode->pending) {
      const bool is_write = effect.kind == Effect::Kind::kBytes;
      effects.push_back({.kind = static_cast<PendingEffect::Kind>(effect.kind),
                         .id = effect.id,
                         .directory = place.directory,
                         .name = place.name,
                         .offset = effect.offset,
                         .size = is_write ? effect.bytes.size() : effect.size});
    }
  }
  for (const auto& [path, directory] : directories_) {
    for (const NameEffect& effect : directory.pending) {
      const auto kind =
          effect.inode == nullptr ? PendingEffect::Kind::kRemove : PendingEffect::Kind::kCreate;
      effects.push_back({.kind = kind, .id = effect.id, .directory = path, .name = effect.name});
    }
  }
  std::sort(effects.begin(), effects.end(),
            [](const PendingEffect& a, const PendingEffect& b) { return a.id < b.id; });
  return effects;
}

uint64_t DiskImage::VisibleHash() const {
  uint64_t hash = 0;
  const auto add = [&](std::string_view part) { hash = format::Hash64(part, hash + part.size()); };
  for (const auto& [path, directory] : directories_) {
    add("directory");
    add(path);
    for (const auto& [name, inode] : directory.visible) {
      add(name);
      add(inode->visible.bytes);
    }
  }
  return hash;
}

void DiskImage::Crash(const CrashPolicy& policy) {
  uint64_t id_at = Survival::kNoEffect;
  if (policy.names_a_place()) {
    const std::vector<uint64_t> ids = PendingIds();
    if (policy.at < ids.size()) id_at = ids[policy.at];
  }
  Survival survival(policy, id_at);
  Filler filler(policy, &freed_);
  DropHandles();
  std::vector<std::string> forgotten;
  for (auto& [path, directory] : directories_) directory.Crash(survival);
  for (const auto& inode : LiveInodes()) {
    inode->is_linked = false;
    inode->more_names = 0;
  }
  for (auto& [path, directory] : directories_) {
    for (auto& [name, inode] : directory.visible) inode->AddName();
  }
  for (const auto& inode : LiveInodes()) {
    if (!inode->is_linked) forgotten.push_back(inode->visible.bytes);
    inode->Crash(survival, filler);
  }
  // Not before: the blocks of two files that this crash leaves differ.
  for (const std::string& content : forgotten) freed_.Free(content);
}

void DiskImage::SyncNames(DirectoryImage* directory, uint64_t last_id) {
  for (const auto& inode : directory->Sync(last_id)) {
    if (!inode->is_linked) freed_.Free(inode->visible.bytes);
  }
}

void DiskImage::Evict(uint64_t seed) {
  const auto random = base::NewSeededRandom(seed);
  for (const auto& inode : LiveInodes()) inode->Evict(random.get());
}

void DiskImage::DropHandles() {
  for (auto& [path, directory] : directories_) {
    directory.lock_holder = nullptr;
    directory.shared_locks.clear();
  }
  for (const auto& inode : LiveInodes()) inode->open_count = 0;
  std::erase_if(inodes_, [](const auto& entry) { return entry.second.expired(); });
}

void DiskImage::CopyFrom(const DiskImage& other) {
  last_inode_id_ = other.last_inode_id_;
  last_effect_id_ = other.last_effect_id_;
  freed_ = other.freed_;
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
    copy.shared_locks.clear();
    for (auto& [name, inode] : copy.visible) inode = copies[inode->id];
    for (auto& [name, inode] : copy.durable) inode = copies[inode->id];
    for (NameEffect& effect : copy.pending) {
      if (effect.inode != nullptr) effect.inode = copies[effect.inode->id];
    }
  }
}

}  // namespace tandem::test
