// JSON over RapidJSON: its Writer, and its SAX reader in situ and without recursion, so that
// neither long nor deeply nested input costs more than its own size.
#include "tools/tandem/json.h"

#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cmath>
#include <cstring>
#include <deque>

#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"

namespace tandem::tools {
namespace {

constexpr int kDepthMax = 512;
using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

std::string_view View(const rapidjson::StringBuffer& buffer) {
  return {buffer.GetString(), buffer.GetSize()};
}

/// Receives the events of one object. At depth 1 values become fields; deeper ones are written
/// again as compact JSON.
class FieldCollector {
 public:
  void Begin(std::vector<Field>* fields) {
    fields->clear();
    fields_ = fields;
    nested_texts_.clear();
    depth_ = 0;
    error_.clear();
  }
  const std::string& error() const { return error_; }

  bool Null() { return depth_ <= 1 ? Outside("null") : nested_writer_.Null(); }
  bool Bool(bool value) {
    return depth_ > 1 ? nested_writer_.Bool(value) : Add(value ? "true" : "false");
  }
  bool RawNumber(const char* text, rapidjson::SizeType length, bool) {
    if (depth_ > 1) return nested_writer_.RawValue(text, length, rapidjson::kNumberType);
    return Add({text, length});
  }
  bool String(const char* text, rapidjson::SizeType length, bool) {
    return depth_ > 1 ? nested_writer_.String(text, length) : Add({text, length});
  }
  bool Key(const char* text, rapidjson::SizeType length, bool) {
    if (depth_ > 1) return nested_writer_.Key(text, length);
    name_ = {text, length};
    return true;
  }
  bool StartObject() {
    if (depth_ == 0) {
      ++depth_;
      return true;
    }
    return Enter() && nested_writer_.StartObject();
  }
  bool EndObject(rapidjson::SizeType) {
    return depth_ == 1 ? --depth_ == 0 : nested_writer_.EndObject() && Leave();
  }
  bool StartArray() {
    if (depth_ == 0) return Outside("an array");
    return Enter() && nested_writer_.StartArray();
  }
  bool EndArray(rapidjson::SizeType) { return nested_writer_.EndArray() && Leave(); }

  // Numbers arrive as their source text only.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(int64_t) { return false; }
  bool Uint64(uint64_t) { return false; }
  bool Double(double) { return false; }

 private:
  bool Outside(const char* found) {
    if (depth_ == 1) return true;
    error_ = Format("expected an object, found {}", found);
    return false;
  }
  bool Add(std::string_view value) {
    if (depth_ == 0) return Outside("a single value");
    fields_->push_back({name_, value});
    return true;
  }
  bool Enter() {
    if (depth_ == 1) {
      nested_.Clear();
      nested_writer_.Reset(nested_);
    }
    if (++depth_ <= kDepthMax) return true;
    error_ = Format("nested deeper than {}", kDepthMax);
    return false;
  }
  bool Leave() {
    if (--depth_ > 1) return true;
    return Add(nested_texts_.emplace_back(View(nested_)));
  }

  std::vector<Field>* fields_ = nullptr;
  std::string_view name_;
  int depth_ = 0;
  std::string error_;
  rapidjson::StringBuffer nested_;
  Writer nested_writer_{nested_};
  std::deque<std::string> nested_texts_;
};

/// Receives the events of one list of flat objects.
class ListCollector {
 public:
  void Begin(std::vector<std::vector<Field>>* objects) {
    objects->clear();
    objects_ = objects;
    depth_ = 0;
  }
  static std::string error() { return "expected a list of flat objects"; }

  bool Null() { return depth_ == 2; }
  bool Bool(bool value) { return Add(value ? "true" : "false"); }
  bool RawNumber(const char* text, rapidjson::SizeType length, bool) { return Add({text, length}); }
  bool String(const char* text, rapidjson::SizeType length, bool) { return Add({text, length}); }
  bool Key(const char* text, rapidjson::SizeType length, bool) {
    name_ = {text, length};
    return true;
  }
  bool StartObject() {
    if (depth_++ != 1) return false;
    objects_->emplace_back();
    return true;
  }
  bool EndObject(rapidjson::SizeType) { return --depth_ == 1; }
  bool StartArray() { return depth_++ == 0; }
  bool EndArray(rapidjson::SizeType) { return --depth_ == 0; }

