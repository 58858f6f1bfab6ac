// Pinning blocks and opening windows over the candidates of one file.
#include "engine/read/window_file.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace tandem::engine {
namespace {

// The most candidates in one window, but at least those of one block: each may need a block of
// another file.
constexpr size_t kCandidatesMax = 1024;
// Candidates per batch of the walk: few at first if the read may end early.
constexpr size_t kWalkedCautious = 128, kWalkedFirst = 1024, kWalkedMax = 16 * 1024;
// The same if taking candidates is free: where such batches end does not matter.
constexpr size_t kWalkedPlain = 64 * 1024;
// Candidates that no window needs any more are dropped when there are this many.
constexpr size_t kForgottenTogether = 16 * 1024;

size_t WalkedFirst(const ReadContext& context, const CandidateStream& candidates) {
  if (candidates.is_plain()) return kWalkedPlain;
  return context.may_end_early ? kWalkedCautious : kWalkedFirst;
}

}  // namespace

WindowFile::WindowFile(ReadContext* context, const FileSource& source, bool decided,
                       CandidateStream candidates)
    : context_(context),
      source_(source),
      decided_(decided),
      candidates_(std::move(candidates)),
      take_next_(WalkedFirst(*context, candidates_)),
      sections_(SectionsOf(context->schema, source, decided)),
      lead_(LeadOf(sections_, source)),
      walk_(
          *lead().data, &context->queue,
          {.admit = true, .cautious = context->may_end_early, .rows_asked = context->rows_asked}) {}

// By family. The key carrier is the last section if no family can lead.
std::vector<WindowFile::Section> WindowFile::SectionsOf(const ReadSchema& schema,
                                                        const FileSource& source, bool decided) {
  std::vector<Section> sections;
  for (const format::DataSection* data : source.families) {
    sections.push_back({.data = data,
                        .columns = FamilyColumns(schema, *data, decided),
                        .family = schema.FamilyName(data->family())});
  }
  if (LeadOf(sections, source) == sections.size()) {
    sections.push_back({.data = source.carrier, .columns = FamilyColumns()});
  }
  return sections;
}

// The index of the section that leads; sections.size() if none can.
size_t WindowFile::LeadOf(const std::vector<Section>& sections, const FileSource& source) {
  auto lead = std::find_if(sections.begin(), sections.end(), [](const Section& section) {
    return section.data->is_full() && section.columns.single_source.has_value();
  });
  if (lead == sections.end()) {
    lead = std::find_if(sections.begin(), sections.end(),
                        [&](const Section& section) { return section.data == source.carrier; });
  }
  return static_cast<size_t>(lead - sections.begin());
}

Status WindowFile::Load(size_t blocks) {
  while (has_more() && block_ends_.size() < blocks &&
         (block_ends_.empty() || loaded_ - opened_ < kCandidatesMax)) {
    RETURN_IF_ERROR(context_->CheckGoOn());
    WalkedBlock block;
    ASSIGN_OR_RETURN(const bool more, walk_.Next(&block));
    if (!more) {
      ASSIGN_OR_RETURN(const bool has_taken, TakeMore());
      if (!has_taken) break;
      continue;
    }
    // A block that two batches of candidates need comes twice.
    if (lead().pinned.empty() || lead().pinned.back().block != block.place.number) {
      Pin(block, &lead());
    }
    loaded_ += block.positions.size();
    block_ends_.push_back(loaded_);
  }
  return {};
}

// Restarts the walk, which has ended, with the next batch of candidates; false if there is none.
Result<bool> WindowFile::TakeMore() {
  walked_.Clear();
  RETURN_IF_ERROR(candidates_.Take(take_next_, &walked_));
  rows_.Append(walked_, 0, walked_.size());
  if (!candidates_.is_plain()) take_next_ = std::min(take_next_ * 2, kWalkedMax);
  walk_.Start(walked_.ordinals);
  return walked_.size() > 0;
}

Status WindowFile::LastLoadedKey(std::string* key) const {
  return Key(rows_.ordinals[loaded_ - 1], key);
}

