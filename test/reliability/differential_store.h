// The stores that the differential suite compares. Each runs the same operations and answers the
// reads, as the same text; one that cannot answer a read stays silent.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "test/reliability/differential_operation.h"

namespace tandem::reliability {

/// Errors are thrown as std::runtime_error.
class DifferentialStore {
 public:
  virtual ~DifferentialStore() = default;
  virtual std::string name() const = 0;
  /// The answer of a read; nothing for other operations and for what it cannot answer.
  virtual std::optional<std::string> Run(const DiffOperation& operation) = 0;
  // What was done to regions so far.
  virtual uint64_t splits() const { return 0; }
  virtual uint64_t region_merges() const { return 0; }
};

/// With random options and with flushes, compactions, reopening, and splits and merges of regions;
/// its files below `directory`.
std::unique_ptr<DifferentialStore> NewBusyTandem(uint64_t seed, const std::string& directory);
/// Everything stays in one memstore on a simulated disk.
std::unique_ptr<DifferentialStore> NewPlainTandem(uint64_t seed);
// Those whose library was there when this was built; nullptr otherwise.
[[gnu::weak]] std::unique_ptr<DifferentialStore> NewRocksDbStore();
[[gnu::weak]] std::unique_ptr<DifferentialStore> NewSqliteStore();

}  // namespace tandem::reliability
