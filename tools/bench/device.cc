// See device.h.
#include "tools/bench/device.h"

#include <unistd.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "format/compression.h"
#include "tools/bench/cold_cache.h"
#include "tools/bench/peer.h"
#include "tools/bench/usage.h"
#include "tools/bench/workload.h"

namespace tandem::bench {
namespace {

constexpr uint64_t kPieceBytes = 1 << 20;
constexpr uint64_t kBlockBytes = 4096;
constexpr int kSyncs = 21;
constexpr double kSeconds = 0.5;  // Of each random read figure, at most.

void Check(const Status& status) {
  if (!status.ok()) Fail("device: " + status.ToString());
}

// Bytes that no device can compress.
std::string Noise(uint64_t seed, uint64_t size_bytes) {
  std::string noise;
  for (uint64_t i = 0; noise.size() < size_bytes; ++i) {
    const uint64_t word = Mix(seed << 32 | i);
    noise.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  return noise;
}

struct TestFile {
  base::FileSystem* files;
  std::string path;
  std::unique_ptr<base::File> file;
  uint64_t size_bytes;
};

void MeasureSyncs(const TestFile& test, Device* device) {
  const std::string block = Noise(1, kBlockBytes);
  std::vector<double> millis;
  for (int i = 0; i < kSyncs; ++i) {
    const double begin = SecondsNow();
    Check(test.file->Write(static_cast<uint64_t>(i) * kBlockBytes, block));
    Check(test.file->DataSync());
    millis.push_back((SecondsNow() - begin) * 1e3);
  }
  std::sort(millis.begin(), millis.end());
  device->sync_millis = millis[kSyncs / 2];
  device->sync_millis_worst = millis.back();
}

// Reads pieces of `bytes` at offset_of(0), offset_of(1), ... with `depth` of them in flight, until
// `count` are read or the time is over; returns pieces per second.
double ReadRate(const TestFile& test, uint32_t depth, uint64_t bytes, uint64_t count,
                const std::function<uint64_t(uint64_t)>& offset_of) {
  DropPageCache(test.path);
  const auto queue = test.files->NewQueue(depth);
  std::deque<std::string> buffers(depth, std::string(bytes, '\0'));
  std::deque<base::IoRequest> requests(depth);
  uint64_t started = 0, done = 0;
  const double begin = SecondsNow();
  const auto start = [&](base::IoRequest* request) {
    const uint64_t slot = request->tag;
    *request = {.file = test.file.get(),
                .offset = offset_of(started++),
                .buffer = buffers[slot],
                .tag = slot};
    queue->Submit({&request, 1});
  };
  for (uint32_t i = 0; i < depth && started < count; ++i) {
    requests[i].tag = i;
    start(&requests[i]);
  }
  while (base::IoRequest* request = queue->Wait()) {
    Check(request->status);
    ++done;
    if (started < count && SecondsNow() - begin < kSeconds) start(request);
  }
  return static_cast<double>(done) / (SecondsNow() - begin);
}

double ZstdRate() {
  const W1 w1(1);
  W1Row row;
  std::string raw, stored;
  for (uint64_t i = 0; raw.size() < 8192; ++i) {
    w1.Row(i, &row);
    raw += row.key + row.city + row.payload + row.status + row.ts;
  }
  if (!format::Compress(raw, &stored)) Fail("zstd does not compress W1's rows");
  uint64_t blocks = 0;
  const double begin = SecondsNow();
  for (; SecondsNow() - begin < kSeconds / 5; ++blocks) Check(format::Decompress(stored, raw));
  return static_cast<double>(blocks * raw.size()) / (SecondsNow() - begin);
}

}  // namespace

uint64_t DeviceFileBytes(uint64_t rows) {
  return std::clamp<uint64_t>(rows * 512, 4 << 20, 256 << 20);
}

Device MeasureDevice(const std::string& directory, uint64_t file_bytes) {
  const std::string path = directory + "/tandem-bench-device-" + std::to_string(getpid());
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  const auto files = base::NewUringFileSystem(nullptr);
  auto opened = files->OpenDirectory(path, false);
  Check(opened.status());
  auto file = opened.value()->Create("file");
  Check(file.status());
  const uint64_t pieces = std::max<uint64_t>(1, file_bytes / kPieceBytes);
  const TestFile test = {files.get(), path, std::move(*file), pieces * kPieceBytes};
  for (uint64_t i = 0; i < pieces; ++i)
    Check(test.file->Write(i * kPieceBytes, Noise(i, kPieceBytes)));
  Check(test.file->DataSync());

  Device device;
  const uint64_t blocks = test.size_bytes / kBlockBytes;
  const auto in_order = [](uint64_t i) { return i * kPieceBytes; };
  const auto scattered = [&](uint64_t i) { return Scattered(i, blocks) * kBlockBytes; };
  device.sequential_bytes =
      ReadRate(test, 4, kPieceBytes, pieces, in_order) * static_cast<double>(kPieceBytes);
  device.random_reads_1 = ReadRate(test, 1, kBlockBytes, blocks, scattered);
  device.random_reads_32 = ReadRate(test, 32, kBlockBytes, blocks, scattered);
  MeasureSyncs(test, &device);
  device.zstd_bytes = ZstdRate();
  std::filesystem::remove_all(path);
  return device;
}

}  // namespace tandem::bench
