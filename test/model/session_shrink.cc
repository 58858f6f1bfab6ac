// See session_shrink.h.
#include "test/model/session_shrink.h"

#include <utility>

#include "tools/simulation/minimize.h"

namespace tandem::test {
namespace {

// A run takes milliseconds to a second; more of them than this are not worth waiting for.
constexpr int kRunsMax = 4000;

class Shrinker {
 public:
  Shrinker(const SessionPlan& plan, std::vector<SessionAction> actions)
      : plan_(plan), actions_(std::move(actions)) {}

  std::vector<SessionAction> Shrink() {
    for (bool smaller = true; smaller;) {
      smaller = CutList(&actions_);
      // By index: a cut replaces nothing but what it is given.
      for (size_t i = 0; i < actions_.size(); ++i) {
        smaller |= CutList(&actions_[i].until);
        smaller |= CutList(&actions_[i].batch);
        smaller |= CutBatch(&actions_[i].batch);
        for (SessionAction& action : actions_[i].until) {
          smaller |= CutList(&action.batch);
          smaller |= CutBatch(&action.batch);
        }
      }
    }
    return std::move(actions_);
  }

 private:
  bool Fails() { return runs_++ < kRunsMax && ReplaySession(plan_, actions_).has_value(); }

  // Takes out as much of a list within actions_ as leaves them failing.
  template <typename Item>
  bool CutList(std::vector<Item>* list) {
    const size_t before = list->size();
    *list = Minimize(*list, [&](const std::vector<Item>& part) {
      const std::vector<Item> kept = std::exchange(*list, part);
      const bool fails = Fails();
      *list = kept;
      return fails;
    });
    return list->size() < before;
  }

  bool CutBatch(std::vector<ModelOperation>* batch) {
    bool smaller = false;
    for (ModelOperation& operation : *batch) {
      if (operation.kind == ModelOperation::Kind::kPut && operation.columns.size() > 1) {
        smaller |= CutColumns(&operation);
      }
    }
    return smaller;
  }

  // A put keeps one column.
  bool CutColumns(ModelOperation* put) {
    bool smaller = false;
    for (size_t i = put->columns.size(); i-- > 0 && put->columns.size() > 1;) {
      auto before = put->columns;
      put->columns.erase(put->columns.begin() + static_cast<std::ptrdiff_t>(i));
      if (Fails()) {
        smaller = true;
      } else {
        put->columns = std::move(before);
      }
    }
    return smaller;
  }

  const SessionPlan plan_;
  std::vector<SessionAction> actions_;
  int runs_ = 0;
};

}  // namespace

std::optional<std::string> ReplaySession(const SessionPlan& plan,
                                         const std::vector<SessionAction>& actions) {
  Counters ignored;
  Session session(plan, &ignored);
  try {
    session.Replay(actions);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return std::nullopt;
}

std::vector<SessionAction> ShrinkSession(const SessionPlan& plan,
                                         std::vector<SessionAction> actions) {
  return Shrinker(plan, std::move(actions)).Shrink();
}

}  // namespace tandem::test
