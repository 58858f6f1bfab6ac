// The records of tables that store files have, each in memory once: the files of a table have the
// same one until it is altered.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "format/schema.h"
#include "tandem/status.h"

namespace tandem::format {

/// Threads: any. Lifetime: records live as long as somebody holds them.
class TableRecords {
 public:
  /// The record that `bytes` encode, which is the one that equal bytes gave before while somebody
  /// holds that. Errors: as DecodeTable.
  Result<std::shared_ptr<const TableRecord>> Decode(std::string_view bytes) EXCLUDES(mutex_);
  /// How many are remembered; some may be held by nobody.
  size_t size() const EXCLUDES(mutex_);

 private:
  void ForgetUnused() REQUIRES(mutex_);

  mutable base::Mutex mutex_;
  std::map<std::string, std::weak_ptr<const TableRecord>, std::less<>> records_ GUARDED_BY(mutex_);
  size_t sweep_at_ GUARDED_BY(mutex_) = 16;
};

}  // namespace tandem::format
