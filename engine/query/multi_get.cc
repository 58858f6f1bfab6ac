// Reading many rows by key: the keys are looked up in each source in order, as those of index
// queries are, and what is found is read once over its blocks.
//
// 1. Sort: the keys, each once, with their hashes.
// 2. Find: in each cluster, the ordinals of the keys that its files hold, by filter if there are
//    several sources, then by key hash; and the rows that its memstores hold. No data block is
//    read.
// 3. Read: the iterator of candidates reads each block once, with the next blocks in flight.
// 4. Each row goes where its key was asked for.
#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/status_macros.h"
#include "engine/query/reader.h"
#include "engine/read/row_iterator.h"
#include "engine/source/sources.h"
#include "format/hash.h"

namespace tandem::engine {
namespace {

using Keys = std::span<const format::HashedKey>;

struct ByBytes {
  bool operator()(const format::HashedKey& a, std::string_view b) const { return a.bytes < b; }
  bool operator()(std::string_view a, const format::HashedKey& b) const { return a < b.bytes; }
};

Keys KeysFrom(Keys keys, std::string_view low) {
  return {std::lower_bound(keys.begin(), keys.end(), low, ByBytes()), keys.end()};
}

Keys KeysIn(Keys keys, const format::KeyRange& range) {
  keys = KeysFrom(keys, range.low);
  if (!range.high.has_value()) return keys;
  return keys.first(keys.size() - KeysFrom(keys, *range.high).size());
}

// The rows that were asked for in one cluster.
struct Found {
  std::vector<FileCandidates> files;
  std::vector<const MemRow*> memstore_rows;

  bool empty() const {
    return memstore_rows.empty() && std::all_of(files.begin(), files.end(),
                                                [](const auto& f) { return f.ordinals.empty(); });
  }
};

class KeyFinder {
 public:
  /// `sequence`: the read's.
  KeyFinder(const Cluster& cluster, Keys keys, format::SequenceNumber sequence)
      : cluster_(cluster), keys_(KeysIn(keys, cluster.rows)), sequence_(sequence) {}

  Result<Found> Run() {
    Found found;
    found.files.resize(cluster_.files.size());
    if (keys_.empty()) return found;
    for (size_t i = 0; i < cluster_.files.size(); ++i) {
      RETURN_IF_ERROR(FindIn(cluster_.files[i], &found.files[i].ordinals));
    }
    for (const auto& memstore : cluster_.memstores) FindIn(*memstore, &found.memstore_rows);
    return found;
  }

 private:
  Status FindIn(const FileSource& source, std::vector<uint32_t>* ordinals) {
    Keys keys = KeysFrom(keys_, source.min_key());
    const auto end = std::upper_bound(keys.begin(), keys.end(), source.max_key(), ByBytes());
    keys = {keys.begin(), end};
    if (!cluster_.has_one_file()) {
      possible_.assign(keys.begin(), keys.end());
      RETURN_IF_ERROR(KeepPossible(source.file, &possible_));
      keys = possible_;
    }
    RETURN_IF_ERROR(source.file->FindEachByHash(keys, ordinals));
    std::erase_if(*ordinals, [&source](uint32_t ordinal) {
      return ordinal < source.low || ordinal >= source.high;
    });
    return {};
  }

  void FindIn(const Memstore& memstore, std::vector<const MemRow*>* rows) const {
    std::array<uint64_t, kTogether> hashes;
    std::array<const MemRow*, kTogether> here;
    for (Keys keys = keys_; !keys.empty(); keys = keys.subspan(std::min(kTogether, keys.size()))) {
      const size_t count = std::min(kTogether, keys.size());
      for (size_t i = 0; i < count; ++i) hashes[i] = keys[i].hash;
      memstore.FindEach({hashes.data(), count}, {here.data(), count});
      for (size_t i = 0; i < count; ++i) {
        const MemRow* row = here[i];
        // Another row may have the same hash.
        if (row != nullptr && Memstore::Key(row) != keys[i].bytes) {
          row = memstore.Find(keys[i].bytes, keys[i].hash);
        }
        if (row != nullptr && Memstore::HasCells(row, sequence_)) rows->push_back(row);
      }
    }
  }

