// What a crash may leave: the batches since the last one known to be durable, and the search for
// the prefix of them that a recovered database shows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/simulation/model.h"

namespace tandem::test {

/// A batch that Write was asked for, with what decides its meaning.
struct JournalBatch {
  std::vector<ModelOperation> operations;
  int64_t timestamp = 0;  ///< The batch's.
  int64_t now_micros = 0;
  /// After it; nullopt when Write failed, so that nobody knows.
  std::optional<uint64_t> last_sequence;
  bool is_logged = true;  ///< Whatever its region does.
  /// A bulk load of expired cells alone does not: what was buffered before it stays so.
  bool adds = true;
  /// A table of which it removes all rows, or all cells of `family`.
  std::string emptied = {};
  std::string family = {};
  /// What a family of the table `emptied` became, in the place of that.
  std::optional<FamilyOptions> altered = {};
  /// Whether it surely has an effect. A DeleteCell may have none, and then nothing is logged.
  bool surely_writes() const;
  /// Whether an operation depends on what is stored.
  bool reads() const;
};

/// The rows of a table, with all versions, by key.
using TableContent = std::map<std::string, ModelRow>;

/// Batches on tables of one kind in the order in which they were acknowledged. A crash leaves the
/// effects of the first n of them, n not below a floor, where all are logged. Those that are not go
/// with their memstore: where there are any, a crash leaves all of the first k, and of the next up
/// to n those that are logged.
class Journal {
 public:
  /// `tables` are all that its batches touch; `state` is durable.
  Journal(std::vector<std::string> tables, const Model& state);

  void Append(JournalBatch batch);
  /// Every batch so far has reached the operating system: a killed process does not lose it.
  void MarkWritten() { written_ = batches_.size(); }
  /// Every batch so far is on the disk.
  void MarkDurable() { MarkDurable(batches_.size()); }
  /// Every batch up to the last that changed `table` is on the disk. (A DeleteCell may change
  /// nothing, so it proves nothing.)
  void MarkDurableThrough(const std::string& table);

  size_t size() const { return batches_.size(); }
  const std::vector<std::string>& tables() const { return tables_; }

  struct Recovered {
    std::map<std::string, TableContent> content;  ///< By table; of tables() at least.
    int64_t now_micros = 0;                       ///< When it was read.
    bool killed = false;                          ///< Only the process ended, the system went on.
    /// The last sequence that the database knows of; no batch with a greater one is there.
    uint64_t last_sequence = 0;
  };
  /// The state after the prefix that `recovered` shows, which is durable from now on. Throws
  /// Failure when there is no such prefix.
  Model Recover(const Recovered& recovered);
  /// After Recover: a family is what a change made of it that no row shows, so that Recover could
  /// not tell whether it is there.
  void TakeFamily(const std::string& table, const FamilyOptions& family, int64_t now_micros) {
    base_.AlterFamily(table, family, now_micros);
  }

 private:
  class Search;
  void MarkDurable(size_t count);
  /// How many batches there can be at most.
  size_t MostAt(uint64_t last_sequence) const;
  std::optional<Model> RecoverMixed(const Recovered& recovered, size_t most) const;

  std::vector<std::string> tables_;
  Model base_;  ///< Before batches_[0].
  std::vector<JournalBatch> batches_;
  size_t written_ = 0;
};

}  // namespace tandem::test
