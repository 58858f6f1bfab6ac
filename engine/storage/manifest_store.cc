// Commits of the catalog. The invariant: after any error of a manifest, nothing is committed and
// nothing deleted until a new manifest is durable and ROOT names it.
#include "engine/storage/manifest_store.h"

#include <algorithm>
#include <utility>

#include "base/guarded.h"
#include "base/passing.h"
#include "base/status_macros.h"
#include "engine/storage/files.h"
#include "engine/storage/storage.h"

namespace tandem::engine {
namespace {

using format::Catalog;
using format::CatalogCounters;
using format::CatalogEdit;
using format::LogMark;

// A manifest is replaced when it passes both: this size, and this many times its whole catalog.
constexpr uint64_t kManifestBytesMin = 1 << 20;
constexpr uint64_t kManifestGrowth = 4;
// Of each reservation, the numbers kept for new manifests, which must not wait for a reservation.
constexpr uint64_t kHeldBack = 8;

uint64_t ReplaceAt(const format::ManifestWriter& writer) {
  return std::max(kManifestBytesMin, kManifestGrowth * writer.first_frame_end());
}

CatalogCounters Larger(const CatalogCounters& a, const CatalogCounters& b) {
  CatalogCounters larger;
  larger.next_file_number = std::max(a.next_file_number, b.next_file_number);
  larger.next_table_id = std::max(a.next_table_id, b.next_table_id);
  larger.next_region_id = std::max(a.next_region_id, b.next_region_id);
  larger.last_timestamp = std::max(a.last_timestamp, b.last_timestamp);
  larger.clock_high_micros = std::max(a.clock_high_micros, b.clock_high_micros);
  larger.last_sequence = std::max(a.last_sequence, b.last_sequence);
  return larger;
}

Result<std::shared_ptr<const Catalog>> Changed(const Catalog& catalog, const CatalogEdit& edit) {
  auto changed = std::make_shared<Catalog>(catalog);
  const Status status = format::ApplyEdit(edit, changed.get());
  if (status.code() == StatusCode::kUnsupported) return status;
  if (!status.ok()) {
    return Status::InvalidArgument("the edit does not fit: " + std::string(status.message()));
  }
  return std::shared_ptr<const Catalog>(std::move(changed));
}

}  // namespace

ManifestStore::ManifestStore(Dependencies dependencies)
    : directory_(dependencies.directory),
      random_(dependencies.random),
      root_file_(std::move(dependencies.root_file)),
      root_(std::move(dependencies.root)),
      manifest_file_(std::move(dependencies.manifest_file)),
      contents_(std::move(dependencies.manifest)) {
  next_number_ =
      std::max(root_.record.next_file_number, contents_.catalog.counters.next_file_number);
  reserved_end_ = next_number_ + kReservedNumbers;
  contents_.catalog.counters.next_file_number = reserved_end_;
  catalog_ = std::make_shared<const Catalog>(contents_.catalog);
}

Status ManifestStore::MarkOpen() {
  RETURN_IF_ERROR(format::RewriteRoot(root_file_.get(), root_));
  format::RootRecord record = root_.record;
  record.closed = false;
  record.segments.clear();
  record.next_file_number = reserved_end_;
  return PointRoot(record, /*both=*/false);
}

Status ManifestStore::BeginManifest(bool was_closed, LogMark log) {
  if (!was_closed) return Replace(log);
  writer_ = format::ManifestWriter::Resume(std::move(manifest_file_), contents_);
  replace_at_bytes_ = ReplaceAt(*writer_);
  // The reservation that ROOT holds becomes the catalog's with the first edit.
  return {};
}

Status ManifestStore::Commit(CatalogEdit edit, LogMark log) {
  RETURN_IF_ERROR(EndDoubt(log));
  edit.counters = edit.counters ? Larger(*edit.counters, catalog_->counters) : catalog_->counters;
  ASSIGN_OR_RETURN(std::shared_ptr<const Catalog> changed, Changed(*catalog_, edit));
  if (!edit.add_files.empty() || !edit.add_segments.empty()) RETURN_IF_ERROR(SyncDirectory());
  RETURN_IF_ERROR(Append(edit, log));
  // The edit is durable: from here on nothing fails, for want of memory neither.
  catalog_ = std::move(changed);
  ReplaceWhenGrown(log);
  return {};
}

Result<format::FileNumber> ManifestStore::NextNumber(LogMark log) {
  if (next_number_ + kHeldBack >= reserved_end_) {
    CatalogEdit reserve;
    reserve.counters = catalog_->counters;
    reserve.counters->next_file_number = reserved_end_ + kReservedNumbers;
    RETURN_IF_ERROR(Commit(std::move(reserve), log));
    reserved_end_ = catalog_->counters.next_file_number;
  }
  return format::FileNumber(next_number_++);
}

Status ManifestStore::Close(std::vector<format::BoundFile> segments, LogMark log) {
  RETURN_IF_ERROR(EndDoubt(log));
  // Each segment vouches for the one before it, so the newest ones stand for all.
  if (segments.size() > format::kRootSegmentsMax) {
    segments.erase(segments.begin(), segments.end() - format::kRootSegmentsMax);
  }
  RETURN_IF_ERROR(CheckNoneStale());
  format::RootRecord record = root_.record;
  record.closed = true;
  record.next_file_number = reserved_end_;
  record.manifest = writer_->end();
  record.segments = std::move(segments);
  return PointRoot(record, /*both=*/true);
}

// Appends to the manifest; when that fails, a new one takes its place at once if it can.
Status ManifestStore::Append(const CatalogEdit& edit, LogMark log) {
  const Status status = Guarded([&] { return writer_->Append(edit, catalog_->epoch, log); });
  if (writer_->usable()) return status;
  in_doubt_ = true;
  EndDoubt(log).Ignore("the caller learns of the first error; this one is kept and tried again");
  return status;
}

// Makes the state certain, or says why it is not.
Status ManifestStore::EndDoubt(LogMark log) {
  RETURN_IF_ERROR(refusal_);
  if (!in_doubt_) return {};
  const Status status = Replace(log);
  if (status.ok() || base::MayPass(status)) return status;
  return Refuse(status);
}

// Writes a new manifest with the committed catalog and points ROOT to it. Throws nothing.
Status ManifestStore::Replace(LogMark log) {
  return Guarded([&] { return WriteAndPoint(log); });
}

Status ManifestStore::WriteAndPoint(LogMark log) {
  // The new manifest or the old one may have to be removed later, so nothing that allocates comes
  // after they are in doubt.
  stale_manifests_.reserve(stale_manifests_.size() + 2);
  format::RootRecord record = root_.record;
  ASSIGN_OR_RETURN(std::unique_ptr<format::ManifestWriter> writer, WriteNewManifest(log));
  RETURN_IF_ERROR(SyncDirectory());
  record.closed = false;
  record.epoch = catalog_->epoch;
  record.next_file_number = reserved_end_;
  record.manifest = writer->end();
  const format::FileNumber old = root_.record.manifest.number;
  RETURN_IF_ERROR(PointRoot(record, /*both=*/true));
  writer_ = std::move(writer);
  manifest_file_.reset();
  replace_at_bytes_ = ReplaceAt(*writer_);
  in_doubt_ = false;
  stale_manifests_.push_back(old);
  RemoveStaleManifests();
  return {};
}

Result<std::unique_ptr<format::ManifestWriter>> ManifestStore::WriteNewManifest(LogMark log) {
  ASSIGN_OR_RETURN(const format::FileNumber number, ManifestNumber());
  format::BoundFile identity;
  identity.number = number;
  identity.id = NewRandomId(random_);
  ASSIGN_OR_RETURN(std::unique_ptr<base::File> file, directory_->Create(ManifestName(number)));
  auto writer = Guarded(
      [&] { return format::ManifestWriter::Create(std::move(file), identity, *catalog_, log); });
  if (!writer) RemoveManifest(number);
  return writer;
}

// A number for a manifest: one of those held back or, when none is left, one of a new reservation
// in ROOT, which needs no manifest.
Result<format::FileNumber> ManifestStore::ManifestNumber() {
  if (next_number_ == reserved_end_) {
    format::RootRecord record = root_.record;
    record.next_file_number = reserved_end_ + kReservedNumbers;
    auto changed = std::make_shared<Catalog>(*catalog_);
    RETURN_IF_ERROR(PointRoot(record, /*both=*/false));
    reserved_end_ = record.next_file_number;
    // An edit may have raised it above the reservation.
    uint64_t& next = changed->counters.next_file_number;
    next = std::max(next, reserved_end_);
    catalog_ = std::move(changed);
  }
  return format::FileNumber(next_number_++);
}

// Writes `record` to ROOT under the next generation. When that fails, a crash may show either
// record.
Status ManifestStore::PointRoot(const format::RootRecord& record, bool both) {
  format::RootRecord before = record;
  std::swap(root_.record, before);
  root_.record.generation = before.generation + 1;
  const Status status = Guarded([&] { return format::WriteRoot(root_file_.get(), &root_, both); });
  if (status.ok()) return status;
  if (record.manifest.number != before.manifest.number) {
    stale_manifests_.push_back(record.manifest.number);
  }
  const uint64_t tried = root_.record.generation;
  root_.record = std::move(before);
  root_.record.generation = tried;
  if (!base::MayPassInPlace(status)) return Refuse(status);
  in_doubt_ = true;
  return status;
}

// A failure here costs nothing: the old manifest holds everything, unless ROOT may name the new
// one.
void ManifestStore::ReplaceWhenGrown(LogMark log) {
  const uint64_t length = writer_->end().length_bytes;
  if (length <= replace_at_bytes_) return;
  const Status status = Replace(log);
  if (!status.ok()) {
    replace_at_bytes_ = 2 * length;
    status.Ignore("the commit is durable in the old manifest");
  }
}

// One that cannot be removed now is tried again with the next one, at the latest in Close.
void ManifestStore::RemoveManifest(format::FileNumber number) {
  if (!TryRemove(number)) stale_manifests_.push_back(number);
}

void ManifestStore::RemoveStaleManifests() {
  std::erase_if(stale_manifests_, [this](format::FileNumber number) { return TryRemove(number); });
}

// Returns false if the manifest may still exist.
bool ManifestStore::TryRemove(format::FileNumber number) {
  const Status status = Guarded([&] { return directory_->Remove(ManifestName(number)); });
  return status.ok() || status.code() == StatusCode::kNotFound;
}

// A manifest newer than the one that a closed ROOT names would mean that ROOT is an old copy: no
// removed name may come back after Close.
Status ManifestStore::CheckNoneStale() {
  RemoveStaleManifests();
  if (!stale_manifests_.empty()) {
    return Status::IoError(ManifestName(stale_manifests_.front()) + ": it cannot be removed");
  }
  return SyncDirectory();
}

// After a failed sync of the directory, names remain in doubt even when a later sync succeeds.
Status ManifestStore::SyncDirectory() {
  const Status status = directory_->Sync();
  return status.ok() ? status : Refuse(status);
}

Status ManifestStore::Refuse(const Status& cause) {
  if (refusal_.ok()) {
    refusal_ = Status::ReadOnly("no change is committed after an earlier failure: " +
                                std::string(cause.message()));
  }
  return cause;
}

}  // namespace tandem::engine
