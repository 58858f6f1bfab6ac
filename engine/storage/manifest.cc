// Reading and appending manifests over frames.
#include "engine/storage/manifest.h"

#include <string>

#include "base/status_macros.h"
#include "format/byte_reader.h"
#include "format/coding.h"
#include "format/corruption.h"
#include "format/file_header.h"
#include "format/frame.h"
#include "format/frame_chain.h"

namespace tandem::format {
namespace {

constexpr size_t kPayloadHeadBytes = 24;

std::string EncodePayload(const CatalogEdit& edit, uint64_t epoch, LogMark log) {
  std::string payload;
  AppendU64(&payload, epoch);
  AppendU64(&payload, log.segment.value);
  AppendU64(&payload, log.length_bytes);
  EncodeEdit(edit, &payload);
  return payload;
}

Result<std::string> ReadHeader(base::File* file, const RootFile& root) {
  std::string bytes(kFileHeaderBytes, '\0');
  ASSIGN_OR_RETURN(const size_t count, file->Read(0, bytes));
  bytes.resize(count);
  ASSIGN_OR_RETURN(const FileHeader header,
                   DecodeFileHeader(bytes, FileKind::kManifest, file->name()));
  const BoundFile& bound = root.record.manifest;
  if (header.database != root.database || header.number != bound.number || header.id != bound.id) {
    return CorruptionAt(file->name(), 40, "database id, number or file id is not as ROOT says");
  }
  return bytes;
}

// Adds file name and offset to an error.
Status InFile(const Status& status, const std::string& name, uint64_t offset) {
  std::string message = name + ": offset " + std::to_string(offset) + ": ";
  return Status(status.code(), message.append(status.message()));
}

// ROOT's binding: exact when closed, a lower bound while open.
Status CheckBinding(const FrameReader& reader, const std::string& name, const RootRecord& record,
                    const BoundFile& end) {
  const BoundFile& bound = record.manifest;
  if (end.length_bytes == bound.length_bytes && end.last_checksum != bound.last_checksum) {
    return CorruptionAt(name, end.length_bytes,
                        HashMismatch("last checksum", bound.last_checksum, end.last_checksum));
  }
  if (end.length_bytes < bound.length_bytes ||
      (record.closed && reader.limit() != end.length_bytes)) {
    return CorruptionAt(name, end.length_bytes,
                        reader.reason() + "; ROOT says that " + std::to_string(bound.length_bytes) +
                            " bytes are good");
  }
  if (record.closed && reader.limit() != bound.length_bytes) {
    return CorruptionAt(name, bound.length_bytes,
                        Mismatch("bytes of file", bound.length_bytes, reader.limit()));
  }
  return {};
}

// Applies the frames from the reader's offset on and moves the end to after the last good one.
Status TakeFrames(FrameReader* reader, const std::string& name, FrameChain* chain,
                  ManifestContents* contents) {
  const auto apply = [&](const Frame& frame) {
    const Status status = ApplyManifestFrame(frame, contents);
    const uint64_t offset = reader->offset() - FrameBytes(frame.payload.size());
    if (!status.ok()) return InFile(status, name, offset);
    if (contents->last_edit == 1) contents->first_frame_end = reader->offset();
    return status;
  };
  ASSIGN_OR_RETURN(contents->end.length_bytes, FollowChain(reader, name, apply, chain));
  contents->end.last_checksum = chain->last_checksum;
  return {};
}

Status CheckRead(const std::string& name, const ManifestContents& contents) {
  const Status checked = CheckCatalog(contents.catalog);
  return checked.ok() ? checked : InFile(checked, name, contents.end.length_bytes);
}

}  // namespace

Result<CatalogEdit> DecodeEditOf(const Frame& frame) {
  if (frame.payload.size() < kPayloadHeadBytes) {
    return Status::Corruption(
        Mismatch("bytes of a payload, at least", kPayloadHeadBytes, frame.payload.size()));
  }
  return DecodeEdit(frame.payload.substr(kPayloadHeadBytes));
}

Status ApplyManifestFrame(const Frame& frame, ManifestContents* contents) {
  if (frame.first_sequence != contents->last_edit + 1 || frame.count != 1) {
    return Status::Corruption(
        Mismatch("number of edit", contents->last_edit + 1, frame.first_sequence));
  }
  ByteReader reader(frame.payload);
  const uint64_t epoch = reader.U64();
  contents->log.segment = FileNumber(reader.U64());
  contents->log.length_bytes = reader.U64();
  if (!reader.ok()) return Status::Corruption("payload of a frame is too short");
  if (contents->last_edit > 0 && epoch < contents->catalog.epoch) {
    return Status::Corruption(Mismatch("epoch: at least", contents->catalog.epoch, epoch));
  }
  ASSIGN_OR_RETURN(const CatalogEdit edit, DecodeEditOf(frame));
  RETURN_IF_ERROR(ApplyEditInPlace(edit, &contents->catalog));
  contents->catalog.epoch = epoch;
  contents->last_edit = frame.first_sequence;
  return {};
}

Result<ManifestContents> ReadManifest(base::File* file, const RootFile& root) {
  ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  ASSIGN_OR_RETURN(const std::string header, ReadHeader(file, root));
  ManifestContents contents;
  contents.catalog.database = root.database;
  contents.end = root.record.manifest;
  FrameChain chain;
  chain.last_checksum = HeaderChecksum(header);
  FrameReader reader(file, root.record.manifest.id, kFileHeaderBytes, size);
  RETURN_IF_ERROR(TakeFrames(&reader, file->name(), &chain, &contents));
  RETURN_IF_ERROR(CheckBinding(reader, file->name(), root.record, contents.end));
  if (chain.frames == 0) {
    return CorruptionAt(file->name(), kFileHeaderBytes, "no catalog: " + reader.reason());
  }
  RETURN_IF_ERROR(CheckRead(file->name(), contents));
  return contents;
}

namespace {

// The checksum that the first frame states for the bytes before it; 0 when that frame is broken.
Result<uint64_t> PreviousOfFirst(base::File* file, const FileId& id, uint64_t size) {
  FrameReader reader(file, id, kFileHeaderBytes, size);
  ASSIGN_OR_RETURN(const std::optional<DecodedFrame> first, reader.Next());
  return first ? first->frame.previous : 0;
}

// Applies one frame, or leaves the contents unchanged.
Status ApplyWhole(const Frame& frame, ManifestContents* contents) {
  ManifestContents after = *contents;
  RETURN_IF_ERROR(ApplyManifestFrame(frame, &after));
  RETURN_IF_ERROR(CheckCatalog(after.catalog));
  *contents = std::move(after);
  return {};
}

}  // namespace

Result<ManifestPrefix> ReadManifestPrefix(base::File* file, const BoundFile* identity,
                                          const DatabaseId& database) {
  ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  std::string bytes(kFileHeaderBytes, '\0');
  ASSIGN_OR_RETURN(const size_t count, file->Read(0, bytes));
  bytes.resize(count);
  const Result<FileHeader> header = DecodeFileHeader(bytes, FileKind::kManifest, file->name());
  ManifestPrefix prefix;
  ManifestContents& contents = prefix.contents;
  FrameChain chain;
  if (header) {
    if (identity != nullptr && (header->id != identity->id || header->number != identity->number)) {
      return CorruptionAt(file->name(), 56, "number or file id is not as ROOT says");
    }
    prefix.database = header->database;
    contents.end.number = header->number;
    contents.end.id = header->id;
    chain.last_checksum = HeaderChecksum(bytes);
  } else {
    if (identity == nullptr || header.error().code() != StatusCode::kCorruption) {
      return header.error();
    }
    prefix.header_is_good = false;
    prefix.database = database;
    contents.end = *identity;
    ASSIGN_OR_RETURN(chain.last_checksum, PreviousOfFirst(file, identity->id, size));
  }
  contents.catalog.database = prefix.database;
  contents.end.length_bytes = kFileHeaderBytes;
  FrameReader reader(file, contents.end.id, kFileHeaderBytes, size);
  const auto apply = [&](const Frame& frame) {
    RETURN_IF_ERROR(ApplyWhole(frame, &contents));
    contents.end.length_bytes = reader.offset();
    return Status();
  };
  const Result<uint64_t> end = FollowChain(&reader, file->name(), apply, &chain);
  if (!end && end.error().code() != StatusCode::kCorruption) return end.error();
  contents.end.last_checksum = chain.last_checksum;
  prefix.reason = end ? reader.reason() : std::string(end.error().message());
  FrameReader rest(file, contents.end.id, contents.end.length_bytes, size);
  RETURN_IF_ERROR(rest.FindAll([&](const Frame&) {
    ++prefix.edits_after;
    return Status();
  }));
  ASSIGN_OR_RETURN(prefix.is_torn, HasBytes(file, contents.end.length_bytes, size));
  return prefix;
}

ManifestWriter::ManifestWriter(std::unique_ptr<base::File> file, const BoundFile& end)
    : file_(std::move(file)), end_(end) {}

Result<std::unique_ptr<ManifestWriter>> ManifestWriter::Create(std::unique_ptr<base::File> file,
                                                               const BoundFile& identity,
                                                               const Catalog& catalog,
                                                               LogMark log) {
  FileHeader header;
  header.kind = FileKind::kManifest;
  header.database = catalog.database;
  header.number = identity.number;
  header.id = identity.id;
  std::string bytes;
  AppendFileHeader(header, &bytes);
  BoundFile end = identity;
  end.length_bytes = bytes.size();
  end.last_checksum = HeaderChecksum(bytes);
  RETURN_IF_ERROR(file->Write(0, bytes));
  std::unique_ptr<ManifestWriter> writer(new ManifestWriter(std::move(file), end));
  const Status status = writer->Append(FullEdit(catalog), catalog.epoch, log);
  if (status.code() == StatusCode::kInvalidArgument) {
    return Status::Unsupported("the catalog is too large for one frame");
  }
  RETURN_IF_ERROR(status);
  writer->first_frame_end_ = writer->end_.length_bytes;
  return writer;
}

std::unique_ptr<ManifestWriter> ManifestWriter::Resume(std::unique_ptr<base::File> file,
                                                       const ManifestContents& contents) {
  std::unique_ptr<ManifestWriter> writer(new ManifestWriter(std::move(file), contents.end));
  writer->first_frame_end_ = contents.first_frame_end;
  writer->last_edit_ = contents.last_edit;
  return writer;
}

Status ManifestWriter::Append(const CatalogEdit& edit, uint64_t epoch, LogMark log) {
  if (!usable_) return Status::IoError(file_->name() + ": an earlier write failed");
  const std::string payload = EncodePayload(edit, epoch, log);
  if (payload.size() > kFramePayloadBytesMax) {
    return Status::InvalidArgument("a catalog edit of " + std::to_string(payload.size()) +
                                   " bytes passes a frame's size");
  }
  Frame frame;
  frame.previous = end_.last_checksum;
  frame.first_sequence = last_edit_ + 1;
  frame.durable_mark = last_edit_;
  frame.count = 1;
  frame.payload = payload;
  std::string bytes;
  const uint64_t checksum = EncodeFrame(end_.id, end_.length_bytes, frame, &bytes);
  usable_ = false;
  RETURN_IF_ERROR(file_->Write(end_.length_bytes, bytes));
  RETURN_IF_ERROR(file_->DataSync());
  usable_ = true;
  end_.length_bytes += bytes.size();
  end_.last_checksum = checksum;
  ++last_edit_;
  return {};
}

}  // namespace tandem::format
