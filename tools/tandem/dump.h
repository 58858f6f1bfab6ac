// What a file of a database holds, as records. Each kind of file has parts that can be asked for
// alone; without a wish all are printed.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "format/catalog.h"
#include "format/cell.h"
#include "tandem/status.h"
#include "tools/tandem/context.h"
#include "tools/tandem/file_probe.h"
#include "tools/tandem/options.h"
#include "tools/tandem/output.h"

namespace tandem::tools {

/// A dump in progress. Lifetime: all outlive it.
struct Dump {
  const DumpOptions& options;
  const Context& context;
  ProbedFile& probed;
  RecordWriter& writer;

  bool Wants(std::string_view part) const {
    return options.section.empty() || options.section == part;
  }
};

/// Each prints the wanted parts of one kind of file. Errors: kCorruption with file and offset where
/// the file cannot be followed further; what was printed before stays.
Status DumpStoreFile(Dump& dump);
Status DumpLogSegment(Dump& dump);
Status DumpManifest(Dump& dump);
Status DumpRoot(Dump& dump);

/// The logical keys of an index of a store file: region start, index, value, row; sorted.
Status DumpIndex(Dump& dump);
/// The bytes [begin, end) of the file, sixteen a record.
Status DumpHex(Dump& dump, uint64_t begin, uint64_t end);

/// Refuses an --index or --section that the kind of file does not have. Errors: kInvalidArgument.
Status CheckPart(const DumpOptions& options, std::span<const std::string> parts);

/// Families, indexes and hash secret of a table as records.
void DumpTable(const format::TableRecord& table, RecordWriter* writer);

std::string IdText(const format::RandomId& id);
std::string HashText(uint64_t hash);
std::string_view CellKindName(format::CellKind kind);

}  // namespace tandem::tools
