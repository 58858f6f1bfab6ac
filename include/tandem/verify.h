// The result of a check of a database.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace tandem {

/// What a finding affects, the least severe first.
enum class FindingEffect : uint8_t {
  kNothing,  ///< A second copy, padding, or a file that nothing needs.
  kDerived,  ///< What is made from rows: an index, a filter, hashes, statistics. Rows are intact;
             ///< reads do without it, and a merge of the file makes it again.
  kAccess,   ///< What leads to rows: ROOT, the manifest, a schema, a block index, an order. Reads
             ///< fail or miss rows; the rows may be intact, and salvage looks for them.
  kRows,     ///< Rows, or operations of the log, are damaged or missing: salvage says which.
};

/// "nothing", "derived", "access", "rows".
const char* NameOf(FindingEffect effect);

/// One problem. Fields that do not apply are empty.
struct Finding {
  /// The whole finding as a sentence: "FILE: offset OFFSET: WHAT: expected EXPECTED, found FOUND".
  std::string text;
  /// What it is about: "root", "manifest", "log", "file", "catalog", "order", "sequence", "name",
  /// "reads", or of a store file "schema", "rows", "block-index", "presence", "index", "filter",
  /// "key-hashes", "clean-rows", "statistics", "spare" (a second copy, padding).
  std::string kind;
  FindingEffect effect = FindingEffect::kNothing;
  std::string file;                ///< A name in the directory.
  std::optional<uint64_t> offset;  ///< In the file, of the block, frame or section.
  std::string expected, found;     ///< Checksums and hashes are hexadecimal.

  bool operator==(const Finding&) const = default;
};

/// What was checked and what was found. `findings` is empty if nothing is wrong.
struct VerifyReport {
  uint64_t files = 0, rows = 0, cells = 0, index_entries = 0, bytes = 0;
  std::vector<Finding> findings;
};

}  // namespace tandem

#pragma GCC visibility pop
