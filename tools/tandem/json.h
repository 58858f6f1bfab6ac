// JSON, written and read: the one place that knows the JSON library.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/tandem/field.h"

namespace tandem::tools {

/// Writes compact JSON into memory. Requires: calls nest as JSON does.
class JsonWriter {
 public:
  JsonWriter();
  ~JsonWriter();

  void BeginObject();
  void EndObject();
  void BeginArray();
  void EndArray();
  void Key(std::string_view name);
  /// Requires: valid UTF-8.
  void String(std::string_view text);
  void Int(int64_t value);
  void Uint(uint64_t value);
  void Double(double value);  ///< Not finite: null.
  void Bool(bool value);
  void Null();
  /// A member whose value is bytes: `"name":"text"` where they are plain text (IsPlainText),
  /// otherwise `"name_b64":"base64"`.
  void Bytes(std::string_view name, std::string_view bytes);

  std::string_view text() const;
  /// Forgets what was written.
  void Clear();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Reads objects one at a time into flat fields. Strings are the text they stand for, numbers and
/// booleans their source text, null is absent, and a nested object or array is its compact JSON
/// text. Threads: one at a time.
class JsonObjectReader {
 public:
  JsonObjectReader();
  ~JsonObjectReader();

  /// Parses `text` in place; it is overwritten. Returns what is wrong, or an empty string.
  /// Requires: `text` ends with a NUL. Lifetime: fields are valid until the next call and while
  /// `text` is.
  std::string Read(char* text, std::vector<Field>* fields);
  /// The same for a list of objects whose members are no objects or lists themselves.
  std::string ReadList(char* text, std::vector<std::vector<Field>>* objects);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem::tools
