// Frames and chains: a frame verifies at its own place only; a gap is a torn tail or damage by what
// later frames say.
#define BOOST_TEST_DYN_LINK
#include "format/frame.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "base/random.h"
#include "format/coding.h"
#include "format/frame_chain.h"
#include "test/support/hex.h"
#include "test/support/print.h"
#include "test/support/sample_records.h"
#include "tools/simulation/memory_file.h"

namespace tandem::format {
namespace {

using test::Hex;
using test::MemoryFile;
using test::SampleId;

constexpr uint64_t kStart = 128;
constexpr uint64_t kHeaderChecksum = 0x1122334455667788;

// A file of chained frames after 128 arbitrary bytes.
struct FrameFile {
  FileId id = SampleId(1);
  MemoryFile file{std::string(kStart, 'h')};
  uint64_t last_checksum = kHeaderChecksum;
  uint64_t next_sequence = 1;
  std::vector<uint64_t> offsets;

  // `durable_mark`: the highest sequence that was synced.
  void Add(std::string_view payload, uint64_t durable_mark, uint32_t count = 1) {
    Frame frame;
    frame.previous = last_checksum;
    frame.first_sequence = next_sequence;
    frame.durable_mark = durable_mark;
    frame.count = count;
    frame.payload = payload;
    offsets.push_back(file.bytes().size());
    last_checksum = EncodeFrame(id, file.bytes().size(), frame, &file.bytes());
    next_sequence += count;
  }
  void AddMany(int frames, uint64_t durable_mark) {
    for (int i = 0; i < frames; ++i) Add("payload " + std::to_string(i), durable_mark);
  }
  FrameReader Reader() { return FrameReader(&file, id, kStart, file.bytes().size()); }
};

struct Walk {
  Status status;
  uint64_t end = 0;
  uint64_t frames = 0;
  std::string reason;
};

Walk Follow(FrameFile* frames) {
  FrameReader reader = frames->Reader();
  FrameChain chain;
  chain.last_checksum = kHeaderChecksum;
  Walk walk;
  const auto count = [&](const Frame&) {
    ++walk.frames;
    return Status();
  };
  const auto end = FollowChain(&reader, "log-1", count, &chain);
  walk.status = end.status();
  walk.end = end ? *end : 0;
  walk.reason = reader.reason();
  return walk;
}

BOOST_AUTO_TEST_SUITE(FrameSuite)

BOOST_AUTO_TEST_CASE(TheBytesAreTheGoldenOnes) {
  Frame frame;
  frame.previous = kHeaderChecksum;
  frame.first_sequence = 7;
  frame.durable_mark = 6;
  frame.timestamp = 1000;
  frame.count = 1;
  frame.payload = "abc";
  std::string bytes;
  EncodeFrame(SampleId(1), 128, frame, &bytes);
  BOOST_TEST(bytes.size() == FrameBytes(3));
  BOOST_TEST(Hex(bytes) ==
             "20 B1 73 51 08 05 09 61 88 77 66 55 44 33 22 11 07 00 00 00 00 00 00 00 "
             "06 00 00 00 00 00 00 00 E8 03 00 00 00 00 00 00 03 00 00 00 01 00 00 00 "
             "61 62 63 00 00 00 00 00");
}

BOOST_AUTO_TEST_CASE(FramesOfEverySizeComeBack) {
  FrameFile frames;
  const auto random = base::NewSeededRandom(3);
  std::vector<std::string> payloads;
  // Some frames pass the reader's window.
  for (size_t size : {0, 1, 7, 8, 9, 100, 300'000, 3, 262'144 - 48, 262'144, 5}) {
    std::string payload(size, '\0');
    random->Fill(payload);
    payloads.push_back(payload);
    frames.Add(payloads.back(), 0);
  }
  FrameReader reader = frames.Reader();
  for (size_t i = 0; i < payloads.size(); ++i) {
    const auto found = reader.Next();
    BOOST_REQUIRE(found && *found);
    BOOST_TEST(((*found)->frame.payload == payloads[i]));
    BOOST_TEST((*found)->offset == frames.offsets[i]);
    BOOST_TEST((*found)->frame.first_sequence == i + 1);
  }
  BOOST_TEST(reader.offset() == reader.limit());
  BOOST_TEST(!(*reader.Next()).has_value());
}

BOOST_AUTO_TEST_CASE(AFrameVerifiesAtItsOwnPlaceOnly) {
  FrameFile frames;
  frames.Add("abc", 0);
  const std::string frame = frames.file.bytes().substr(kStart);
  MemoryFile moved(std::string(kStart + 8, 'h') + frame);
  FrameReader later(&moved, frames.id, kStart + 8, moved.bytes().size());
  BOOST_TEST(!(*later.Next()).has_value());
  FrameReader foreign(&frames.file, SampleId(2), kStart, frames.file.bytes().size());
  BOOST_TEST(!(*foreign.Next()).has_value());
}

BOOST_AUTO_TEST_CASE(EveryFlippedBitOfAFrameIsNoticed) {
  FrameFile frames;
  frames.Add("abc", 0);
  for (size_t bit = kStart * 8; bit < frames.file.bytes().size() * 8; ++bit) {
    frames.file.bytes()[bit / 8] ^= static_cast<char>(1 << bit % 8);
    FrameReader reader = frames.Reader();
    BOOST_TEST(!(*reader.Next()).has_value());
    BOOST_TEST(!reader.reason().empty());
    frames.file.bytes()[bit / 8] ^= static_cast<char>(1 << bit % 8);
  }
}

BOOST_AUTO_TEST_CASE(LengthsBeyondTheFileAreRefusedWithTheRightChecksumToo) {
  for (uint64_t length :
       {uint64_t{16}, uint64_t{17}, uint64_t{1} << 20, uint64_t{kFramePayloadBytesMax},
        uint64_t{kFramePayloadBytesMax} + 1, uint64_t{UINT32_MAX}}) {
    FrameFile frames;
    frames.Add("0123456789", 0);
    StoreAt(&frames.file.bytes(), kStart + 40, static_cast<uint32_t>(length));
    FrameReader reader = frames.Reader();
    const auto found = reader.Next();
    BOOST_REQUIRE(found.has_value());
    BOOST_TEST(!found->has_value());
  }
}

BOOST_AUTO_TEST_CASE(EveryCutEndsTheChainAtTheLastWholeFrame) {
  FrameFile frames;
  frames.AddMany(5, 0);
  const std::string whole = frames.file.bytes();
  for (size_t length = kStart; length < whole.size(); ++length) {
    frames.file.bytes() = whole.substr(0, length);
    const Walk walk = Follow(&frames);
    BOOST_TEST(walk.status.ToString() == "OK");
    BOOST_TEST(walk.end <= length);
    const uint64_t next = walk.frames < 4 ? frames.offsets[walk.frames + 1] : whole.size();
    BOOST_TEST(length < next);
    BOOST_TEST(walk.end == frames.offsets[walk.frames]);
  }
}

BOOST_AUTO_TEST_CASE(AGapThatADurableMarkReachesIsDamage) {
  // Frame 3 of 6 is damaged; frame 6 says what was durable when it was written.
  for (uint64_t mark = 0; mark <= 5; ++mark) {
    FrameFile frames;
    frames.AddMany(5, 0);
    frames.Add("last", mark);
    frames.file.bytes()[frames.offsets[2] + 50] ^= 1;
    const Walk walk = Follow(&frames);
    BOOST_TEST(walk.frames == 2u);
    if (mark >= 3) {
      BOOST_TEST((walk.status.code() == StatusCode::kCorruption));
      BOOST_TEST(walk.status.message().starts_with(
          "log-1: offset " + std::to_string(frames.offsets[2]) + ": checksum of frame: expected "));
    } else {
      BOOST_TEST(walk.status.ToString() == "OK");
      BOOST_TEST(walk.end == frames.offsets[2]);
    }
  }
}

BOOST_AUTO_TEST_CASE(TheSearchFindsFramesBehindALostLength) {
  FrameFile frames;
  frames.AddMany(3, 0);
  frames.Add("last", 3);
  // The second frame now claims to reach beyond the third.
  StoreAt(&frames.file.bytes(), frames.offsets[1] + 40, uint32_t{100});
  BOOST_TEST((Follow(&frames).status.code() == StatusCode::kCorruption));
  // A hole of zeros, as an unwritten sector leaves it.
  FrameFile holed;
  holed.AddMany(3, 0);
  holed.Add("last", 3);
  std::fill(holed.file.bytes().begin() + static_cast<int64_t>(holed.offsets[1]),
            holed.file.bytes().begin() + static_cast<int64_t>(holed.offsets[3]), '\0');
  BOOST_TEST((Follow(&holed).status.code() == StatusCode::kCorruption));
}

BOOST_AUTO_TEST_CASE(AFrameOfAnotherChainIsDamage) {
  FrameFile frames;
  frames.AddMany(2, 0);
  frames.last_checksum ^= 1;
  frames.AddMany(1, 0);
  BOOST_TEST(Follow(&frames).status.message().find("checksum of the frame before") !=
             std::string::npos);
  FrameFile backwards;
  backwards.AddMany(2, 0);
  backwards.next_sequence = 2;
  backwards.AddMany(1, 0);
  BOOST_TEST(Follow(&backwards).status.message().find("first sequence of frame") !=
             std::string::npos);
  FrameFile wrapping;
  wrapping.next_sequence = UINT64_MAX;
  wrapping.Add("x", 0, 2);
  BOOST_TEST((Follow(&wrapping).status.code() == StatusCode::kCorruption));
}

BOOST_AUTO_TEST_CASE(BytesMadeToLookLikeFramesAreSearchedInTime) {
  // Every eight bytes claim a payload of 16 MiB: hashing them all would be 64 TiB.
  FrameFile frames;
  std::string& bytes = frames.file.bytes();
  bytes.resize(32 * 1024 * 1024);
  for (size_t at = kStart; at + 8 <= bytes.size(); at += 8) {
    StoreAt(&bytes, at, uint32_t{16 * 1024 * 1024});
    StoreAt(&bytes, at + 4, uint32_t{1});
  }
  const Walk walk = Follow(&frames);
  BOOST_TEST(walk.status.ToString() == "OK");
  BOOST_TEST(walk.end == kStart);
}

BOOST_AUTO_TEST_CASE(RandomBytesAreNoFrames) {
  FrameFile frames;
  frames.AddMany(2, 0);
  const uint64_t end = frames.file.bytes().size();
  std::string noise(100'000, '\0');
  base::NewSeededRandom(9)->Fill(noise);
  frames.file.bytes() += noise;
  const Walk walk = Follow(&frames);
  BOOST_TEST(walk.status.ToString() == "OK");
  BOOST_TEST(walk.end == end);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
