// The small world: one table of three rows and three indexed columns in one or two families, two
// values, timestamps 1 to 7 in any order; its steps, and what is asked of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/generator/generator.h"

namespace tandem::test {

inline const std::vector<std::string> kSmallRows = {"x", "y", "z"};

struct SmallStep {
  enum class Kind : uint8_t {
    kWrite,
    kFlush,
    kCompact,
    kRunOne,
    kTakeSnapshot,
    kReleaseSnapshot,
    kAdvanceClock,
    kAlter,  ///< The limits of a family.
    kTruncate,
    kChangeIndex,  ///< One is dropped or created, or dropped and created again.
    kReopen,
    kCrash,
    kKill,
  };
  Kind kind = Kind::kWrite;
  std::vector<ModelOperation> batch;  ///< kWrite.
  bool synced = false;                ///< kWrite.
  uint64_t argument = 0;              ///< Micros, or a seed.

  std::string Describe() const;
};

struct SmallWorld {
  uint32_t max_versions = 1;
  int64_t ttl_micros = 0;
  bool switches_memstores = false;            ///< After every batch.
  bool two_families = false;                  ///< The column "c" lies in a second one.
  bool rising = false;                        ///< Operations have the time of their commit.
  bool lists = false;                         ///< A value may be of two parts.
  bool unique_a = false, unique_all = false;  ///< An index over "a", and that over all columns.
  bool includes = false;                      ///< Indexes include other columns.
  bool globals = false;                       ///< There are global indexes besides.
  bool keys = false;                          ///< There are indexes over a part of the row key,
  bool calls = false;                         ///< over functions of a program,
  bool joined = false;                        ///< over concat of two columns,
  bool maps = false;                          ///< and over the qualifiers and values of a family.
  bool loads = false;                         ///< Some batches are bulk loads.
  uint64_t partial = 0;  ///< Of the definitions of partial indexes; 0: there are none.
  std::vector<std::string> split_keys{};  ///< Rows at which a region begins.
  uint64_t seed = 1;                      ///< Of the checks and the disk.
  std::vector<SmallStep> steps;

  uint64_t operation_count() const;
  std::string Describe() const;
};

/// The table "w" as it is created.
TablePlan PlanOf(const SmallWorld& world);
/// Every predicate that is worth asking.
std::vector<Predicate> SmallPredicates(const SmallWorld& world);
/// Of what concat makes of two columns.
void AddJoinedPredicates(const SmallWorld& world, std::vector<Predicate>* all);

}  // namespace tandem::test
