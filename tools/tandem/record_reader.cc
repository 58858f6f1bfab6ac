// Choosing a reader by the name of its format, and what the readers share.
#include "tools/tandem/record_reader.h"

#include <algorithm>

#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/suggest.h"

namespace tandem::tools {

bool MakesRowKeys(std::string_view format) {
  return format == "apt-contents" || format == "dpkg-log";
}

Result<std::unique_ptr<RecordReader>> NewRecordReader(const RecordFormat& format,
                                                      InputBuffer* input) {
  if (format.name == "jsonl") return NewJsonLinesReader(input, format.exported_rows);
  if (format.name == "csv") return NewCsvReader(input, format.exported_rows);
  if (format.name == "tsv") return NewTsvReader(input, format.exported_rows);
  if (format.name == "deb822") return NewDeb822Reader(input);
  if (format.name == "apt-contents") return NewAptContentsReader(input);
  if (format.name == "dpkg-log") return NewDpkgLogReader(input);
  const std::vector<std::string> known(std::begin(kRecordFormats), std::end(kRecordFormats));
  std::string names;
  for (const std::string& name : known) names += (names.empty() ? "" : ", ") + name;
  return Status::InvalidArgument(Format("--format '{}': expected one of {}{}",
                                        EscapeBytes(format.name), names,
                                        DidYouMean(format.name, known)));
}

const Field* FindRepeated(std::span<const Field> fields) {
  constexpr size_t kFewFields = 32;
  if (fields.size() <= kFewFields) {
    for (size_t i = 1; i < fields.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (fields[i].name == fields[j].name) return &fields[i];
      }
    }
    return nullptr;
  }
  std::vector<const Field*> sorted;
  for (const Field& field : fields) sorted.push_back(&field);
  std::ranges::sort(sorted, {}, &Field::name);
  const auto repeated = std::ranges::adjacent_find(
      sorted, [](const Field* a, const Field* b) { return a->name == b->name; });
  return repeated == sorted.end() ? nullptr : *repeated;
}

std::string TooLongProblem() { return Format("longer than {}", FormatSize(kRecordBytesMax)); }

}  // namespace tandem::tools
