// The candidates of a cluster of several sources, each block read at most once. Whether a row is in
// several sources is known only when its key is, so the candidates are read in windows, in key
// order:
//
// 1. Load: of each file that has begun, the next blocks that hold candidates are pinned. The
//    smallest last key among the files that have more is the window's bound: every candidate up to
//    it is loaded.
// 2. Open: the candidates up to the bound become the window's items. Their own file and the
//    memstores say whether they are single-source (rule 16).
// 3. Overlap: each item is looked up in the other files: by the overlaps of the two files or, if
//    these are not built, by filter, then by key and hash. No data block is read for that. If it is
//    found, it becomes an extra item of that file, and no item of the row is single-source.
//    (Candidates of memstores were already looked up in all files, see
//    engine/source/candidate_stream.h.)
// 4. Complete: the blocks of the extra items are pinned. They are within the window, so they are
//    never blocks that the file's walk has yet to hand out.
// 5. Merge: the items are merged by key and handed out as rows.
//
// Rows whose cells an index has (covered_rows.h) are in no window; they are merged in by key.
//
// A row's absence from a source is certain; its presence is certain up to a collision of keyed
// hashes.
#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "engine/read/merge_heap.h"
#include "engine/read/row_iterator.h"
#include "engine/read/window_file.h"
#include "engine/source/single_source.h"
#include "format/hash.h"
#include "store_file/key_hashes_reader.h"

namespace tandem::engine {
namespace {

constexpr size_t kBlocksMax = 64, kBlocksMin = 2;  // Of each file in one window.
constexpr uint64_t kPinnedPart = 8;                // A window may pin 1/8 of the read buffers.
constexpr size_t kMemstoreRowsMax = 256;           // In one window.

// How many blocks of each file a window may pin: the cache does not hold all of them.
size_t BlocksMax(const ReadContext& context, size_t files) {
  uint64_t block_bytes = 0;
  for (const format::FamilyRecord& family : context.view.table->families) {
    block_bytes += family.options.block_size_bytes;
  }
  const uint64_t blocks = context.resources.read_buffer_bytes / kPinnedPart /
                          std::max<uint64_t>(files * block_bytes, 1);
  return std::clamp<uint64_t>(blocks, kBlocksMin, kBlocksMax);
}

class CandidateIterator final : public RowIterator {
 public:
  CandidateIterator(ReadContext* context, const Cluster& cluster,
                    std::vector<FileCandidates> candidates,
                    std::vector<const MemRow*> memstore_rows, std::unique_ptr<CoveredRows> covered);

 private:
  struct File {
    std::unique_ptr<WindowFile> window;
    bool returns_plain = false;
    std::vector<uint32_t> ranks;                    // By FileOverlap: where its search continues.
    bool asks_filters = false;                      // Some overlaps are not built.
    std::optional<format::KeyHashesReader> hashes;  // Of its rows, if it asks filters.
    size_t at = 0;                                  // The next item.
    std::string key;                                // Its key.

    bool done() const { return at == window->items().size(); }
    const WindowFile::Item& item() const { return window->items()[at]; }
  };

  Result<bool> Find() override;
  bool Take(size_t rows_max, format::RowBatch* batch) override;
  Result<bool> Read() override;
  Status Open();
  Status OpenWindow();
  Result<std::optional<std::string>> LoadFiles();
  bool has_candidates() const;
  Status OverlapFiles(File* file);
  Status ShareByBitmap(File* file, size_t which);
  Status ShareByFilter(File* file, File* other);
  void OpenMemstoreRows(const std::optional<std::string>& bound);
  Result<bool> Share(File* file, std::string_view key, uint64_t hash);
  Status ReadKey(File* file);
  struct ComesAfter {
    bool operator()(const File* a, const File* b) const { return a->key > b->key; }
  };
  Status Advance();
  void ChooseKey();
  bool CoveredIsNext() const;
  Result<bool> ReadCovered();
  Result<bool> ReadSingleSource();
  void CountSingleSource(const File& file) {
    ++(file.asks_filters ? context_->counters.single_source_by_filter
                         : context_->counters.single_source_by_bitmap);
  }
  Status ReadItem();

