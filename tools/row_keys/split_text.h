// Split keys as other programs read them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tandem::row_keys {

/// A key as HBase's shell reads it (Bytes.toBytesBinary): every byte that is no letter, digit or
/// plain sign of ASCII, quotes, blanks and backslashes too, as `\xNN` with upper-case digits.
/// Tandem's verbs read it as well.
std::string ShellText(std::string_view key);
/// A key a line: HBase's SPLITS_FILE.
std::string SplitsFile(std::span<const std::string> keys);
/// SPLITS => ['a', 'b'], for HBase's `create`.
std::string SplitsForShell(std::span<const std::string> keys);
/// a,b: for --split-keys of Tandem's `create`.
std::string SplitsForCreate(std::span<const std::string> keys);

}  // namespace tandem::row_keys
