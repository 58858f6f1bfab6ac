// Choosing and changing samples.
#include "test/fuzz/samples.h"

#include <utility>

#include "test/fuzz/mutator.h"
#include "test/fuzz/target.h"
#include "test/support/sample_store_files.h"

namespace tandem::fuzz {

SampleChoice::SampleChoice(std::vector<std::string> files, std::set<format::BlockKind> kinds) {
  for (std::string& bytes : files) {
    files_.emplace_back(std::move(bytes), test::kSampleId);
    places_.push_back(files_.back().Places(kinds));
    Expect(!places_.back().empty(), "a sample has blocks of the kinds that are changed");
  }
}

std::optional<ChangedSample> Change(const SampleChoice& samples, std::string_view input) {
  if (input.size() < kEditsAt) return std::nullopt;
  ChangedSample changed;
  changed.sample = static_cast<uint8_t>(input[1]) % samples.files().size();
  const bool is_sealed = FlagsOf(input).is_sealed();
  const test::DamageableFile& file = samples.files()[changed.sample];
  changed.bytes =
      file.Change(samples.places(changed.sample), input.substr(kEditsAt, kEditsMax * kEditBytes),
                  is_sealed ? test::Checksums::kRight : test::Checksums::kLeft);
  changed.is_damage = !is_sealed && changed.bytes != file.bytes();
  return changed;
}

std::vector<std::string> EditSeeds() {
  std::vector<std::string> seeds;
  for (char choice = 0; choice < 8; ++choice) {
    const auto flags = static_cast<char>(kChecksumsRight | (choice & ~1));
    const std::string seed{flags, static_cast<char>(choice % 2)};
    seeds.push_back(seed);
    seeds.push_back(seed + std::string("\1\0\2\0\1\3\0\0", kEditBytes));
    seeds.push_back(seed + std::string("\0\0\10\0\3\0\1\0\2\0\60\0\0\377\0\0", 2 * kEditBytes));
  }
  return seeds;
}

}  // namespace tandem::fuzz
