// Leaves, postings and directory of one part.
#include "index/part_writer.h"

#include <utility>

#include "base/check.h"
#include "base/status_macros.h"
#include "format/block/stream_section.h"
#include "index/postings.h"

namespace tandem::format {
namespace {

// Leaves of as many bytes are compressed in parallel while the next ones fill.
constexpr size_t kGroupBytes = 128 << 10;

}  // namespace

Status IndexPartWriter::Add(std::string_view key, std::span<const uint32_t> ordinals) {
  DCHECK(!ordinals.empty() && ordinals.back() < spec_.row_count);
  const std::string_view last = leaf_.empty() ? finished_.last_key : leaf_.last_key();
  if (started_ && key <= last) {
    return Status::Corruption("values of index " + std::to_string(spec_.index.value) +
                              " come out of order from the files that are merged");
  }
  if (!started_) {
    started_ = true;
    RETURN_IF_ERROR(out_->Begin(SectionKind::kIndexLeaves, spec_.index.value, flags()));
  }
  if (ordinals.size() > 1) EncodeList(ordinals);
  const LeafValue value{key, static_cast<uint32_t>(ordinals.size()), ordinals.front(), list_};
  if (leaf_.IsFullFor(value)) RETURN_IF_ERROR(FinishLeaf());
  leaf_.Add(value);
  list_.clear();
  return {};
}

// Sets list_ to what the leaf stores: the list itself, or its place in the postings.
void IndexPartWriter::EncodeList(std::span<const uint32_t> ordinals) {
  if (ordinals.size() <= kSmallListMax) {
    AppendSmallList(ordinals, &list_);
    return;
  }
  const uint32_t count = static_cast<uint32_t>(ordinals.size());
  ListPlace place{FormOf({count, spec_.row_count}), postings_.size(), 0};
  encoded_.clear();
  if (place.form == ListForm::kRoaring) {
    AppendRoaringList(ordinals, &encoded_);
  } else {
    AppendBlockedList(ordinals, &encoded_);
  }
  place.size_bytes = encoded_.size();
  postings_.insert(postings_.end(), encoded_.begin(), encoded_.end());
  AppendListPlace(place, &list_);
}

Status IndexPartWriter::FinishLeaf() {
  finished_.first_key = leaf_.first_key();
  finished_.last_key = leaf_.last_key();
  finished_.entries = leaf_.entries();
  BlockContent content = leaf_.Finish(entries_);
  entries_ += finished_.entries;
  finished_.values = content.count;
  values_ += content.count;
  content.compression = spec_.compression;
  return WriteLeaf(content);
}

Status IndexPartWriter::WriteLeaf(const BlockContent& content) {
  if (!out_->is_parallel()) {
    ASSIGN_OR_RETURN(const BlockHandle handle, out_->Append(content));
    directory_.Add(handle, finished_);
    return {};
  }
  group_.raw.append(content.raw);
  group_.blocks.push_back({content, content.raw.size()});
  group_.blocks.back().content.raw = {};
  grouped_.push_back(finished_);
  return group_.raw.size() < kGroupBytes ? Status() : WriteGroup();
}

Status IndexPartWriter::WriteGroup() {
  size_t next = 0;
  const auto placed = [this, leaves = std::exchange(grouped_, {}),
                       next](const BlockHandle& handle) mutable {
    directory_.Add(handle, leaves[next++]);
  };
  return out_->AppendGroup(&group_, placed);
}

Status IndexPartWriter::Finish() {
  if (!started_) return {};
  if (!leaf_.empty()) RETURN_IF_ERROR(FinishLeaf());
  if (!grouped_.empty()) RETURN_IF_ERROR(WriteGroup());
  RETURN_IF_ERROR(out_->End(values_));
  const uint32_t owner = spec_.index.value;
  if (!postings_.empty()) {
    RETURN_IF_ERROR(WriteStream({SectionKind::kIndexPostings, BlockKind::kPostings}, owner, flags(),
                                {postings_.data(), postings_.size()}, out_));
  }
  return WriteStream({SectionKind::kIndexDirectory, BlockKind::kIndexDirectory}, owner, flags(),
                     directory_.Finish(), out_);
}

}  // namespace tandem::format
