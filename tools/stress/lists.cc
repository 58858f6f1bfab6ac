// See lists.h.
#include "tools/stress/lists.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status_macros.h"
#include "tools/stress/finding.h"
#include "tools/stress/schema.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

using tools::Format;

constexpr const char* kColumns[] = {"list", "twin"};
constexpr size_t kTokenBytes = 8;

/// "07-00042"; less in the expected state, where 0 is no token.
struct Token {
  uint32_t thread = 0, number = 0;

  std::string text() const { return Format("{:02}-{:05}", thread, number); }
  uint64_t code() const { return (uint64_t{thread} << 32 | number) + 1; }
};

std::string TextOf(uint64_t code) {
  if (code == 0) return "none";
  return Token{static_cast<uint32_t>((code - 1) >> 32), static_cast<uint32_t>(code - 1)}.text();
}

using Tokens = std::vector<Token>;

Result<Tokens> Parse(std::string_view value, const std::string& where) {
  Tokens tokens;
  for (size_t at = 0; at < value.size(); at += kTokenBytes) {
    const std::string text(value.substr(at, kTokenBytes));
    Token token;
    // No text that is not one gives itself back.
    if (text.size() == kTokenBytes) {
      token.thread = static_cast<uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
      token.number = static_cast<uint32_t>(std::strtoul(text.c_str() + 3, nullptr, 10));
    }
    if (token.text() != text || token.thread >= kListThreads) {
      return Mismatch(where, Format("a token at byte {}", at), text);
    }
    tokens.push_back(token);
  }
  return tokens;
}

/// The list as of this generation; none where the row does not exist.
Result<Tokens> TokensIn(const Result<std::optional<Row>>& row, const std::string& where) {
  if (!row.has_value()) return In(where, row.error());
  if (!row->has_value()) return Tokens();
  const std::optional<std::string_view> list = (*row)->Find("d", kColumns[0]);
  const std::optional<std::string_view> twin = (*row)->Find("d", kColumns[1]);
  if (!list.has_value() || list != twin) {
    return Mismatch(where, "two equal ones", Describe(test::ModelRow((*row)->view())));
  }
  return Parse(*list, where);
}

Result<Tokens> ReadTokens(const Stressed& stressed, const std::string& key) {
  stressed.Begin("get of a list");
  return TokensIn(stressed.database->Get({}, kListsTable, key), "lists: get of " + key);
}

/// Every token is where it has been before, and those of each thread are in their order.
Status CheckPlaces(ListState* state, const Tokens& tokens, const std::string& where) {
  std::array<uint32_t, kListThreads> next = {};
  for (size_t place = 0; place < tokens.size(); ++place) {
    const Token& token = tokens[place];
    uint64_t known = 0;
    if (place >= kListPlaces ||
        (!state->places[place].compare_exchange_strong(known, token.code()) &&
         known != token.code())) {
      return Mismatch(Format("{}: place {}", where, place), TextOf(known), token.text());
    }
    if (token.number != next[token.thread]++) {
      return Mismatch(Format("{}: place {}", where, place),
                      Token{token.thread, next[token.thread] - 1}.text(), token.text());
    }
  }
  return {};
}

Result<std::vector<std::string>> Append(const Stressed& stressed, const std::string& key,
                                        const ListAppend& append, const std::string& token) {
  constexpr uint32_t kAttemptsMax = 1'000'000;  // Others may be faster for long.
  const std::array<ColumnValue, 2> columns = {ColumnValue{kColumns[0], token},
                                              ColumnValue{kColumns[1], token}};
  WriteOptions options;
  options.durability = append.durability;
  if (!append.in_transaction) {
    stressed.Begin("append");
    return stressed.database->AppendColumns(options, kListsTable, key, "d", columns);
  }
  stressed.Begin("append in a transaction");
  std::vector<std::string> values;
  const auto body = [&](Transaction& transaction) -> Status {
    ASSIGN_OR_RETURN(values, transaction.AppendColumns(kListsTable, key, "d", columns));
    return {};
  };
  RETURN_IF_ERROR(
      stressed.database->Transact(body, {.write = options, .attempts_max = kAttemptsMax}));
  return values;
}

/// Requires: nobody writes. What is killed in between changes nothing: the state of the next
/// generation is not looked at before, and rows of the last one are not looked at afterwards.
Status Renew(const Stressed& stressed, uint32_t list) {
  Lists& lists = stressed.expected->lists();
  const uint64_t generation = lists.generations[list];
  ListState& next = lists.states[list][(generation + 1) % 2];
  next.length.GoOnFrom(0);
  for (auto& place : next.places) place = 0;
  for (auto& number : next.numbers) number = 0;
  lists.generations[list] = generation + 1;
  WriteBatch batch;
  batch.DeleteRow(kListsTable, ListKey(list, generation));
  stressed.Begin("deletion of a list");
  return In("lists: deletion of " + ListKey(list, generation), stressed.database->Write({}, batch));
}

}  // namespace

