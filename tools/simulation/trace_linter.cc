// See trace_linter.h.
#include "tools/simulation/trace_linter.h"

#include <algorithm>
#include <utility>

#include "engine/storage/files.h"
#include "engine/storage/storage.h"
#include "format/root.h"
#include "tools/simulation/memory_file.h"
#include "tools/simulation/simulated_image.h"

namespace tandem::test {
namespace {

using engine::LocalFileKind;

bool IsRoot(const Observation& seen) { return seen.name == engine::kRootName; }

bool IsOurs(const Observation& seen) {
  return IsRoot(seen) || engine::ParseFileName(seen.name).has_value();
}

bool IsKind(const Observation& seen, LocalFileKind kind) {
  const auto file = engine::ParseFileName(seen.name);
  return file.has_value() && file->kind == kind;
}

bool Names(const DurableDatabases::Database& database, const std::string& name) {
  const auto file = engine::ParseFileName(name);
  if (!file.has_value()) return false;
  if (file->kind == LocalFileKind::kManifest) return name == database.manifest;
  if (file->kind == LocalFileKind::kStore) return database.catalog->files.contains(file->number);
  const auto& segments = database.catalog->segments;
  return file->kind == LocalFileKind::kSegment &&
         std::any_of(segments.begin(), segments.end(),
                     [&](const auto& segment) { return segment.number == file->number; });
}

bool HasPendingBytes(const Inode& inode) {
  return !inode.lost.ranges().empty() ||
         std::any_of(inode.pending.begin(), inode.pending.end(),
                     [](const Effect& effect) { return effect.kind == Effect::Kind::kBytes; });
}

// Those that the program believes to be durable by this sync: of ROOT, the slot that counts.
std::vector<ByteRanges::Range> LostBytes(const Observation& seen) {
  const ByteRanges& lost = seen.inode->lost;
  if (lost.ranges().empty() || !IsRoot(seen)) return lost.ranges();
  MemoryFile content(seen.inode->visible.bytes);
  const Result<format::RootFile> root = format::ReadRoot(&content);
  if (!root.has_value()) return {};
  constexpr uint64_t kSlotBytes = 4096;
  const uint64_t begin = kSlotBytes * (1 + root->slot);
  return lost.Within(begin, begin + kSlotBytes);
}

// L6.
std::string WhatIsMissing(const DurableDatabases::Database& database,
                          const DirectoryImage& directory) {
  for (const format::SegmentRecord& segment : database.catalog->segments) {
    const std::string name = engine::SegmentName(segment.number);
    if (DurableFile(directory, name) == nullptr) return name + " has no durable name";
  }
  for (const auto& [number, record] : database.catalog->files) {
    const std::string name = engine::StoreFileName(number);
    const Inode* inode = DurableFile(directory, name);
    if (inode == nullptr) return name + " has no durable name";
    if (HasPendingBytes(*inode)) return name + " has bytes that are not durable";
  }
  return "";
}

}  // namespace

std::string TraceLinter::Observe(const Observation& seen, DiskImage* image) {
  if (!IsOurs(seen) || is_distrustful_ || tampered_.contains(seen.directory)) return "";
  switch (seen.operation) {
    case DiskOperation::kWrite:
      databases_.Changes(seen.directory, *seen.inode, seen.offset);
      return CheckWrite(seen);
    case DiskOperation::kRead:
      return CheckRead(seen);
    case DiskOperation::kDataSync:
      return CheckSync(seen, image);
    case DiskOperation::kCreate:
    case DiskOperation::kLink:
      return CheckCreate(seen, image);
    case DiskOperation::kRemove:
      return CheckRemove(seen, image);
    case DiskOperation::kOpen:
      reopened_.insert(seen.inode->id);
      return "";
    case DiskOperation::kTruncate:
      databases_.Changes(seen.directory, *seen.inode, seen.size);
      [[fallthrough]];
    case DiskOperation::kPreallocate:
    case DiskOperation::kExtend:
      if (!IsKind(seen, LocalFileKind::kStore) || !reopened_.contains(seen.inode->id)) return "";
      return "L2: '" + seen.name + "' changes its size after it was opened again";
    default:
      return "";
  }
}

void TraceLinter::Tampered(const std::string& directory) { tampered_.insert(directory); }

std::string TraceLinter::CheckWrite(const Observation& seen) const {
  if (IsRoot(seen)) return "";
  const std::string at = "'" + seen.name + "' at " + std::to_string(seen.offset);
  if (IsKind(seen, LocalFileKind::kStore) && reopened_.contains(seen.inode->id)) {
    return "L2: a write to " + at + " after it was opened again";
  }
  const Image& image = seen.inode->visible;
  const auto old = image.written.Within(seen.offset, seen.offset + seen.data.size());
  for (const auto& [begin, end] : old) {
    const std::string_view before(image.bytes.data() + begin, end - begin);
    if (before == seen.data.substr(begin - seen.offset, end - begin)) continue;
    return "L1: a write to " + at + " changes bytes that were written before";
  }
  return "";
}

std::string TraceLinter::CheckRead(const Observation& seen) const {
  if (IsRoot(seen)) return "";
  const Image& image = seen.inode->visible;
  const auto never =
      image.written.Outside(std::max(seen.offset, image.zeroed_bytes), seen.offset + seen.size);
  if (never.empty()) return "";
  return "L4: a read of '" + seen.name + "' at " + std::to_string(never.front().begin) +
         ", which was never written";
}

std::string TraceLinter::CheckSync(const Observation& seen, DiskImage* image) {
  const std::vector<ByteRanges::Range> lost = LostBytes(seen);
  if (!lost.empty()) {
    return "L7: a sync of '" + seen.name + "' says OK over bytes at " +
           std::to_string(lost.front().begin) + " that an earlier one lost";
  }
  if (!IsRoot(seen) && !IsKind(seen, LocalFileKind::kManifest)) return "";
  const auto database = databases_.Read(image, seen.directory);
  if (!database.has_value()) return "";
  const std::string missing = WhatIsMissing(*database, *image->Find(seen.directory));
  return missing.empty() ? "" : "L6: '" + seen.name + "' is durable, but " + missing;
}

std::string TraceLinter::CheckCreate(const Observation& seen, DiskImage* image) {
  if (created_[seen.directory].insert(seen.name).second) return "";
  const bool is_born = ReadDurableRoot(*image->Find(seen.directory)).has_value();
  return is_born ? "L3: the name '" + seen.name + "' is created a second time" : "";
}

std::string TraceLinter::CheckRemove(const Observation& seen, DiskImage* image) {
  const auto database = databases_.Read(image, seen.directory);
  if (!database.has_value() || !Names(*database, seen.name)) return "";
  return "L5: '" + seen.name + "' is removed while the durable " + database->manifest + " names it";
}

}  // namespace tandem::test
