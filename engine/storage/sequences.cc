// The turn to reserve ids is a flag, so that no mutex is held over the edit of the catalog.
#include "engine/storage/sequences.h"

#include <algorithm>
#include <utility>

#include "base/guarded.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "format/schema.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

// Ids that one edit reserves beyond what its call asks for. A million ids a second then cost about
// one edit a second.
constexpr uint64_t kReservedMax = 1 << 20;

Status NotFound(std::string_view name) {
  return Status::NotFound("sequence " + base::Quote(name) + " does not exist; create it first");
}

Status CheckOptions(const SequenceOptions& options) {
  const std::string what = "sequence " + base::Quote(options.name);
  if (!format::IsValidName(options.name)) {
    return Status::InvalidArgument(what + ": expected a name of 1 to " +
                                   std::to_string(kNameBytesMax) +
                                   " bytes without control characters");
  }
  if (options.last > kSequenceIdMax) {
    return Status::InvalidArgument(what + ": its last id is " + std::to_string(options.last) +
                                   ", the limit is " + std::to_string(kSequenceIdMax));
  }
  if (options.first <= options.last) return {};
  return Status::InvalidArgument(what + ": its first id, " + std::to_string(options.first) +
                                 ", is above its last, " + std::to_string(options.last));
}

Status CheckLeft(const SequenceOptions& options, uint64_t next, uint64_t count) {
  const uint64_t left = options.last + 1 - next;
  if (count <= left) return {};
  return Status::InvalidArgument("sequence " + base::Quote(options.name) + " has " +
                                 std::to_string(left) + " ids left, up to " +
                                 std::to_string(options.last) + "; " + std::to_string(count) +
                                 " were asked for");
}

}  // namespace

Status Sequences::Create(const SequenceOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  CatalogEditor::Change change;
  change.prepare = [&](const format::Catalog& catalog, format::CatalogEdit* edit) -> Status {
    RETURN_IF_ERROR(health_->CheckWritable());
    if (catalog.sequences.contains(options.name)) {
      return Status::AlreadyExists("sequence " + base::Quote(options.name) + " exists already");
    }
    if (catalog.sequences.size() >= kSequencesMax) {
      return Status::InvalidArgument("the database has " + std::to_string(kSequencesMax) +
                                     " sequences, the limit; drop one first");
    }
    edit->put_sequences.push_back({.options = options, .next = options.first});
    return {};
  };
  change.publish = [] {};  // It is looked for in the catalog.
  return editor_->Commit(change);
}

Status Sequences::Drop(std::string_view name) {
  const std::string dropped(name);
  CatalogEditor::Change change;
  change.prepare = [&](const format::Catalog& catalog, format::CatalogEdit* edit) -> Status {
    RETURN_IF_ERROR(health_->CheckWritable());
    if (!catalog.sequences.contains(dropped)) return NotFound(dropped);
    edit->remove_sequences.push_back(dropped);
    return {};
  };
  change.publish = [&] { Forget(dropped); };
  return editor_->Commit(change);
}

void Sequences::Forget(const std::string& name) {
  base::MutexLock lock(mutex_);
  const auto found = reserved_.find(name);
  if (found == reserved_.end()) return;
  found->second->is_dropped = true;
  reserved_.erase(found);
}

std::vector<SequenceInfo> Sequences::List() const {
  const format::Catalog catalog = storage_->catalog();
  std::vector<SequenceInfo> infos;
  base::MutexLock lock(mutex_);
  for (const auto& [name, record] : catalog.sequences) {
    SequenceInfo& info = infos.emplace_back();
    info = {.options = record.options, .next = record.next};
    const auto found = reserved_.find(name);
    if (found == reserved_.end() || found->second->next == found->second->end) continue;
    info.next = found->second->next;
    info.reserved = found->second->end - info.next;
  }
  return infos;
}

// Where it was dropped since the catalog was read, Grow finds that out.
Result<std::shared_ptr<Sequences::Reserved>> Sequences::Find(std::string_view name) {
  {
    base::MutexLock lock(mutex_);
    const auto found = reserved_.find(name);
    if (found != reserved_.end()) return found->second;
  }
  const format::Catalog catalog = storage_->catalog();
  const auto record = catalog.sequences.find(std::string(name));
  if (record == catalog.sequences.end()) return NotFound(name);
  auto fresh = std::make_shared<Reserved>();
  fresh->options = record->second.options;
  fresh->next = fresh->end = record->second.next;
  base::MutexLock lock(mutex_);
  return reserved_.try_emplace(record->first, std::move(fresh)).first->second;
}

// Catalog edits of a sequence come from here alone, one at a time for each Reserved, while others
// may take what is left of the reservation before. One that was dropped and created again may have
// raised the id of its successor: what that one had is left out.
Status Sequences::Grow(Reserved& reserved, uint64_t count) {
  uint64_t next = 0, end = 0, twice = 0;
  {
    base::MutexLock lock(mutex_);
    next = reserved.next;
    end = reserved.end;
    twice = std::min(2 * reserved.last_count, kReservedMax);
  }
  const std::string& name = reserved.options.name;
  uint64_t begin = 0, added = 0;
  CatalogEditor::Change change;
  change.prepare = [&](const format::Catalog& catalog, format::CatalogEdit* edit) -> Status {
    RETURN_IF_ERROR(health_->CheckWritable());
    const auto found = catalog.sequences.find(name);
    if (found == catalog.sequences.end()) return NotFound(name);
    format::SequenceRecord record = found->second;
    begin = record.next;
    if (begin != end) next = begin;
    RETURN_IF_ERROR(CheckLeft(record.options, next, count));
    const uint64_t missing = count - (begin - next);
    added = std::min(std::max(missing, twice), record.options.last + 1 - begin);
    record.next = begin + added;
    edit->put_sequences.push_back(std::move(record));
    return {};
  };
  change.publish = [] {};
  RETURN_IF_ERROR(editor_->Commit(change));
  base::MutexLock lock(mutex_);
  if (begin != end) reserved.next = begin;
  reserved.end = begin + added;
  reserved.last_count = std::min(added, kReservedMax);
  return {};
}

Result<uint64_t> Sequences::Take(Reserved& reserved, uint64_t count) {
  while (true) {
    {
      base::MutexLock lock(mutex_);
      while (reserved.is_growing && reserved.end - reserved.next < count) grown_.Wait(mutex_);
      if (reserved.is_dropped) return NotFound(reserved.options.name);
      if (reserved.end - reserved.next >= count) {
        const uint64_t first = reserved.next;
        reserved.next += count;
        return first;
      }
      reserved.is_growing = true;
    }
    const Status status = Guarded([&] { return Grow(reserved, count); });
    base::MutexLock lock(mutex_);
    reserved.is_growing = false;
    grown_.NotifyAll();
    RETURN_IF_ERROR(status);
  }
}

Result<uint64_t> Sequences::Next(std::string_view name, uint64_t count) {
  if (count == 0) {
    return Status::InvalidArgument("sequence " + base::Quote(name) +
                                   ": 0 ids were asked for; expected 1 or more");
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<Reserved> reserved, Find(name));
  const Result<uint64_t> first = Take(*reserved, count);
  const bool is_gone = !first.has_value() && first.error().code() == StatusCode::kNotFound;
  if (!is_gone) return first;
  // It was dropped before this call, or during it. One of that name may be there by now.
  {
    base::MutexLock lock(mutex_);
    const auto found = reserved_.find(name);
    if (found != reserved_.end() && found->second == reserved) reserved_.erase(found);
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<Reserved> successor, Find(name));
  return Take(*successor, count);
}

}  // namespace tandem::engine
