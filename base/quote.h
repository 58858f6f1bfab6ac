// Names and keys in messages: printable, short, and lossless up to the point where they are
// truncated.
#pragma once

#include <string>
#include <string_view>

namespace tandem::base {

/// The text between two of `quote`, those inside doubled, as predicates read it.
std::string QuoteDoubling(std::string_view text, char quote);

/// `bytes` in single quotes with \xNN for what does not print; after 40 bytes "..." and the length.
std::string Quote(std::string_view bytes);

}  // namespace tandem::base
