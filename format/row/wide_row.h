// Reads a wide row from its head block (kind kWideHead; count 1; first = position) and chunk blocks
// (kind kChunk; first = position; count = cells). The block index of the family lists only heads. A
// head is parsed as a RowBlock too, so a wide row is found, cached and compared by key like any
// other row.
//
// The chunks of a row are contiguous up to the head, except for value blocks between them. A chunk
// is closed when its raw bytes reach about kChunkBytes, or its names, uncompressed,
// kChunkNameBytes.
//
// Chunk, its raw bytes:
//   OFFSET  SIZE  FIELD            MEANING
//        0     8  base timestamp   the smallest of the chunk, i64
//        8     8  base sequence    the smallest of the chunk
//       16     8  key hash         RowHash of the row's key
//       24     4  number           of the chunk within its row, from 0
//       28     4  name bytes       of all names that the chunk states, written out
//       32        cells            as many as the block's count, in the order of CellLess, after
//                                  those of the chunk before
// Cell of a chunk:
//   1               cell flags: bits 0-2 CellKind, not DeleteFamily; 8 column, 16 timestamp,
//                   32 sequence as the cell before; 64 overflow value; 128 is 0. The first cell of
//                   a chunk has none of 8, 16 and 32
//   varint          bytes that the name shares with the name before in the chunk; absent, as the
//                   next, with flag 8
//   varint, bytes   length and bytes of the name's rest
//   varint          timestamp minus the base; absent with flag 16
//   varint          sequence minus the base; absent with flag 32
//   varint, bytes   length and value, or the reference to an overflow value
//                   (format/cell/overflow_value.h); Puts only
//
// Head, its raw bytes:
//        0     8  base timestamp   the smallest of the markers, i64; 0 without markers
//        8     8  base sequence    the smallest of the markers; 0 without markers
//       16     8  key hash         RowHash of the key
//       24     8  cells            in the chunks
//       32     8  bytes            of qualifiers and values as the user wrote them
//       40     8  first chunk      its offset; 0 without chunks
//       48     4  chunks
//       52     4  fences           m = ceil(chunks / 2^s), at most 4,096: every 2^s-th chunk, from
//                                  the first on, has one
//       56     4  markers
//       60     2  key length
//       62     1  stride           s, at most 20
//       63     1  zero
//       64   32m  fences           each: offset of the chunk u64; of its first cell timestamp i64
//                                  and sequence u64; stored size of the chunk u32; end of the first
//                                  cell's name, counted from the names' start, u32
//        +        names            of the fences, one after the other
//        +        key
//        +        markers          each: varint timestamp minus the base, varint sequence minus
//                                  the base; in the order of CellLess
// Deltas are modulo 2^64. When a 4,097th fence is needed, every second one is dropped and s grows
// by 1.
//
// Example: row "r", hash 0x1122334455667788, DeleteFamily at timestamp 4 and sequence 3, cells
// ab = "1" and ac = "2" at timestamp 5 and sequence 9, chunk at offset 48, stored in 79 bytes:
//   05 00 00 00 00 00 00 00   09 00 00 00 00 00 00 00   chunk: base timestamp, base sequence
//   88 77 66 55 44 33 22 11   00 00 00 00   04 00 00 00   key hash, number, name bytes
//   00  00 02 61 62  00 00  01 31                       Put; shares 0, "ab"; deltas 0; "1"
//   30  01 01 63  01 32                                 Put, times as before; shares 1, "c"; "2"
// and its head:
//   04 00 00 00 00 00 00 00   03 00 00 00 00 00 00 00   base timestamp, base sequence
//   88 77 66 55 44 33 22 11   02 00 00 00 00 00 00 00   key hash, cells
//   06 00 00 00 00 00 00 00   30 00 00 00 00 00 00 00   bytes, first chunk
//   01 00 00 00   01 00 00 00   01 00 00 00             chunks, fences, markers
//   01 00   00   00                                     key length, stride, zero
//   30 00 00 00 00 00 00 00   05 00 00 00 00 00 00 00   fence: offset, timestamp,
//   09 00 00 00 00 00 00 00   4F 00 00 00   02 00 00 00   sequence, stored size, name's end
//   61 62   72   00 00                                  "ab", key "r", marker
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "format/block/block_file.h"
#include "format/cell/cell.h"
#include "format/cell/cell_stream.h"
#include "format/row/row_block.h"
#include "format/row/wide_head.h"
#include "tandem/status.h"

namespace tandem::format {

/// Reads the given columns of a wide row. Fences locate their chunks, so one column costs at most
/// three block reads in addition to the head (more only in rows of over 4,096 chunks and for
/// columns with many versions). Appends the cells of `columns` (sorted qualifiers) and every
/// DeleteFamily marker to `*out`, sorted, and the pins that keep their bytes to `*pins`.
/// Requires: head->is_wide(). Errors: kCorruption, kIoError.
Status AppendWideColumns(const BlockFile& file, const RowBlockRef& head,
                         std::span<const std::string> columns, std::vector<Cell>* out,
                         std::vector<std::shared_ptr<const void>>* pins);

/// Every cell of a wide row, DeleteFamily markers first, one chunk per piece, bypassing the cache.
/// Requires: head->is_wide(). Lifetime: `file` outlives it.
std::unique_ptr<CellStream> NewWideRowStream(const BlockFile& file, RowBlockRef head);

}  // namespace tandem::format
