// See script.h.
#include "tools/stress/script.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>
#include <span>

#include "base/status_macros.h"
#include "tandem/limits.h"
#include "tools/simulation/bulk_load.h"
#include "tools/stress/schema.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

using test::ModelOperation;
using tools::Format;
using OperationKind = ModelOperation::Kind;

constexpr std::string_view kModes[] = {"plain", "crash", "faults"};
constexpr std::string_view kLevels[] = {"memory", "buffered", "written", "synced"};
constexpr std::string_view kOperations[] = {
    "put", "delete-cell", "delete-column", "delete-family", "delete-row", "increment", "append"};
constexpr uint64_t kScriptRowsMax = 1'000'000;
constexpr uint64_t kRepeatedMax = 4 << 20;

bool IsTable(std::string_view name) { return name == kNorth || name == kSouth || name == kLoose; }

/// The words that follow a step's name, each a letter: t a table, T one or none, m one of the
/// mirrored ones, n and a numbers, and c, f, h, H, e one of a list.
struct Grammar {
  std::string_view name;
  std::string_view words;
};
constexpr Grammar kSteps[] = {{"write", ""},         {"lie", ""},
                              {"flush", "T"},        {"compact", "t"},
                              {"split", "tn"},       {"merge-regions", "tn"},
                              {"work", "n"},         {"advance", "n"},
                              {"snapshot", ""},      {"release", ""},
                              {"check", "tn"},       {"verify", ""},
                              {"reopen", ""},        {"kill", ""},
                              {"power-off-at", "n"}, {"crash", "cnha"},
                              {"fault", "fnHe"},     {"heal", ""},
                              {"space", "n"},        {"change-index", "mn"},
                              {"observe", "m"},      {"load", ""},
                              {"truncate", "t"},     {"drop", "t"},
                              {"create", "t"},       {"rename", "t"},
                              {"name-snapshot", ""}, {"drop-snapshot", "n"}};
constexpr std::string_view kKept[] = {"none", "all", "random"};
constexpr std::string_view kTorn[] = {"torn", "whole"};
constexpr std::string_view kFaulted[] = {"any",         "read", "write",         "truncate",
                                         "preallocate", "sync", "create",        "open",
                                         "remove",      "list", "directory-sync"};
constexpr std::string_view kHow[] = {"once", "sticky", "partly"};
constexpr std::string_view kErrors[] = {"io", "space"};

std::string Word(std::string_view bytes) {
  if (bytes.empty()) return "''";
  if (bytes.size() > 8 && std::ranges::count(bytes, bytes[0]) == std::ssize(bytes)) {
    return std::to_string(bytes.size()) + "*" + Word(bytes.substr(0, 1));
  }
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    if (byte > 0x20 && byte < 0x7f && byte != '\\' && byte != '*' && byte != '\'' && byte != ';') {
      text += byte;
    } else {
      text += {'\\', 'x', kDigits[static_cast<uint8_t>(byte) >> 4], kDigits[byte & 15]};
    }
  }
  return text;
}

bool HasValues(OperationKind kind) {
  return kind == OperationKind::kPut || kind == OperationKind::kIncrement ||
         kind == OperationKind::kAppend;
}

std::string PrintOperation(const ModelOperation& operation) {
  std::string text(kOperations[static_cast<size_t>(operation.kind)]);
  text += " " + Word(operation.table) + " " + Word(operation.row);
  if (operation.kind != OperationKind::kDeleteRow) text += " " + Word(operation.family);
  text += operation.timestamp.has_value() ? " " + std::to_string(*operation.timestamp) : " -";
  for (const auto& [qualifier, value] : operation.columns) {
    text += " " + Word(qualifier);
    if (HasValues(operation.kind)) text += " " + Word(value);
  }
  return text;
}

/// The words of one line, taken from left to right.
class Line {
 public:
  Line(std::string_view text, uint64_t number) : number_(number) {
    for (const std::string_view word : tools::SplitText(text, ' ')) {
      if (!word.empty()) words_.push_back(word);
    }
  }

  bool at_end() const { return next_ == words_.size(); }
  std::string_view peek() const { return at_end() ? "" : words_[next_]; }
  std::string_view Take() { return at_end() ? "" : words_[next_++]; }
  Status Refuse(std::string_view expected) const {
    return Refuse(expected, at_end() ? "the end of the line" : words_[next_]);
  }
  Result<std::string> TakeWord();
  Result<uint64_t> TakeNumber();
  Result<size_t> TakeOneOf(std::span<const std::string_view> list, std::string_view what);

 private:
  Status Refuse(std::string_view expected, std::string_view found) const {
    return Status::InvalidArgument(Format("line {}: expected {}, found '{}'", number_, expected,
                                          tools::EscapeBytes(found.substr(0, 60))));
  }

  uint64_t number_;
  std::vector<std::string_view> words_;
  size_t next_ = 0;
};

template <typename Number>
bool ParseNumber(std::string_view text, Number* number) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), *number);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

