// See generator.h.
#include "tools/row_keys/generator.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "engine/split_keys/decimal.h"
#include "format/hash.h"
#include "tandem/limits.h"
#include "tools/row_keys/numbers.h"
#include "tools/row_keys/zipf.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/suggest.h"

namespace tandem::row_keys {
namespace {

using engine::AppendDecimal;
using engine::DigitsOf;

constexpr size_t kIdDigits = 12, kTimeDigits = 16, kUserDigits = 10, kHashDigits = 8;
constexpr uint64_t kBeginMicros = 1'767'225'600'000'000;  // 2026-01-01T00:00:00Z.
constexpr uint64_t kUsersMax = 10'000'000'000;
constexpr double kExponentMax = 20;

/// 64 bits that depend on all three in no simple way.
uint64_t Draw(uint64_t seed, uint64_t i, uint64_t which) {
  const auto bytes = std::bit_cast<std::array<char, 16>>(std::array<uint64_t, 2>{i, which});
  return format::Hash64({bytes.data(), bytes.size()}, seed);
}

uint64_t TimeOf(uint64_t i, uint64_t rate) {
  return kBeginMicros + i / rate * 1'000'000 + i % rate * 1'000'000 / rate;
}

class Sequence : public Generator {
 public:
  void Append(uint64_t i, std::string* key) const override { AppendDecimal(i, kIdDigits, key); }
};

class Reverse : public Generator {
 public:
  void Append(uint64_t i, std::string* key) const override {
    const size_t begin = key->size();
    AppendDecimal(i, kIdDigits, key);
    std::reverse(key->begin() + static_cast<std::ptrdiff_t>(begin), key->end());
  }
};

class HashAndId : public Generator {
 public:
  void Append(uint64_t i, std::string* key) const override {
    const uint64_t hash = Draw(0, i, 0);
    for (size_t digit = 0; digit < kHashDigits; ++digit) {
      key->push_back("0123456789abcdef"[hash >> (60 - 4 * digit) & 15]);
    }
    AppendDecimal(i, kIdDigits, key);
  }
};

class PartitionAndId : public Generator {
 public:
  PartitionAndId(uint64_t partitions, uint64_t parts) : partitions_(partitions), parts_(parts) {}
  void Append(uint64_t i, std::string* key) const override {
    AppendDecimal(i % partitions_, DigitsOf(partitions_), key);
    if (parts_ > 1) AppendDecimal(i / partitions_ % parts_, DigitsOf(parts_), key);
    AppendDecimal(i, kIdDigits, key);
  }

 private:
  uint64_t partitions_, parts_;
};

class SaltAndTime : public Generator {
 public:
  /// `seed`: of salts that are drawn; nullopt: they follow from the rest of the key, so that a
  /// reader finds the row again.
  SaltAndTime(uint64_t salts, uint64_t rate, std::optional<uint64_t> seed)
      : salts_(salts), rate_(rate), seed_(seed) {}
  void Append(uint64_t i, std::string* key) const override {
    const uint64_t time = TimeOf(i, rate_);
    const uint64_t drawn = seed_.has_value() ? Draw(*seed_, i, 1) : Draw(0, time, 0);
    AppendDecimal(drawn % salts_, DigitsOf(salts_), key);
    AppendDecimal(time, kTimeDigits, key);
  }

 private:
  uint64_t salts_, rate_;
  std::optional<uint64_t> seed_;
};

/// Of 1 to `count`, all alike or by Zipf's law.
class Chosen {
 public:
  Chosen(uint64_t count, std::optional<Zipf> zipf, uint64_t seed)
      : count_(count), zipf_(zipf), seed_(seed) {}
  uint64_t Of(uint64_t i) const {
    if (!zipf_.has_value()) return 1 + Draw(seed_, i, 0) % count_;
    return zipf_->Rank([&](uint64_t which) { return Draw(seed_, i, which); });
  }

 private:
  uint64_t count_;
  std::optional<Zipf> zipf_;
  uint64_t seed_;
};

class UserAndTime : public Generator {
 public:
  UserAndTime(Chosen users, uint64_t rate) : users_(users), rate_(rate) {}
  void Append(uint64_t i, std::string* key) const override {
    AppendDecimal(users_.Of(i), kUserDigits, key);
    AppendDecimal(TimeOf(i, rate_), kTimeDigits, key);
  }

 private:
  Chosen users_;
  uint64_t rate_;
};

class ChosenId : public Generator {
 public:
  explicit ChosenId(Chosen ids) : ids_(ids) {}
  void Append(uint64_t i, std::string* key) const override {
    AppendDecimal(ids_.Of(i), kIdDigits, key);
  }

