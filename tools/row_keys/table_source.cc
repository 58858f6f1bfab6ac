// See table_source.h.
#include "tools/row_keys/table_source.h"

#include <utility>

#include "base/status_macros.h"

namespace tandem::row_keys {
namespace {

class TableSource : public KeySource {
 public:
  TableSource(std::unique_ptr<Database> database, Cursor cursor)
      : database_(std::move(database)), cursor_(std::move(cursor)) {}

  Result<bool> Next(WeightedKey* key) override {
    // Of a large row, which comes in pieces, the last.
    do {
      if (!cursor_.Next()) {
        RETURN_IF_ERROR(cursor_.status());
        return false;
      }
    } while (cursor_.row().continues());
    key->key = cursor_.row().key();
    key->weight = 1;
    bytes_ += key->key.size();
    return true;
  }
  uint64_t read_bytes() const override { return bytes_; }

 private:
  std::unique_ptr<Database> database_;
  Cursor cursor_;
  uint64_t bytes_ = 0;
};

}  // namespace

Result<std::unique_ptr<KeySource>> KeysOfTable(std::unique_ptr<Database> database,
                                               const std::string& table,
                                               const std::atomic<bool>* cancelled) {
  ReadOptions read;
  read.pieces = true;
  read.cancelled = cancelled;
  auto cursor = database->Scan(read, table, {});
  if (!cursor.has_value()) return cursor.error();
  return std::unique_ptr<KeySource>(
      std::make_unique<TableSource>(std::move(database), std::move(*cursor)));
}

}  // namespace tandem::row_keys
