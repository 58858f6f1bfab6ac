// What threads write: every row has a history that follows from the seed alone, so that its content
// is known from one number, its generation.
//
// A slot is a row that one thread owns. Generation g of a slot is a handful of operations; each
// eighth begins with a deletion of the row, so that at most eight of them account for what it
// holds. Operations carry timestamps of their own, which rise with the generation. Slots of the
// mirrored kind live in north and south, written by one batch; a thread's markers too, and those
// are all written together; loose ones live in loose. Each generation of a marker and of a loose
// row begins with the deletion: of batches at Durability::kMemory any may be lost and later ones
// not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tandem/write_batch.h"
#include "tools/generator/generator.h"
#include "tools/simulation/model.h"

namespace tandem::stress {

inline constexpr uint32_t kMarkersOfThread = 4;
inline constexpr uint64_t kGenerationsOfReset = 8;

/// Threads: any; it never changes.
class Workload {
 public:
  Workload(uint64_t seed, uint64_t rows, uint32_t threads);

  uint32_t slot_count() const { return static_cast<uint32_t>(keys_.size()); }
  uint32_t thread_count() const { return threads_; }
  const std::vector<test::TablePlan>& tables() const { return tables_; }
  bool is_loose(uint32_t slot) const { return slot >= first_loose_; }
  bool is_marker(uint32_t slot) const { return slot >= first_marker_ && slot < first_loose_; }
  /// Each generation owes nothing to those before.
  bool stands_alone(uint32_t slot) const { return is_marker(slot) || is_loose(slot); }
  uint32_t OwnerOf(uint32_t slot) const { return slot % threads_; }
  /// Of a thread, by kind.
  const std::vector<uint32_t>& MirroredOf(uint32_t thread) const { return mirrored_of_[thread]; }
  const std::vector<uint32_t>& MarkersOf(uint32_t thread) const { return markers_of_[thread]; }
  const std::vector<uint32_t>& LooseOf(uint32_t thread) const { return loose_of_[thread]; }
  const std::string& key(uint32_t slot) const { return keys_[slot]; }
  /// All keys, of which predicates are made.
  const std::vector<std::string>& keys() const { return keys_; }
  /// The slots of a table in the order of their keys.
  const std::vector<uint32_t>& SlotsOf(std::string_view table) const;
  /// nullopt: no such row is ever written.
  std::optional<uint32_t> Find(std::string_view key) const;

  /// What makes a slot's generation of the one before, in one of its tables.
  std::vector<test::ModelOperation> OperationsOf(uint32_t slot, uint64_t generation,
                                                 std::string_view table) const;
  /// The same in all its tables.
  void AddTo(uint32_t slot, uint64_t generation, WriteBatch* batch) const;
  /// The row as `read` sees it at a generation; 0: it was never written.
  std::optional<test::ModelRow> StateAt(uint32_t slot, uint64_t generation, std::string_view table,
                                        const test::ModelRead& read) const;
  /// A time at which no operation of the generation is in the future, and none of later ones past.
  static int64_t TimeOf(uint64_t generation) { return static_cast<int64_t>(generation * 16 + 15); }
  /// The first generation after this one whose content owes nothing to those before.
  static uint64_t NextReset(uint64_t generation) {
    return (generation / kGenerationsOfReset + 1) * kGenerationsOfReset;
  }

 private:
  const test::TablePlan& TableOf(std::string_view table) const;
  void AddChange(uint32_t slot, uint64_t generation, std::vector<test::ModelOperation>* to) const;

  uint64_t seed_;
  uint32_t threads_;
  uint32_t first_marker_ = 0, first_loose_ = 0;
  std::vector<std::string> keys_;
  std::unordered_map<std::string_view, uint32_t> slots_;  // Views of keys_.
  std::vector<test::TablePlan> tables_;
  std::vector<uint32_t> logged_in_order_, loose_in_order_;
  std::vector<std::vector<uint32_t>> mirrored_of_, markers_of_, loose_of_;
};

}  // namespace tandem::stress
