// Tables of n rows, and what a piece of work reads of the simulated disk.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "test/engine/test_engine.h"

namespace tandem::test {

/// A manifest is replaced above 1 MiB and four times its catalog; an edit comes on top.
constexpr double kManifestBytes = 17 << 16;

/// "row00000042".
std::string RowKey(uint64_t row);

/// Creates "t" (see SimpleTable).
void CreateTable(TestEngine* engine);

/// Puts rows 0 to n - 1 with a payload of 100 bytes, in batches; every n / hits-th of them has
/// c = 'hit', the others a value of their own.
void PutRows(TestEngine* engine, uint64_t n, uint64_t hits);

/// The same, in one store file, in an engine that was closed and opened again: nothing is cached.
void OpenColdTable(TestEngine* engine, uint64_t n, uint64_t hits);

/// How often `work` reads of the disk.
uint64_t ReadsOf(TestEngine* engine, const std::function<void()>& work);

/// How often `work` syncs a manifest: about once for each edit of the catalog.
uint64_t ManifestSyncsOf(TestEngine* engine, const std::function<void()>& work);

/// Bytes that `work` asks the disk to read and to write. The manifest, which lines of its own
/// bound, is read by every open.
struct IoBytes {
  uint64_t read = 0, written = 0;
  // Among what was read.
  uint64_t read_of_stores = 0;  ///< Of store files.
  uint64_t read_of_log = 0;
  // Among what was written.
  uint64_t written_to_log = 0;
};
IoBytes IoBytesOf(TestEngine* engine, const std::function<void()>& work);

/// The files whose names begin with `prefix`.
struct NamedFiles {
  uint64_t count = 0, bytes = 0;
};
NamedFiles FilesNamed(TestEngine* engine, std::string_view prefix);

/// Reads a cursor to its end; the rows.
uint64_t RowsOf(Result<Cursor> cursor);

}  // namespace tandem::test
