// Whether to count or to read.
#include "engine/counting/skipped.h"

#include <string>

namespace tandem::engine {
namespace {

// This many are always decided.
constexpr uint64_t kDecidedMin = 64;

}  // namespace

bool Skipped::PaysToDecide(uint64_t rows, uint64_t read_per_decided) const {
  return rows <= kDecidedMin || rows * read_per_decided <= left;
}

void Skipped::ReadInsteadOf(uint64_t rows) {
  why_read =
      std::to_string(rows) + " rows lie in several files or in memstores: reading is cheaper";
}

}  // namespace tandem::engine
