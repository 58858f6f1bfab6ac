// A record as named values, and what writes records in some form.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tandem::tools {

/// One value of a record. Lifetime: it views bytes of others.
class Value {
 public:
  using Strings = const std::vector<std::string>*;
  using Variant =
      std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string_view, Strings>;

  Value() = default;  ///< Absent.
  template <std::same_as<bool> T>
  Value(T value) : value_(value) {}
  template <std::signed_integral T>
  Value(T value) : value_(static_cast<int64_t>(value)) {}
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>) Value(T value) : value_(static_cast<uint64_t>(value)) {}
  Value(double value) : value_(value) {}
  Value(std::string_view bytes) : value_(bytes) {}
  Value(const std::string& bytes) : value_(std::string_view(bytes)) {}
  Value(const char* text) : value_(std::string_view(text)) {}
  Value(const std::vector<std::string>& list) : value_(&list) {}

  const Variant& variant() const { return value_; }
  bool absent() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_number() const {
    return std::holds_alternative<int64_t>(value_) || std::holds_alternative<uint64_t>(value_) ||
           std::holds_alternative<double>(value_);
  }
  /// The value as bytes, as `raw` and `csv` print it; absent is empty, a list is joined by "; ".
  std::string Bytes() const;

 private:
  Variant value_;
};

using Property = std::pair<std::string_view, Value>;

/// Writes records to a stream.
///   writer->Begin("region", {"id", "start"});
///   writer->Add({id, start});
///   writer->End();
/// Failed writes are noticed when the stream is flushed. Threads: one at a time.
class RecordWriter {
 public:
  virtual ~RecordWriter() = default;
  /// Begins records of one kind that have these columns. Requires: none are begun.
  virtual void Begin(std::string_view kind, std::vector<std::string> columns) = 0;
  /// Requires: as many values as columns.
  virtual void Add(std::span<const Value> values) = 0;
  void Add(std::initializer_list<Value> values) {
    Add(std::span<const Value>(values.begin(), values.size()));
  }
  virtual void End() = 0;
  /// One record that a person reads from top to bottom. Requires: none are begun.
  virtual void AddProperties(std::string_view kind, std::span<const Property> properties);
};

/// For writers of records.
void WriteBytes(std::FILE* out, std::string_view bytes);

}  // namespace tandem::tools
