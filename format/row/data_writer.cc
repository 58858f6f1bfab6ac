// Writes families side by side, and chooses the key carrier.
#include "format/row/data_writer.h"

#include <algorithm>
#include <string>

#include "base/status_macros.h"
#include "format/file_window.h"
#include "format/row/data_section.h"
#include "format/row/row_block.h"

namespace tandem::format {

namespace {

// Bytes that all families together hold until their extents are full.
constexpr size_t kExtentsBytesMax = 8 << 20;
constexpr size_t kExtentBytesMin = 128 << 10;
// Of the only family: enough blocks to compress on several threads.
constexpr size_t kParallelBytes = 256 << 10;

size_t ExtentBytes(size_t families, const SectionWriter& out) {
  if (families == 1) return out.is_parallel() ? kParallelBytes : 0;
  return std::clamp(kExtentsBytesMax / families, kExtentBytesMin, kExtentBytes);
}

}  // namespace

DataWriter::DataWriter(base::File* file, const TableRecord& table, SectionWriter* out)
    : file_(file), out_(out), keys_options_(table.first_family().options) {
  const size_t extent_bytes = ExtentBytes(table.family_count(), *out);
  for (const FamilyRecord& family : table.families) {
    families_.push_back(
        std::make_unique<FamilyWriter>(family.id, family.options, extent_bytes, out));
  }
  std::sort(families_.begin(), families_.end(),
            [](const auto& a, const auto& b) { return a->family() < b->family(); });
}

FamilyWriter* DataWriter::Find(FamilyId family) {
  const auto found =
      std::lower_bound(families_.begin(), families_.end(), family,
                       [](const auto& writer, FamilyId id) { return writer->family() < id; });
  return found != families_.end() && (*found)->family() == family ? found->get() : nullptr;
}

Status DataWriter::EndRow(uint32_t ordinal, std::string_view key) {
  if (keys_ != nullptr) return keys_->AddRow(ordinal, key, {});
  if (carrier_ != nullptr && carrier_->row_count() > ordinal) return {};
  FamilyWriter* const before = carrier_;
  carrier_ = LowestWith(ordinal + 1);
  if (carrier_ != nullptr) return {};
  RETURN_IF_ERROR(CopyKeys(before));
  return keys_->AddRow(ordinal, key, {});
}

// The lowest family with `rows` rows; nullptr when there is none.
FamilyWriter* DataWriter::LowestWith(uint32_t rows) {
  const auto found = std::find_if(families_.begin(), families_.end(),
                                  [=](const auto& family) { return family->row_count() == rows; });
  return found == families_.end() ? nullptr : found->get();
}

// Starts the key blocks with the keys of all rows of `from`.
Status DataWriter::CopyKeys(FamilyWriter* from) {
  keys_ = std::make_unique<FamilyWriter>(FamilyId(kKeysOwner), keys_options_, kExtentBytes, out_);
  RETURN_IF_ERROR(from->WriteBlocks());
  RETURN_IF_ERROR(out_->Flush());
  const auto name = std::make_shared<const std::string>(file_->name());
  FileWindow window(file_, out_->offset());
  std::string key;
  for (uint32_t i = 0; i < from->index().size(); ++i) {
    const BlockHandle place = from->index().PlaceOf(i);
    ASSIGN_OR_RETURN(const std::string_view stored, window.Read(place.offset, place.stored_bytes));
    ASSIGN_OR_RETURN(const RowBlockRef rows,
                     RowBlock::Decode({name, out_->id(), place.offset}, from->family(), stored));
    for (uint32_t slot = 0; slot < rows->row_count(); ++slot) {
      RETURN_IF_ERROR(rows->Key(slot, &key));
      RETURN_IF_ERROR(keys_->AddRow(keys_->row_count(), key, {}));
    }
  }
  return {};
}

uint64_t DataWriter::waiting_bytes() const {
  uint64_t bytes = keys_ == nullptr ? 0 : keys_->waiting_bytes();
  for (const auto& family : families_) bytes += family->waiting_bytes();
  return bytes;
}

uint64_t DataWriter::memory_bytes() const {
  uint64_t bytes = keys_ == nullptr ? 0 : keys_->memory_bytes();
  for (const auto& family : families_) bytes += family->memory_bytes();
  return bytes;
}

uint64_t DataWriter::copied_blocks() const {
  uint64_t blocks = 0;
  for (const auto& family : families_) blocks += family->copied_blocks();
  return blocks;
}

Status DataWriter::WriteBlocks() {
  for (const auto& family : families_) RETURN_IF_ERROR(family->WriteBlocks());
  return keys_ == nullptr ? Status() : keys_->WriteBlocks();
}

Status DataWriter::WriteSections(uint32_t file_rows) {
  for (const auto& family : families_) {
    if (family->row_count() > 0) RETURN_IF_ERROR(family->WriteSections(file_rows));
  }
  return keys_ == nullptr ? Status() : keys_->WriteSections(file_rows);
}

}  // namespace tandem::format
