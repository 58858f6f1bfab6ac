// Names and keys in messages: printable, short, and lossless up to the point where they are
// truncated.
#pragma once

#include <string>
#include <string_view>

namespace tandem::base {

/// `bytes` in single quotes with \xNN for what does not print; after 40 bytes "..." and the length.
std::string Quote(std::string_view bytes);

}  // namespace tandem::base