  const Cluster& cluster_;
  std::span<const char> secret_;
  bool has_begun_ = false;
  std::vector<FileCandidates> candidates_;  // Until it has.
  std::vector<File> files_;                 // By their first key.
  size_t begun_ = 0;                        // Of files_: the others are after all windows so far.
  MergeHeap<File, ComesAfter> heap_{ComesAfter{}};  // Those with items left.
  bool top_is_taken_ = false;                       // The heap is as it was before.
  std::vector<const MemRow*> memstore_rows_;
  std::vector<format::HashedKey> memstore_keys_;  // Of them.
  const MemRow* candidate_ = nullptr;             // Of them, the current row; nullptr: it is none.
  size_t memstore_at_ = 0;                        // The next of memstore_rows_.
  size_t memstore_end_ = 0;                       // Of the current window.
  size_t blocks_ = 1;                             // Of each file in the next window,
  const size_t blocks_max_;                       // and in a later one.
  std::vector<uint64_t> hashes_;                  // Of the items that OverlapFiles looks up.
  std::unique_ptr<bool[]> may_hold_;
  size_t may_hold_bytes_ = 0;
  const std::unique_ptr<CoveredRows> covered_;  // In no window; null: there are none.
  bool covered_is_taken_ = false;               // The row that covered_ is at was handed out.
};

CandidateIterator::CandidateIterator(ReadContext* context, const Cluster& cluster,
                                     std::vector<FileCandidates> candidates,
                                     std::vector<const MemRow*> memstore_rows,
                                     std::unique_ptr<CoveredRows> covered)
    : RowIterator(context),
      cluster_(cluster),
      secret_(context->view.table->hash_secret),
      candidates_(std::move(candidates)),
      memstore_rows_(std::move(memstore_rows)),
      blocks_max_(BlocksMax(*context, cluster.files.size())),
      covered_(std::move(covered)) {}

Status CandidateIterator::Open() {
  has_begun_ = true;
  if (covered_ != nullptr) RETURN_IF_ERROR(covered_->Begin());
  std::vector<LocatedRow> located;
  ASSIGN_OR_RETURN(const bool is_located,
                   LocateRows(*context_, cluster_, &memstore_rows_, &located));
  SortByKey(&memstore_rows_);
  memstore_keys_.reserve(memstore_rows_.size());
  for (const MemRow* row : memstore_rows_) {
    const std::string_view key = Memstore::Key(row);
    memstore_keys_.push_back({key, format::RowHash(key, secret_)});
  }
  for (size_t i = 0; i < cluster_.files.size(); ++i) {
    const FileSource& source = cluster_.files[i];
    File& file = files_.emplace_back();
    FileCandidates& candidates = candidates_[i];
    const bool decided = candidates.decided;
    file.window = std::make_unique<WindowFile>(
        context_, source, decided,
        is_located
            ? CandidateStream(context_, cluster_, source, std::move(candidates), std::move(located))
            : CandidateStream(context_, cluster_, source, std::move(candidates),
                              std::span<const format::HashedKey>(memstore_keys_)));
    file.ranks.resize(source.file_overlaps.size());
    file.asks_filters = !HasAllOverlaps(source);
    file.returns_plain = ReturnsPlain(*context_, decided);
  }
  return {};
}

Result<bool> CandidateIterator::Find() {
  if (std::exchange(top_is_taken_, false)) {
    ++heap_.top()->at;
    RETURN_IF_ERROR(Advance());
  }
  if (std::exchange(covered_is_taken_, false)) RETURN_IF_ERROR(covered_->Next());
  while (heap_.empty() && memstore_at_ == memstore_end_) {
    if (!has_begun_) RETURN_IF_ERROR(Open());
    for (File& file : files_) file.window->Close();
    if (!has_candidates()) return covered_ != nullptr && !covered_->done();
    RETURN_IF_ERROR(OpenWindow());
  }
  return true;
}

// No other source has a row that is covered, so no two keys are equal.
bool CandidateIterator::CoveredIsNext() const {
  if (covered_ == nullptr || covered_->done()) return false;
  const bool memstore_is_first =
      memstore_at_ < memstore_end_ && Memstore::Key(memstore_rows_[memstore_at_]) < covered_->key();
  return !memstore_is_first && (heap_.empty() || covered_->key() < heap_.top()->key);
}

bool CandidateIterator::Take(size_t /*rows_max*/, format::RowBatch* batch) {
  if (CoveredIsNext()) return covered_is_taken_ = covered_->AddPlain(batch);
  if (heap_.empty() || !heap_.top()->returns_plain || !heap_.top()->item().single_source)
    return false;
  const File& file = *heap_.top();
  const bool memstore_is_first =
      memstore_at_ < memstore_end_ && Memstore::Key(memstore_rows_[memstore_at_]) <= file.key;
  top_is_taken_ = !memstore_is_first && file.window->AddPlain(file.item(), batch);
  if (top_is_taken_) CountSingleSource(file);
  return top_is_taken_;
}

bool CandidateIterator::has_candidates() const {
  return memstore_at_ < memstore_rows_.size() ||
         std::any_of(files_.begin(), files_.end(),
                     [](const File& file) { return file.window->has_candidates(); });
}

Status CandidateIterator::OpenWindow() {
  ASSIGN_OR_RETURN(const std::optional<std::string> bound, LoadFiles());
  blocks_ = std::min(blocks_ * 2, blocks_max_);
  for (File& file : files_) RETURN_IF_ERROR(file.window->Open(bound));
  for (File& file : files_) RETURN_IF_ERROR(OverlapFiles(&file));
  OpenMemstoreRows(bound);
  for (File& file : files_) {
    RETURN_IF_ERROR(file.window->Complete());
    file.at = 0;
    if (file.done()) continue;
    RETURN_IF_ERROR(ReadKey(&file));
    heap_.Push(&file);
  }
  return {};
}

// Step 1: loads blocks and finds the bound; nullopt if everything that is left is loaded. A file
// whose keys are all after the loaded ones waits for a later window.
Result<std::optional<std::string>> CandidateIterator::LoadFiles() {
  std::optional<std::string> bound, reach;  // The last key that was read; of any file.
  std::string key;
  for (size_t i = 0; i < files_.size(); ++i) {
    WindowFile& window = *files_[i].window;
    if (i == begun_) {
      if (!bound.has_value() && reach.has_value() && window.source().min_key() > *reach) {
        bound = reach;
      }
      if (bound.has_value() && window.source().min_key() > *bound) break;
      if (files_[i].asks_filters) {
        ASSIGN_OR_RETURN(files_[i].hashes, format::KeyHashesReader::Open(window.source().file));
      }
      ++begun_;
    }
    RETURN_IF_ERROR(window.Load(blocks_));
    if (!window.has_loaded()) continue;
    RETURN_IF_ERROR(window.LastLoadedKey(&key));
    if (!reach.has_value() || key > *reach) reach = key;
    if (window.has_more() && (!bound.has_value() || key < *bound)) bound = key;
  }
  if (memstore_rows_.size() - memstore_at_ > kMemstoreRowsMax) {
    const std::string_view last = memstore_keys_[memstore_at_ + kMemstoreRowsMax - 1].bytes;
    if (!bound.has_value() || last < *bound) bound = last;
  }
  return bound;
}

Status CandidateIterator::OverlapFiles(File* file) {
  const std::vector<WindowFile::Item>& items = file->window->items();
  if (items.empty()) return {};
  if (file->asks_filters) {
    hashes_.clear();
    for (const WindowFile::Item& item : items) {
      ASSIGN_OR_RETURN(hashes_.emplace_back(), file->hashes->At(item.ordinal));
    }
  }
  const std::vector<FileOverlap>& file_overlaps = file->window->source().file_overlaps;
  for (size_t i = 0; i < file_overlaps.size(); ++i) {
    if (file_overlaps[i].other >= begun_) continue;  // It is after the window.
    if (file_overlaps[i].is_known()) {
      RETURN_IF_ERROR(ShareByBitmap(file, i));
    } else {
      RETURN_IF_ERROR(ShareByFilter(file, &files_[file_overlaps[i].other]));
    }
  }
  return {};
}

// Shared rows have the same rank in both files.
Status CandidateIterator::ShareByBitmap(File* file, size_t which) {
  const FileOverlap& file_overlap = file->window->source().file_overlaps[which];
  if (file_overlap.here == nullptr) return {};
  File* other = &files_[file_overlap.other];
  const FileSource& source = other->window->source();
  std::string key;
  for (WindowFile::Item& item : file->window->items()) {
    uint32_t& rank = file->ranks[which];
    if (!file_overlap.here->Find(item.ordinal, &rank)) continue;
    if (!file_overlap.pair->is_aligned) {
      RETURN_IF_ERROR(file->window->Key(item.ordinal, &key));
      RETURN_IF_ERROR(Share(other, key, format::RowHash(key, secret_)).status());
      item.single_source = false;
      continue;
    }
    const uint32_t ordinal = file_overlap.there->At(rank);
    if (ordinal < source.low || ordinal >= source.high) continue;
    other->window->AddExtra(ordinal);
    item.single_source = false;
  }
  return {};
}

Status CandidateIterator::ShareByFilter(File* file, File* other) {
  std::vector<WindowFile::Item>& items = file->window->items();
  if (may_hold_bytes_ < items.size()) {
    may_hold_bytes_ = items.size();
    may_hold_ = std::make_unique<bool[]>(may_hold_bytes_);
  }
  const std::span<bool> may_hold(may_hold_.get(), items.size());
  ASSIGN_OR_RETURN(const format::BloomFilter* filter, other->window->source().file->Filter());
  format::MayContainEach(filter, hashes_, may_hold);
  std::string key;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!may_hold[i]) continue;
    RETURN_IF_ERROR(file->window->Key(items[i].ordinal, &key));
    ASSIGN_OR_RETURN(const bool found, Share(other, key, hashes_[i]));
    if (found) items[i].single_source = false;
  }
  return {};
}

