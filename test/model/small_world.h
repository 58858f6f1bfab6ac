// The small world: one table of three rows and three indexed columns in one or two families, two
// values, timestamps 1 to 7 in any order. Large data does not find the bugs that these find fast. A
// world is a list of steps, so that one that fails can be cut down to what it needs to fail.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "test/model/counters.h"
#include "test/model/run_trace.h"
#include "tools/generator/generator.h"

namespace tandem::test {

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

SmallWorld NewSmallWorld(uint64_t seed);
/// Lives through the world, comparing with the model after each step; what went wrong, if anything.
/// `trace` is given everything that happens; may be null.
std::optional<std::string> RunSmallWorld(const SmallWorld& world, Counters* counters,
                                         RunTrace* trace = nullptr);
/// The same world without the steps that it does not need to fail. Requires: it fails.
SmallWorld Shrink(SmallWorld world);

}  // namespace tandem::test
