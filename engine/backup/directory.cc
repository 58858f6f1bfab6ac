// A name counts as ours only if it is spelled as it would be made here.
#include "engine/backup/directory.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/status_macros.h"
#include "engine/storage/files.h"
#include "engine/storage/storage.h"
#include "format/hash.h"

namespace tandem::engine {
namespace {

constexpr std::string_view kRecordPrefix = "backup-";
constexpr std::string_view kUnfinishedPrefix = "unfinished-";
constexpr size_t kHexDigits = 32;

std::string IdText(const format::FileId& id) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : id.bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

// The number in "PREFIX" + number, spelled without leading zeros.
std::optional<uint64_t> NumberAfter(std::string_view prefix, const std::string& name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  uint64_t number = 0;
  const char* const end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + prefix.size(), end, number);
  const bool is_ours = parsed.ec == std::errc() && number != 0 &&
                       std::string(prefix) + std::to_string(number) == name;
  return is_ours ? std::optional(number) : std::nullopt;
}

bool IsHex(std::string_view text) {
  return text.size() == kHexDigits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

// "store-7-ID-HASH" or "log-7-ID-HASH".
bool IsBackupFileName(const std::string& name) {
  constexpr size_t kTail = 2 * (kHexDigits + 1);
  if (name.size() <= kTail) return false;
  const std::optional<LocalFile> head = ParseFileName(name.substr(0, name.size() - kTail));
  const std::string_view tail = std::string_view(name).substr(name.size() - kTail);
  return head && (head->kind == LocalFileKind::kStore || head->kind == LocalFileKind::kSegment) &&
         tail[0] == '-' && IsHex(tail.substr(1, kHexDigits)) && tail[kHexDigits + 1] == '-' &&
         IsHex(tail.substr(kHexDigits + 2));
}

}  // namespace

std::string BackupFile::name() const {
  const std::string head = is_segment ? SegmentName(number) : StoreFileName(number);
  return head + "-" + IdText(id) + "-" + format::HashText(hash);
}

std::string BackupRecordName(uint64_t number) {
  return std::string(kRecordPrefix) + std::to_string(number);
}

std::string UnfinishedName(uint64_t number) {
  return std::string(kUnfinishedPrefix) + std::to_string(number);
}

std::vector<BackupFile> FilesOf(const format::BackupRecord& record) {
  std::vector<BackupFile> files;
  for (const auto& [number, file] : record.catalog.files) {
    files.push_back({false, number, file.id, file.size_bytes, file.hash});
  }
  for (const format::BackupSegment& segment : record.segments) {
    const format::BoundFile& end = segment.end;
    files.push_back({true, end.number, end.id, end.length_bytes, segment.hash});
  }
  return files;
}

Result<BackupDirectory> BackupDirectory::Read(std::unique_ptr<base::Directory> directory,
                                              const std::string& path) {
  BackupDirectory backups(std::move(directory));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, backups.directory_->List());
  if (std::find(names.begin(), names.end(), kRootName) != names.end()) {
    return Status::InvalidArgument("'" + path +
                                   "' holds a database; expected a directory of backups");
  }
  for (const std::string& name : names) RETURN_IF_ERROR(backups.Note(name, path));
  for (const std::string& name : backups.names_) {
    const std::optional<uint64_t> number = NumberAfter(kRecordPrefix, name);
    if (number) RETURN_IF_ERROR(backups.ReadRecord(*number));
  }
  return backups;
}

Status BackupDirectory::Note(const std::string& name, const std::string& path) {
  const std::optional<uint64_t> unfinished = NumberAfter(kUnfinishedPrefix, name);
  if (unfinished) unfinished_.insert(*unfinished);
  if (unfinished || NumberAfter(kRecordPrefix, name) || IsBackupFileName(name)) {
    names_.insert(name);
    return {};
  }
  return Status::InvalidArgument("'" + path + "' holds '" + name +
                                 "', which is no part of a backup; name a directory of its own");
}

Status BackupDirectory::ReadRecord(uint64_t number) {
  ASSIGN_OR_RETURN(const auto file,
                   directory_->Open(BackupRecordName(number), base::OpenMode::kReadOnly));
  Result<format::BackupRecord> record = format::ReadBackupRecord(file.get(), number);
  if (record) {
    records_.emplace(number, std::move(*record));
    return {};
  }
  const StatusCode code = record.error().code();
  if (code != StatusCode::kCorruption && code != StatusCode::kUnsupported) return record.error();
  if (!unfinished_.contains(number)) damaged_.emplace(number, record.error());
  return {};
}

uint64_t BackupDirectory::next_number() const {
  uint64_t last = 0;
  if (!records_.empty()) last = std::max(last, records_.rbegin()->first);
  if (!damaged_.empty()) last = std::max(last, damaged_.rbegin()->first);
  if (!unfinished_.empty()) last = std::max(last, *unfinished_.rbegin());
  return last + 1;
}

std::set<std::string> BackupDirectory::ReferencedFiles() const {
  std::set<std::string> names;
  for (const auto& [number, record] : records_) {
    for (const BackupFile& file : FilesOf(record)) names.insert(file.name());
  }
  return names;
}

Status BackupDirectory::CleanUpUnfinished() {
  if (unfinished_.empty()) return {};
  for (const uint64_t number : unfinished_) {
    const std::string record = BackupRecordName(number);
    if (!records_.contains(number) && names_.erase(record) > 0) {
      RETURN_IF_ERROR(directory_->Remove(record));
    }
  }
  // The marks stay until the records are gone for good, or are there for good.
  RETURN_IF_ERROR(directory_->Sync());
  for (const uint64_t number : unfinished_) {
    RETURN_IF_ERROR(directory_->Remove(UnfinishedName(number)));
    names_.erase(UnfinishedName(number));
  }
  unfinished_.clear();
  return directory_->Sync();
}

void BackupDirectory::Add(format::BackupRecord record) {
  for (const BackupFile& file : FilesOf(record)) names_.insert(file.name());
  names_.insert(BackupRecordName(record.number));
  const uint64_t number = record.number;
  records_.emplace(number, std::move(record));
}

Status BackupDirectory::RemoveRecord(uint64_t number) {
  RETURN_IF_ERROR(directory_->Remove(BackupRecordName(number)));
  RETURN_IF_ERROR(directory_->Sync());
  names_.erase(BackupRecordName(number));
  records_.erase(number);
  return {};
}

Status BackupDirectory::RemoveUnreferenced() {
  if (!damaged_.empty() || !unfinished_.empty()) return {};
  const std::set<std::string> referenced = ReferencedFiles();
  for (auto name = names_.begin(); name != names_.end();) {
    if (!IsBackupFileName(*name) || referenced.contains(*name)) {
      ++name;
      continue;
    }
    RETURN_IF_ERROR(directory_->Remove(*name));
    name = names_.erase(name);
  }
  return {};
}

}  // namespace tandem::engine
