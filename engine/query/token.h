// Continuation tokens: the position of a row in a query or scan, with what they are positions of.
//
//   OFFSET SIZE FIELD     MEANING
//        0    1 version   1
//        1    1 flags     bit 0: there is an entry, bit 1: there is a row key
//        2   16 database  id
//       18    4 table     id
//       22    8 query     XXH3-64 of what was asked for
//       30    8 sequence  of the state that was read
//       38    4 size      of the entry
//       42    - entry     of the index of the order
//        -    - key       of the row
//        -    8 checksum  XXH3-64, seed 0, of all bytes before
//
// Numbers are little-endian. The text is base64 with - and _, without padding.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/query/request.h"
#include "engine/region/view.h"
#include "engine/source/lead_rows.h"
#include "engine/source/position.h"
#include "engine/source/read_meter.h"
#include "format/types.h"
#include "tandem/options.h"
#include "tandem/status.h"

namespace tandem::engine {

/// What a token is of.
struct TokenScope {
  format::DatabaseId database = {};
  format::TableId table = {};
  uint64_t query = 0;  ///< A hash of what was asked for.
  uint64_t sequence = 0;
};

std::string EncodeToken(const TokenScope& scope, const Position& position);

struct DecodedToken {
  Position position;
  uint64_t sequence = 0;  ///< Of the state that it was made at.
};
/// Errors: kInvalidArgument (it is no token, or one of another scope; the sequence may differ).
Result<DecodedToken> DecodeToken(std::string_view text, const TokenScope& scope);

struct BoundExpressions;

/// What the hash of a query takes of its predicate, for a QueryRequest; empty: it is too long to be
/// kept.
std::string AskedOf(const Predicate& predicate);

/// A call that returns a cursor, as it begins.
struct CursorOrigin {
  TokenScope scope;
  std::optional<ReadFrom> from;                     ///< Of its token.
  std::optional<std::vector<LeadRows>> leads = {};  ///< Of a query's ranges, after its token.
  bool is_exact = true;                             ///< The token is of the same state.
  ReadLimits limits;
  std::shared_ptr<const BoundExpressions> expressions = nullptr;  ///< Null: there are none.
};
/// What a call has to do with tokens.
enum class TokenUse : uint8_t {
  kGiven,  ///< It returns a cursor, which may be asked for one.
  kTaken,  ///< It may have got one. Without one it needs no hash.
};
/// Errors: kInvalidArgument (see DecodeToken; two tokens; a token that has no such position).
Result<CursorOrigin> BeginQuery(const QueryRequest& request, const format::DatabaseId& database,
                                const TableView& view, TokenUse use);
/// The same for a scan of the table.
Result<CursorOrigin> BeginScan(const ReadOptions& options, const ScanOptions& scan,
                               const format::DatabaseId& database, const TableView& view,
                               base::Clock* clock);
/// The scan, without tokens, of the rows that are left.
ScanOptions ScanFrom(const ScanOptions& scan, const std::optional<ReadFrom>& from);

}  // namespace tandem::engine
