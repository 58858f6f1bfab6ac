// See world_impl.h.
#include <algorithm>

#include "test/interleave/world_impl.h"

namespace tandem::test {

uint64_t HashOf(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : text) hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
  return hash;
}

ModelOperation OperationOf(const std::pair<std::string, std::string>& row) {
  ModelOperation operation;
  const size_t slash = row.first.find('/');
  operation.table = slash == std::string::npos ? "t" : row.first.substr(0, slash);
  operation.row = slash == std::string::npos ? row.first : row.first.substr(slash + 1);
  if (row.second.empty()) {
    operation.kind = ModelOperation::Kind::kDeleteRow;
    return operation;
  }
  operation.family = "d";
  if (const size_t colon = operation.row.find(':'); colon != std::string::npos) {
    operation.family = operation.row.substr(colon + 1);
    operation.row.resize(colon);
  }
  operation.columns = {{"c", row.second}};
  return operation;
}

std::string TextOf(const World::Rows& rows) {
  std::string text;
  for (const auto& [row, value] : rows) {
    text += " " + row + (value.empty() ? " deleted" : "=" + value.substr(0, 12));
  }
  return text;
}

std::optional<std::vector<ModelRow>> Expected(const ModelState& state,
                                              const std::optional<std::string>& value,
                                              const std::string& table) {
  if (!state.tables.contains(table)) return std::nullopt;
  const ModelRead read{.now_micros = kNow, .columns = {}};
  if (!value.has_value()) return WithoutTimes(state.model.Scan(table, {}, read));
  return WithoutTimes(state.model.Query(table, Predicate::Equal("c", *value), {}, read));
}

World::Call::Call(World* world, std::string text)
    : world_(*world),
      text_("thread " + std::to_string(world->scheduler_.running()) + ": " + std::move(text)),
      begin_(world->NextMoment()) {
  world_.scheduler_.Label(text_);
}

void World::Call::Record(const std::string& answer, std::function<bool(ModelState*)> apply) {
  if (end_ == 0) End();
  world_.scheduler_.Label({});
  world_.scheduler_.Note(HashOf(answer));
  if (!world_.recording_) return;
  world_.history_.Add(
      {.text = text_ + " -> " + answer, .begin = begin_, .end = end_, .apply = std::move(apply)});
}

void World::Call::RecordStatus(const Status& status, std::function<bool(ModelState*)> apply) {
  if (end_ == 0) End();
  if (status.code() != StatusCode::kClosed) {
    if (world_.IsExcused(status)) return RecordFailure(status, std::move(apply));
    if (!status.ok()) world_.Problem(text_ + ": " + status.ToString());
    return Record(status.ToString(), [apply = std::move(apply)](ModelState* state) {
      return !state->closed && apply(state);
    });
  }
  const bool is_allowed = std::any_of(world_.closes_.begin(), world_.closes_.end(),
                                      [this](const auto& close) { return close.first <= end_; });
  if (!is_allowed) world_.Problem(text_ + ": closed, but nobody closes");
  Record("closed", [](ModelState*) { return true; });
}

void World::Call::RecordRefusal(std::function<bool(ModelState*)> apply) {
  Record("refused", [apply = std::move(apply)](ModelState* state) {
    ModelState after = *state;
    return !state->closed && !apply(&after);
  });
}

// It may still have its effect at any later time.
void World::Call::RecordFailure(const Status& status, std::function<bool(ModelState*)> apply) {
  if (apply == nullptr) apply = [](ModelState*) { return true; };
  end_ = ~uint64_t{0};
  Record(status.ToString(), std::move(apply));
  if (!world_.recording_) return;
  world_.history_.LetLastBeLeftOut();
}

}  // namespace tandem::test