// Adds the candidates of memstores up to the bound to the window.
void CandidateIterator::OpenMemstoreRows(const std::optional<std::string>& bound) {
  for (memstore_end_ = memstore_at_; memstore_end_ < memstore_rows_.size(); ++memstore_end_) {
    if (bound.has_value() && memstore_keys_[memstore_end_].bytes > *bound) break;
    Memstore::PrefetchCells(memstore_rows_[memstore_end_]);
  }
}

// Whether the file holds the row. If so, adds it to the file as an extra row.
Result<bool> CandidateIterator::Share(File* file, std::string_view key, uint64_t hash) {
  const FileSource& source = file->window->source();
  ASSIGN_OR_RETURN(const auto found, source.file->FindByHash(key, hash));
  if (!found.has_value()) return false;
  const uint32_t ordinal = found->ordinal.value;
  if (ordinal < source.low || ordinal >= source.high) return false;
  file->window->AddExtra(ordinal);
  return true;
}

Status CandidateIterator::ReadKey(File* file) {
  return file->window->Key(file->item(), &file->key);
}

// Moves to the smallest next key of all sources.
void CandidateIterator::ChooseKey() {
  candidate_ = nullptr;
  if (memstore_at_ < memstore_end_) {
    const std::string_view key = Memstore::Key(memstore_rows_[memstore_at_]);
    if (heap_.empty() || key <= heap_.top()->key) {
      key_ = key;
      candidate_ = memstore_rows_[memstore_at_++];
      return;
    }
  }
  key_ = heap_.top()->key;
}

