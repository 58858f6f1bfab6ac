// Records on standard output in one of five forms. Bytes are never lost: where a form is text, what
// is not plain text is escaped (table, tsv), encoded (jsonl) or quoted (csv).
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "tandem/status.h"
#include "tools/tandem/record_writer.h"

namespace tandem::tools {

class JsonWriter;

enum class OutputMode { kTable, kJsonLines, kCsv, kTsv, kRaw };

/// `err` is not used; `out` outlives the writer. A table on a terminal is cut to its width.
std::unique_ptr<RecordWriter> NewRecordWriter(OutputMode mode, std::FILE* out);

/// Adds a member of an object. Bytes that are not plain text are encoded (JsonWriter::Bytes).
void WriteMember(JsonWriter* json, std::string_view name, const Value& value);

/// Errors: kInvalidArgument, with the modes that exist.
Result<OutputMode> ParseOutputMode(std::string_view text);

/// A field as RFC 4180 writes it: in quotes where it has to be, and where it is empty, so that it
/// differs from an absent one.
void AppendCsvField(const Value& value, std::string* out);
/// A field with tabs, line ends, other control characters and backslashes as `\xNN`; absent is
/// `\N`.
void AppendTsvField(const Value& value, std::string* out);

}  // namespace tandem::tools
