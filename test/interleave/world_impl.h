// One call of a World: its moments, its result, and what the model has to say about it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tandem/observer.h"
#include "test/interleave/world.h"

namespace tandem::test {

constexpr int64_t kNow = 1'700'000'000'000'000;

uint64_t HashOf(std::string_view text);
/// Of a row and its value, as World::Rows has them.
ModelOperation OperationOf(const std::pair<std::string, std::string>& row);
std::string TextOf(const World::Rows& rows);
/// What a scan, or a query for a value, returns; nothing where there is no such table.
std::optional<std::vector<ModelRow>> Expected(const ModelState& state,
                                              const std::optional<std::string>& value,
                                              const std::string& table = "t");

/// The index "by_c".
IndexOptions IndexByC();
/// The observer of WorldPlan::observers.
std::shared_ptr<Observer> NewCounter();

class World::Call {
 public:
  Call(World* world, std::string text);

  /// The call has returned.
  void End() { end_ = world_.NextMoment(); }
  /// Records it with its result.
  void Record(const std::string& answer, std::function<bool(ModelState*)> apply);
  /// As Record for a call whose only answer is a status: `apply` is for success, and a refusal
  /// because of a Close is valid during or after it.
  void RecordStatus(const Status& status, std::function<bool(ModelState*)> apply);
  /// A unique index refused what `apply` does.
  void RecordRefusal(std::function<bool(ModelState*)> apply);
  uint64_t begin() const { return begin_; }
  const std::string& text() const { return text_; }

 private:
  void RecordFailure(const Status& status, std::function<bool(ModelState*)> apply);

  World& world_;
  const std::string text_;
  const uint64_t begin_;
  uint64_t end_ = 0;
};

}  // namespace tandem::test
