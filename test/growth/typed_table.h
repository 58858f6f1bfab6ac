// A table of typed row keys.
#pragma once

#include <tandem/row_key.h>

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {

/// Opens the engine and fills "t" with n rows of 100 bytes in one file; row i has the fields that
/// `fields_of` makes of i.
template <typename FieldsOf>
void OpenTypedTable(TestEngine* engine, const std::string& declaration, uint64_t n,
                    FieldsOf fields_of) {
  const RowKeySchema keys = *RowKeySchema::Parse(declaration);
  TableOptions table = SimpleTable();
  table.row_key = declaration;
  BOOST_REQUIRE_EQUAL(engine->Open().ToString(), "OK");
  BOOST_REQUIRE_EQUAL((**engine).CreateTable(table).ToString(), "OK");
  WriteBatch batch;
  for (uint64_t row = 0; row < n; ++row) {
    const std::vector<RowKeyField> fields = fields_of(row);
    batch.Put("t", *keys.Encode(fields), "d", "c", std::string(100, 'x'));
    if (batch.operation_count() < 100 && row + 1 < n) continue;
    BOOST_REQUIRE_EQUAL(engine->Write(batch).ToString(), "OK");
    batch.Clear();
  }
  BOOST_REQUIRE_EQUAL((**engine).Compact("t").ToString(), "OK");
}

/// Leaves nothing cached.
inline void OpenAgain(TestEngine* engine) {
  engine->executor.Drain();
  BOOST_REQUIRE_EQUAL(engine->Close().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine->Open().ToString(), "OK");
}

}  // namespace tandem::test
