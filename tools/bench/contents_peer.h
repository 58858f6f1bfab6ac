// The large set under measurement: apt-file's Contents, a row for each path and package, with
// indexes on package, section and extension.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/bench/peer.h"

namespace tandem::bench {

inline constexpr uint32_t kContentsBatchRows = 500;  ///< As `tandem import` batches.

/// The key is path, a zero byte, package. Columns: package, section, extension.
struct ContentsRow {
  std::string_view key;
  std::optional<std::string_view> columns[3];
};
inline constexpr const char* kContentsColumns[3] = {"package", "section", "extension"};

struct ContentsQuery {
  enum class Kind : uint8_t {
    kRows,       ///< Whole rows with low <= column < high.
    kCount,      ///< How many there are.
    kKeyPrefix,  ///< Whole rows with low <= key < high.
  };
  const char* name;
  Kind kind;
  int column;             ///< Of kContentsColumns; unused by kKeyPrefix.
  std::string low, high;  ///< An empty `high`: the column equals `low`.
  uint64_t limit = 0;     ///< So many of them, any; 0: all.
};

/// Equality, a count of two million, a limit, a range and a prefix.
std::vector<ContentsQuery> ContentsQueries();

/// Every call ends the process with a message when the engine reports an error.
class ContentsPeer {
 public:
  virtual ~ContentsPeer() = default;
  virtual void Add(const ContentsRow& row) = 0;
  virtual void Commit() = 0;
  virtual void Settle() = 0;
  /// A count is returned as the consumer's rows.
  virtual void Run(const ContentsQuery& query, Consumer* consumer) = 0;
};

/// Opens the database in the directory `path`, or creates it; Tandem's has to exist, as
/// `tandem import` makes it. Weak: without address when the engine was not built.
std::unique_ptr<ContentsPeer> NewTandemContents(const std::string& path);
[[gnu::weak]] std::unique_ptr<ContentsPeer> NewRocksDbContents(const std::string& path);
[[gnu::weak]] std::unique_ptr<ContentsPeer> NewSqliteContents(const std::string& path);

/// What main() does for `contents` and the processes that it starts; returns the exit code.
int RunContents(const std::vector<std::string>& words);

}  // namespace tandem::bench
