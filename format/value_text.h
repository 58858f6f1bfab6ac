// The text forms of the typed values that an index reads. Parsing is strict, deterministic and
// independent of the locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tandem::format {

/// Decimal digits after an optional '-' (none for uint64): no '+', no blanks. nullopt: not in this
/// form, or out of range.
std::optional<int64_t> ParseInt64(std::string_view text);
std::optional<uint64_t> ParseUint64(std::string_view text);
/// A decimal number with optional fraction and exponent that rounds to a finite double; not `inf`,
/// not `nan`.
std::optional<double> ParseDouble(std::string_view text);
/// `true` or `false`.
std::optional<bool> ParseBool(std::string_view text);
/// Microseconds since 1970: an integer, or RFC 3339 (`2026-02-28T23:59:59.25+01:00`; 'T' may be 't'
/// or a blank, 'Z' may be 'z') with at most six digits of fraction. A leap second is rejected,
/// because microseconds since 1970 cannot represent it.
std::optional<int64_t> ParseTimestamp(std::string_view text);
/// Valid UTF-8: shortest forms only, no surrogates, nothing above U+10FFFF.
bool IsUtf8(std::string_view text);
/// The shortest text that ParseDouble reads back as the same double; `inf` and `-inf` for
/// infinities.
std::string DoubleText(double value);

}  // namespace tandem::format
