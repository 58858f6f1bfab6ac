// The checks of a store file's header and footer, for every reader.
#pragma once

#include <cstdint>
#include <string_view>

#include "format/block/footer.h"
#include "format/file_header.h"
#include "store_file/store_file.h"
#include "tandem/status.h"

namespace tandem::format {

/// Checks the first kFileHeaderBytes of a store file of `size_bytes` against what is expected of
/// it. Errors: kCorruption, kUnsupported.
Result<FileHeader> CheckStoreHeader(std::string_view bytes, const ExpectedFile& expected,
                                    uint64_t size_bytes, std::string_view file_name);

struct StoreEnds {
  FileHeader header;
  Footer footer;
};
/// Checks both ends, the footer against the header. Errors: as CheckStoreHeader.
Result<StoreEnds> CheckStoreEnds(const FileEnds& ends, const ExpectedFile& expected,
                                 std::string_view file_name);

}  // namespace tandem::format
