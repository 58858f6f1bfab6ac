// Equal queries become one with a count. Of too many those are kept that took most time.
#include "tools/tandem/query_log.h"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "base/status_macros.h"
#include "format/value_text.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/declarations.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/input.h"
#include "tools/tandem/input_lines.h"
#include "tools/tandem/json.h"

namespace tandem::tools {
namespace {

// An object of the log has a dozen members, and more in its explanation.
constexpr std::string_view kBase64 = "_b64";

/// A query with what decides which are left out.
struct Logged {
  AdvisedQuery query;
  uint64_t micros = 0;  // All runs together.
  uint64_t line = 0;    // The first one.
};

/// The members of an object by name; those with bytes are decoded.
class Members {
 public:
  explicit Members(std::span<const Field> fields) : fields_(fields) {}

  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  Result<std::string> Bytes(std::string_view name) const {
    if (const Field* const field = Find(name); field != nullptr) return std::string(field->value);
    const Field* const encoded = Find(std::string(name) + std::string(kBase64));
    if (encoded == nullptr) return std::string();
    const Result<std::string> decoded = DecodeBase64(encoded->value);
    if (!decoded.has_value()) {
      return Status::InvalidArgument(Format("its {}{} is not base64", name, kBase64));
    }
    return decoded;
  }
  Result<bool> Flag(std::string_view name) const {
    const Field* const field = Find(name);
    if (field == nullptr) return false;
    if (field->value == "true") return true;
    if (field->value == "false") return false;
    return Status::InvalidArgument(
        Format("its {} is '{}', expected true or false", name, EscapeBytes(field->value)));
  }
  Result<uint64_t> Count(std::string_view name, uint64_t absent) const {
    const Field* const field = Find(name);
    if (field == nullptr) return absent;
    const std::optional<uint64_t> number = format::ParseUint64(field->value);
    if (number.has_value()) return *number;
    return Status::InvalidArgument(
        Format("its {} is '{}', expected a number from 0", name, EscapeBytes(field->value)));
  }

 private:
  const Field* Find(std::string_view name) const {
    const auto found = std::ranges::find(fields_, name, &Field::name);
    return found == fields_.end() ? nullptr : &*found;
  }

  const std::span<const Field> fields_;
};

Result<Predicate> PredicateOf(const std::string& text) {
  if (text.empty()) return Predicate();
  return Predicate::Parse(text);
}

Result<QueryOptions> OptionsOf(const Members& members) {
  QueryOptions options;
  ASSIGN_OR_RETURN(options.order_by, members.Bytes("order_by"));
  ASSIGN_OR_RETURN(options.descending, members.Flag("descending"));
  ASSIGN_OR_RETURN(options.limit, members.Count("limit", 0));
  ASSIGN_OR_RETURN(options.offset, members.Count("offset", 0));
  ASSIGN_OR_RETURN(options.use_index, members.Bytes("use_index"));
  // Of a list: that there is one is all that is asked.
  ASSIGN_OR_RETURN(const std::string list, members.Bytes("use_indexes"));
  if (!list.empty()) options.use_indexes = {list};
  ASSIGN_OR_RETURN(options.no_index, members.Flag("no_index"));
  ASSIGN_OR_RETURN(options.no_scan, members.Flag("no_scan"));
  ASSIGN_OR_RETURN(options.any_version, members.Flag("any_version"));
  return options;
}

Result<Logged> LoggedOf(const Members& members) {
  if (!members.Has("predicate") && !members.Has("predicate_b64")) {
    return Status::InvalidArgument("it has no predicate");
  }
  Logged logged;
  ASSIGN_OR_RETURN(const std::string text, members.Bytes("predicate"));
  ASSIGN_OR_RETURN(logged.query.predicate, PredicateOf(text));
  ASSIGN_OR_RETURN(logged.query.options, OptionsOf(members));
  ASSIGN_OR_RETURN(const std::string columns, members.Bytes("columns"));
  if (!columns.empty()) {
    ASSIGN_OR_RETURN(ColumnSelection selection, ParseColumns(columns));
    logged.query.columns = std::move(selection.columns);
    logged.query.families = std::move(selection.families);
  }
  ASSIGN_OR_RETURN(const std::string call, members.Bytes("call"));
  if (!call.empty() && call != "query" && call != "count" && call != "aggregate") {
    return Status::InvalidArgument(
        Format("its call is '{}', expected query, count or aggregate", EscapeBytes(call)));
  }
  // An aggregate of no column counts rows.
  logged.query.is_count = call == "count" || (call == "aggregate" && columns.empty());
  ASSIGN_OR_RETURN(logged.query.count, members.Count("count", 1));
  ASSIGN_OR_RETURN(const uint64_t micros, members.Count("micros", 1));
  logged.micros = micros * logged.query.count;
  return logged;
}

/// What two lines of the same query have in common.
std::string KeyOf(const AdvisedQuery& query) {
  std::string key = query.predicate.ToString();
  const QueryOptions& options = query.options;
  key += Format("\n{} {} {} {} {} {} {} {} {} {}", options.order_by, options.descending,
                options.limit, options.offset, options.use_index, options.use_indexes.size(),
                options.no_index, options.no_scan, options.any_version, query.is_count);
  for (const ColumnName& column : query.columns) {
    key += Format("\n{} {}", column.family, column.qualifier);
  }
  for (const std::string& family : query.families) key += "\n" + family;
  return key;
}

class LogReader {
 public:
  explicit LogReader(std::string table) : table_(std::move(table)) {}