Result<std::string> Line::TakeWord() {
  if (at_end()) return Refuse("a word");
  std::string_view word = peek();
  uint64_t count = 1;
  if (const size_t star = word.find('*'); star != std::string_view::npos) {
    if (!ParseNumber(word.substr(0, star), &count) || count > kRepeatedMax) {
      return Refuse("COUNT*WORD with a count up to 4194304");
    }
    word.remove_prefix(star + 1);
  }
  auto bytes = word == "''" ? Result<std::string>(std::string()) : tools::ParseEscaped(word);
  if (!bytes.has_value() || bytes->size() * count > (16 << 20)) return Refuse("a word");
  Take();
  std::string repeated;
  for (; count > 0; --count) repeated += *bytes;
  return repeated;
}

Result<uint64_t> Line::TakeNumber() {
  uint64_t number = 0;
  if (!ParseNumber(peek(), &number)) return Refuse("a number from 0");
  Take();
  return number;
}

Result<size_t> Line::TakeOneOf(std::span<const std::string_view> list, std::string_view what) {
  const auto found = std::ranges::find(list, peek());
  if (found != list.end()) {
    Take();
    return static_cast<size_t>(found - list.begin());
  }
  std::string expected(what);
  for (size_t i = 0; i < list.size(); ++i) {
    expected += (i == 0 ? ": " : ", ") + std::string(list[i]);
  }
  return Refuse(expected);
}

Result<ModelOperation> ParseOperation(Line* line) {
  ModelOperation operation;
  ASSIGN_OR_RETURN(const size_t kind, line->TakeOneOf(kOperations, "an operation"));
  operation.kind = static_cast<OperationKind>(kind);
  ASSIGN_OR_RETURN(operation.table, line->TakeWord());
  ASSIGN_OR_RETURN(operation.row, line->TakeWord());
  if (operation.kind != OperationKind::kDeleteRow) {
    ASSIGN_OR_RETURN(operation.family, line->TakeWord());
  }
  int64_t timestamp = 0;
  if (line->peek() != "-") {
    if (!ParseNumber(line->peek(), &timestamp)) return line->Refuse("a time or -");
    operation.timestamp = timestamp;
  }
  line->Take();
  const bool has_values = HasValues(operation.kind);
  const bool names_column = has_values || operation.kind == OperationKind::kDeleteCell ||
                            operation.kind == OperationKind::kDeleteColumn;
  while (names_column &&
         (operation.columns.empty() || (has_values && !line->at_end() && line->peek() != ";"))) {
    ASSIGN_OR_RETURN(std::string column, line->TakeWord());
    std::string value;
    if (has_values) {
      const Line at = *line;
      ASSIGN_OR_RETURN(value, line->TakeWord());
      int64_t delta = 0;
      if (operation.kind == OperationKind::kIncrement && !ParseNumber(value, &delta)) {
        return at.Refuse("an integer");
      }
    }
    operation.columns.emplace_back(std::move(column), std::move(value));
  }
  return operation;
}

/// Refuses what the database would refuse, and what a recovery could not be compared with: loose is
/// written at the level memory and nothing else is.
Status CheckOperation(const Line& line, const ModelOperation& operation, Durability durability) {
  const bool is_loose = operation.table == kLoose;
  if (!IsTable(operation.table)) return line.Refuse("a table: north, south or loose");
  if (is_loose != (durability == Durability::kMemory)) {
    return line.Refuse("the level memory for the table loose, and for no other");
  }
  const std::string& family = operation.family;
  const bool has_family = operation.kind == OperationKind::kDeleteRow || family.empty() ||
                          family == "d" || (!is_loose && (family == "h" || family == "w"));
  if (!has_family) return line.Refuse("a family: d or '', and in north and south h or w");
  if (operation.row.empty() || operation.row.size() > kRowKeyBytesMax) {
    return line.Refuse(Format("a row key of 1 to {} bytes", kRowKeyBytesMax));
  }
  std::set<std::string_view> names;
  for (const auto& [name, value] : operation.columns) {
    if (!names.insert(name).second || name.size() > kQualifierBytesMax) {
      return line.Refuse(Format("different columns of at most {} bytes", kQualifierBytesMax));
    }
  }
  return {};
}

Status ParseWrite(Line* line, Step* step) {
  if (step->kind != Step::Kind::kLoad) {
    ASSIGN_OR_RETURN(const size_t level, line->TakeOneOf(kLevels, "a level"));
    step->durability = static_cast<Durability>(level);
  }
  while (true) {
    Line at = *line;
    ASSIGN_OR_RETURN(ModelOperation operation, ParseOperation(line));
    RETURN_IF_ERROR(CheckOperation(at, operation, step->durability));
    step->operations.push_back(std::move(operation));
    if (step->kind == Step::Kind::kLoad && !test::MayBeLoaded(step->operations)) {
      return at.Refuse("puts of one table");
    }
    if (line->peek() != ";") return {};
    line->Take();
  }
}

