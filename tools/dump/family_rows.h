// The rows of one family of a store file in key order, past blocks that are damaged.
//
// Where the block index can be read, it leads from block to block, each read once, past the cache.
// Where it cannot, the family is scanned as salvage does it (engine/salvage/family_scan.h).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "format/cell/cell_stream.h"
#include "store_file/store_file.h"
#include "tandem/status.h"

namespace tandem::tools {

/// Threads: one at a time. Lifetime: the file outlives it.
class FamilyRows {
 public:
  /// Hears of damage that is passed over. What it returns ends the walk unless it is OK.
  using OnDamage = std::function<Status(const Status&)>;
  /// nullptr when no row has cells of the family. Errors: kIoError.
  static Result<std::unique_ptr<FamilyRows>> Open(const format::StoreFile& file,
                                                  format::FamilyId family, OnDamage on_damage);
  virtual ~FamilyRows() = default;

  /// Moves to the first row >= `key`; before any other call. Errors: kIoError, those of OnDamage.
  virtual Status Seek(std::string_view key) = 0;
  virtual Status Next() = 0;
  virtual bool valid() const = 0;
  // Of the present row. Requires: valid().
  virtual const std::string& key() const = 0;
  /// nullopt: unknown.
  virtual std::optional<uint32_t> ordinal() const = 0;
  /// Its cells. Lifetime: until Next.
  virtual Result<std::unique_ptr<format::CellStream>> Stream() const = 0;
};

}  // namespace tandem::tools
