// Bytes as text and back, without loss: keys and values on the command line and in output.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tandem/status.h"

namespace tandem::tools {

/// Bytes as a user writes them: text with `\xNN` escapes, `0x` and hex digits, `base64:` and
/// base64, or `@` and the name of a file that holds them. Errors: kInvalidArgument; kNotFound (the
/// file).
Result<std::string> ParseBytes(std::string_view text);
/// Only the escapes: `\xNN` is a byte, any other backslash stands for itself. Errors:
/// kInvalidArgument when `\x` is not followed by two hex digits.
Result<std::string> ParseEscaped(std::string_view text);
/// Text that ParseEscaped turns back into `bytes`: control characters, bytes that are no UTF-8 and
/// backslashes become `\xNN`.
std::string EscapeBytes(std::string_view bytes);
/// Text that ParseBytes turns back into `bytes`: EscapeBytes, also where they look like one of the
/// other forms.
std::string KeyText(std::string_view bytes);
/// Whether `bytes` is valid UTF-8 without control characters, so that it can be printed as text.
bool IsPlainText(std::string_view bytes);

std::string EncodeBase64(std::string_view bytes);
/// Errors: kInvalidArgument (alphabet, length, padding).
Result<std::string> DecodeBase64(std::string_view text);
/// Lower-case hex digits.
std::string EncodeHex(std::string_view bytes);
Result<std::string> DecodeHex(std::string_view digits);

/// Splits at each `separator`, before any escape is undone; an empty text has no parts.
std::vector<std::string_view> SplitText(std::string_view text, char separator);

}  // namespace tandem::tools
