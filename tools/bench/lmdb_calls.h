// What every measurement of LMDB needs of its calls.
#pragma once

#include <lmdb.h>

#include <string>
#include <string_view>

#include "tools/bench/peer.h"

namespace tandem::bench {

inline constexpr size_t kLmdbMapBytes = 64ull << 30;

/// Ends the process on an error.
inline void CheckLmdb(int code) {
  if (code != MDB_SUCCESS) Fail(std::string("LMDB: ") + mdb_strerror(code));
}

inline MDB_val ToVal(std::string_view bytes) {
  return {bytes.size(), const_cast<char*>(bytes.data())};
}

inline std::string_view ToView(const MDB_val& val) {
  return {static_cast<const char*>(val.mv_data), val.mv_size};
}

}  // namespace tandem::bench
