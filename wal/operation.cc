// The bytes of a group's payload. All numbers are varints unless a width is given; little-endian.
//
//   group:      batch, to the end of the payload
//   batch:      operation count; length of what follows; operations
//   operation:  table; length and bytes of the row key; cell count u32; cells
//   cell:       flags u8; family u8; [timestamp i64]; [length and bytes of the qualifier];
//               [length and bytes of the value]
//
// Flags: bits 0 to 2 the kind (CellKind), bit 3 a timestamp of its own follows (otherwise the cell
// has its batch's), others 0. A DeleteFamily has no qualifier; only a Put has a value.
//
// Example: a batch of one operation, table 1, row "r", Put of column "c" = "v" in family 0 (hex)
//   01 0D  01 01 72 01 00 00 00  00 00 01 63 01 76
#include "wal/operation.h"

#include <utility>

#include "base/check.h"
#include "format/coding.h"
#include "tandem/limits.h"

namespace tandem::wal {
namespace {

using format::Cell;
using format::CellKind;

constexpr uint8_t kKindMask = 0x07;
constexpr uint8_t kOwnTimestamp = 0x08;
constexpr size_t kCellBytesMin = 2;
// Of a cell without its qualifier and value: flags, family, timestamp and two lengths.
constexpr size_t kCellHeadBytesMax = 2 + sizeof(int64_t) + 2 * format::kVarintBytesMax;

bool HasQualifier(CellKind kind) { return kind != CellKind::kDeleteFamily; }

// A length-prefixed string of at most `max` bytes.
std::string_view BoundedBytes(format::ByteReader* reader, size_t max) {
  return reader->Bytes(reader->VarintUpTo(max));
}

Cell ReadCell(format::ByteReader* reader, const Operation& operation, int64_t batch_timestamp) {
  Cell cell;
  const uint8_t flags = reader->U8();
  if ((flags & ~(kKindMask | kOwnTimestamp)) != 0 ||
      (flags & kKindMask) > static_cast<uint8_t>(CellKind::kDeleteFamily)) {
    reader->Fail();
    return cell;
  }
  cell.kind = static_cast<CellKind>(flags & kKindMask);
  cell.family = format::FamilyId(reader->U8());
  cell.timestamp = (flags & kOwnTimestamp) != 0 ? reader->I64() : batch_timestamp;
  cell.sequence = operation.sequence;
  if (HasQualifier(cell.kind)) cell.qualifier = BoundedBytes(reader, kQualifierBytesMax);
  if (cell.kind == CellKind::kPut) cell.value = BoundedBytes(reader, kValueBytesMax);
  return cell;
}

}  // namespace

// A string that has memory doubles it. An empty batch gets what it asks for, in whole pages, so
// that the next one of about that size fits.
void BatchEncoder::Reserve(size_t bytes) {
  constexpr size_t kPageBytes = 4096;
  if (bytes <= bytes_.capacity()) return;
  if (bytes_.empty()) std::string().swap(bytes_);
  if (bytes > kPageBytes) bytes += kPageBytes - bytes % kPageBytes;
  bytes_.reserve(bytes);
}

void BatchEncoder::BeginOperation(format::TableId table, std::string_view row) {
  {
    format::TailWriter out(&bytes_, 2 * format::kVarintBytesMax + row.size() + sizeof(cells_));
    out.Varint(table.value);
    out.LengthPrefixed(row);
    cells_ = 0;
    out.Fixed(cells_);
  }
  count_at_ = bytes_.size() - sizeof(cells_);
  ++operations_;
}

void BatchEncoder::AddCell(const Cell& cell, std::optional<int64_t> timestamp) {
  DCHECK(operations_ > 0);
  const uint8_t kind = static_cast<uint8_t>(cell.kind);
  {
    format::TailWriter out(&bytes_, kCellHeadBytesMax + cell.qualifier.size());
    out.Fixed(static_cast<uint8_t>(timestamp ? kind | kOwnTimestamp : kind));
    out.Fixed(cell.family.value);
    if (timestamp) out.Fixed(static_cast<uint64_t>(*timestamp));
    if (HasQualifier(cell.kind)) out.LengthPrefixed(cell.qualifier);
    if (cell.kind == CellKind::kPut) out.Varint(cell.value.size());
  }
  if (cell.kind == CellKind::kPut) bytes_.append(cell.value);
  format::StoreAt(&bytes_, count_at_, ++cells_);
}

void BatchEncoder::AddAll(const BatchEncoder& other) {
  bytes_.append(other.bytes_);
  operations_ += other.operations_;
}

void BatchEncoder::AddEncoded(std::string_view operation) {
  bytes_.append(operation);
  ++operations_;
}

void BatchEncoder::Clear() {
  bytes_.clear();
  operations_ = 0;
  count_at_ = 0;
  cells_ = 0;
}

BatchEncoder BatchEncoder::Take() {
  BatchEncoder next;
  next.Reserve(bytes_.size());
  std::swap(next, *this);
  return next;
}

void AppendBatch(const BatchEncoder& batch, std::string* payload) {
  format::AppendVarint(payload, batch.operation_count());
  format::AppendLengthPrefixed(payload, batch.bytes());
}

GroupReader::GroupReader(std::string_view payload, format::SequenceNumber first_sequence,
                         int64_t timestamp)
    : payload_(payload), next_sequence_(first_sequence.value), timestamp_(timestamp) {}

GroupReader GroupReader::OfBatch(const BatchEncoder& batch, format::SequenceNumber first_sequence,
                                 int64_t timestamp) {
  return OfBatch(batch.bytes(), batch.operation_count(), first_sequence, timestamp);
}

GroupReader GroupReader::OfBatch(std::string_view bytes, uint32_t operation_count,
                                 format::SequenceNumber first_sequence, int64_t timestamp) {
  GroupReader reader({}, first_sequence, timestamp);
  reader.left_in_batch_ = operation_count;
  reader.batch_ = format::ByteReader(bytes);
  return reader;
}

// Steps to the next batch with operations; false at the end of the payload or when it is malformed.
bool GroupReader::BeginBatch() {
  while (left_in_batch_ == 0) {
    if (!batch_.done() || payload_.remaining() == 0) return false;
    left_in_batch_ = static_cast<uint32_t>(payload_.VarintUpTo(UINT32_MAX));
    batch_ = format::ByteReader(payload_.LengthPrefixed());
    if (!payload_.ok()) return false;
    if (batches_++ > 0) timestamp_ = static_cast<int64_t>(static_cast<uint64_t>(timestamp_) + 1);
  }
  return true;
}

bool GroupReader::Next(Operation* operation) {
  if (!status_.ok()) return false;
  if (BeginBatch()) {
    operation->table = format::TableId(static_cast<uint32_t>(batch_.VarintUpTo(UINT32_MAX)));
    operation->row = BoundedBytes(&batch_, kRowKeyBytesMax);
    operation->sequence = format::SequenceNumber(next_sequence_);
    operation->cells.clear();
    const uint32_t cells = batch_.U32();
    if (cells > batch_.remaining() / kCellBytesMin || operation->row.empty()) batch_.Fail();
    for (uint32_t i = 0; i < cells && batch_.ok(); ++i) {
      operation->cells.push_back(ReadCell(&batch_, *operation, timestamp_));
    }
    --left_in_batch_;
    ++next_sequence_;
    if (batch_.ok()) {
      ++sequences_;
      return true;
    }
  } else if (payload_.done() && batch_.done() && left_in_batch_ == 0) {
    return false;
  }
  status_ =
      Status::Corruption("a group's operations are malformed in batch " + std::to_string(batches_));
  return false;
}

}  // namespace tandem::wal