  /// `line` ends with a NUL, and is overwritten.
  Status Add(char* line, std::string_view text, uint64_t number) {
    const size_t start = text.find_first_not_of(" \t\r");
    if (start == std::string_view::npos) return {};
    if (text[start] != '{') {
      Logged logged;
      ASSIGN_OR_RETURN(logged.query.predicate, Predicate::Parse(text));
      logged.micros = 1;
      logged.line = number;
      Keep(std::move(logged));
      return {};
    }
    const std::string problem = json_.Read(line, &fields_);
    if (!problem.empty()) return Status::InvalidArgument(problem);
    const Members members(fields_);
    ASSIGN_OR_RETURN(const std::string table, members.Bytes("table"));
    if (!table.empty() && table != table_) {
      ++found_.of_other_tables;
      return {};
    }
    ASSIGN_OR_RETURN(Logged logged, LoggedOf(members));
    logged.line = number;
    Keep(std::move(logged));
    return {};
  }

  LoggedQueries Take() {
    if (queries_.size() > kAdvisedQueriesMax) {
      std::stable_sort(queries_.begin(), queries_.end(),
                       [](const Logged& a, const Logged& b) { return a.micros > b.micros; });
    }
    for (Logged& logged : queries_) {
      if (found_.queries.size() == kAdvisedQueriesMax) {
        ++found_.left_out;
      } else {
        found_.queries.push_back(std::move(logged.query));
        found_.lines.push_back(logged.line);
      }
    }
    return std::move(found_);
  }

 private:
  void Keep(Logged logged) {
    const auto [place, is_new] = places_.emplace(KeyOf(logged.query), queries_.size());
    if (is_new) {
      queries_.push_back(std::move(logged));
    } else {
      queries_[place->second].query.count += logged.query.count;
      queries_[place->second].micros += logged.micros;
    }
  }

  const std::string table_;
  JsonObjectReader json_;
  std::vector<Field> fields_;
  std::map<std::string, size_t> places_;
  std::vector<Logged> queries_;
  LoggedQueries found_;
};

}  // namespace

Result<LoggedQueries> ReadQueryLog(const std::string& path, const std::string& table,
                                   const Context& context) {
  OwnedFile owned;
  std::FILE* file = context.in;
  if (path != "-") {
    ASSIGN_OR_RETURN(owned, OpenInput(path));
    file = owned.get();
  }
  const std::string name = path == "-" ? "standard input" : path;
  InputBuffer input(file, name);
  LineReader lines(&input);
  LogReader reader(table);
  while (true) {
    ASSIGN_OR_RETURN(const bool more, lines.Next());
    if (!more) break;
    if (context.is_interrupted()) return Status::Cancelled("interrupted");
    Status status = Status::InvalidArgument("the line is too long");
    if (!lines.too_long()) {
      char* const line = lines.Terminate();
      status = reader.Add(line, lines.text(), lines.line());
    }
    if (!status.ok()) {
      return Status(status.code(), Format("{}:{}: {}", name, lines.line(), status.message()));
    }
  }
  LoggedQueries found = reader.Take();
  if (!found.queries.empty()) return found;
  return Status::InvalidArgument(
      found.of_other_tables == 0
          ? Format("{}: there is no query", name)
          : Format("{}: there is no query of table '{}', but {} of others", name,
                   EscapeBytes(table), FormatCount(found.of_other_tables)));
}

}  // namespace tandem::tools
