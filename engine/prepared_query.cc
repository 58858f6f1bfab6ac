// Binding values to parameters. A value is kept as text, as a predicate has it, and is read as the
// column's type by the same function that reads literals; so a query that was prepared and one that
// was not cannot differ.
#include "engine/prepared_query.h"

#include <charconv>
#include <type_traits>
#include <utility>

#include "base/guarded.h"
#include "base/status_macros.h"
#include "engine/predicate/literal.h"
#include "engine/predicate/regexp.h"
#include "format/row_key/field.h"
#include "tandem/database.h"

namespace tandem {
namespace engine {

namespace {

// Whether the text is a value of what the parameter is compared with.
Status CheckFits(const ParameterUse& use, std::string_view text) {
  if (use.pattern.has_value()) return Regexp::Compile(text, *use.pattern).status();
  if (use.key_fields == nullptr) return ReadLiteral(use.column, text).status();
  return format::PlainBytes(*use.key_fields->fields()[use.field], text).status();
}

// Whether it is compared with a column that any integer can be compared with.
bool TakesIntegers(const ParameterUse& use) {
  if (use.pattern.has_value() || use.key_fields != nullptr) return false;
  const ColumnType type = TextType(use.column.type);
  return type == ColumnType::kInt64 || type == ColumnType::kUint64 || type == ColumnType::kDouble;
}

}  // namespace

Status PreparedState::Bind(uint32_t parameter, std::string_view text, ValueText what) {
  if (parameter == 0 || parameter > values.size()) {
    return Status::InvalidArgument("the query has no parameter ?" + std::to_string(parameter) +
                                   ": it has " + std::to_string(values.size()));
  }
  for (const ParameterUse& use : uses) {
    if (use.parameter != parameter || use.is_row_key || use.is_part) continue;
    if (what == ValueText::kInteger && TakesIntegers(use)) continue;
    const Status status = CheckFits(use, text);
    if (status.ok()) continue;
    return Status::InvalidArgument("parameter ?" + std::to_string(parameter) + ": " +
                                   std::string(status.message()));
  }
  values[parameter - 1].emplace(text);
  return {};
}

}  // namespace engine

namespace {

// The shortest text that reads as the number again.
template <typename Number>
Status BindNumber(engine::PreparedState* state, uint32_t parameter, Number value) {
  char text[32];
  const std::to_chars_result end = std::to_chars(text, text + sizeof(text), value);
  const auto what =
      std::is_integral_v<Number> ? engine::ValueText::kInteger : engine::ValueText::kAny;
  return engine::Guarded([&] {
    return state->Bind(parameter, {text, static_cast<size_t>(end.ptr - text)}, what);
  });
}

}  // namespace

PreparedQuery::PreparedQuery(std::unique_ptr<engine::PreparedState> state)
    : state_(std::move(state)) {}
PreparedQuery::PreparedQuery(PreparedQuery&&) noexcept = default;
PreparedQuery& PreparedQuery::operator=(PreparedQuery&&) noexcept = default;
PreparedQuery::~PreparedQuery() = default;

uint32_t PreparedQuery::parameter_count() const {
  return static_cast<uint32_t>(state_->values.size());
}

Status PreparedQuery::Bind(uint32_t parameter, std::string_view text) {
  return engine::Guarded([&] { return state_->Bind(parameter, text); });
}

Status PreparedQuery::BindInt64(uint32_t parameter, int64_t value) {
  return BindNumber(state_.get(), parameter, value);
}

Status PreparedQuery::BindUint64(uint32_t parameter, uint64_t value) {
  return BindNumber(state_.get(), parameter, value);
}

Status PreparedQuery::BindDouble(uint32_t parameter, double value) {
  return BindNumber(state_.get(), parameter, value);
}

Status PreparedQuery::BindBool(uint32_t parameter, bool value) {
  return Bind(parameter, value ? "true" : "false");
}

void PreparedQuery::ClearBindings() {
  for (std::optional<std::string>& value : state_->values) value.reset();
}

}  // namespace tandem
