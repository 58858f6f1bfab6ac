// See crash_policy.h.
#include "tools/simulation/crash_policy.h"

#include <algorithm>
#include <cstdio>

namespace tandem::test {
namespace {

using Kept = CrashPolicy::Kept;

std::string_view KeptName(Kept kept) {
  switch (kept) {
    case Kept::kNone:
      return "none";
    case Kept::kAll:
      return "all";
    case Kept::kRandom:
      return "random";
    case Kept::kPrefix:
      return "prefix";
    case Kept::kAllBut:
      return "all but";
    case Kept::kOnly:
      return "only";
    case Kept::kTorn:
      return "torn";
    case Kept::kTornAmongAll:
      return "torn among all";
  }
  return "unknown";
}

std::string_view KindName(PendingEffect::Kind kind) {
  switch (kind) {
    case PendingEffect::Kind::kBytes:
      return "bytes";
    case PendingEffect::Kind::kGrow:
      return "grow";
    case PendingEffect::Kind::kResize:
      return "resize";
    case PendingEffect::Kind::kReserve:
      return "reserve";
    case PendingEffect::Kind::kCreate:
      return "create";
    case PendingEffect::Kind::kRemove:
      return "remove";
  }
  return "unknown";
}

}  // namespace

std::string Describe(const CrashPolicy& policy) {
  std::string text(KeptName(policy.kept));
  if (policy.kept == Kept::kNone || policy.kept == Kept::kAll) return text;
  if (policy.kept == Kept::kRandom) {
    return text + ", seed " + std::to_string(policy.seed) + (policy.torn ? "" : ", not torn");
  }
  text += " at " + std::to_string(policy.at);
  if (policy.kept != Kept::kTorn && policy.kept != Kept::kTornAmongAll) return text;
  char units[32];
  std::snprintf(units, sizeof(units), "0x%llx", static_cast<unsigned long long>(policy.units));
  return text + ", unit " + std::to_string(policy.unit_bytes) + ", units " + units;
}

std::string Describe(const PendingEffect& effect) {
  std::string text(KindName(effect.kind));
  text += " " + (effect.directory.empty() ? "(no name)" : effect.directory + "/" + effect.name);
  if (effect.kind == PendingEffect::Kind::kBytes) text += " at " + std::to_string(effect.offset);
  const bool is_name =
      effect.kind == PendingEffect::Kind::kCreate || effect.kind == PendingEffect::Kind::kRemove;
  return is_name ? text : text + ", " + std::to_string(effect.size) + " bytes";
}

Survival::Survival(const CrashPolicy& policy, uint64_t id_at)
    : policy_(policy), id_at_(id_at), random_(base::NewSeededRandom(policy.seed)) {
  // A few survivors, half of them or nearly all: each finds other bugs.
  constexpr uint64_t kShares[] = {1, 4, 7};
  kept_of_eight_ = kShares[random_->Next64() % 3];
}

bool Survival::Keeps(uint64_t id) {
  switch (policy_.kept) {
    case Kept::kNone:
      return false;
    case Kept::kAll:
    case Kept::kTornAmongAll:
      return true;
    case Kept::kRandom:
      return random_->Next64() % 8 < kept_of_eight_;
    case Kept::kPrefix:
      return id < id_at_;
    case Kept::kAllBut:
      return id != id_at_;
    case Kept::kOnly:
      return id == id_at_;
    case Kept::kTorn:
      return id <= id_at_;
  }
  return false;
}

std::vector<Effect> Survival::Survivors(const Effect& effect) {
  if (!Keeps(effect.id)) return {};
  if (effect.kind != Effect::Kind::kBytes) return {effect};
  const bool is_random = policy_.kept == Kept::kRandom;
  if (is_random && policy_.torn && random_->Next64() % 4 == 0) return TornAtRandom(effect);
  const bool is_torn = policy_.kept == Kept::kTorn || policy_.kept == Kept::kTornAmongAll;
  if (!is_torn || effect.id != id_at_) return {effect};
  return Torn(effect, [&](uint64_t unit) {
    return ((policy_.units >> std::min<uint64_t>(unit, 63)) & 1) != 0;
  });
}

// Half of the torn writes lose their end alone, as the power went before it was written.
std::vector<Effect> Survival::TornAtRandom(const Effect& effect) {
  const bool is_prefix = random_->Next64() % 2 == 0;
  bool is_cut = false;
  return Torn(effect, [&](uint64_t) {
    const bool is_kept = random_->Next64() % 2 == 0;
    is_cut = is_cut || (is_prefix && !is_kept);
    return is_kept && !is_cut;
  });
}

// Of the units of `effect`, those that `keeps_unit(index)` says survive.
template <typename KeepsUnit>
std::vector<Effect> Survival::Torn(const Effect& effect, KeepsUnit keeps_unit) const {
  std::vector<Effect> survivors;
  uint64_t unit = 0;
  for (uint64_t at = 0; at < effect.bytes.size(); ++unit) {
    const uint64_t unit_left = policy_.unit_bytes - (effect.offset + at) % policy_.unit_bytes;
    const uint64_t count = std::min<uint64_t>(unit_left, effect.bytes.size() - at);
    if (keeps_unit(unit)) {
      survivors.push_back({.kind = Effect::Kind::kBytes,
                           .id = effect.id,
                           .offset = effect.offset + at,
                           .bytes = effect.bytes.substr(at, count)});
    }
    at += count;
  }
  return survivors;
}

}  // namespace tandem::test
