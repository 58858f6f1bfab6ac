// The forms without layout: JSON Lines, csv, tsv and raw. Tables are in output_table.cc.
#include "tools/tandem/output.h"

#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/json.h"
#include "tools/tandem/output_table.h"

namespace tandem::tools {
namespace {

/// One object a record; its kind comes first.
class JsonLinesWriter : public RecordWriter {
 public:
  explicit JsonLinesWriter(std::FILE* out) : out_(out) {}

  void Begin(std::string_view kind, std::vector<std::string> columns) override {
    kind_ = kind;
    columns_ = std::move(columns);
  }
  using RecordWriter::Add;
  void Add(std::span<const Value> values) override {
    json_.BeginObject();
    WriteMember(&json_, "kind", kind_);
    for (size_t i = 0; i < columns_.size(); ++i) WriteMember(&json_, columns_[i], values[i]);
    json_.EndObject();
    WriteBytes(out_, json_.text());
    WriteBytes(out_, "\n");
    json_.Clear();
  }
  void End() override {}

 private:
  std::FILE* out_;
  std::string kind_;
  std::vector<std::string> columns_;
  JsonWriter json_;
};

/// csv and tsv: a line of names, then a line a record.
class SeparatedWriter : public RecordWriter {
 public:
  SeparatedWriter(std::FILE* out, bool tabs) : out_(out), tabs_(tabs) {}

  void Begin(std::string_view, std::vector<std::string> columns) override {
    const std::vector<Value> names(columns.begin(), columns.end());
    Add(names);
  }
  using RecordWriter::Add;
  void Add(std::span<const Value> values) override {
    line_.clear();
    for (const Value& value : values) {
      if (!line_.empty() || &value != values.data()) line_.push_back(tabs_ ? '\t' : ',');
      if (tabs_) {
        AppendTsvField(value, &line_);
      } else {
        AppendCsvField(value, &line_);
      }
    }
    line_ += tabs_ ? "\n" : "\r\n";
    WriteBytes(out_, line_);
  }
  void End() override {}

 private:
  std::FILE* out_;
  bool tabs_;
  std::string line_;
};

/// The values of a record, each on a line, exactly as they are.
class RawWriter : public RecordWriter {
 public:
  explicit RawWriter(std::FILE* out) : out_(out) {}
  void Begin(std::string_view, std::vector<std::string>) override {}
  using RecordWriter::Add;
  void Add(std::span<const Value> values) override {
    for (const Value& value : values) {
      WriteBytes(out_, value.Bytes());
      WriteBytes(out_, "\n");
    }
  }
  void End() override {}

 private:
  std::FILE* out_;
};

}  // namespace

void WriteMember(JsonWriter* json, std::string_view name, const Value& value) {
  const Value::Variant& variant = value.variant();
  if (const auto* bytes = std::get_if<std::string_view>(&variant)) {
    json->Bytes(name, *bytes);
    return;
  }
  json->Key(name);
  if (const auto* flag = std::get_if<bool>(&variant)) {
    json->Bool(*flag);
  } else if (const auto* number = std::get_if<int64_t>(&variant)) {
    json->Int(*number);
  } else if (const auto* count = std::get_if<uint64_t>(&variant)) {
    json->Uint(*count);
  } else if (const auto* fraction = std::get_if<double>(&variant)) {
    json->Double(*fraction);
  } else if (const auto* list = std::get_if<Value::Strings>(&variant)) {
    json->BeginArray();
    for (const std::string& item : **list)
      json->String(IsPlainText(item) ? item : EscapeBytes(item));
    json->EndArray();
  } else {
    json->Null();
  }
}

std::unique_ptr<RecordWriter> NewRecordWriter(OutputMode mode, std::FILE* out) {
  switch (mode) {
    case OutputMode::kJsonLines:
      return std::make_unique<JsonLinesWriter>(out);
    case OutputMode::kCsv:
      return std::make_unique<SeparatedWriter>(out, false);
    case OutputMode::kTsv:
      return std::make_unique<SeparatedWriter>(out, true);
    case OutputMode::kRaw:
      return std::make_unique<RawWriter>(out);
    case OutputMode::kTable:
      break;
  }
  return NewTableWriter(out);
}

Result<OutputMode> ParseOutputMode(std::string_view text) {
  if (text == "table") return OutputMode::kTable;
  if (text == "jsonl") return OutputMode::kJsonLines;
  if (text == "csv") return OutputMode::kCsv;
  if (text == "tsv") return OutputMode::kTsv;
  if (text == "raw") return OutputMode::kRaw;
  return Status::InvalidArgument(
      Format("--output '{}': expected table, jsonl, csv, tsv or raw", EscapeBytes(text)));
}

void AppendCsvField(const Value& value, std::string* out) {
  if (value.absent()) return;
  const std::string bytes = value.Bytes();
  if (!bytes.empty() && bytes.find_first_of(",\"\r\n") == std::string::npos) {
    *out += bytes;
    return;
  }
  out->push_back('"');
  for (const char byte : bytes) {
    if (byte == '"') out->push_back('"');
    out->push_back(byte);
  }
  out->push_back('"');
}

void AppendTsvField(const Value& value, std::string* out) {
  *out += value.absent() ? "\\N" : EscapeBytes(value.Bytes());
}

}  // namespace tandem::tools
