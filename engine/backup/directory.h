// A directory of backups: the files in it. Their names are made here and used nowhere else.
//
//   store-NUMBER-ID-HASH  a store file        NUMBER in decimal, ID and HASH 32 hex digits
//   log-NUMBER-ID-HASH    a log segment, up to where a backup needs it
//   backup-N              the record of backup N (engine/backup/record.h)
//   unfinished-N          empty: backup N is being made, or a crash ended that
//
// A record that cannot be read was left by a crash if its unfinished-N exists, and is damaged
// otherwise: unfinished-N is durable before the first file of backup N is written, and is removed
// when the record is durable.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "engine/backup/record.h"
#include "tandem/status.h"

namespace tandem::engine {

/// A file that a backup is made of.
struct BackupFile {
  bool is_segment = false;
  format::FileNumber number;
  format::FileId id;
  uint64_t size_bytes = 0;
  format::Hash128 hash;

  std::string name() const;
};

/// The files of a backup: store files by number, then segments.
std::vector<BackupFile> FilesOf(const format::BackupRecord& record);

std::string BackupRecordName(uint64_t number);

/// Threads: one at a time.
class BackupDirectory {
 public:
  /// Reads every record. Errors: kInvalidArgument (it holds something else), kIoError.
  static Result<BackupDirectory> Read(std::unique_ptr<base::Directory> directory,
                                      const std::string& path);

  base::Directory* directory() { return directory_.get(); }
  const std::map<uint64_t, format::BackupRecord>& records() const { return records_; }
  /// Why a record that was finished cannot be read, by its number.
  const std::map<uint64_t, Status>& damaged() const { return damaged_; }
  bool empty() const { return names_.empty(); }
  /// Above every number that was seen.
  uint64_t next_number() const;
  bool HasFile(const std::string& name) const { return names_.contains(name); }
  /// Names of files of some backup that can be read.
  std::set<std::string> ReferencedFiles() const;

  /// Cleans up what a crash left of a backup: removes its record unless it is whole, then its mark.
  /// Requires: the lock. Errors: kIoError.
  Status CleanUpUnfinished();
  /// Adds `record`, which was written.
  void Add(format::BackupRecord record);
  /// Removes the record of a backup, durably. Requires: the lock.
  Status RemoveRecord(uint64_t number);
  /// Removes the files that no record names; none while a record is damaged, since it is unknown
  /// what it names. Requires: the lock.
  Status RemoveUnreferenced();

 private:
  explicit BackupDirectory(std::unique_ptr<base::Directory> directory)
      : directory_(std::move(directory)) {}
  Status Note(const std::string& name, const std::string& path);
  Status ReadRecord(uint64_t number);

  std::unique_ptr<base::Directory> directory_;
  std::set<std::string> names_;  // All that is ours.
  std::set<uint64_t> unfinished_;
  std::map<uint64_t, format::BackupRecord> records_;
  std::map<uint64_t, Status> damaged_;
};

/// The name of the mark of an unfinished backup.
std::string UnfinishedName(uint64_t number);

}  // namespace tandem::engine
