// What a file of a database holds, as records. Each kind of file has parts (parts.h) that can be
// asked for alone. All of it streams: memory does not grow with the file. Behind a damaged block or
// frame a dump goes on with what is good.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/status.h"
#include "tools/dump/records.h"
#include "tools/dump/row_filter.h"
#include "tools/tandem/context.h"
#include "tools/tandem/file_probe.h"
#include "tools/tandem/options.h"

namespace tandem::tools {

/// A dump of one file in progress. Lifetime: what it refers to outlives it.
struct Dump {
  const DumpOptions& options;
  const Context& context;
  ProbedFile& probed;
  DumpRecords& writer;
  RowFilter filter = {};
  std::vector<std::string_view> parts = {};  ///< That are printed.
  uint64_t damaged_places = 0;               ///< That were met.

  bool Wants(std::string_view part) const { return std::ranges::find(parts, part) != parts.end(); }
  /// Reports damage to the user and counts it; other errors come back.
  Status Note(const Status& status);
};

/// Prints what the options ask for of the file. Errors: kInvalidArgument; kCorruption where damage
/// was met, after all that is good was printed; kUnsupported, kIoError, kCancelled.
Status DumpFile(const DumpOptions& options, const Context& context, ProbedFile* probed,
                DumpRecords* writer);

/// What a dump that met damage ends with; OK without any.
Status DamageFound(const std::string& path, uint64_t places);

// Each prints the wanted parts of one kind of file.
Status DumpStoreFile(Dump& dump);
Status DumpLogSegment(Dump& dump);
Status DumpManifest(Dump& dump);
Status DumpRoot(Dump& dump);
Status DumpBackup(Dump& dump);

/// The logical keys of an index of a store file: region start, index, value, row; sorted.
Status DumpIndex(Dump& dump);
/// The block of a store file, or the frame of a chain, that the byte at `offset` belongs to, with
/// what it holds.
Status DumpStoreFileAt(Dump& dump, uint64_t offset);
Status DumpChainAt(Dump& dump, uint64_t offset);
/// The bytes [begin, end) of the file, sixteen a record.
Status DumpHex(Dump& dump, uint64_t begin, uint64_t end);

/// Prints all that the files of a database say about one row key: cells, index entries, operations
/// of the log. Errors: as DumpFile.
Status FindKey(const DumpOptions& options, const std::string& path, const Context& context,
               DumpRecords* writer);

}  // namespace tandem::tools
