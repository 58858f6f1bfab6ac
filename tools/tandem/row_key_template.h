// How an imported record gets its row key: a field, or a template of fields and fixed text.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/status.h"
#include "tools/tandem/field.h"

namespace tandem::tools {

/// `Package` is the field of that name; `{Package}/{Version}` puts fields and text together, text
/// with `\xNN` escapes (`\x7b` is a brace). An empty template is the first field.
class RowKeyTemplate {
 public:
  /// Errors: kInvalidArgument (a brace that does not close, an empty name, a bad escape).
  static Result<RowKeyTemplate> Parse(std::string_view text);
  bool empty() const { return pieces_.empty(); }

  /// Sets `*key` from a record. Returns what is wrong (a field is missing, the key is empty), or an
  /// empty string.
  std::string Build(std::span<const Field> fields, std::string* key) const;

 private:
  struct Piece {
    std::string text;
    bool is_field = false;
  };
  std::vector<Piece> pieces_;
};

/// What is wrong with a record's row key (empty, too long), or an empty string.
std::string RowKeyProblem(std::string_view key);

}  // namespace tandem::tools