Result<bool> CandidateIterator::Read() {
  if (CoveredIsNext()) return ReadCovered();
  ChooseKey();
  row_.Begin();
  locations_.Clear();
  if (candidate_ == nullptr && heap_.top()->item().single_source) return ReadSingleSource();
  const MemRow* known = candidate_;
  while (!heap_.empty() && heap_.top()->key == key_) {
    const MemRow* row = heap_.top()->item().memstore_row;
    if (known == nullptr && row != nullptr && Memstore::Key(row) == key_) known = row;
    RETURN_IF_ERROR(ReadItem());
  }
  ++context_->counters.merged;
  GatherMemstores(cluster_, known);
  return Accept(/*single_source=*/false, /*decided=*/false);
}

Result<bool> CandidateIterator::ReadCovered() {
  key_ = covered_->key();
  row_.Begin();
  locations_.Clear();
  RETURN_IF_ERROR(covered_->AppendCells(row_.gathered()));
  covered_is_taken_ = true;
  return Accept(/*single_source=*/true, covered_->decided());
}

// No source but the file on top has the row.
Result<bool> CandidateIterator::ReadSingleSource() {
  const File* file = heap_.top();
  CountSingleSource(*file);
  RETURN_IF_ERROR(ReadItem());
  return Accept(/*single_source=*/true, file->window->decided());
}

// Reads the current row from the file on top.
Status CandidateIterator::ReadItem() {
  File* file = heap_.top();
  RETURN_IF_ERROR(file->window->Append(file->item(), &row_));
  locations_.files.push_back({file->window->source().file, file->item().ordinal});
  ++file->at;
  return Advance();
}

// Restores the heap after the item of the file on top was read.
Status CandidateIterator::Advance() {
  File* file = heap_.top();
  if (file->done()) {
    heap_.Pop();
    return {};
  }
  RETURN_IF_ERROR(ReadKey(file));
  heap_.Replay();
  return {};
}

}  // namespace

std::unique_ptr<RowIterator> NewCandidateIterator(ReadContext* context, const Cluster& cluster,
                                                  std::vector<FileCandidates> files,
                                                  MemstoreHits hits,
                                                  std::unique_ptr<CoveredRows> covered) {
  if (cluster.has_one_file() && covered == nullptr) {
    return NewFileIterator(context, cluster.files[0], std::move(files[0]));
  }
  if (cluster.files.size() == 1 && covered == nullptr) {
    return NewUpdatedFileIterator(context, cluster, std::move(files[0]), std::move(hits));
  }
  return std::make_unique<CandidateIterator>(context, cluster, std::move(files),
                                             std::move(hits.rows), std::move(covered));
}

}  // namespace tandem::engine
