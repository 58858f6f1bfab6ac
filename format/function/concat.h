// concat: a text made of what the functions before it make, of constant texts and of other columns.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tandem/function.h"
#include "tandem/status.h"

namespace tandem::format {

/// Whether it joins other columns.
bool JoinsColumns(const Function& function);
/// Errors: kInvalidArgument (fewer than 2 parts, too many, none kValue, a name or a text that is
/// too long, a part with more than its kind has). Requires: it is kConcat.
Status CheckConcat(const Function& function);

/// Replaces `*text`, what the functions before made, by all parts. False: it would have more than
/// kFunctionValueBytesMax. Requires: there is a value for each part kColumn.
bool Concat(const Function& function, std::span<const std::string_view> columns, std::string* text);
/// It as text: concat(first, ' ', last). `value` is that of the part kValue.
std::string TextOfConcat(const Function& function, const std::string& value);

}  // namespace tandem::format
