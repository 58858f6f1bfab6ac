// Keys that another program prints, one a line (line_source.h). A shell runs it, without input, in
// a process group of its own, so that all of it ends with the source.
#pragma once

#include <memory>
#include <string>

#include "tools/row_keys/key_source.h"

namespace tandem::row_keys {

/// Next fails where the command does not exit with 0, and says how it ended: kIoError; and where it
/// ended well but printed no key: kInvalidArgument. Errors: kIoError when no process can be
/// started.
Result<std::unique_ptr<KeySource>> RunCommand(const std::string& command, bool weighted);

}  // namespace tandem::row_keys
