// Choosing a reader by the name of its format, and what the readers share.
#include "tools/tandem/record_reader.h"

#include <algorithm>

#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/suggest.h"

namespace tandem::tools {

Result<std::unique_ptr<RecordReader>> NewRecordReader(std::string_view format, InputBuffer* input) {
  if (format == "deb822") return NewDeb822Reader(input);
  if (format == "jsonl") return NewJsonLinesReader(input);
  if (format == "csv") return NewCsvReader(input);
  const std::vector<std::string> known = {"deb822", "jsonl", "csv"};
  return Status::InvalidArgument(Format("--format '{}': expected deb822, jsonl or csv{}",
                                        EscapeBytes(format), DidYouMean(format, known)));
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

}  // namespace tandem::tools
