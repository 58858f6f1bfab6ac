// Which rows and cells a dump shows.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tandem/status.h"
#include "tools/tandem/options.h"

namespace tandem::tools {

/// Keys, families and a family's name as the user gave them, ready to be compared.
class RowFilter {
 public:
  RowFilter() = default;
  /// Errors: kInvalidArgument (bytes that cannot be read, --key beside a range).
  static Result<RowFilter> Of(const DumpOptions& options);

  bool selects_rows() const { return key_.has_value() || !low_.empty() || !end_.empty(); }
  /// No row before it is wanted.
  const std::string& low() const { return low_; }
  /// Whether this row, and so every later one, comes after all that are wanted.
  bool IsPast(std::string_view row) const;
  bool WantsRow(std::string_view row) const { return row >= low_ && !IsPast(row); }
  bool WantsFamily(std::string_view family) const { return family_.empty() || family == family_; }
  const std::string& family() const { return family_; }

 private:
  std::optional<std::string> key_;
  std::string low_;
  std::string end_;     // Exclusive; empty: none.
  std::string prefix_;  // Of what is wanted; empty: any.
  std::string family_;  // Empty: all.
};

}  // namespace tandem::tools
