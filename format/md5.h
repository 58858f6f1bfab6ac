// MD5 (RFC 1321), for row keys that have to equal those of other systems (tandem/row_key.h).
// Nothing else uses it, and nothing relies on its being hard to break.
#pragma once

#include <string>
#include <string_view>

namespace tandem::format {

/// The 16 bytes of the digest.
std::string Md5(std::string_view bytes);

}  // namespace tandem::format
