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
#include <numeric>
#include <utility>

#include "base/status_macros.h"
#include "engine/query/reader.h"
#include "engine/read/row_iterator.h"
#include "engine/source/row_keys.h"
#include "engine/source/sources.h"
#include "format/hash.h"

namespace tandem::engine {
namespace {

// The rows that were asked for in one cluster.
struct Found {
  std::vector<FileCandidates> files;
  std::vector<const MemRow*> memstore_rows;

  bool empty() const {
    return memstore_rows.empty() && std::all_of(files.begin(), files.end(),
                                                [](const auto& f) { return f.ordinals.empty(); });
  }
};

Result<Found> FindKeys(const Cluster& cluster, KeySpan keys, format::SequenceNumber sequence) {
  Found found;
  found.files.resize(cluster.files.size());
  keys = KeysIn(keys, cluster.rows);
  if (keys.empty()) return found;
  for (size_t i = 0; i < cluster.files.size(); ++i) {
    RETURN_IF_ERROR(FindRows(cluster.files[i], keys, /*filters=*/!cluster.has_one_file(),
                             &found.files[i].ordinals));
  }
  for (const auto& memstore : cluster.memstores) {
    FindRows(*memstore, keys, sequence, &found.memstore_rows);
  }
  return found;
}

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
    ASSIGN_OR_RETURN(Found here, FindKeys(cluster, wanted.keys, view.point.sequence));
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
                                               {std::move(found[i].memstore_rows)});
    RETURN_IF_ERROR(ReadRows(wanted, iterator.get(), &next, &result));
  }
  return result;
}

}  // namespace tandem::engine
