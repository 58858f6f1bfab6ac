// Sequences of ids: creating and dropping them, and taking ids.
//
// The catalog has an id for each sequence below which ids may have been given out. Before others
// are, an edit raises it, so ids that a crash may show again were never returned. Of what is
// reserved by an edit, calls take ids under a mutex alone. The first reservation of a process is
// what its call needs, and each further one is twice the one before, up to kReservedMax: rare use
// leaves small gaps, and steady use pays for few edits.
//
// Taking ids:
//   1. Under the mutex: if enough ids are reserved, they are taken. Else the call takes the turn to
//      reserve more, or waits until who has it is done, and begins again.
//   2. Without the mutex: one edit raises the catalog's id. Reserved ids follow one another, since
//      nothing else raises it.
//   3. Under the mutex: the ids are there to be taken; or, after an error, none are.
// A sequence that is dropped meanwhile gives out nothing that was reserved before.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "engine/runtime/health.h"
#include "engine/storage/catalog_editor.h"
#include "engine/storage/storage.h"
#include "tandem/sequence.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: any.
class Sequences {
 public:
  /// All outlive this.
  Sequences(const Storage* storage, CatalogEditor* editor, const Health* health)
      : storage_(storage), editor_(editor), health_(health) {}

  /// See Database::CreateSequence, and so on.
  Status Create(const SequenceOptions& options);
  Status Drop(std::string_view name) EXCLUDES(mutex_);
  std::vector<SequenceInfo> List() const EXCLUDES(mutex_);
  Result<uint64_t> Next(std::string_view name, uint64_t count) EXCLUDES(mutex_);

 private:
  // What this process has of a sequence.
  struct Reserved {
    SequenceOptions options;
    uint64_t next = 0, end = 0;  // Ids [next, end) are reserved; the catalog has `end`.
    uint64_t last_count = 0;     // Of the last reservation.
    bool is_growing = false;     // A thread has the turn to reserve more.
    bool is_dropped = false;
  };

  Result<std::shared_ptr<Reserved>> Find(std::string_view name) EXCLUDES(mutex_);
  Result<uint64_t> Take(Reserved& reserved, uint64_t count) EXCLUDES(mutex_);
  Status Grow(Reserved& reserved, uint64_t count) EXCLUDES(mutex_);
  void Forget(const std::string& name) EXCLUDES(mutex_);

  const Storage* const storage_;
  CatalogEditor* const editor_;
  const Health* const health_;
  mutable base::Mutex mutex_;
  base::CondVar grown_;
  // Those that ids were taken of. What a pointer leads to is guarded as well.
  std::map<std::string, std::shared_ptr<Reserved>, std::less<>> reserved_ GUARDED_BY(mutex_);
};

}  // namespace tandem::engine
