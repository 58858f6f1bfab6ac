// See registered.h.
#include "format/registry/registered.h"

#include <algorithm>
#include <functional>

#include "base/quote.h"
#include "base/status_macros.h"
#include "format/functions.h"

namespace tandem::format {
namespace {

bool IsCall(const Function& function) { return function.kind == FunctionKind::kCall; }

std::shared_ptr<const RegisteredFunction> FindIn(const FunctionRegistry& registry,
                                                 const std::string& name) {
  const auto found = registry.find(name);
  return found == registry.end() ? nullptr : found->second;
}

std::string NamesOf(const FunctionRegistry& registry) {
  std::string names;
  for (const auto& [name, function] : registry) {
    if (!names.empty()) names += ", ";
    names += base::Quote(name);
  }
  return names;
}

// Calls `use(column)` for each column of the index.
template <typename Index, typename Use>
void ForColumnsOf(Index& index, Use&& use) {
  std::ranges::for_each(index.columns, use);
  if (index.where.has_value()) std::ranges::for_each(index.where->columns, use);
}

// Calls `use(function)` for each call of the table's indexes.
template <typename Table, typename Use>
void ForEachCall(Table& table, const Use& use) {
  const auto of_column = [&use](auto& column) {
    for (auto& function : column.functions) {
      if (IsCall(function)) use(function);
    }
  };
  for (auto& index : table.indexes) ForColumnsOf(index, of_column);
  for (auto& global : table.global_indexes) ForColumnsOf(global.index, of_column);
}

}  // namespace

Status CheckRegistry(const FunctionRegistry& registry) {
  for (const auto& [name, function] : registry) {
    const std::string what = "function " + base::Quote(name);
    if (!IsValidName(name)) return Status::InvalidArgument(what + " has an invalid name");
    if (function == nullptr || function->apply == nullptr) {
      return Status::InvalidArgument(what + " is null");
    }
    if (function->version == 0) {
      return Status::InvalidArgument(what + " has version 0, expected one from 1");
    }
  }
  return {};
}

void Resolve(const FunctionRegistry& registry, TableRecord* table) {
  ForEachCall(*table, [&registry](Function& function) {
    function.registered = FindIn(registry, function.text);
  });
}

Status PinCalls(const FunctionRegistry& registry, std::span<Function> functions) {
  for (Function& function : functions) {
    if (!IsCall(function)) continue;
    function.registered = FindIn(registry, function.text);
    if (function.registered == nullptr) {
      const std::string name = "function " + base::Quote(function.text) + " is not registered: ";
      return Status::InvalidArgument(
          name + (registry.empty() ? "this program has registered none (Options::functions)"
                                   : "this program has registered " + NamesOf(registry)));
    }
    function.first = function.registered->version;
  }
  return {};
}

FunctionRegistry CallsOf(const TableRecord& table) {
  FunctionRegistry calls;
  ForEachCall(table, [&calls](const Function& function) {
    calls.try_emplace(function.text, std::make_shared<const RegisteredFunction>(RegisteredFunction{
                                         .version = function.first, .apply = nullptr}));
  });
  return calls;
}

// Each batch asks: most columns have no function.
bool HasCalls(const IndexRecord& index) {
  return index.AnyColumn([](const IndexColumnRecord& column) {
    return !column.functions.empty() && HaveCalls(column.functions);
  });
}

std::string WhyUnusable(const IndexRecord& index) {
  std::string why;
  index.ForEachColumn([&why](const IndexColumnRecord& column) {
    if (why.empty()) why = WhyPinnedByOthers(column.functions);
  });
  return why;
}

bool IsUnusable(const IndexRecord& index) {
  return index.AnyColumn([](const IndexColumnRecord& column) {
    return !column.functions.empty() && ArePinnedByOthers(column.functions);
  });
}

Status CheckCalls(const TableRecord& table) {
  const auto check = [&table](const IndexRecord& index) -> Status {
    if (!HasCalls(index) || !IsUnusable(index)) return {};
    return Status::Unsupported(
        "table " + base::Quote(table.name) + " has the index " + base::Quote(index.name) +
        ", whose entries this program cannot make, so writes are refused: " + WhyUnusable(index) +
        "; register that function when opening (Options::functions), or drop the index ('tandem "
        "index drop DB " +
        table.name + " " + index.name + "')");
  };
  for (const IndexRecord& index : table.indexes) RETURN_IF_ERROR(check(index));
  for (const GlobalIndexRecord& global : table.global_indexes) {
    RETURN_IF_ERROR(check(global.index));
  }
  return {};
}

}  // namespace tandem::format