 private:
  Chosen ids_;
};

Result<std::unique_ptr<Generator>> NewPartitions(const Words& words) {
  constexpr Range kRange = {1, kSplitPlanRegionsMax};
  RETURN_IF_ERROR(CheckParameters(words, 2));
  ASSIGN_OR_RETURN(const uint64_t partitions, NumberAt(words, 0, "partitions", kRange));
  uint64_t parts = 1;
  if (words.parameters.size() > 1) {
    ASSIGN_OR_RETURN(parts, NumberAt(words, 1, "parts of each", kRange));
  }
  return std::unique_ptr<Generator>(std::make_unique<PartitionAndId>(partitions, parts));
}

/// `exponent` 0: all are alike, where no other is given.
Result<Chosen> NewChosen(const Words& words, Range range, double exponent, uint64_t seed) {
  RETURN_IF_ERROR(CheckParameters(words, 2));
  ASSIGN_OR_RETURN(const uint64_t count,
                   NumberAt(words, 0, words.name == "zipf" ? "ids" : "users", range));
  if (words.parameters.size() > 1) {
    ASSIGN_OR_RETURN(exponent, FractionAt(words, 1, "exponent", kExponentMax));
  }
  std::optional<Zipf> zipf;
  if (exponent > 0) zipf.emplace(count, exponent);
  return Chosen(count, zipf, seed);
}

class GeneratedKeys : public KeySource {
 public:
  GeneratedKeys(std::unique_ptr<Generator> generator, uint64_t count, uint64_t step)
      : generator_(std::move(generator)), count_(count), step_(step) {}

  Result<bool> Next(WeightedKey* key) override {
    if (next_ == count_) return false;
    key_.clear();
    generator_->Append(next_ * step_ + (step_ > 1 ? Draw(0, next_, step_) % step_ : 0), &key_);
    ++next_;
    key->key = key_;
    key->weight = 1;
    bytes_ += key_.size();
    return true;
  }
  uint64_t read_bytes() const override { return bytes_; }
  uint64_t total_bytes() const override { return next_ == 0 ? 0 : bytes_ / next_ * count_; }

 private:
  std::unique_ptr<Generator> generator_;
  uint64_t count_, step_;
  uint64_t next_ = 0;
  uint64_t bytes_ = 0;
  std::string key_;
};

}  // namespace

Result<std::unique_ptr<Generator>> NewGenerator(const GeneratorOptions& options) {
  const Words words = SplitWords(options.spec);
  const std::string_view name = words.name;
  if (name == "mod+id") return NewPartitions(words);
  const bool is_drawn = name == "random-salt+time";
  if (is_drawn || name == "salt+time") {
    RETURN_IF_ERROR(CheckParameters(words, 1));
    ASSIGN_OR_RETURN(const uint64_t salts, NumberAt(words, 0, "salts", {1, kSplitPlanRegionsMax}));
    return std::unique_ptr<Generator>(std::make_unique<SaltAndTime>(
        salts, options.rate, is_drawn ? std::optional(options.seed) : std::nullopt));
  }
  if (name == "user+time") {
    ASSIGN_OR_RETURN(const Chosen users, NewChosen(words, {1, kUsersMax - 1}, 0, options.seed));
    return std::unique_ptr<Generator>(std::make_unique<UserAndTime>(users, options.rate));
  }
  if (name == "zipf") {
    ASSIGN_OR_RETURN(const Chosen ids,
                     NewChosen(words, {1, kGeneratedKeysMax - 1}, 1, options.seed));
    return std::unique_ptr<Generator>(std::make_unique<ChosenId>(ids));
  }
  std::unique_ptr<Generator> generator;
  if (name == "sequence") generator = std::make_unique<Sequence>();
  if (name == "reverse") generator = std::make_unique<Reverse>();
  if (name == "hash+id") generator = std::make_unique<HashAndId>();
  if (generator != nullptr) {
    RETURN_IF_ERROR(CheckParameters(words, 0));
    return generator;
  }
  const std::vector<std::string> known = {"sequence",  "reverse",          "hash+id",   "mod+id",
                                          "salt+time", "random-salt+time", "user+time", "zipf"};
  return Status::InvalidArgument(tools::Format(
      "generator '{}' is not known{}; generators: sequence, reverse, hash+id, mod+id:N[:M], "
      "salt+time:N, random-salt+time:N, user+time:N[:E], zipf:N[:E]",
      tools::EscapeBytes(options.spec), tools::DidYouMean(name, known)));
}

std::unique_ptr<KeySource> KeysOf(std::unique_ptr<Generator> generator, uint64_t count,
                                  uint64_t step) {
  return std::make_unique<GeneratedKeys>(std::move(generator), count, step);
}

}  // namespace tandem::row_keys
