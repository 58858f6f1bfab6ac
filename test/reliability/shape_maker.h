// Makes a shape: batches and steps between them run on an engine and, batch by batch, on the model.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "format/functions.h"
#include "test/reliability/shape.h"

namespace tandem::reliability {

/// A run of one script.
class ShapeMaker {
 public:
  ShapeMaker(std::string name, uint64_t seed) : world_(seed, ShapeTuning()) {
    shape_.name = std::move(name);
    Require(world_.Open(false), shape_.name);
  }

  void CreateTable(const TableOptions& table) {
    Require(world_.engine().CreateTable(table), "CreateTable");
    model_.CreateTable(table);
    empty_.CreateTable(table);
    tables_.push_back(table);
    Remember();
  }
  void Write(const std::vector<test::ModelOperation>& operations,
             Durability durability = Durability::kSynced) {
    // Past every timestamp, so that an operation without one takes the time of its batch.
    world_.clock().Advance(kStepMicros);
    const int64_t now = world_.clock().WallMicros();
    WriteBatch batch;
    for (const test::ModelOperation& operation : operations) operation.AddTo(&batch);
    Require(world_.engine().Write({.durability = durability}, batch), "Write");
    for (const test::ModelOperation& operation : operations) model_.Apply(operation, now, now);
    states_.push_back(model_);
  }
  void Flush() {
    Require(world_.engine().Flush({}), "Flush");
    flushed_ = states_.size();
    Remember();
  }
  void Compact(const std::string& table) {
    Require(world_.engine().Compact(table), "Compact");
    Remember();
  }
  void Split(const std::string& table, const std::string& key) {
    const Status status = world_.engine().Split(table, {.key = key}).status();
    if (status.code() != StatusCode::kInvalidArgument) Require(status, "Split");
    Remember();
  }
  void MergeRegions(const std::string& table, const std::string& key) {
    const Status status = world_.engine().MergeRegions(table, {.key = key}).status();
    if (status.code() != StatusCode::kInvalidArgument) Require(status, "MergeRegions");
    Remember();
  }
  void Reopen() {
    Require(world_.Close(), "Close");
    Remember();
    Require(world_.Open(false), "Open");
    Remember();
  }
  void Remember() { shape_.history.push_back(world_.Take()); }
  void AddRead(ShapeRead read) { shape_.reads.push_back(std::move(read)); }

  Shape Close() {
    AddTableReads();
    for (const ShapeRead& read : shape_.reads) Check(read);
    Require(world_.Close(), "Close");
    shape_.files = world_.Take();
    shape_.states_floor = shape_.log_floor = states_.size();
    AddAnswers();
    return std::move(shape_);
  }
  /// `floor`: batches that one damaged place cannot take.
  Shape Kill(uint64_t floor) {
    AddTableReads();
    world_.Kill();
    shape_.files = world_.Take();
    shape_.is_closed = false;
    shape_.states_floor = floor;
    shape_.log_floor = flushed_;
    AddAnswers();
    return std::move(shape_);
  }

 private:
  static void Require(const Status& status, const std::string& what) {
    if (!status.ok()) throw std::runtime_error(what + ": " + status.ToString());
  }
  void AddTableReads() {
    for (const TableOptions& table : tables_) {
      AddRead({.kind = ShapeRead::Kind::kScan, .table = table.name, .versions = 5});
      AddRead({.kind = ShapeRead::Kind::kScan, .table = table.name, .reverse = true});
      for (const IndexOptions& index : table.indexes) AddIndexReads(table, index);
      for (const test::ModelRow& row : model_.Scan(
               table.name, {}, {.now_micros = world_.clock().WallMicros(), .columns = {}})) {
        AddRead({.kind = ShapeRead::Kind::kGet, .table = table.name, .row = row.key});
      }
      AddRead({.kind = ShapeRead::Kind::kGet, .table = table.name, .row = "nobody"});
    }
  }
  void AddIndexReads(const TableOptions& table, const IndexOptions& index) {
    const IndexColumn& column = index.columns[0];
    const std::string name = TextOf(column.functions, test::AreOfFamily(column.functions)
                                                          ? column.family
                                                          : column.family + ":" + column.qualifier);
    const std::string where = index.where.empty() ? "" : " AND (" + index.where + ")";
    const std::string all = name + " IS NOT NULL" + where;
    const bool is_multi_valued = format::AreMultiValued(column.functions);
    if (!is_multi_valued) {  // Else rows have no order by it.
      AddRead({.kind = ShapeRead::Kind::kQuery,
               .table = table.name,
               .predicate = all,
               .query = {.order_by = index.name}});
    }
    AddRead({.kind = ShapeRead::Kind::kQuery,
             .table = table.name,
             .predicate = all,
             .query = {.use_index = index.name}});
    AddRead({.kind = ShapeRead::Kind::kCount, .table = table.name, .predicate = all});
    for (const char* value : {"0", "3"}) {
      const std::string one = name + " = '" + value + "'" + where;
      AddRead({.kind = ShapeRead::Kind::kQuery,
               .table = table.name,
               .predicate = one,
               .query = {.use_index = index.name}});
      if (is_multi_valued || !where.empty()) continue;  // It may have no entry of such rows.
      AddRead({.kind = ShapeRead::Kind::kQuery,
               .table = table.name,
               .predicate = "NOT " + name + " = '" + value + "'",
               .query = {.use_index = index.name}});
    }
  }
  /// The undamaged database and the model agree.
  void Check(const ShapeRead& read) {
    const ShapeAnswer answer = Ask(world_.engine(), read);
    Require(answer.status, read.Describe());
    const std::string expected = Ask(model_, read);
    if (answer.text != expected) {
      throw std::runtime_error(shape_.name + ": " + read.Describe() + " answers " + answer.text +
                               " where " + expected + " was written");
    }
  }
  void AddAnswers() {
    for (size_t state = 0; state <= states_.size(); ++state) {
      std::vector<std::string>& answers = shape_.answers.emplace_back();
      const test::Model& model = state == 0 ? empty_ : states_[state - 1];
      for (const ShapeRead& read : shape_.reads) answers.push_back(Ask(model, read));
    }
  }

  static constexpr int64_t kStepMicros = 1000;  // Between two writes.

  Shape shape_;
  SimulatedEngine world_;
  std::vector<TableOptions> tables_;
  test::Model model_, empty_;
  std::vector<test::Model> states_;  // After each batch.
  uint64_t flushed_ = 0;             // Batches that lie in files.
};

}  // namespace tandem::reliability