  static constexpr size_t kTogether = 64;
  const Cluster& cluster_;
  const Keys keys_;
  const format::SequenceNumber sequence_;
  std::vector<format::HashedKey> possible_;
};

// What was asked for, in order, each key once.
struct Wanted {
  std::vector<format::HashedKey> keys;
  std::vector<size_t> places;  // In the order of the keys, those of one key together.
  std::vector<size_t> ends;    // In `places`, by key.
};

Wanted Sort(std::span<const std::string_view> rows, std::span<const char> secret) {
  Wanted wanted;
  wanted.places.resize(rows.size());
  std::iota(wanted.places.begin(), wanted.places.end(), size_t{0});
  std::sort(wanted.places.begin(), wanted.places.end(),
            [&](size_t a, size_t b) { return rows[a] < rows[b]; });
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string_view row = rows[wanted.places[i]];
    if (wanted.keys.empty() || wanted.keys.back().bytes != row) {
      wanted.keys.push_back({row, format::RowHash(row, secret)});
      wanted.ends.push_back(i);
    }
    wanted.ends.back() = i + 1;
  }
  return wanted;
}

// Reads the rows of a cluster, each to all its places. `*next`: keys before it are before the
// cluster.
Status ReadRows(const Wanted& wanted, RowIterator* iterator, size_t* next,
                std::vector<std::optional<Row>>* rows) {
  format::RowBatch batch;
  size_t& at = *next;
  while (true) {
    batch.Clear();
    ASSIGN_OR_RETURN(const bool more, iterator->NextBatch(format::RowBatch::kRowsMax, &batch));
    if (!more) return {};
    for (const RowView& row : batch.rows()) {
      while (at < wanted.keys.size() && wanted.keys[at].bytes < row.key()) ++at;
      // A row whose hash collides with that of a key was not asked for.
      if (at == wanted.keys.size() || wanted.keys[at].bytes != row.key()) continue;
      for (size_t i = at == 0 ? 0 : wanted.ends[at - 1]; i < wanted.ends[at]; ++i) {
        (*rows)[wanted.places[i]] = Row(row);
      }
    }
  }
}

}  // namespace

Result<std::vector<std::optional<Row>>> GetRows(const ReadResources& resources, TableView view,
                                                ReadOptions options,
                                                std::span<const std::string_view> rows) {
  std::vector<std::optional<Row>> result(rows.size());
  options.pieces = false;
  ASSIGN_OR_RETURN(ReadSchema schema, ReadSchema::Make(view, options));
  if (rows.empty()) return result;
  view.point = schema.point;
  schema.needs_cells = true;
  const Wanted wanted = Sort(rows, view.table->hash_secret);
  const format::KeyRange range{std::string(wanted.keys.front().bytes),
                               std::string(wanted.keys.back().bytes) + '\0'};
  ASSIGN_OR_RETURN(std::vector<Cluster> clusters, FindClusters(view, range));
  std::vector<Found> found;
  size_t kept = 0;
  for (Cluster& cluster : clusters) {
    ASSIGN_OR_RETURN(Found here, KeyFinder(cluster, wanted.keys, view.point.sequence).Run());
    if (here.empty()) continue;
    found.push_back(std::move(here));
    if (&cluster != &clusters[kept]) clusters[kept] = std::move(cluster);
    ++kept;
  }
  clusters.resize(kept);
  RETURN_IF_ERROR(LoadFamilies(schema.merged, &clusters));

  ReadContext context(resources, std::move(view), std::move(schema));
  context.cancellation = base::Cancellation(options.cancelled);
  size_t next = 0;
  for (size_t i = 0; i < clusters.size(); ++i) {
    RETURN_IF_ERROR(context.cancellation.Check());
    const auto iterator = NewCandidateIterator(&context, clusters[i], std::move(found[i].files),
                                               std::move(found[i].memstore_rows));
    RETURN_IF_ERROR(ReadRows(wanted, iterator.get(), &next, &result));
  }
  return result;
}

}  // namespace tandem::engine
