// Advice as two kinds of records: an index a line, a query a line.
#include "tools/tandem/advice_output.h"

#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"

namespace tandem::tools {
namespace {

// A part of a declaration whose parts are separated by colons.
std::string EscapedPart(const std::string& name) {
  std::string text;
  for (const char c : EscapeBytes(name)) {
    if (c == ':') {
      text += "\\x3a";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

// Of one plain column the short form; a text with a comma or a parenthesis is read as a predicate
// has it, and so is one with WHERE.
std::string DeclarationOf(const IndexOptions& index) {
  const std::string name = EscapeBytes(index.name) + "=";
  const IndexColumn& first = index.columns.front();
  const bool is_plain = index.columns.size() == 1 && index.include.empty() && index.where.empty() &&
                        first.functions.empty() && !first.is_row_key;
  if (!is_plain) return name + index.ToString();
  const std::string column = EscapedPart(first.family) + ":" + EscapedPart(first.qualifier);
  if (first.type == ColumnType::kBytes) return name + column;
  return name + column + ":" + std::string(ColumnTypeName(first.type));
}

void WriteAdvice(const std::string& table, const std::vector<AdvisedQuery>& queries,
                 const IndexAdvice& advice, RecordWriter* writer) {
  if (!advice.indexes.empty()) {
    writer->Begin("advised_index",
                  {"table", "index", "bytes", "entries", "blocks_saved", "queries"});
    for (const AdvisedIndex& index : advice.indexes) {
      writer->Add({table, DeclarationOf(index.options), index.size_bytes, index.entries,
                   index.blocks_saved, static_cast<uint64_t>(index.queries.size())});
    }
    writer->End();
  }
  writer->Begin("advised_query",
                {"query", "runs", "index_now", "blocks_now", "blocks_then", "index_then", "why"});
  for (size_t i = 0; i < queries.size(); ++i) {
    const QueryAdvice& query = advice.queries[i];
    std::string then;
    for (const size_t index : query.indexes) {
      then += (then.empty() ? "" : ", ") + advice.indexes[index].options.name;
    }
    const std::string predicate = queries[i].predicate.ToString();
    writer->Add({predicate, queries[i].count,
                 query.index_now.empty() ? Value() : Value(query.index_now), query.blocks_now,
                 query.blocks_then, then.empty() ? Value() : Value(then),
                 query.why.empty() ? Value() : Value(query.why)});
  }
  writer->End();
}

}  // namespace tandem::tools
