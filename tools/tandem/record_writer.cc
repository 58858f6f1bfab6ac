// Values as bytes.
#include "tools/tandem/record_writer.h"

#include "tools/tandem/format_text.h"

namespace tandem::tools {
namespace {

std::string JoinList(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& item : list) text += (text.empty() ? "" : "; ") + item;
  return text;
}

}  // namespace

std::string Value::Bytes() const {
  if (const auto* bytes = std::get_if<std::string_view>(&value_)) return std::string(*bytes);
  if (const auto* flag = std::get_if<bool>(&value_)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<int64_t>(&value_)) return Format("{}", *number);
  if (const auto* count = std::get_if<uint64_t>(&value_)) return Format("{}", *count);
  if (const auto* fraction = std::get_if<double>(&value_)) return Format("{}", *fraction);
  if (const auto* list = std::get_if<Strings>(&value_)) return JoinList(**list);
  return {};
}

void RecordWriter::AddProperties(std::string_view kind, std::span<const Property> properties) {
  std::vector<std::string> names;
  std::vector<Value> values;
  for (const auto& [name, value] : properties) {
    names.emplace_back(name);
    values.push_back(value);
  }
  Begin(kind, std::move(names));
  Add(values);
  End();
}

void WriteBytes(std::FILE* out, std::string_view bytes) {
  // A failure sticks to the stream and is reported when the program flushes it.
  (void)!std::fwrite(bytes.data(), 1, bytes.size(), out);
}

}  // namespace tandem::tools
