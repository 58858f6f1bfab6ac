// Sample store files, made once a process, and their changes.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "format/block/block.h"
#include "test/support/damaged_file.h"

namespace tandem::fuzz {

/// Files of which an input changes one. Threads: any.
class SampleChoice {
 public:
  /// The places of `kinds` may be changed; every file has some.
  SampleChoice(std::vector<std::string> files, std::set<format::BlockKind> kinds);
  const std::vector<test::DamageableFile>& files() const { return files_; }
  /// Those of file `i` that may be changed.
  const std::vector<test::DamageableFile::Place>& places(size_t i) const { return places_[i]; }

 private:
  std::vector<test::DamageableFile> files_;
  std::vector<std::vector<test::DamageableFile::Place>> places_;
};

struct ChangedSample {
  std::string bytes;
  size_t sample = 0;
  bool is_damage = false;  ///< Something changed, and checksums were left as they were.
};

/// What an input of Shape::kEdits makes of `samples`; nullopt when it is too short to say.
std::optional<ChangedSample> Change(const SampleChoice& samples, std::string_view input);

/// Inputs that change nothing and a little, for targets of Shape::kEdits.
std::vector<std::string> EditSeeds();

}  // namespace tandem::fuzz
