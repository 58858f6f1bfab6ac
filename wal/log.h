// The write-ahead log: a chain of preallocated segments that are never overwritten or reused. The
// writer appends frames to the last segment. The reader replays all segments and distinguishes a
// torn tail (the log ends there) from damage (kCorruption).
//
// A segment opens with the file header (format/file_header.h) and, little-endian:
//
//   OFFSET SIZE FIELD           MEANING
//      128    8 length          of the predecessor; 0 when there is none
//      136    8 last checksum   of the predecessor: of its last frame, or of its header
//      144    8 last sequence   of the last operation in any earlier segment
//      152    8 checksum        XXH3-64, seed 0, of bytes 0 to 151; the first frame's predecessor
//      160    + frames          format/frame.h, to the end of the file
//
// While a segment takes frames its file may be longer, with zeros after the last frame: of a frame
// that is written there a sync has no size to make durable. A segment is synced, with its exact
// length, before its successor's header is written; so anything that does not agree with a
// successor's header is damage. Example (hex), after the first 128
// bytes: a predecessor of 256 bytes, checksum 0x1122334455667788, last sequence 9
//   00 01 00 00 00 00 00 00  88 77 66 55 44 33 22 11  09 00 00 00 00 00 00 00  checksum
//
// A *rewritten* segment replaces all older ones and holds those of their frames that are still
// needed. It has no predecessor (length 0, last sequence 0); its last checksum field holds that of
// the log that it replaces (1 if that is 0).
//
// A crash at this point leaves             and replay
//   zeros after the last frame               ends the log before them
//   a frame half written                     ends the log before it
//   frames written, an earlier one lost      ends the log before the lost one
//   a frame damaged that had been synced     reports corruption, if a later frame survived
//   a new segment without its catalog entry  never sees it; the file is removed
//   a rewritten one without its entry        the same, whatever it contains
// No crash leaves any other segment with frames but without a catalog entry: there the manifest has
// lost its end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "format/frame.h"
#include "format/root.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::wal {

inline constexpr size_t kSegmentHeaderBytes = 160;

/// The end of a segment, as its successor's header states it.
struct SegmentEnd {
  uint64_t length_bytes = 0;
  uint64_t last_checksum = 0;  ///< Of its last frame; of its header when there is none.
  uint64_t last_sequence = 0;  ///< Of the last operation in this or any earlier segment.
};

/// Writes one segment. Threads: one at a time; Extend, SyncWritten, number, end, synced_end and
/// status from any, beside it.
class SegmentWriter {
 public:
  /// Reserves `size_bytes` in the file of a new segment, and makes it as long as its first frames
  /// need, where the file system can. Errors: kNoSpace, kIoError.
  static Status Reserve(base::File* file, uint64_t size_bytes);
  /// Writes the header of a new segment (which names its predecessor's end; zeros for the first)
  /// and syncs it.
  static Result<std::unique_ptr<SegmentWriter>> Create(std::unique_ptr<base::File> file,
                                                       const struct SegmentSpec& spec);
  /// Appends one frame to the buffer; `frame.previous` is filled in here.
  void Append(format::Frame frame);
  /// Writes the buffer to the file, without syncing it. Errors: kNoSpace (the segment is truncated
  /// to its last good frame, the frames since the last Write are lost and the segment is sealed),
  /// kIoError (nothing more is accepted, here or by any other call).
  Status Write();
  /// Write, then makes it durable. Errors: as Write; after any failed sync nothing more is
  /// accepted.
  Status Sync();
  /// Makes durable what was written before the call. Errors: as Sync.
  Status SyncWritten();
  /// Whether the frames come near the end of the file, which has reserved space left.
  bool is_extension_due() const;
  /// Makes the file longer than its frames, in the space that is reserved, so that a sync of frames
  /// has no size to make durable. Where that fails the file grows with its frames.
  void Extend();
  format::FileNumber number() const;
  /// The end of the last frame that was written, not only buffered.
  SegmentEnd end() const;
  /// The end of the last durable frame.
  SegmentEnd synced_end() const;
  uint64_t size_bytes() const;  ///< Including the buffer.
  bool sealed() const;          ///< After kNoSpace and after Close.
  /// The first error that ended the segment for good, which kNoSpace is not; OK if there is none.
  Status status() const;
  /// Truncates the reserved space, so that the file has its exact length, and syncs.
  Status Close();
  ~SegmentWriter();

 private:
  struct Impl;
  explicit SegmentWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

struct SegmentSpec {
  format::DatabaseId database;
  format::FileNumber number;
  format::FileId id;
  SegmentEnd predecessor;
  uint64_t reserved_bytes = 0;  ///< What the file has; not on disk.
};

/// Whether the segment replaces all older ones.
inline bool IsRewritten(const SegmentSpec& spec) {
  return spec.predecessor.length_bytes == 0 && spec.predecessor.last_checksum != 0;
}

/// Appends the header of a segment and returns its checksum.
uint64_t AppendSegmentHeader(const SegmentSpec& spec, std::string* out);
/// The fields of a segment's header (without reserved_bytes), and its checksum. Errors:
/// kCorruption, kUnsupported, kIoError.
struct SegmentHeader {
  SegmentSpec spec;
  uint64_t checksum = 0;
};
Result<SegmentHeader> ReadSegmentHeader(base::File* file);

/// The result of a replay.
struct ReplayReport {
  uint64_t frames = 0;
  uint64_t operations = 0;
  uint64_t last_sequence = 0;  ///< Of the last good frame's last operation; 0 when none.
  int64_t last_timestamp = 0;
  uint64_t durable_mark = 0;        ///< Highest seen in any frame.
  uint64_t torn_bytes = 0;          ///< From the log's end to the last byte that is not zero.
  format::FileNumber last_segment;  ///< Where the log ends ...
  SegmentEnd end;                   ///< ... and at which byte.
  std::vector<format::BoundFile> segments;  ///< Every segment with its end, in order.
};

/// One segment to replay. `bound` is set when ROOT says closed: length and checksum must agree.
struct ReplaySegment {
  format::FileNumber number;
  format::FileId id;
  const format::BoundFile* bound = nullptr;
  uint64_t durable_bytes = 0;  ///< This many are known to have been durable: a log that ends before
                               ///< them is damaged.
};

/// Opens a segment for reading. Replay keeps only one open at a time.
using SegmentOpener = std::function<Result<std::shared_ptr<base::File>>(format::FileNumber)>;
using FrameVisitor = std::function<Status(const format::Frame&)>;

/// Calls `visit` with each frame of the segments, in order, and reports where the log ends. A bad
/// frame that no later good frame's durable mark reaches is a torn tail; otherwise, and wherever a
/// header, a chain link or a bound length does not agree, kCorruption with segment, offset,
/// expected, found.
Result<ReplayReport> Replay(const std::vector<ReplaySegment>& segments,
                            const format::DatabaseId& database, const SegmentOpener& open,
                            const FrameVisitor& visit);

/// The predecessor fields of a segment that replaces all of `log`, which was replayed.
SegmentEnd RewrittenPredecessor(const ReplayReport& log);
/// Copies the frames of a replayed log for which `is_needed` is true into a new segment, and closes
/// it. They keep their sequence numbers; their durable marks say that everything before them is
/// durable. Requires: all of the log is durable; `to` was created with RewrittenPredecessor.
/// Errors: kNoSpace, kIoError; kCorruption (the log has changed).
Status RewriteLog(const ReplayReport& log, const SegmentOpener& open,
                  const std::function<bool(const format::Frame&)>& is_needed, SegmentWriter* to);

}  // namespace tandem::wal
