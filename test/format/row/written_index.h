// Block indexes as their writer makes them, of blocks that are not there, and what opens them.
#pragma once

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "format/row/block_index.h"
#include "format/row/block_index_writer.h"
#include "tools/simulation/memory_file.h"

namespace tandem::test {

inline constexpr format::FileId kIndexFileId{{4}};

// Row blocks as the index sees them: first and last key, rows. All are 64 bytes long.
struct IndexSpan {
  std::string first_key, last_key;
  uint32_t rows = 1;
};

struct WrittenIndex {
  std::string bytes;
  format::SectionEntry index, data;
  std::optional<format::SectionEntry> top;
  uint32_t rows = 0;
};

// An index with the file that it reads its pieces from.
struct OpenedIndex {
  std::unique_ptr<format::BlockFile> file;
  format::BlockIndex index;
  const format::BlockIndex* operator->() const { return &index; }
};

inline WrittenIndex WriteIndex(const std::vector<IndexSpan>& spans) {
  WrittenIndex written;
  format::BlockIndexWriter writer;
  std::string before;
  uint64_t offset = 128;
  for (const IndexSpan& span : spans) {
    writer.Add(written.rows, before, span.first_key);
    writer.Place({offset, 60});
    before = span.last_key;
    written.rows += span.rows;
    offset += 64;
  }
  test::MemoryFile memory;
  format::SectionWriter out(&memory, kIndexFileId, 64);
  BOOST_REQUIRE(writer.Write(format::FamilyId(0), &out).ok());
  BOOST_REQUIRE(out.Flush().ok());
  written.bytes = memory.bytes();
  written.index = out.sections()[0];
  if (out.sections().size() > 1) written.top = out.sections()[1];
  written.data.offset = 128;
  written.data.size_bytes = offset - 128;
  return written;
}

// Opens it; `whole`: without its top.
inline Result<OpenedIndex> OpenIndex(const WrittenIndex& written, bool whole = false,
                                     format::BlockCache* cache = nullptr) {
  OpenedIndex opened;
  opened.file =
      std::make_unique<format::BlockFile>(std::make_unique<test::MemoryFile>(written.bytes),
                                          format::FileNumber(1), kIndexFileId, cache);
  format::IndexPlaces places{&written.index, nullptr, &written.data};
  if (!whole && written.top.has_value()) places.top = &*written.top;
  ASSIGN_OR_RETURN(opened.index, format::BlockIndex::Open(*opened.file, places, written.rows));
  return opened;
}

// Opens it and reads all of it.
inline Result<OpenedIndex> LoadIndex(const WrittenIndex& written, bool whole = false) {
  ASSIGN_OR_RETURN(OpenedIndex opened, OpenIndex(written, whole));
  RETURN_IF_ERROR(opened->LoadBlocks(0, opened->size()));
  return opened;
}

inline std::vector<IndexSpan> RandomSpans(size_t count, const std::string& prefix, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string> keys;
  while (keys.size() < 2 * count) {
    std::string key = prefix;
    for (size_t i = random() % 16 + 1; i > 0; --i) key.push_back("\0\x01mn\xfe\xff"[random() % 6]);
    keys.push_back(key);
    if (keys.size() == 2 * count) {
      std::sort(keys.begin(), keys.end());
      keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    }
  }
  std::vector<IndexSpan> spans;
  for (size_t i = 0; i < count; ++i) {
    spans.push_back({keys[2 * i], keys[2 * i + 1], static_cast<uint32_t>(random() % 9 + 1)});
  }
  return spans;
}

}  // namespace tandem::test
