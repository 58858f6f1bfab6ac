// Encoding and checked decoding of a store file's statistics.
#include "store_file/file_statistics.h"

#include <utility>

#include "format/byte_reader.h"
#include "format/coding.h"
#include "tandem/limits.h"

namespace tandem::format {
namespace {

void AppendTimes(const std::vector<ColumnTimes>& times, std::string* out) {
  AppendVarint(out, times.size());
  for (const ColumnTimes& entry : times) {
    AppendU8(out, entry.family.value);
    AppendLengthPrefixed(out, entry.qualifier);
    AppendU64(out, static_cast<uint64_t>(entry.min_timestamp));
    AppendU64(out, static_cast<uint64_t>(entry.max_timestamp));
  }
}

std::string ReadBytes(ByteReader* reader, size_t max) {
  return std::string(reader->Bytes(reader->VarintUpTo(max)));
}

// The list grows as bytes are read, so a false count allocates nothing.
std::vector<ColumnTimes> ReadTimes(ByteReader* reader) {
  std::vector<ColumnTimes> times;
  const uint64_t count = reader->Varint();
  for (uint64_t i = 0; i < count && reader->ok(); ++i) {
    ColumnTimes entry;
    entry.family = FamilyId(reader->U8());
    entry.qualifier = ReadBytes(reader, kQualifierBytesMax);
    entry.min_timestamp = reader->I64();
    entry.max_timestamp = reader->I64();
    if (entry.min_timestamp > entry.max_timestamp) reader->Fail();
    if (i > 0 && std::pair(times.back().family, std::string_view(times.back().qualifier)) >=
                     std::pair(entry.family, std::string_view(entry.qualifier))) {
      reader->Fail();
    }
    times.push_back(std::move(entry));
  }
  return times;
}

bool Agree(const FileStatistics& s) {
  return s.rows > 0 && s.rows <= kRowsPerFileMax && s.clean_rows <= s.rows && s.cells >= s.rows &&
         s.deletes <= s.cells && s.min_sequence <= s.max_sequence &&
         s.min_timestamp <= s.max_timestamp && !s.min_key.empty() && s.min_key <= s.max_key;
}

}  // namespace

void AppendStatistics(const FileStatistics& statistics, std::string* out) {
  AppendU32(out, statistics.rows);
  AppendU32(out, statistics.clean_rows);
  AppendU64(out, statistics.cells);
  AppendU64(out, statistics.deletes);
  AppendU64(out, statistics.raw_bytes);
  AppendU64(out, statistics.min_sequence.value);
  AppendU64(out, statistics.max_sequence.value);
  AppendU64(out, static_cast<uint64_t>(statistics.min_timestamp));
  AppendU64(out, static_cast<uint64_t>(statistics.max_timestamp));
  AppendLengthPrefixed(out, statistics.min_key);
  AppendLengthPrefixed(out, statistics.max_key);
  AppendTimes(statistics.column_times, out);
  AppendTimes(statistics.family_times, out);
}

Result<FileStatistics> DecodeStatistics(const Block& block) {
  FileStatistics statistics;
  ByteReader reader(block.raw());
  statistics.rows = reader.U32();
  statistics.clean_rows = reader.U32();
  statistics.cells = reader.U64();
  statistics.deletes = reader.U64();
  statistics.raw_bytes = reader.U64();
  statistics.min_sequence = SequenceNumber(reader.U64());
  statistics.max_sequence = SequenceNumber(reader.U64());
  statistics.min_timestamp = reader.I64();
  statistics.max_timestamp = reader.I64();
  statistics.min_key = ReadBytes(&reader, kRowKeyBytesMax);
  statistics.max_key = ReadBytes(&reader, kRowKeyBytesMax);
  statistics.column_times = ReadTimes(&reader);
  statistics.family_times = ReadTimes(&reader);
  if (!reader.done()) return block.Corrupt("statistics are malformed");
  if (!Agree(statistics) || block.count != statistics.rows) {
    return block.Corrupt("statistics contradict one another");
  }
  return statistics;
}

}  // namespace tandem::format