Status WindowFile::Open(const std::optional<std::string>& bound) {
  size_t end = loaded_;
  if (bound.has_value()) {
    size_t begin = opened_;
    std::string key;
    while (begin < end) {
      const size_t middle = begin + (end - begin) / 2;
      RETURN_IF_ERROR(Key(rows_.ordinals[middle], &key));
      if (key <= *bound) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
  }
  for (; opened_ < end; ++opened_) {
    const uint32_t ordinal = rows_.ordinals[opened_];
    const MemRow* const memstore_row = rows_.memstore_rows[opened_];
    if (memstore_row != nullptr) Memstore::PrefetchRow(memstore_row);
    items_.push_back(
        {ordinal, rows_.marks[opened_] == 0 && source_.MayBeSingleSource(ordinal), memstore_row});
  }
  std::erase_if(block_ends_, [this](size_t block_end) { return block_end <= opened_; });
  return {};
}

Status WindowFile::Complete() {
  AddExtras();
  for (Section& section : sections_) RETURN_IF_ERROR(PinItems(&section));
  // Every item's key is pinned, and both lists are in ordinal order.
  uint32_t at = 0;
  for (Item& item : items_) {
    while (!lead().pinned[at].Holds(item.ordinal)) ++at;
    item.pinned = at;
    if (item.memstore_row != nullptr) Memstore::PrefetchCells(item.memstore_row);
  }
  context_->counters.rows += items_.size();
  return {};
}

// Pins the blocks of a family that the items need.
Status WindowFile::PinItems(Section* section) {
  const bool leads = section == &lead();
  std::vector<uint32_t> positions;
  size_t at = 0;
  for (const Item& item : items_) {
    if (!leads && section->columns.Of(item.single_source) == nullptr) continue;
    if (!section->data->Has(item.ordinal)) continue;
    const uint32_t position = section->data->RankOf(item.ordinal);
    while (at < section->pinned.size() && section->pinned[at].end <= position) ++at;
    if (at < section->pinned.size() && section->pinned[at].Holds(position)) continue;
    positions.push_back(position);
  }
  return PinRows(positions, section);
}

void WindowFile::AddExtras() {
  if (extras_.empty()) return;
  std::sort(extras_.begin(), extras_.end());
  extras_.erase(std::unique(extras_.begin(), extras_.end()), extras_.end());
  // Candidates come before extra rows of the same ordinal, which add nothing.
  const auto candidates = static_cast<ptrdiff_t>(items_.size());
  for (const uint32_t ordinal : extras_) items_.push_back({ordinal, false});
  std::inplace_merge(items_.begin(), items_.begin() + candidates, items_.end(),
                     [](const Item& a, const Item& b) { return a.ordinal < b.ordinal; });
  items_.erase(std::unique(items_.begin(), items_.end(),
                           [](const Item& a, const Item& b) { return a.ordinal == b.ordinal; }),
               items_.end());
  extras_.clear();
}

// Pins the blocks of these positions. Requires: they are not pinned.
Status WindowFile::PinRows(std::span<const uint32_t> positions, Section* section) {
  if (positions.empty()) return {};
  const auto before = static_cast<ptrdiff_t>(section->pinned.size());
  BlockWalk walk(*section->data, &context_->queue);
  walk.Start(positions);
  WalkedBlock block;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, walk.Next(&block));
    if (!more) break;
    Pin(block, section);
  }
  std::inplace_merge(section->pinned.begin(), section->pinned.begin() + before,
                     section->pinned.end(),
                     [](const Pinned& a, const Pinned& b) { return a.block < b.block; });
  return {};
}

// Drops the candidates of past windows.
void WindowFile::ForgetOpened() {
  if (opened_ < kForgottenTogether) return;
  rows_.RemoveFirst(opened_);
  loaded_ -= opened_;
  for (size_t& block_end : block_ends_) block_end -= opened_;
  opened_ = 0;
}

void WindowFile::Close() {
  ForgetOpened();
  if (items_.empty()) return;
  // Later windows hold larger keys, so larger ordinals.
  const uint32_t last = items_.back().ordinal;
  for (Section& section : sections_) {
    const uint32_t rank = section.data->RankOf(last);
    std::erase_if(section.pinned, [=](const Pinned& pinned) { return pinned.end <= rank; });
  }
  items_.clear();
}

Status WindowFile::Key(uint32_t ordinal, std::string* key) const {
  const Pinned& pinned = *lead().Find(ordinal);
  return pinned.rows->Key(ordinal - pinned.first, key);
}

Status WindowFile::Key(const Item& item, std::string* key) const {
  const Pinned& pinned = lead().pinned[item.pinned];
  return pinned.rows->Key(item.ordinal - pinned.first, key);
}

bool WindowFile::AddPlain(const Item& item, format::RowBatch* batch) const {
  const Pinned& first = lead().pinned[item.pinned];
  const bool needs_cells = context_->schema.needs_cells;
  if (sections_.size() == 1) {
    const format::Projection* wanted = lead().columns.Of(/*is_single_source=*/true);
    if (wanted != nullptr) {
      return batch->AddPlain(first.rows, item.ordinal - first.first, *wanted, lead().family,
                             needs_cells);
    }
  }
  bool is_plain = batch->Begin(*first.rows, item.ordinal - first.first);
  for (size_t i = 0; is_plain && i < sections_.size(); ++i) {
    const Section& section = sections_[i];
    const format::Projection* wanted = section.columns.Of(/*is_single_source=*/true);
    if (wanted == nullptr || !section.data->Has(item.ordinal)) continue;
    const uint32_t position = section.data->RankOf(item.ordinal);
    const Pinned& pinned = i == lead_ ? first : *section.Find(position);
    is_plain = batch->AppendCells(pinned.rows, position - pinned.first, *wanted, section.family);
  }
  return batch->End(is_plain, needs_cells);
}

Status WindowFile::Append(const Item& item, RowBuilder* row) const {
  for (const Section& section : sections_) {
    const format::Projection* wanted = section.columns.Of(item.single_source);
    if (wanted == nullptr || !section.data->Has(item.ordinal)) continue;
    const uint32_t position = section.data->RankOf(item.ordinal);
    const Pinned& pinned =
        &section == &lead() ? section.pinned[item.pinned] : *section.Find(position);
    RETURN_IF_ERROR(row->Append(*section.data, pinned.rows, position - pinned.first, *wanted));
  }
  return {};
}

void WindowFile::Pin(const WalkedBlock& block, Section* section) {
  const uint32_t first = block.rows->first();
  section->pinned.push_back(
      {block.place.number, first, first + block.rows->row_count(), block.rows});
  context_->counters.CountBlock(block.place);
}

// The pinned block that holds `position`; nullptr when there is none.
const WindowFile::Pinned* WindowFile::Section::Find(uint32_t position) const {
  if (last_found < pinned.size() && pinned[last_found].Holds(position)) {
    return &pinned[last_found];
  }
  const auto after = std::partition_point(
      pinned.begin(), pinned.end(), [=](const Pinned& block) { return block.first <= position; });
  if (after == pinned.begin() || !(after - 1)->Holds(position)) return nullptr;
  last_found = static_cast<size_t>(after - 1 - pinned.begin());
  return &pinned[last_found];
}

}  // namespace tandem::engine
