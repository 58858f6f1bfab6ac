// Writes the end of a store file.
#include "store_file/end_writer.h"

#include <utility>

#include "base/status_macros.h"
#include "format/block/footer.h"
#include "format/block/section_table.h"
#include "format/coding.h"

namespace tandem::format {
namespace {

// A section that is one uncompressed block.
Status WriteOnlyBlock(SectionKind section, const BlockContent& content, uint64_t count,
                      SectionWriter* out) {
  RETURN_IF_ERROR(out->Begin(section, 0));
  RETURN_IF_ERROR(out->Append(content).status());
  return out->End(count);
}

Status WriteStatistics(const FileStatistics& statistics, SectionWriter* out) {
  std::string bytes;
  AppendStatistics(statistics, &bytes);
  BlockContent content{.kind = BlockKind::kStatistics, .raw = bytes};
  content.count = statistics.rows;
  return WriteOnlyBlock(SectionKind::kStatistics, content, 1, out);
}

Status WriteSchema(const StoreFileEnd& end, SectionWriter* out) {
  std::string bytes;
  AppendLengthPrefixed(&bytes, end.region_start);
  EncodeTable(*end.table, &bytes);
  const BlockContent content{.kind = BlockKind::kSchema, .raw = bytes};
  return WriteOnlyBlock(SectionKind::kSchema, content, 1, out);
}

// Section tables and footer.
Status WriteTables(FileNumber number, SectionWriter* out) {
  std::string table;
  AppendSectionTable(out->sections(), &table);
  BlockContent content{.kind = BlockKind::kSectionTable, .raw = table};
  content.count = static_cast<uint32_t>(out->sections().size());
  Footer footer;
  footer.number = number;
  footer.sections = content.count;
  for (uint32_t copy = 0; copy < 2; ++copy) {
    content.first = copy;
    ASSIGN_OR_RETURN(const BlockHandle handle, out->AppendAlone(content));
    footer.table_offsets[copy] = handle.offset;
    footer.table_bytes = handle.stored_bytes;
  }
  footer.file_size = out->offset() + kFooterBytes;
  std::string bytes;
  AppendFooter(footer, out->id(), &bytes);
  return out->AppendRaw(bytes);
}

}  // namespace

Result<StoreFileSummary> WriteStoreFileEnd(StoreFileEnd end, SectionWriter* out, base::File* file) {
  RETURN_IF_ERROR(WriteStatistics(end.statistics, out));
  RETURN_IF_ERROR(WriteSummaries(end.indexes, out));
  RETURN_IF_ERROR(WriteSchema(end, out));
  RETURN_IF_ERROR(WriteTables(end.number, out));
  RETURN_IF_ERROR(out->Flush());
  if (file != nullptr) RETURN_IF_ERROR(file->DataSync());
  return StoreFileSummary{.size_bytes = out->offset(),
                          .hash = out->hash(),
                          .statistics = std::move(end.statistics),
                          .indexes = std::move(end.indexes)};
}

}  // namespace tandem::format
