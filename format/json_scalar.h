// Finds strings, numbers and booleans in a JSON text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/value_list.h"

namespace tandem::format {

/// A step of a path: the member of that name, or the element of that number.
struct JsonStep {
  std::optional<std::string> name;
  uint64_t element = 0;  ///< Without a name.
};

/// Reads `$`, then `.name`, `."any name"` or `[number]`, as often as needed: a plain name has
/// letters, digits, '_', '-' and bytes above 0x7f, and \" and \\ are a quote and a backslash inside
/// quotes. nullopt: it is no path.
std::optional<std::vector<JsonStep>> ParseJsonPath(std::string_view path);

/// Replaces `*scalar` by what is at the path: a string without quotes and escapes, a number as it
/// is written, `true` or `false`. Of members with one name the first counts that leads there.
/// False: the text is no JSON in UTF-8, or there is null, an object, an array or nothing at the
/// path; `*scalar` is undefined then. Takes time and memory linear in the text.
bool FindJsonScalar(std::string_view json, const std::vector<JsonStep>& path, std::string* scalar);
/// Adds what is at the path to `*scalars`, or if that is an array, the strings, numbers and
/// booleans that are its elements. Nothing is added where FindJsonScalar finds nothing otherwise.
void AddJsonScalars(std::string_view json, const std::vector<JsonStep>& path, ValueList* scalars);

}  // namespace tandem::format
