// The records of a dump on their way out: chosen by kind, counted against a limit, and marked with
// their file where several files are dumped.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/tandem/output.h"

namespace tandem::tools {

/// Passes records on to another writer, which outlives it. Threads: one at a time.
class DumpRecords final : public RecordWriter {
 public:
  struct Choice {
    std::string kind = {};     ///< Empty: every kind.
    std::string file = {};     ///< Becomes the first column; empty: there is none.
    uint64_t records_max = 0;  ///< Records of lists; properties do not count. 0: no limit.
  };
  DumpRecords(RecordWriter* out, Choice choice) : out_(*out), choice_(std::move(choice)) {}

  bool Wants(std::string_view kind) const { return choice_.kind.empty() || choice_.kind == kind; }
  /// No more records of lists pass: their maker may stop.
  bool is_full() const { return choice_.records_max != 0 && passed_ >= choice_.records_max; }

  void Begin(std::string_view kind, std::vector<std::string> columns) override;
  using RecordWriter::Add;
  void Add(std::span<const Value> values) override;
  void End() override;
  void AddProperties(std::string_view kind, std::span<const Property> properties) override;

 private:
  RecordWriter& out_;
  const Choice choice_;
  bool passes_ = false;  // The list that is begun is wanted.
  uint64_t passed_ = 0;
  std::vector<Value> values_;
};

}  // namespace tandem::tools
