// Which indexes would help, as records.
#pragma once

#include <string>
#include <vector>

#include "tandem/advice.h"
#include "tools/tandem/record_writer.h"

namespace tandem::tools {

/// The declaration of an index, as `index create` takes it (ParseIndex).
std::string DeclarationOf(const IndexOptions& index);

/// The advised indexes, then the queries.
void WriteAdvice(const std::string& table, const std::vector<AdvisedQuery>& queries,
                 const IndexAdvice& advice, RecordWriter* writer);

}  // namespace tandem::tools
