// What a search for frames costs in a file that somebody has forged so that it costs much: wherever
// one looks there seems to be a large frame, and now and then there is a good one.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>

#include "format/coding.h"
#include "format/frame.h"
#include "test/growth/growth.h"
#include "test/support/forwarding_file.h"
#include "tools/simulation/memory_file.h"

namespace tandem::test {
namespace {

constexpr uint64_t kPeriod = 4096;  // Bytes from one good frame to the next.

/// Counts the bytes that are read.
class CountedFile final : public ForwardingFile {
 public:
  explicit CountedFile(std::string bytes)
      : ForwardingFile(std::make_unique<MemoryFile>(std::move(bytes))) {}
  Result<size_t> Read(uint64_t offset, std::span<char> buffer) override {
    read_ += buffer.size();
    return ForwardingFile::Read(offset, buffer);
  }
  uint64_t read() const { return read_; }

 private:
  uint64_t read_ = 0;
};

std::string ForgedFrames(const format::FileId& id, uint64_t size) {
  std::string bytes(size, '\0');
  for (uint64_t at = 0; at + 8 <= size; at += 8) {
    format::StoreAt(&bytes, at, static_cast<uint32_t>(size / 2));  // Length of a payload,
    format::StoreAt(&bytes, at + 4, uint32_t{1});                  // and its operations.
  }
  for (uint64_t at = 0; at < size; at += kPeriod) {
    std::string frame;
    format::EncodeFrame(id, at, {.first_sequence = 1, .count = 1, .payload = "x"}, &frame);
    bytes.replace(at, frame.size(), frame);
  }
  return bytes;
}

/// Bytes read by a search for all frames of a forged file of n KiB.
double BytesOfSearch(uint64_t n) {
  const format::FileId id{{1, 2, 3}};
  CountedFile file(ForgedFrames(id, n << 10));
  format::FrameReader reader(&file, id, 0, n << 10);
  uint64_t frames = 0;
  while (reader.offset() < reader.limit()) {
    const auto found = reader.FindNext();
    BOOST_REQUIRE(found.has_value());
    frames += found->has_value();
  }
  BOOST_CHECK_GT(frames, 0);  // It did not give up at once.
  return static_cast<double>(file.read());
}

BOOST_AUTO_TEST_SUITE(Searches)

BOOST_AUTO_TEST_CASE(ForgedFramesAreSearchedInBoundedTime) {
  Check({.cost = "bytes read in a search for frames of n KiB that are forged",
         .n = 512,
         .bound = AtMostLinear(70e6, 70e3),
         .measure = BytesOfSearch});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