  // Numbers arrive as their source text only.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(int64_t) { return false; }
  bool Uint64(uint64_t) { return false; }
  bool Double(double) { return false; }

 private:
  bool Add(std::string_view value) {
    if (depth_ != 2) return false;
    objects_->back().push_back({name_, value});
    return true;
  }

  std::vector<std::vector<Field>>* objects_ = nullptr;
  std::string_view name_;
  int depth_ = 0;
};

bool IsAscii(std::string_view text) {
  uint64_t bits = 0;
  for (; text.size() >= sizeof(bits); text.remove_prefix(sizeof(bits))) {
    uint64_t bytes;
    std::memcpy(&bytes, text.data(), sizeof(bytes));
    bits |= bytes;
  }
  for (const char byte : text) bits |= static_cast<unsigned char>(byte);
  return (bits & 0x8080808080808080) == 0;
}

/// Parses `text` in place into the events of `collector`. Returns what is wrong, or an empty
/// string.
template <typename Collector>
std::string Parse(char* text, rapidjson::Reader* reader, Collector* collector) {
  constexpr unsigned kFlags = rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag |
                              rapidjson::kParseNumbersAsStringsFlag;
  constexpr unsigned kValidating = kFlags | rapidjson::kParseValidateEncodingFlag;
  // Validation looks at each character by itself, a third of the time of a whole parse.
  const bool is_ascii = IsAscii(text);
  rapidjson::InsituStringStream stream(text);
  const rapidjson::ParseResult result = is_ascii ? reader->Parse<kFlags>(stream, *collector)
                                                 : reader->Parse<kValidating>(stream, *collector);
  if (!result.IsError()) return {};
  if (result.Code() == rapidjson::kParseErrorTermination) return collector->error();
  std::string_view reason = rapidjson::GetParseError_En(result.Code());
  if (reason.ends_with('.')) reason.remove_suffix(1);
  return Format("not JSON at byte {}: {}", result.Offset() + 1, reason);
}

}  // namespace

struct JsonWriter::Impl {
  rapidjson::StringBuffer buffer;
  Writer writer{buffer};
  std::string name;
};

JsonWriter::JsonWriter() : impl_(std::make_unique<Impl>()) {}
JsonWriter::~JsonWriter() = default;
void JsonWriter::BeginObject() { impl_->writer.StartObject(); }
void JsonWriter::EndObject() { impl_->writer.EndObject(); }
void JsonWriter::BeginArray() { impl_->writer.StartArray(); }
void JsonWriter::EndArray() { impl_->writer.EndArray(); }
void JsonWriter::Int(int64_t value) { impl_->writer.Int64(value); }
void JsonWriter::Uint(uint64_t value) { impl_->writer.Uint64(value); }
void JsonWriter::Bool(bool value) { impl_->writer.Bool(value); }
void JsonWriter::Null() { impl_->writer.Null(); }

void JsonWriter::Key(std::string_view name) {
  impl_->writer.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
}

void JsonWriter::String(std::string_view text) {
  impl_->writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void JsonWriter::Double(double value) {
  if (std::isfinite(value)) {
    impl_->writer.Double(value);
  } else {
    impl_->writer.Null();
  }
}

void JsonWriter::Bytes(std::string_view name, std::string_view bytes) {
  if (IsPlainText(bytes)) {
    Key(name);
    String(bytes);
    return;
  }
  impl_->name.assign(name).append("_b64");
  Key(impl_->name);
  String(EncodeBase64(bytes));
}

std::string_view JsonWriter::text() const { return View(impl_->buffer); }

void JsonWriter::Clear() {
  impl_->buffer.Clear();
  impl_->writer.Reset(impl_->buffer);
}

struct JsonObjectReader::Impl {
  rapidjson::Reader reader;
  FieldCollector fields;
  ListCollector list;
};

JsonObjectReader::JsonObjectReader() : impl_(std::make_unique<Impl>()) {}
JsonObjectReader::~JsonObjectReader() = default;

std::string JsonObjectReader::Read(char* text, std::vector<Field>* fields) {
  impl_->fields.Begin(fields);
  return Parse(text, &impl_->reader, &impl_->fields);
}

std::string JsonObjectReader::ReadList(char* text, std::vector<std::vector<Field>>* objects) {
  impl_->list.Begin(objects);
  return Parse(text, &impl_->reader, &impl_->list);
}

}  // namespace tandem::tools
