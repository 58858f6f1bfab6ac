// RapidJSON's reader without recursion calls the finder for each value, name and bracket. The whole
// text is read, so that what follows the value decides as well whether it is JSON.
#include "format/json_scalar.h"

#include <rapidjson/encodedstream.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "format/value_text.h"

namespace tandem::format {
namespace {

bool ContinuesPlainName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || (c & 0x80) != 0;
}

class PathParser {
 public:
  explicit PathParser(std::string_view path) : rest_(path) {}

  std::optional<std::vector<JsonStep>> Run() {
    if (!Take('$')) return std::nullopt;
    std::vector<JsonStep> steps;
    while (!rest_.empty()) {
      std::optional<JsonStep> step = Take('.') ? Member() : Take('[') ? Element() : std::nullopt;
      if (!step.has_value()) return std::nullopt;
      steps.push_back(*std::move(step));
    }
    return steps;
  }

 private:
  bool Take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::optional<JsonStep> Member() {
    if (Take('"')) return QuotedMember();
    size_t size = 0;
    while (size < rest_.size() && ContinuesPlainName(rest_[size])) ++size;
    if (size == 0) return std::nullopt;
    JsonStep step{.name = std::string(rest_.substr(0, size))};
    rest_.remove_prefix(size);
    return step;
  }

  std::optional<JsonStep> QuotedMember() {
    std::string name;
    while (!rest_.empty()) {
      if (Take('"')) return JsonStep{.name = std::move(name)};
      if (Take('\\') && !rest_.starts_with('"') && !rest_.starts_with('\\')) return std::nullopt;
      if (rest_.empty()) break;
      name += rest_.front();
      rest_.remove_prefix(1);
    }
    return std::nullopt;
  }

  std::optional<JsonStep> Element() {
    const size_t digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    const std::optional<uint64_t> element = ParseUint64(rest_.substr(0, digits));
    rest_.remove_prefix(digits);
    if (!element.has_value() || !Take(']')) return std::nullopt;
    return JsonStep{.name = std::nullopt, .element = *element};
  }

  std::string_view rest_;
};

// RapidJSON does not check what its allocator returns.
class ThrowingAllocator {
 public:
  [[maybe_unused]] static const bool kNeedFree = true;
  void* Malloc(size_t size) { return size == 0 ? nullptr : ::operator new(size); }
  void* Realloc(void* old, size_t old_size, size_t new_size) {
    void* memory = Malloc(new_size);
    if (old_size > 0 && new_size > 0) std::memcpy(memory, old, std::min(old_size, new_size));
    Free(old);
    return memory;
  }
  static void Free(void* memory) { ::operator delete(memory); }
};

// Follows the path while values come. Of the containers that are open, depth_, steps of the path
// lead to the first on_path_.
class ScalarFinder {
 public:
  /// `each`: the elements of an array at the path too.
  ScalarFinder(const std::vector<JsonStep>& path, bool each)
      : path_(path), each_(each), next_elements_(path.size() + 1) {}

  const ValueList& found() const { return found_; }

  // RapidJSON's handler: true goes on.
  bool Null() { return Take(std::nullopt); }
  bool Bool(bool value) { return Take(value ? "true" : "false"); }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    return Take(std::string_view(text, size));
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    return Take(std::string_view(text, size));
  }
  bool StartObject() { return Open(); }
  bool Key(const char* name, rapidjson::SizeType size, bool) {
    is_next_ = depth_ == on_path_ && depth_ <= path_.size() &&
               path_[depth_ - 1].name == std::string_view(name, size);
    is_member_ = true;
    return true;
  }
  bool EndObject(rapidjson::SizeType) { return Close(); }
  bool StartArray() {
    const bool was_decided = is_decided_;
    Open();
    is_in_array_ |= each_ && is_decided_ && !was_decided;
    if (depth_ == on_path_) next_elements_[depth_ - 1] = 0;
    return true;
  }
  bool EndArray(rapidjson::SizeType) { return Close(); }
  // The reader gives numbers as text.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(int64_t) { return false; }
  bool Uint64(uint64_t) { return false; }
  bool Double(double) { return false; }

 private:
  // Whether the steps lead to the value that comes, or through it.
  bool IsOnPath() {
    const bool is_member = std::exchange(is_member_, false);
    if (depth_ != on_path_ || depth_ > path_.size()) return false;
    if (depth_ == 0) return true;
    if (is_member) return is_next_;
    const JsonStep& step = path_[depth_ - 1];
    return next_elements_[depth_ - 1]++ == step.element && !step.name.has_value();
  }

  bool Take(std::optional<std::string_view> value) {
    const bool is_at_end = IsOnPath() && depth_ == path_.size() && !is_decided_;
    const bool is_element = is_in_array_ && depth_ == path_.size() + 1;
    is_decided_ |= is_at_end;
    if ((is_at_end || is_element) && value.has_value()) found_.Add(*value);
    return true;
  }

  bool Open() {
    const bool is_on_path = IsOnPath();
    if (is_on_path && depth_ == path_.size()) is_decided_ = true;
    if (is_on_path && depth_ < path_.size()) ++on_path_;
    ++depth_;
    return true;
  }

  bool Close() {
    --depth_;
    is_in_array_ &= depth_ > path_.size();
    on_path_ = std::min(on_path_, depth_);
    return true;
  }

  const std::vector<JsonStep>& path_;
  const bool each_;
  std::vector<uint64_t> next_elements_;  // Of the open arrays on the path.
  size_t depth_ = 0;
  size_t on_path_ = 0;
  bool is_member_ = false;    // The value that comes has a name,
  bool is_next_ = false;      // which is that of the next step.
  bool is_decided_ = false;   // Something was at the end of the path.
  bool is_in_array_ = false;  // Which is what is read.
  ValueList found_;
};

}  // namespace

std::optional<std::vector<JsonStep>> ParseJsonPath(std::string_view path) {
  return PathParser(path).Run();
}

namespace {

// False: it is no JSON.
bool Read(std::string_view json, ScalarFinder* finder) {
  // The reader takes a zero byte for the end.
  if (!IsUtf8(json) || json.find('\0') != std::string_view::npos) return false;
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag |
                              rapidjson::kParseNumbersAsStringsFlag |
                              rapidjson::kParseValidateEncodingFlag;
  rapidjson::MemoryStream bytes(json.data(), json.size());
  rapidjson::EncodedInputStream<rapidjson::UTF8<>, rapidjson::MemoryStream> text(bytes);
  ThrowingAllocator allocator;
  rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, ThrowingAllocator> reader(
      &allocator);
  return !reader.Parse<kFlags>(text, *finder).IsError();
}

}  // namespace

bool FindJsonScalar(std::string_view json, const std::vector<JsonStep>& path, std::string* scalar) {
  ScalarFinder finder(path, /*each=*/false);
  if (!Read(json, &finder) || finder.found().empty()) return false;
  scalar->assign(finder.found()[0]);
  return true;
}

void AddJsonScalars(std::string_view json, const std::vector<JsonStep>& path, ValueList* scalars) {
  ScalarFinder finder(path, /*each=*/true);
  if (!Read(json, &finder)) return;
  for (size_t i = 0; i < finder.found().size(); ++i) scalars->Add(finder.found()[i]);
}

}  // namespace tandem::format
