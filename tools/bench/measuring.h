// What a process that measures needs: it runs a group of phases of one engine on one database and
// prints a line a figure (see figures.h).
//
// A group is what has to share a process: phases of one warm cache, or a single cold read. Opening
// is part of the time of no phase but those named for it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/bench/arguments.h"
#include "tools/bench/figures.h"
#include "tools/bench/peers.h"
#include "tools/bench/usage.h"
#include "tools/bench/workload.h"

namespace tandem::bench {

/// A read of W1 that several phases share. Figures of equal `name` return equal rows.
struct NamedRead {
  std::string name;  ///< Of the phase when warm.
  std::string rows_name;
  std::function<void(Peer*, Consumer*)> run;
  Reads when_cold;
};

std::vector<NamedRead> QueriesOf(const W1& w1);  ///< By rising selectivity.
std::vector<NamedRead> FiltersOf(const W1& w1);  ///< The same rows without an index.
NamedRead RangeOf(const W1& w1);
NamedRead GetsOf(const W1& w1);  ///< A thousand gets.
/// The same rows, pinned; and through the index of ts, one query each.
NamedRead PinnedGetsOf(const W1& w1);
NamedRead OneRowQueriesOf(const W1& w1);
NamedRead ScanOf();
/// What is read cold, each in a process of its own.
std::vector<NamedRead> ColdReadsOf(const W1& w1);

/// Inserts all rows in batches of kBatchRows.
void Load(const W1& w1, Peer* peer);
/// Inserts the rows from `begin` to before `end` in such batches, and adds to `micros` what each
/// batch took without the making of its rows.
void LoadTimed(const W1& w1, uint64_t begin, uint64_t end, Writer* writer,
               std::vector<float>* micros);
/// Prints what all but one of a thousand batches took at most, and the longest. `of` is their time.
void PrintTails(Figure of, std::vector<float> micros);
/// Threads that insert rows of their own, beyond the first 2^28, and commit each by itself. Returns
/// how many they committed.
uint64_t InsertRows(int threads, double seconds, Peer* peer);

/// A figure of the time and the work between two moments, without value and items.
Figure FigureBetween(const std::string& phase, const Usage& begin, const Usage& end);
/// Prints `items` per second as the figure's value.
void PrintRate(Figure figure, uint64_t items);
void Print(const Figure& figure);

/// Opens the database and gets a row, without which some engines would not have opened a file.
/// `*state`, unless null, is how it stands then.
Figure TimeOpen(const Arguments& arguments, const std::string& key,
                std::optional<EngineState>* state = nullptr);
/// Inserts rows and leaves a log behind by killing this process.
[[noreturn]] void LoadAndDie(const Arguments& arguments, uint64_t first, uint64_t rows);

/// Prints what was read since `begin`: all of it in `all`, a single run in `proof`.
void PrintRead(const NamedRead& read, const Usage& begin, const Consumer& all,
               const Consumer& proof);
/// Runs the read once to warm up, then until `seconds` have passed, and prints rows/s.
void MeasureRead(const NamedRead& read, Peer* peer, double seconds);

// The groups. Each takes the arguments of the process.
void MeasureWarm(const Arguments& arguments);      ///< Load, settle, warm reads, counts, disk.
void MeasurePlain(const Arguments& arguments);     ///< Load without indexes.
void MeasureCold(const Arguments& arguments);      ///< Cold read number arguments.item.
void MeasureUpdates(const Arguments& arguments);   ///< Updates, and queries beside writers.
void MeasureCommits(const Arguments& arguments);   ///< Synced commits of single rows.
void MeasureTails(const Arguments& arguments);     ///< How long each batch of a load takes.
void MeasureCounters(const Arguments& arguments);   ///< Increments and transfers; not LevelDB.
void MeasureLarge(const Arguments& arguments);     ///< Rows of 20 KB, a hundredth as many.
void MeasureOpen(const Arguments& arguments);      ///< Opening what was closed.
void WriteAndDie(const Arguments& arguments);      ///< Leaves a log behind by killing itself.
void MeasureReopen(const Arguments& arguments);    ///< Opening that.
void MeasureUnmerged(const Arguments& arguments);  ///< Reads while memstores hold rows; Tandem.
void MeasureIndexSet(const Arguments& arguments);  ///< Index set number arguments.item.
void MeasureTitles(const Arguments& arguments);    ///< An index of words; Tandem and SQLite.
void MeasureAnswers(const Arguments& arguments);   ///< Several indexes; Tandem and SQLite.
void MeasureGrid(const Arguments& arguments);      ///< The planner and other plans; Tandem.
void MeasureBulk(const Arguments& arguments);      ///< Loads in key order, and bulk loads; Tandem.
void MeasureSalts(const Arguments& arguments);     ///< Scans of salted tables; Tandem.
void MeasureLayouts(const Arguments& arguments);   ///< Tall tables and wide ones; Tandem.

// Those of `tandem_bench large` (large_load.h) and `tandem_bench growth` (growth.h).
void MeasureLargeLoad(const Arguments& arguments);   ///< One load, part by part.
void DieInLargeLoad(const Arguments& arguments);     ///< Goes on loading until it kills itself.
void ReopenLargeLoad(const Arguments& arguments);    ///< Opens that.
void MeasureGrowthLoad(const Arguments& arguments);  ///< One load, until idle, until settled.

/// What the index sets are measured for, in the order of their numbers.
inline constexpr IndexSet kIndexSets[] = {IndexSet::kCity, IndexSet::kCityTime,
                                          IndexSet::kCityCoversStatus, IndexSet::kTime,
                                          IndexSet::kUniqueTime};

}  // namespace tandem::bench
