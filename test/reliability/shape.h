// The databases that are damaged: what was written, which files that left, and what every read has
// to answer. A shape that was closed cleanly has one right answer to each read; one that was killed
// also has those of the prefixes of its batches that damage may leave.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "test/reliability/simulated_engine.h"
#include "tools/simulation/model.h"

namespace tandem::reliability {

/// A read of a whole engine or of the model. Answers are text: a piece for each row, in order, so
/// that what was read before an error is a prefix.
struct ShapeRead {
  enum class Kind : uint8_t { kScan, kGet, kQuery, kCount };
  Kind kind = Kind::kScan;
  std::string table{};
  std::string row{};
  std::string predicate{};
  QueryOptions query{};
  bool reverse = false;
  uint32_t versions = 1;

  std::string Describe() const;
};

struct ShapeAnswer {
  Status status{};
  std::string text{};
};

ShapeAnswer Ask(engine::Engine& engine, const ShapeRead& read);
std::string Ask(const test::Model& model, const ShapeRead& read);

struct Shape {
  std::string name{};
  bool is_closed = true;  ///< Cleanly.
  Files files{};
  std::vector<Files> history{};  ///< Earlier moments of the same database, oldest first.
  Files twin{};                  ///< The same operations in a database with another id.
  std::vector<ShapeRead> reads{};
  /// answers[n][r]: of read r after the first n batches.
  std::vector<std::vector<std::string>> answers{};
  /// How many batches a bit that is flipped in one place leaves at least, and how many a log that
  /// lost its end: all of them where the database was closed cleanly.
  uint64_t states_floor = 0, log_floor = 0;

  uint64_t last_state() const { return answers.size() - 1; }
};

/// All of them. The same in every run; `seed` decides file ids and nothing else.
std::vector<Shape> NewShapes(uint64_t seed);
/// One of a random workload that was closed cleanly, with another for each seed.
Shape NewRandomShape(uint64_t seed);
/// The first of them, by which the peers are tested as well.
Shape NewSmallShape(uint64_t seed);

}  // namespace tandem::reliability
