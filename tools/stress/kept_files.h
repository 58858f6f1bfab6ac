// Files outside the database: those of a simulated disk written where people can look at them, and
// whole texts read and written.
#pragma once

#include <string>
#include <string_view>

#include "tools/simulation/simulated_disk.h"

namespace tandem::stress {

/// Writes the visible content of the files of `path` on the disk into the real directory `to`,
/// which is made. Errors: kIoError.
Status KeepFiles(test::SimulatedDisk* disk, const std::string& path, const std::string& to);

/// Errors: kNotFound, kIoError.
Result<std::string> ReadText(const std::string& path);
/// Writes a new file or over an old one. Errors: kIoError.
Status WriteText(const std::string& path, std::string_view text);

/// Makes the directory `path`, or accepts one that is empty. Errors: kAlreadyExists (there is
/// something in it, or it is no directory), kIoError.
Status MakeEmptyDirectory(const std::string& path);
/// Copies the files of a directory into a new one.
Status CopyTree(const std::string& from, const std::string& to);
Status RemoveTree(const std::string& path);

}  // namespace tandem::stress
