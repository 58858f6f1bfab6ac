// What the device and the machine can do, measured in each run: other figures mean little without.
#pragma once

#include <cstdint>
#include <string>

namespace tandem::bench {

struct Device {
  double sync_millis = 0;        ///< Median of 4 KiB written and synced (fdatasync).
  double sync_millis_worst = 0;  ///< The slowest of them.
  double sequential_bytes = 0;   ///< Per second, cold, 1 MiB at a time, four in flight.
  double random_reads_1 = 0;     ///< 4 KiB per second, cold, one in flight.
  double random_reads_32 = 0;    ///< 32 in flight.
  double zstd_bytes = 0;         ///< Raw bytes per second out of zstd, 8 KiB of W1's rows a block.
};

/// Of the file that it is measured on: about the size of the data, within bounds.
uint64_t DeviceFileBytes(uint64_t rows);
/// Measures with a file of `file_bytes` in `directory`, which is removed again. Takes a second or
/// two. Ends the process when the file cannot be made.
Device MeasureDevice(const std::string& directory, uint64_t file_bytes);

}  // namespace tandem::bench
