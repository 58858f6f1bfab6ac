// Frames: the chained records of the log and of the manifest. Each frame's checksum covers its
// location (file id, offset) and its predecessor's checksum, so a frame that was moved, replayed or
// left over from another file does not verify.
//
// Frame header, 48 bytes, little-endian, at a multiple of 8:
//   OFFSET SIZE FIELD           MEANING
//        0    8 checksum        XXH3-64 of bytes 8 up to the payload's end, seeded by ChecksumSeed
//        8    8 previous        checksum of the frame before; of the file header for the first
//       16    8 first sequence  log: of its first operation; manifest: number of the edit
//       24    8 durable mark    sequence (edit) known to be durable when this was written
//       32    8 timestamp       log: of its first batch, microseconds; manifest: 0
//       40    4 length          of the payload, at most kFramePayloadBytesMax
//       44    4 count           log: sequences in the group; manifest: 1
// The payload follows; zeros pad it to the next multiple of 8 and are verified.
//
// Example: the payload "abc", sequence 7, durable mark 6, timestamp 1,000, count 1, after a frame
// with checksum 0x1122334455667788, at offset 128 of the file with id 01 to 10 (hex)
//   20 B1 73 51 08 05 09 61  88 77 66 55 44 33 22 11  07 00 00 00 00 00 00 00
//   06 00 00 00 00 00 00 00  E8 03 00 00 00 00 00 00  03 00 00 00  01 00 00 00
//   61 62 63 00 00 00 00 00
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/file_system.h"
#include "format/types.h"
#include "tandem/limits.h"
#include "tandem/status.h"

namespace tandem::format {

inline constexpr size_t kFrameHeaderBytes = 48;
inline constexpr size_t kFrameAlignment = 8;
inline constexpr size_t kFramePayloadBytesMax = kBatchBytesMax + 1024 * 1024;

struct Frame {
  uint64_t previous = 0;
  uint64_t first_sequence = 0;
  uint64_t durable_mark = 0;
  int64_t timestamp = 0;
  uint32_t count = 0;
  std::string_view payload;
};

/// Size of a frame, including its padding.
constexpr uint64_t FrameBytes(uint64_t payload_bytes) {
  return (kFrameHeaderBytes + payload_bytes + kFrameAlignment - 1) / kFrameAlignment *
         kFrameAlignment;
}

/// Appends the frame, encoded for `offset` of the file `id`, and returns its checksum.
/// Requires: payload.size() <= kFramePayloadBytesMax.
uint64_t EncodeFrame(const FileId& id, uint64_t offset, const Frame& frame, std::string* out);

struct DecodedFrame {
  Frame frame;  ///< `payload` points into the reader's buffer.
  uint64_t checksum = 0;
  uint64_t offset = 0;
};

/// Reads the frames of one file from front to back in bounded memory, and searches for good frames
/// after a bad one. Threads: one at a time.
class FrameReader {
 public:
  /// Reads from `offset` up to `limit` (the file's size, or a length known from elsewhere).
  FrameReader(base::File* file, FileId id, uint64_t offset, uint64_t limit);

  /// The next frame; nullopt if the bytes are not a good frame or the limit is reached (offset() ==
  /// limit()). The caller checks the chain: compare frame.previous. Errors: kIoError. Lifetime: the
  /// frame is valid until the next call.
  Result<std::optional<DecodedFrame>> Next();
  /// Searches each multiple of 8 from offset() on for a good frame, whatever its predecessor. Bytes
  /// made to look like frames cannot stall it: when all searches of this reader have checksummed 64
  /// bytes in vain for each byte of the file, and 64 MiB, it gives up and finds none.
  Result<std::optional<DecodedFrame>> FindNext();
  /// Calls `visit` for each frame that FindNext finds. Errors: kIoError, and those of `visit`.
  Status FindAll(const std::function<Status(const Frame& frame)>& visit);
  /// Goes on to the next multiple of 8 with a byte that is not zero. Whether there is none up to
  /// the limit. Errors: kIoError.
  Result<bool> SkipZeros();
  uint64_t offset() const { return offset_; }
  uint64_t limit() const { return limit_; }
  /// Why the bytes at offset() are not a frame: expected and found, for messages.
  const std::string& reason() const { return reason_; }
  void set_reason(std::string reason) { reason_ = std::move(reason); }

 private:
  Result<std::optional<DecodedFrame>> DecodeAt(uint64_t offset);
  std::optional<DecodedFrame> Verify(uint64_t offset, std::string_view bytes);
  Result<std::string_view> View(uint64_t offset, uint64_t size);
  bool CouldBeFrame(uint64_t offset, std::string_view header) const;

  base::File* file_;
  FileId id_;
  uint64_t offset_;
  uint64_t limit_;
  uint64_t search_bytes_left_;  // What FindNext may still checksum in vain.
  std::string buffer_;          // A window of the file ...
  uint64_t buffer_offset_ = 0;  // ... that begins here.
  std::string reason_;
};

}  // namespace tandem::format
