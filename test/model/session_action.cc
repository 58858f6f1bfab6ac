// See session_action.h.
#include "test/model/session_action.h"

namespace tandem::test {
namespace {

constexpr size_t kLineBytes = 160;

std::string Cut(std::string line) {
  if (line.size() > kLineBytes) line = line.substr(0, kLineBytes - 3) + "...";
  return line;
}

}  // namespace

std::string SessionAction::Describe() const {
  constexpr const char* kNames[] = {"write",          "write what is refused",
                                    "flush",          "compact",
                                    "split",          "merge regions",
                                    "truncate",       "drop and create",
                                    "rename twice",   "change indexes",
                                    "renew family",   "alter family",
                                    "run one job",    "run all jobs",
                                    "take snapshot",  "release snapshot",
                                    "open cursor",    "advance cursor",
                                    "check rows",     "check table",
                                    "check snapshot", "verify",
                                    "set clock",      "reopen",
                                    "power cut",      "kill"};
  constexpr const char* kLevels[] = {"memory", "buffered", "written", "synced"};
  std::string text = kNames[static_cast<int>(kind)];
  if (!table.empty()) text += " " + table;
  if (!batch.empty()) text += std::string(" ") + kLevels[static_cast<int>(durability)];
  for (const ModelOperation& operation : batch) text += "; " + operation.Describe();
  if (advance_micros != 0) text += " (" + std::to_string(advance_micros) + " us later)";
  if (power_off_at != 0) text += " at disk operation " + std::to_string(power_off_at) + " of:";
  text = Cut(std::move(text));
  for (const SessionAction& action : until) text += "\n  " + Cut(action.Describe());
  return text;
}

std::string Describe(const std::vector<SessionAction>& actions, size_t lines_max) {
  std::string text;
  size_t lines = 0;
  for (const SessionAction& action : actions) {
    const std::string described = action.Describe();
    for (size_t begin = 0; begin <= described.size();) {
      const size_t end = std::min(described.find('\n', begin), described.size());
      if (++lines <= lines_max) text += "\n    " + described.substr(begin, end - begin);
      begin = end + 1;
    }
  }
  if (lines > lines_max) text += "\n    and " + std::to_string(lines - lines_max) + " lines more";
  return text;
}

uint64_t OperationCount(const std::vector<SessionAction>& actions) {
  uint64_t count = 0;
  for (const SessionAction& action : actions) {
    count += action.batch.size() + OperationCount(action.until);
  }
  return count;
}

}  // namespace tandem::test
