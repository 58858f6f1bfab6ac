// Reads of an engine and of the model, as text.
#include "test/reliability/shape.h"

#include <utility>

namespace tandem::reliability {
namespace {

constexpr int64_t kShapeNow = 1'700'000'000'000'000;

void Append(const test::ModelRow& row, std::string* text) {
  text->append(row.key).push_back('\n');
  for (const test::ModelCell& cell : row.cells) {
    text->append(cell.family).append(":").append(cell.qualifier).append("@");
    text->append(std::to_string(cell.timestamp)).append("=").append(cell.value).push_back('\n');
  }
  text->push_back('\f');
}

ShapeAnswer Drain(Result<Cursor> cursor) {
  if (!cursor.has_value()) return {cursor.error(), ""};
  ShapeAnswer answer;
  while (cursor->Next()) Append(test::ModelRow(cursor->row()), &answer.text);
  answer.status = cursor->status();
  return answer;
}

ScanOptions ScanOf(const ShapeRead& read) {
  ScanOptions scan;
  scan.reverse = read.reverse;
  return scan;
}

}  // namespace

std::string ShapeRead::Describe() const {
  switch (kind) {
    case Kind::kScan:
      return "scan of " + table + (reverse ? ", reverse" : "");
    case Kind::kGet:
      return "get of " + table + " " + test::Shown(row);
    case Kind::kQuery:
    case Kind::kCount:
      return (kind == Kind::kQuery ? "query of " : "count of ") + table + ": " + predicate +
             (query.order_by.empty() ? "" : " by " + query.order_by) +
             (query.use_index.empty() ? "" : " using " + query.use_index);
  }
  return "";
}

ShapeAnswer Ask(engine::Engine& engine, const ShapeRead& read) {
  ReadOptions options;
  options.versions = read.versions;
  switch (read.kind) {
    case ShapeRead::Kind::kScan:
      return Drain(engine.Scan(options, read.table, ScanOf(read)));
    case ShapeRead::Kind::kGet: {
      const auto row = engine.Get(options, read.table, read.row);
      if (!row.has_value()) return {row.error(), ""};
      ShapeAnswer answer;
      if (row->has_value()) Append(test::ModelRow((*row)->view()), &answer.text);
      return answer;
    }
    case ShapeRead::Kind::kQuery:
      return Drain(
          engine.Query(options, read.table, *Predicate::Parse(read.predicate), read.query));
    case ShapeRead::Kind::kCount: {
      const auto count =
          engine.Count(options, read.table, *Predicate::Parse(read.predicate), read.query);
      if (!count.has_value()) return {count.error(), ""};
      return {Status(), std::to_string(*count)};
    }
  }
  return {};
}

std::string Ask(const test::Model& model, const ShapeRead& read) {
  test::ModelRead options;
  options.now_micros = kShapeNow;
  options.versions = read.versions;
  std::vector<test::ModelRow> rows;
  switch (read.kind) {
    case ShapeRead::Kind::kScan:
      rows = model.Scan(read.table, ScanOf(read), options);
      break;
    case ShapeRead::Kind::kGet:
      if (auto row = model.Get(read.table, read.row, options)) rows.push_back(std::move(*row));
      break;
    case ShapeRead::Kind::kQuery:
      rows = model.Query(read.table, *Predicate::Parse(read.predicate), read.query, options);
      break;
    case ShapeRead::Kind::kCount:
      return std::to_string(model.Count(read.table, *Predicate::Parse(read.predicate), options));
  }
  std::string text;
  for (const test::ModelRow& row : rows) Append(row, &text);
  return text;
}

}  // namespace tandem::reliability
