// What the threads of a run called and what was returned, and the check that the results make
// sense: there is an order of all operations, in which each takes effect at a point between its
// begin and its end, such that the reference model gives the same answers in that order (Herlihy
// and Wing, "Linearizability", 1990). Searched as Wing and Gong do: always take next an operation
// that began before any remaining one ended.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tools/simulation/model.h"

namespace tandem::test {

/// The database as the model has it at one step of the search.
struct ModelState {
  /// A bulk load that has begun.
  struct Load {
    int64_t timestamp = 0;     ///< Of its cells.
    uint64_t truncations = 0;  ///< Of the table, before it began.
  };

  Model model;
  std::set<std::string> tables;
  int64_t last_timestamp = 0;
  bool closed = false;
  bool has_index = true;     ///< "t" has "by_c".
  bool is_observed = false;  ///< "t" counts its batches.
  uint64_t truncations = 0;  ///< Of "t".
  std::map<uint64_t, Load> loads;
  std::map<std::string, std::shared_ptr<const ModelState>> snapshots;  ///< Those with names.
};

/// The model's row without timestamps: which one the engine assigns is not the model's to say.
ModelRow WithoutTimes(ModelRow row);
std::vector<ModelRow> WithoutTimes(std::vector<ModelRow> rows);
std::string Describe(const std::vector<ModelRow>& rows);

class History {
 public:
  struct Operation {
    std::string text;  ///< "thread 2: get a -> a{c=1}".
    uint64_t begin = 0, end = 0;
    /// Lets the state take the operation; false: the answer does not fit this state.
    std::function<bool(ModelState*)> apply;
    bool may_be_left_out = false;  ///< It failed, and may have had its effect or not.
  };

  void Add(Operation operation) { operations_.push_back(std::move(operation)); }
  /// The last one added failed, and may have had its effect or not.
  void LetLastBeLeftOut() { operations_.back().may_be_left_out = true; }
  /// Empty when there is such an order; otherwise the calls and results.
  std::string Check(const ModelState& start) const;
  size_t size() const { return operations_.size(); }

 private:
  bool Search(const ModelState& state, std::vector<bool>* done, size_t left) const;
  std::string Describe() const;

  std::vector<Operation> operations_;
};

}  // namespace tandem::test
