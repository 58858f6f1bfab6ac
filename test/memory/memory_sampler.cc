// A sample takes some 10 microseconds, so there can be one every millisecond.
#include "test/memory/memory_sampler.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

namespace tandem::test {
namespace {

struct Part {
  const char* name;
  uint64_t MemoryInfo::*bytes;
};
constexpr Part kParts[] = {
    {"cache", &MemoryInfo::block_cache_bytes},
    {"memstores", &MemoryInfo::memstore_bytes},
    {"buffers", &MemoryInfo::append_buffer_bytes},
    {"block_indexes", &MemoryInfo::block_index_bytes},
    {"hashes", &MemoryInfo::key_hash_bytes},
    {"filters", &MemoryInfo::filter_bytes},
    {"bitmaps", &MemoryInfo::bitmap_bytes},
    {"dictionaries", &MemoryInfo::dictionary_bytes},
    {"directories", &MemoryInfo::index_directory_bytes},
    {"reads", &MemoryInfo::read_buffer_bytes},
    {"overlaps", &MemoryInfo::overlap_bytes},
    {"windows", &MemoryInfo::file_window_bytes},
    {"writers", &MemoryInfo::file_writer_bytes},
    {"hits", &MemoryInfo::hit_bytes},
    {"log", &MemoryInfo::log_bytes},
    {"catalog", &MemoryInfo::catalog_bytes},
};

void Describe(const MemoryInfo& memory, char* text, size_t size) {
  size_t at = 0;
  for (const Part& part : kParts) {
    if (memory.*part.bytes == 0) continue;
    const int more = std::snprintf(text + at, size - at, "%s %.1f ", part.name,
                                   static_cast<double>(memory.*part.bytes) / (1 << 20));
    at = std::min(size - 1, at + static_cast<size_t>(more));
  }
}

double CpuSeconds() {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

uint64_t ResidentBytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  unsigned long long total = 0, resident = 0, of_files = 0;
  const bool ok =
      file != nullptr && std::fscanf(file, "%llu %llu %llu", &total, &resident, &of_files) == 3;
  if (file != nullptr) std::fclose(file);
  return ok ? (resident - of_files) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

MemorySampler::MemorySampler(MemoryReport* report)
    : report_(report), before_bytes_(ResidentBytes()), thread_([this] {
        while (!ends_) {
          Sample();
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      }) {}

MemorySampler::~MemorySampler() {
  ends_ = true;
  thread_.join();
}

void MemorySampler::Watch(Database* database) {
  const std::lock_guard lock(mutex_);
  database_ = database;
}

void MemorySampler::SetEmpty() { report_->empty_bytes = ResidentBytes() - before_bytes_; }

void MemorySampler::Begin(const char* name) {
  const std::lock_guard lock(mutex_);
  for (MemoryPhase& phase : report_->phases) {
    if (phase.name[0] != 0) continue;
    std::strncpy(phase.name, name, sizeof(phase.name) - 1);
    phase_ = &phase;
    phase.cpu_seconds = -CpuSeconds();
    return;
  }
}

void MemorySampler::End() {
  Sample();
  const std::lock_guard lock(mutex_);
  phase_->cpu_seconds += CpuSeconds();
  phase_ = nullptr;
}

void MemorySampler::Sample() {
  const std::lock_guard lock(mutex_);
  if (phase_ == nullptr) return;
  const uint64_t resident = std::max(ResidentBytes(), before_bytes_) - before_bytes_;
  MemoryInfo memory;
  if (database_ != nullptr) memory = database_->GetStatistics().memory;
  const uint64_t accounted = memory.total_bytes();
  phase_->end_bytes = resident;
  phase_->end_accounted = accounted;
  if (resident <= phase_->peak_bytes) return;
  phase_->peak_bytes = resident;
  phase_->peak_accounted = accounted;
  Describe(memory, phase_->parts, sizeof(phase_->parts));
}

}  // namespace tandem::test
