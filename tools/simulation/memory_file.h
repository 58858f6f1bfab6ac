// A file that is a string, for tests of formats: no durability, no faults, and the test may read
// and change its bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/file_system.h"

namespace tandem::test {

/// Threads: reads from any while nobody writes.
class MemoryFile final : public base::File {
 public:
  explicit MemoryFile(std::string bytes = {}) : bytes_(std::move(bytes)) {}

  std::string& bytes() { return bytes_; }

  Result<size_t> Read(uint64_t offset, std::span<char> buffer) override {
    if (offset >= bytes_.size()) return size_t{0};
    return bytes_.copy(buffer.data(), buffer.size(), offset);
  }
  Status Write(uint64_t offset, std::string_view data) override {
    bytes_.resize(std::max<size_t>(bytes_.size(), offset + data.size()));
    std::copy(data.begin(), data.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
    return {};
  }
  Status DataSync() override { return {}; }
  Result<uint64_t> Size() override { return uint64_t{bytes_.size()}; }
  Status Truncate(uint64_t size_bytes) override {
    bytes_.resize(size_bytes);
    return {};
  }
  Status Preallocate(uint64_t) override { return {}; }
  const std::string& name() const override { return name_; }

 private:
  std::string bytes_;
  std::string name_ = "memory";
};

}  // namespace tandem::test