Status ParseListed(Line* line, std::span<const std::string_view> list, std::string* word) {
  ASSIGN_OR_RETURN(const size_t at, line->TakeOneOf(list, "one of"));
  *word = list[at];
  return {};
}

Status ParseArgument(char what, Line* line, Step* step) {
  switch (what) {
    case 'T':
      if (line->at_end()) return {};
      [[fallthrough]];
    case 'm':
    case 't': {
      if (what == 'm' && line->peek() == kLoose) return line->Refuse("a table: north or south");
      if (!IsTable(line->peek())) return line->Refuse("a table: north, south or loose");
      ASSIGN_OR_RETURN(step->name, line->TakeWord());
      return {};
    }
    case 'c':
      return ParseListed(line, kKept, &step->name);
    case 'f':
      return ParseListed(line, kFaulted, &step->name);
    case 'h':
      return ParseListed(line, kTorn, &step->how);
    case 'H':
      return ParseListed(line, kHow, &step->how);
    case 'e':
      return ParseListed(line, kErrors, &step->error);
    default: {
      ASSIGN_OR_RETURN(const uint64_t number, line->TakeNumber());
      (what == 'a' ? step->again : step->number) = number;
      return {};
    }
  }
}

Result<Step> ParseStep(Line line) {
  std::vector<std::string_view> names;
  for (const Grammar& grammar : kSteps) names.push_back(grammar.name);
  Step step;
  ASSIGN_OR_RETURN(const size_t kind, line.TakeOneOf(names, "a step"));
  step.kind = static_cast<Step::Kind>(kind);
  if (step.kind == Step::Kind::kWrite || step.kind == Step::Kind::kLie ||
      step.kind == Step::Kind::kLoad) {
    RETURN_IF_ERROR(ParseWrite(&line, &step));
  }
  for (const char what : kSteps[kind].words) RETURN_IF_ERROR(ParseArgument(what, &line, &step));
  if (!line.at_end()) return line.Refuse("the end of the line");
  return step;
}

/// Takes one line of the head; `seen` counts them.
Status ParseHead(Line line, size_t seen, Script* script) {
  constexpr std::string_view kHead[] = {"tandem-operations", "mode", "seed", "rows"};
  if (line.peek() != kHead[seen]) return line.Refuse(Format("'{}'", kHead[seen]));
  line.Take();
  if (seen == 1) {
    ASSIGN_OR_RETURN(const size_t mode, line.TakeOneOf(kModes, "a mode"));
    script->mode = static_cast<Mode>(mode);
    return {};
  }
  Line at = line;
  ASSIGN_OR_RETURN(const uint64_t number, line.TakeNumber());
  if (seen == 0 && number != 1) return at.Refuse("version 1, the only one that this program knows");
  if (seen == 2) script->seed = number;
  if (seen == 3) script->rows = number;
  if (seen == 3 && (number < 4 || number > kScriptRowsMax)) return at.Refuse("4 to 1000000 rows");
  return line.at_end() ? Status() : line.Refuse("the end of the line");
}

}  // namespace

std::string_view NameOf(Mode mode) { return kModes[static_cast<size_t>(mode)]; }

std::string Print(const Step& step) {
  const Grammar& grammar = kSteps[static_cast<size_t>(step.kind)];
  std::string text(grammar.name);
  for (size_t i = 0; i < step.operations.size(); ++i) {
    if (i == 0 && step.kind != Step::Kind::kLoad) {
      text.append(" ").append(kLevels[static_cast<size_t>(step.durability)]);
    }
    text += (i == 0 ? " " : " ; ") + PrintOperation(step.operations[i]);
  }
  for (const char what : grammar.words) {
    if (what == 'T' && step.name.empty()) continue;
    text += " ";
    if (what == 't' || what == 'T' || what == 'm') text += Word(step.name);
    if (what == 'c' || what == 'f') text += step.name;
    if (what == 'h' || what == 'H') text += step.how;
    if (what == 'e') text += step.error;
    if (what == 'n') text += std::to_string(step.number);
    if (what == 'a') text += std::to_string(step.again);
  }
  return text;
}

std::string Print(const Script& script) {
  std::string text = Format("tandem-operations 1\nmode {}\nseed {}\nrows {}\n", NameOf(script.mode),
                            script.seed, script.rows);
  for (const Step& step : script.steps) text += Print(step) + "\n";
  return text;
}

Result<Script> ParseScript(std::string_view text) {
  Script script;
  size_t head = 0;
  uint64_t number = 0;
  for (const std::string_view content : tools::SplitText(text, '\n')) {
    Line line(content, ++number);
    if (line.at_end() || line.peek().starts_with('#')) continue;
    if (head < 4) {
      RETURN_IF_ERROR(ParseHead(line, head++, &script));
      continue;
    }
    ASSIGN_OR_RETURN(Step step, ParseStep(std::move(line)));
    step.line = number;
    script.steps.push_back(std::move(step));
  }
  if (head == 4) return script;
  return Status::InvalidArgument(
      Format("line {}: expected the head of a recorded run, found the end of the file", number));
}

}  // namespace tandem::stress
