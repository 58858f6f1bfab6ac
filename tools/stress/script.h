// A recorded run as text: a head, then one step a line, the same run whenever it is replayed.
//
//   tandem-operations 1
//   mode crash|faults|plain
//   seed N
//   rows N
//
// Steps, where TABLE, ROW, FAMILY, COLUMN and VALUE are words (below):
//   write LEVEL OPERATION [; OPERATION]...   LEVEL: memory, buffered, written or synced
//   lie LEVEL OPERATION [; OPERATION]...     as write, but not expected: finds out whether the
//                                            harness finds a wrong answer
//   flush [TABLE]                            compact TABLE
//   work COUNT                               background jobs; 0: all that are due
//   advance MICROS                           the clock
//   snapshot                                 taken, of at most three that are held
//   release                                  the oldest snapshot
//   change-index TABLE N                     an index that the table was not made with comes, or
//                                            goes where it is there; TABLE: north or south
//   observe TABLE                            an observer that changes nothing comes, or goes
//   load OPERATION [; OPERATION]...          puts of one table, in bulk
//   truncate TABLE                           drop TABLE, unless another one is dropped
//   create TABLE                             one that was dropped
//   rename TABLE                             to another name, or back
//   name-snapshot                            one that has a name, of at most three
//   drop-snapshot N                          the N-th of these
//   check TABLE SEED                         reads of every kind, now or at a snapshot
//   verify                                   deep
//   reopen                                   closed and opened
//   kill                                     the process ends, its writes stay; then opened
//   power-off-at N                           the N-th operation of the disk from now fails, and all
//                                            after it
//   crash none|all|random SEED torn|whole N  what survives of what was not synced; then opened, and
//                                            where N is not 0 the power fails again at its N-th
//                                            operation of the disk
//   fault OPERATION N once|sticky|partly io|space
//                                            the N-th such operation of the disk fails: any, read,
//                                            write, truncate, preallocate, sync, create, open,
//                                            remove, list or directory-sync
//   heal                                     the disk is well again, and has space
//   space BYTES                              BYTES are left on the disk
//
// Operations; TIME is a number, or - for the database's own time:
//   put TABLE ROW FAMILY TIME COLUMN VALUE [COLUMN VALUE]...
//   delete-cell TABLE ROW FAMILY TIME COLUMN     delete-column TABLE ROW FAMILY TIME COLUMN
//   delete-family TABLE ROW FAMILY TIME          delete-row TABLE ROW TIME
//   increment TABLE ROW FAMILY - COLUMN DELTA [COLUMN DELTA]...
//   append TABLE ROW FAMILY - COLUMN VALUE [COLUMN VALUE]...
//
// A word is text without blanks: \xNN is any byte, '' no byte at all, and COUNT*WORD is COUNT times
// WORD. Empty lines and lines that begin with # mean nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/options.h"
#include "tools/simulation/model.h"

namespace tandem::stress {

enum class Mode : uint8_t { kPlain, kCrash, kFaults };

struct Step {
  enum class Kind : uint8_t {
    kWrite,
    kLie,
    kFlush,
    kCompact,
    kSplit,
    kMergeRegions,
    kWork,
    kAdvance,
    kSnapshot,
    kRelease,
    kCheck,
    kVerify,
    kReopen,
    kKill,
    kPowerOffAt,
    kCrash,
    kFault,
    kHeal,
    kSpace,
    kChangeIndex,
    kObserve,
    kLoad,
    kTruncate,
    kDrop,
    kCreate,
    kRename,
    kNameSnapshot,
    kDropSnapshot,
  };
  Kind kind = Kind::kWrite;
  std::string name = {};   ///< A table; what survives a crash; which operation of the disk fails.
  std::string how = {};    ///< torn, whole; once, sticky, partly.
  std::string error = {};  ///< io, space.
  uint64_t number = 0;     ///< COUNT, MICROS, SEED, N, BYTES.
  uint64_t again = 0;      ///< Of crash: the N-th operation of the recovery.
  Durability durability = Durability::kWritten;
  std::vector<test::ModelOperation> operations = {};
  uint64_t line = 0;  ///< In its file; 0: in none.
};

struct Script {
  Mode mode = Mode::kCrash;
  uint64_t seed = 1;
  uint64_t rows = 100;
  std::vector<Step> steps = {};
};

/// The text of a whole script.
std::string Print(const Script& script);
/// One line, without its end.
std::string Print(const Step& step);
/// Errors: kInvalidArgument "line 7: expected ..., found '...'".
Result<Script> ParseScript(std::string_view text);

std::string_view NameOf(Mode mode);

}  // namespace tandem::stress
