// See history.h.
#include "test/interleave/history.h"

#include <algorithm>
#include <limits>

namespace tandem::test {

ModelRow WithoutTimes(ModelRow row) {
  for (ModelCell& cell : row.cells) cell.timestamp = 0;
  return row;
}

std::vector<ModelRow> WithoutTimes(std::vector<ModelRow> rows) {
  for (ModelRow& row : rows) row = WithoutTimes(std::move(row));
  return rows;
}

std::string Describe(const std::vector<ModelRow>& rows) {
  std::string text = "[";
  for (const ModelRow& row : rows) {
    if (text.size() > 1) text += " ";
    text += row.key + "{";
    for (const ModelCell& cell : row.cells) {
      if (text.back() != '{') text += " ";
      text += cell.qualifier + "=" + cell.value.substr(0, 12);
    }
    text += "}";
  }
  return text + "]";
}

std::string History::Check(const ModelState& start) const {
  std::vector<bool> done(operations_.size());
  if (Search(start, &done, operations_.size())) return {};
  return "no order of the operations explains the answers:" + Describe();
}

bool History::Search(const ModelState& state, std::vector<bool>* done, size_t left) const {
  if (left == 0) return true;
  uint64_t first_end = std::numeric_limits<uint64_t>::max();
  for (size_t i = 0; i < operations_.size(); ++i) {
    if (!(*done)[i]) first_end = std::min(first_end, operations_[i].end);
  }
  for (size_t i = 0; i < operations_.size(); ++i) {
    if ((*done)[i] || operations_[i].begin > first_end) continue;
    ModelState after = state;
    if (!operations_[i].apply(&after)) continue;
    (*done)[i] = true;
    if (Search(after, done, left - 1)) return true;
    (*done)[i] = false;
  }
  for (size_t i = 0; i < operations_.size(); ++i) {
    if ((*done)[i] || !operations_[i].may_be_left_out) continue;
    (*done)[i] = true;
    if (Search(state, done, left - 1)) return true;
    (*done)[i] = false;
  }
  return false;
}

std::string History::Describe() const {
  std::vector<const Operation*> sorted;
  for (const Operation& operation : operations_) sorted.push_back(&operation);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Operation* a, const Operation* b) { return a->begin < b->begin; });
  std::string text;
  for (const Operation* operation : sorted) {
    text += "\n    moments " + std::to_string(operation->begin) + " to " +
            std::to_string(operation->end) + ", " + operation->text;
  }
  return text;
}

}  // namespace tandem::test
