// See damage.h.
#include "test/reliability/damage.h"

#include <algorithm>
#include <random>
#include <set>

#include "test/reliability/answer_check.h"

namespace tandem::reliability {
namespace {

using DamageKind = Damage::Kind;

constexpr const char* kKindNames[kDamageKinds] = {"bit flipped",
                                                  "sector zeroed",
                                                  "sector set to ones",
                                                  "sectors swapped",
                                                  "sector swapped with one of",
                                                  "cut",
                                                  "extended by zeros",
                                                  "extended by garbage",
                                                  "extended by its own",
                                                  "deleted",
                                                  "swapped with",
                                                  "overwritten with",
                                                  "rolled back",
                                                  "taken from the twin"};
constexpr const char* kModeNames[] = {"to read", "to write", "to compact"};

// By hand, of each round.
constexpr uint64_t kRandomShapes = 2;
constexpr uint64_t kRoundsPerSeed = 1'000'000;

std::string Garbage(uint64_t seed, size_t length) {
  std::string bytes(length, '\0');
  base::NewSeededRandom(seed)->Fill(bytes);
  return bytes;
}

void SwapSectors(const Damage& damage, std::string* a, std::string* b) {
  for (uint32_t i = 0; i < damage.sector; ++i) {
    const size_t from = damage.at + i, to = damage.to + i;
    if (from < a->size() && to < b->size()) std::swap((*a)[from], (*b)[to]);
  }
}

void FillSector(const Damage& damage, char with, std::string* bytes) {
  const size_t end = std::min<size_t>(bytes->size(), damage.at + damage.sector);
  std::fill(bytes->begin() + static_cast<ptrdiff_t>(damage.at),
            bytes->begin() + static_cast<ptrdiff_t>(end), with);
}

/// Changes within one file. False: the kind concerns several.
bool ChangeBytes(const Damage& damage, uint64_t seed, std::string* bytes) {
  switch (damage.kind) {
    case DamageKind::kFlip:
      (*bytes)[damage.at] ^= static_cast<char>(1 << damage.bit);
      return true;
    case DamageKind::kZeroSector:
      FillSector(damage, '\0', bytes);
      return true;
    case DamageKind::kOnesSector:
      FillSector(damage, '\xff', bytes);
      return true;
    case DamageKind::kSwapSectors:
      SwapSectors(damage, bytes, bytes);
      return true;
    case DamageKind::kCut:
      bytes->resize(damage.at);
      return true;
    case DamageKind::kExtendZeros:
      bytes->append(damage.at, '\0');
      return true;
    case DamageKind::kExtendGarbage:
      bytes->append(Garbage(seed + damage.at, damage.at));
      return true;
    case DamageKind::kExtendOwn:
      bytes->append(bytes->substr(damage.at));
      return true;
    default:
      return false;
  }
}

/// The floor of what has to be left. A bit, or a sector of zeros that whole frames follow, does not
/// pass for the end of a log: those frames say what was durable before them.
uint64_t FloorOf(const Shape& shape, const std::string& name, const Damage& damage) {
  constexpr uint64_t kFramesBytes = 512;  // Two frames of a shape that is killed at least.
  if (!name.starts_with("log-") || damage.kind == DamageKind::kFlip) return shape.states_floor;
  if (damage.kind != DamageKind::kZeroSector) return shape.log_floor;
  const auto file = shape.files.find(name);
  const bool frames_follow =
      file != shape.files.end() &&
      damage.at + damage.sector + kFramesBytes <= file->second.find_last_not_of('\0') + 1;
  return frames_follow ? shape.states_floor : shape.log_floor;
}

/// Damage after which everything is there although nothing is said: to one slot of ROOT while the
/// other is whole; and an earlier ROOT, which says "open" as after a crash just before the close.
bool MaySayNothing(const std::string& name, DamageKind kind) {
  return name == "ROOT" && (kind <= DamageKind::kSwapSectors || kind == DamageKind::kRollBack);
}

bool IsOfTwoFiles(DamageKind kind) {
  return kind == DamageKind::kSwapFiles || kind == DamageKind::kSwapBetween;
}

/// Whether an outcome is a failure. What was closed cleanly keeps no other damage to itself.
bool Fails(const Shape& shape, bool must_tell, Outcome outcome) {
  switch (outcome) {
    case Outcome::kReported:
    case Outcome::kVerified:
    case Outcome::kNotRun:
      return false;
    case Outcome::kHarmless:
    case Outcome::kTailLost:
      return shape.is_closed && must_tell;
    default:
      return true;
  }
}

}  // namespace

DamageTrials::DamageTrials(const Plan& plan, uint64_t seed, uint64_t round)
    : seed_(seed), shapes_(NewShapes(seed)) {
  for (uint64_t i = 0; plan.seconds > 0 && i < kRandomShapes; ++i) {
    shapes_.push_back(NewRandomShape(plan.seed * kRoundsPerSeed + round * kRandomShapes + i));
  }
  for (const Shape& shape : shapes_) {
    std::set<std::string> names;
    for (const auto& [name, bytes] : shape.files) names.insert(name);
    for (const Files& files : shape.history) {
      for (const auto& [name, bytes] : files) names.insert(name);
    }
    names_.emplace_back(names.begin(), names.end());
  }
}

const std::string* DamageTrials::Bytes(size_t shape, size_t file) const {
  const auto found = shapes_[shape].files.find(names_[shape][file]);
  return found == shapes_[shape].files.end() ? nullptr : &found->second;
}

std::string DamageTrials::Describe(const Damage& damage) const {
  const auto& names = names_[damage.shape];
  std::string text = "'" + shapes_[damage.shape].name + "', opened " +
                     kModeNames[static_cast<size_t>(damage.mode)] + ": " + names[damage.file] +
                     " " + kKindNames[static_cast<size_t>(damage.kind)];
  if (IsOfTwoFiles(damage.kind) || damage.kind == DamageKind::kCopyOver) {
    text += " " + names[damage.other];
    if (damage.kind != DamageKind::kSwapBetween) return text;
  }
  if (damage.kind == DamageKind::kDelete || damage.kind == DamageKind::kTwin) return text;
  text += " (" + std::to_string(damage.at);
  if (damage.kind == DamageKind::kFlip) text += ", bit " + std::to_string(damage.bit);
  if (damage.kind >= DamageKind::kZeroSector && damage.kind <= DamageKind::kSwapBetween) {
    text += ", to " + std::to_string(damage.to) + ", " + std::to_string(damage.sector) + " bytes";
  }
  return text + ")";
}

Files DamageTrials::Apply(const Damage& damage) const {
  const Shape& shape = shapes_[damage.shape];
  Files files = shape.files;
  const std::string& name = names_[damage.shape][damage.file];
  const std::string& other = names_[damage.shape][damage.other];
  switch (damage.kind) {
    case DamageKind::kDelete:
      files.erase(name);
      break;
    case DamageKind::kSwapFiles:
      std::swap(files[name], files[other]);
      break;
    case DamageKind::kSwapBetween:
      SwapSectors(damage, &files[name], &files[other]);
      break;
    case DamageKind::kCopyOver:
      files[name] = files[other];
      break;
    case DamageKind::kRollBack:
      files[name] = shape.history[damage.at].at(name);
      break;
    case DamageKind::kTwin:
      files[name] = shape.twin.at(name);
      break;
    default:
      ChangeBytes(damage, seed_, &files[name]);
  }
  return files;
}

uint64_t DamageTrials::FloorAfter(const Damage& damage) const {
  const Shape& shape = shapes_[damage.shape];
  const auto& names = names_[damage.shape];
  const uint64_t floor = FloorOf(shape, names[damage.file], damage);
  if (!IsOfTwoFiles(damage.kind)) return floor;
  return std::min(floor, FloorOf(shape, names[damage.other], damage));
}

TrialResult DamageTrials::Try(const Damage& damage) const {
  const Shape& shape = shapes_[damage.shape];
  const std::string& name = names_[damage.shape][damage.file];
  const Files files = Apply(damage);
  AnswerCheck judge(shape, FloorAfter(damage));
  SimulatedEngine world(seed_ + damage.at, ShapeTuning());
  world.Load(files);
  const auto open = [&](bool read_only) {
    const Status opened = world.Open(read_only);
    if (!opened.ok()) judge.TakeError(opened, "open");
    return opened.ok();
  };
  if (open(damage.mode == Damage::Mode::kRead)) {
    judge.Read(world.engine(), damage.at);
    if (damage.mode == Damage::Mode::kCompact) {
      if (const Status status = world.engine().Compact(""); !status.ok()) {
        judge.TakeError(status, "compact");
      }
      if (!world.Close().ok()) world.Kill();
      if (open(false)) judge.Read(world.engine(), damage.at);
    }
  }
  TrialResult result = judge.Result();
  result.figures[static_cast<size_t>(damage.kind)] = 1;
  // A file that nobody refers to any more does no harm by coming back.
  const bool must_tell =
      !MaySayNothing(name, damage.kind) && shape.files.contains(name) && files != shape.files;
  if (!Fails(shape, must_tell, result.outcome)) {
    result.note.clear();
  } else {
    result.note = Describe(damage) + ": " + std::string(NameOf(result.outcome)) + ": " +
                  (result.note.empty() ? "the damage is not told" : result.note);
  }
  return result;
}

void DamageTrials::Run(const Plan& plan, std::vector<Damage> damages, const std::string& suite,
                       double seconds, Report* report) const {
  // In no order, so that a run that is ended early has seen something of everything.
  std::shuffle(damages.begin(), damages.end(), std::mt19937_64(plan.seed));
  const TrialRun run = RunTrials(
      {.count = damages.size(), .seconds = seconds, .until_noted = true},
      [&](uint64_t number) { return Try(damages[number]); },
      [&](uint64_t number) { return Describe(damages[number]); });
  const auto add = [&](const std::string& name, uint64_t count) {
    for (auto& [known, sum] : report->counts) {
      if (known == name) {
        sum += count;
        return;
      }
    }
    report->counts.emplace_back(name, count);
  };
  add("trials", run.ran);
  add("reported", run.count(Outcome::kReported));
  add("found by verify", run.count(Outcome::kVerified));
  add("harmless", run.count(Outcome::kHarmless));
  add("tail lost after a kill", run.count(Outcome::kTailLost));
  add("silent",
      run.count(Outcome::kSuffixLost) + run.count(Outcome::kHole) + run.count(Outcome::kWrong));
  add("odd errors", run.count(Outcome::kOddError));
  add("crashes", run.count(Outcome::kCrash));
  add("hangs", run.count(Outcome::kHang));
  for (size_t kind = 0; kind < kDamageKinds; ++kind) {
    if (run.figures[kind] > 0) add(kKindNames[kind], run.figures[kind]);
  }
  const std::string by_hand =
      plan.seconds > 0 ? " --seconds " + std::to_string(static_cast<uint64_t>(plan.seconds)) : "";
  for (const std::string& note : run.notes) {
    report->failures.push_back(note + "\n  again: build/reliability " + suite + " --seed " +
                               std::to_string(plan.seed) + by_hand);
  }
}

}  // namespace tandem::reliability
