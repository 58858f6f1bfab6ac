// What this process used so far, as the system accounts for it.
#pragma once

#include <cstdint>
#include <functional>

namespace tandem::bench {

struct Usage {
  double seconds = 0;          ///< Of a clock that never steps backwards.
  double cpu_seconds = 0;      ///< User and system, of all threads.
  uint64_t read_bytes = 0;     ///< Fetched from the device.
  uint64_t written_bytes = 0;  ///< Handed to the device, or due to be.
  /// Handed to write, pwrite and the like: files and logs alike, each byte as often as it was
  /// written. Neither mapped memory nor rings of io_uring count.
  uint64_t handed_bytes = 0;
  uint64_t resident_bytes = 0;  ///< Memory now, mapped files included.
  uint64_t peak_bytes = 0;     ///< The most memory that was resident, mapped files included.
  uint64_t syncs = 0;          ///< Calls of fsync, fdatasync and msync.
};

Usage UsageNow();
double SecondsNow();
void SleepSeconds(double seconds);
/// Asks every five milliseconds until the answer was yes three times in a row: between two jobs of
/// the background it may be yes for a moment.
void WaitUntilItStays(const std::function<bool()>& is_so);

/// Confines this process to the first two processors that it may use.
void UseTwoProcessors();

}  // namespace tandem::bench
