// Titles under measurement: rows of a few words each, with an index of words, in Tandem and in
// SQLite's FTS5, which keeps the titles as well. The other engines have no such index.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/bench/workload.h"

namespace tandem::bench {

/// Titles of 4 to 9 of 50,000 words, which come by Zipf. Deterministic, the same for every engine.
class Titles {
 public:
  Titles();
  /// `*title` is overwritten.
  void Title(uint64_t i, std::string* title) const;
  /// Pairs of words of the same title, each a word that is neither among the most frequent nor
  /// among the rarest.
  std::vector<std::pair<std::string, std::string>> Pairs(size_t count) const;

 private:
  uint32_t WordOf(uint64_t draw) const;

  std::vector<double> cumulative_;  // Of the Zipf distribution over words.
};

/// Every call ends the process with a message when the engine reports an error.
class TitleStore {
 public:
  virtual ~TitleStore() = default;
  virtual void Insert(uint64_t number, std::string_view title) = 0;
  virtual void Commit() = 0;
  /// Returns when everything is in files and merged.
  virtual void Settle() = 0;
  /// The titles that have both words.
  virtual void QueryBoth(const std::string& first, const std::string& second,
                         Consumer* consumer) = 0;
};

/// Creates the database in the directory `path`. Weak: without address when it was not built.
std::unique_ptr<TitleStore> NewTandemTitles(const std::string& path);
[[gnu::weak]] std::unique_ptr<TitleStore> NewSqliteTitles(const std::string& path);

}  // namespace tandem::bench
