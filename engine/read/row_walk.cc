// Walking over the rows of a file, through its families in parallel.
#include "engine/read/row_walk.h"

#include <algorithm>

namespace tandem::engine {
namespace {

// Rows without a decoded family in one batch of the key carrier's walk.
constexpr size_t kCarriedMax = 4096;

std::optional<format::Projection> ProjectionOf(const ColumnSet& columns,
                                               const format::DataSection& data) {
  const ColumnSet::Family* family = columns.Find(data.family());
  if (family == nullptr) return std::nullopt;
  return format::Projection(data.names(), family->all ? nullptr : &family->qualifiers,
                            &data.blocks());
}

}  // namespace

FamilyColumns::FamilyColumns(const ReadSchema& schema, const format::DataSection& data,
                             bool decided)
    : single_source(ProjectionOf(decided ? schema.matched : schema.single_source, data)),
      merged(ProjectionOf(schema.merged, data)),
      plain(single_source) {}

RowWalk::Lane::Lane(ReadContext* read_context, const format::DataSection& section,
                    FamilyColumns family_columns)
    : context(read_context),
      data(&section),
      columns(std::move(family_columns)),
      family(read_context->schema.FamilyName(section.family())),
      walk(section, &context->queue,
           {.admit = context->fills_cache,
            .cautious = context->may_end_early,
            .rows_asked = context->rows_asked}) {}

Status RowWalk::Lane::ReadBlock(uint32_t position, bool reverse) {
  WalkedBlock walked;
  do {
    if (reverse) {
      ASSIGN_OR_RETURN(const uint32_t block, data->BlockOf(position));
      ASSIGN_OR_RETURN(walked.place, data->BlockAt(block));
      ASSIGN_OR_RETURN(walked.rows, ReadBackward(walked.place));
    } else {
      ASSIGN_OR_RETURN(const bool more, walk.Next(&walked));
      if (!more) return data->blocks().Corrupt(0, "rows end before their count");
    }
    rows = std::move(walked.rows);
    context->counters.CountBlock(walked.place);
  } while (!Holds(position));
  return {};
}

Result<format::RowBlockRef> RowWalk::Lane::ReadBackward(const format::DataBlock& block) const {
  if (context->fills_cache) return data->ReadRows(block);
  format::RowBlockRef cached = data->CachedRows(block);
  if (cached != nullptr) return cached;
  return data->ReadRowsUncached(block);
}

RowWalk::RowWalk(ReadContext* context, const FileSource& source, bool decided)
    : context_(context), source_(source), visits_every_row_(decided || context->schema.every_row) {
  for (const format::DataSection* data : source.families) {
    lanes_.push_back(
        std::make_unique<Lane>(context, *data, FamilyColumns(context->schema, *data, decided)));
  }
  if (lanes_.empty() && visits_every_row_) {
    carrier_ = std::make_unique<Lane>(context, *source.carrier, FamilyColumns());
    only_ = carrier_.get();
  } else if (lanes_.size() == 1 && lanes_[0]->data->is_full() && lanes_[0]->columns.single_source) {
    only_ = lanes_[0].get();
  }
  key_lane_ = only_;
}

void RowWalk::Start(std::span<const uint32_t> ordinals, std::span<const uint8_t> shared) {
  ordinals_ = ordinals;
  shared_ = shared;
  count_ = static_cast<uint32_t>(ordinals.size());
  at_ = carried_until_ = 0;
  if (only_ != nullptr) return only_->walk.Start(ordinals);
  for (const std::unique_ptr<Lane>& lane : lanes_) {
    if (lane->data->is_full() && lane->columns.single_source) {
      lane->walk.Start(ordinals);
      continue;
    }
    lane->positions.clear();
    for (uint32_t at = 0; at < count_; ++at) {
      if (IsNeeded(*lane, at)) lane->positions.push_back(lane->data->RankOf(ordinals[at]));
    }
    lane->walk.Start(lane->positions);
  }
}

void RowWalk::StartAll(bool reverse) {
  is_range_ = true;
  reverse_ = reverse;
  count_ = source_.high - source_.low;
  if (reverse) return;
  if (only_ != nullptr) return only_->walk.StartRange(source_.low, source_.high);
  for (const std::unique_ptr<Lane>& lane : lanes_) {
    lane->walk.StartRange(lane->data->RankOf(source_.low), lane->data->RankOf(source_.high));
  }
}

// Backward there is nothing to begin.
Status RowWalk::Begin() {
  if (reverse_) return {};
  for (const std::unique_ptr<Lane>& lane : lanes_) RETURN_IF_ERROR(lane->walk.Begin());
  return {};
}

bool RowWalk::IsNeeded(const Lane& lane, uint32_t at) const {
  const uint32_t ordinal = OrdinalAt(at);
  const bool single_source = !IsShared(at) && source_.MayBeSingleSource(ordinal);
  return lane.columns.Of(single_source) != nullptr && lane.data->Has(ordinal);
}

bool RowWalk::AnyLaneHas(uint32_t at) const {
  return std::any_of(lanes_.begin(), lanes_.end(),
                     [=, this](const std::unique_ptr<Lane>& lane) { return IsNeeded(*lane, at); });
}

Result<bool> RowWalk::NextOfMany() {
  if (lanes_.empty() && shared_.empty()) return false;
  while (at_ < count_) {
    ordinal_ = OrdinalAt(at_++);
    RETURN_IF_ERROR(MoveLanes());
    if (key_lane_ == nullptr) {
      // Other sources may have of a row what the file has not.
      if (!visits_every_row_ && !IsShared(at())) continue;
      RETURN_IF_ERROR(MoveCarrier());
    }
    ++context_->counters.rows;
    return true;
  }
  return false;
}

Status RowWalk::MoveLanes() {
  key_lane_ = nullptr;
  for (const std::unique_ptr<Lane>& lane : lanes_) {
    lane->is_here = IsNeeded(*lane, at());
    if (!lane->is_here) continue;
    if (key_lane_ == nullptr) key_lane_ = lane.get();
    RETURN_IF_ERROR(lane->MoveTo(lane->data->RankOf(ordinal_), reverse_));
  }
  return {};
}

Status RowWalk::MoveCarrier() {
  if (carrier_ == nullptr) {
    carrier_ = std::make_unique<Lane>(context_, *source_.carrier, FamilyColumns());
  }
  if (!reverse_ && at_ > carried_until_) GatherCarried();
  key_lane_ = carrier_.get();
  return carrier_->MoveTo(ordinal_, reverse_);
}

void RowWalk::GatherCarried() {
  std::vector<uint32_t>& positions = carrier_->positions;
  positions.clear();
  uint32_t at = at_ - 1;  // Of the current row.
  for (; at < count_ && positions.size() < kCarriedMax; ++at) {
    if (!AnyLaneHas(at)) positions.push_back(OrdinalAt(at));
  }
  carried_until_ = at;
  carrier_->walk.Start(positions);
}

Status RowWalk::Key(std::string* key) const { return key_lane_->rows->Key(key_lane_->slot, key); }

void RowWalk::AddMatched() {
  for (const std::unique_ptr<Lane>& lane : lanes_) {
    lane->columns.plain.reset();
    const auto matched = ProjectionOf(context_->schema.matched, *lane->data);
    if (matched.has_value()) lane->columns.plain.emplace(*matched);
  }
}

void RowWalk::Decide(const ColumnSet& columns) {
  for (const std::unique_ptr<Lane>& lane : lanes_) {
    const auto deciding = ProjectionOf(columns, *lane->data);
    if (deciding.has_value()) lane->columns.deciding.emplace(*deciding);
  }
}

void RowWalk::DecidePlain(std::span<const std::string> columns) {
  only_->places.emplace(only_->data->names(), columns);
}

Result<bool> RowWalk::AppendDeciding(std::vector<format::Cell>* cells) const {
  for (const std::unique_ptr<Lane>& lane : lanes_) {
    if ((lane.get() != only_ && !lane->is_here) || !lane->columns.deciding.has_value()) continue;
    if (lane->rows->is_wide()) return false;
    RETURN_IF_ERROR(lane->rows->Cells(lane->slot, *lane->columns.deciding, cells));
  }
  return true;
}

bool RowWalk::AddPlain(format::RowBatch* batch) const {
  const bool needs_cells = context_->schema.needs_cells;
  if (only_ != nullptr && only_->columns.plain.has_value()) {
    only_->PrefetchNext();
    return batch->AddPlain(only_->rows, only_->slot, *only_->columns.plain, only_->family,
                           needs_cells);
  }
  bool is_plain = batch->Begin(*key_lane_->rows, key_lane_->slot);
  for (size_t i = 0; is_plain && i < lanes_.size(); ++i) {
    const Lane& lane = *lanes_[i];
    if (&lane == only_ || lane.is_here) is_plain = lane.AppendPlain(batch);
  }
  return batch->End(is_plain, needs_cells);
}

bool RowWalk::AddUpdated(const MemRow* newer, RowBuilder* row, format::RowBatch* batch) const {
  if (only_ == nullptr || !only_->columns.plain.has_value() || only_->rows->is_wide()) return false;
  only_->PrefetchNext();
  if (!row->GatherPuts(newer, only_->data->family())) return false;
  return batch->AddUpdated(only_->rows, only_->slot, *only_->columns.plain, only_->family,
                           Memstore::Key(newer), *row->gathered(), context_->schema.needs_cells);
}

bool RowWalk::AddAlone(const MemRow* newer, RowBuilder* row, format::RowBatch* batch) const {
  if (only_ == nullptr || !only_->columns.plain.has_value()) return false;
  if (!row->GatherPuts(newer, only_->data->family()) || row->gathered()->empty()) return false;
  return batch->AddPuts(*only_->columns.plain, only_->family, Memstore::Key(newer),
                        *row->gathered(), context_->schema.needs_cells);
}

uint32_t RowWalk::AddPlainRun(size_t rows_max, format::RowBatch* batch, uint32_t slots_end) {
  if (only_ == nullptr || !only_->columns.plain.has_value()) return 0;
  const format::RowBlock& block = *only_->rows;
  const format::RowBlock* const next = only_->walk.PeekOfRange();
  const bool needs_cells = context_->schema.needs_cells;
  const uint32_t begin = at_;
  for (; at_ < count_ && batch->size() < rows_max && !batch->is_full(); ++at_) {
    const uint32_t ordinal = OrdinalAt(at_);
    const uint32_t slot = ordinal - block.first();
    if (slot >= slots_end || !source_.MayBeSingleSource(ordinal)) break;
    if (next != nullptr) next->PrefetchLike(block, slot);
    if (!batch->AddPlain(only_->rows, slot, *only_->columns.plain, only_->family, needs_cells)) {
      break;
    }
    ordinal_ = ordinal;
    only_->slot = slot;
  }
  context_->counters.rows += at_ - begin;
  return at_ - begin;
}

void RowWalk::Lane::PrefetchNext() const {
  if (const format::RowBlock* next = walk.PeekOfRange()) next->PrefetchLike(*rows, slot);
}

bool RowWalk::Lane::AppendPlain(format::RowBatch* batch) const {
  if (!columns.plain.has_value()) return true;
  PrefetchNext();
  return batch->AppendCells(rows, slot, *columns.plain, family);
}

Status RowWalk::Append(bool single_source, RowBuilder* row) const {
  if (only_ != nullptr) return only_->Append(single_source, row);
  for (const std::unique_ptr<Lane>& lane : lanes_) {
    if (lane->is_here) RETURN_IF_ERROR(lane->Append(single_source, row));
  }
  return {};
}

Status RowWalk::Lane::Append(bool single_source, RowBuilder* row) const {
  const format::Projection* wanted = columns.Of(single_source);
  if (wanted == nullptr) return {};
  return row->Append(*data, rows, slot, *wanted);
}

void RowWalk::Hold() {
  for (const std::unique_ptr<Lane>& lane : lanes_) {
    if (lane->held != lane->rows) lane->held = lane->rows;
  }
}

}  // namespace tandem::engine