Status AppendToList(const Stressed& stressed, const ListAppend& append, LastLengths* last) {
  ListState& state = stressed.expected->list(append.list);
  const std::string key = ListKey(append.list, stressed.expected->list_generation(append.list));
  if (state.length.begun >= kListTokens) return {};
  const uint64_t acked = state.length.acked;
  const uint64_t began = stressed.expected->NextStamp();
  ++state.length.begun;
  const Token token{.thread = append.thread,
                    .number = static_cast<uint32_t>(state.numbers[append.thread]++)};
  const std::string where = Format("lists: append of {} to {}{}", token.text(), key,
                                   append.in_transaction ? " in a transaction" : "");
  stressed.log->Add(where);
  const auto values = Append(stressed, key, append, token.text());
  if (!values.has_value()) return In(where, values.error());
  if ((*values)[0] != (*values)[1]) return Mismatch(where, (*values)[0], (*values)[1]);
  ASSIGN_OR_RETURN(const Tokens tokens, Parse((*values)[0], where));
  RETURN_IF_ERROR(CheckBetween(where + ": length", std::max(acked, (*last)[append.list]) + 1,
                               state.length.begun, tokens.size()));
  if (tokens.back().code() != token.code()) {
    return Mismatch(where + ": the last", token.text(), tokens.back().text());
  }
  RETURN_IF_ERROR(CheckPlaces(&state, tokens, where));
  (*last)[append.list] = tokens.size();
  state.length.Returned(tokens.size(), began, stressed.expected->NextStamp());
  ++state.length.acked;
  if (append.durability >= Durability::kWritten) state.length.KeepThrough(tokens.size());
  stressed.expected->Add(Count::kAppends);
  return {};
}

Status ReadList(const Stressed& stressed, uint32_t list) {
  ListState& state = stressed.expected->list(list);
  const std::string key = ListKey(list, stressed.expected->list_generation(list));
  const uint64_t acked = state.length.acked;
  ASSIGN_OR_RETURN(const Tokens tokens, ReadTokens(stressed, key));
  RETURN_IF_ERROR(
      CheckBetween("lists: length of " + key, acked, state.length.begun, tokens.size()));
  return CheckPlaces(&state, tokens, "lists: get of " + key);
}

Status CheckLists(const Stressed& stressed) {
  for (uint32_t list = 0; list < kLists; ++list) {
    const uint64_t acked = stressed.expected->list(list).length.acked;
    const std::string key = ListKey(list, stressed.expected->list_generation(list));
    ASSIGN_OR_RETURN(const Tokens tokens, ReadTokens(stressed, key));
    RETURN_IF_ERROR(CheckBetween("lists: length of " + key, acked, acked, tokens.size()));
    RETURN_IF_ERROR(CheckPlaces(&stressed.expected->list(list), tokens, "lists: get of " + key));
    if (tokens.size() >= kListTokens / 2) RETURN_IF_ERROR(Renew(stressed, list));
  }
  return {};
}

Status RecoverLists(const Stressed& stressed, Survival* survival) {
  for (uint32_t list = 0; list < kLists; ++list) {
    ListState& state = stressed.expected->list(list);
    const std::string key = ListKey(list, stressed.expected->list_generation(list));
    const std::string where = "after recovery: list " + key;
    ASSIGN_OR_RETURN(const Tokens tokens, ReadTokens(stressed, key));
    RETURN_IF_ERROR(CheckBetween(where, state.length.kept, state.length.begun, tokens.size()));
    RETURN_IF_ERROR(CheckPlaces(&state, tokens, where));
    for (size_t place = tokens.size(); place < kListPlaces; ++place) state.places[place] = 0;
    std::array<uint64_t, kListThreads> numbers = {};
    for (const Token& token : tokens) ++numbers[token.thread];
    for (uint32_t thread = 0; thread < kListThreads; ++thread) {
      state.numbers[thread] = numbers[thread];
    }
    survival->Note(state.length, tokens.size(), "list " + key);
    state.length.GoOnFrom(tokens.size());
    if (tokens.size() >= kListTokens / 2) RETURN_IF_ERROR(Renew(stressed, list));
  }
  return {};
}

void KeepLists(const Stressed& stressed) {
  for (uint32_t list = 0; list < kLists; ++list) {
    ListState& state = stressed.expected->list(list);
    state.length.kept = state.length.acked.load();
  }
}

}  // namespace tandem::stress
