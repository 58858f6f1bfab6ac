// Collects, writes, counts and reports.
#include "tools/tandem/importer.h"

#include <utility>

#include "base/status_macros.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/output.h"

namespace tandem::tools {
namespace {

constexpr uint64_t kRejectedShown = 10;
constexpr size_t kPendingBytesMax = 4 * 1024 * 1024;

}  // namespace

Importer::Importer(Database* database, ImportJob job, const Context& context)
    : database_(database),
      job_(std::move(job)),
      context_(context),
      progress_(context),
      versions_(job_.families) {}

Status Importer::Add(InputBuffer* input) {
  name_ = input->name();
  const RecordFormat format{job_.format, job_.row_key.empty()};
  ASSIGN_OR_RETURN(const std::unique_ptr<RecordReader> reader, NewRecordReader(format, input));
  const Status read = ReadAll(reader.get(), input);
  const Status commit = Commit();
  summary_.skipped += reader->skipped();
  const Status& status = read.ok() ? commit : read;
  if (!status.ok()) load_.reset();  // Its rows are all loaded, or none.
  return status;
}

Status Importer::ReadAll(RecordReader* reader, InputBuffer* input) {
  Record record;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, reader->Next(&record));
    if (!more) return {};
    RETURN_IF_ERROR(Take(record));
    if (pending_.size() >= job_.batch_rows || kept_.size_bytes() >= kPendingBytesMax) {
      RETURN_IF_ERROR(Commit());
      progress_.Update(summary_.records, input->consumed_bytes(), input->total_bytes());
    }
    if (context_.is_interrupted()) return Status::Cancelled(name_ + ": interrupted");
  }
}

Status Importer::Take(const Record& record) {
  std::string problem = record.problem;
  if (problem.empty() && record.row_key.has_value()) {
    key_.assign(*record.row_key);
    problem = RowKeyProblem(key_);
  } else if (problem.empty() && job_.typed_key.has_value() && job_.row_key.empty()) {
    problem = KeyOfRecord(job_.typed_key->newest(), record.fields, &key_);
  } else if (problem.empty()) {
    problem = job_.row_key.Build(record.fields, &key_);
  }
  if (!problem.empty()) return Reject(record.line, problem);
  RETURN_IF_ERROR(MoveFromFormerKeys());
  Pending pending{record.line, kept_.Copy(key_), pending_operations_.size(), 0};
  if (!record.fields.empty()) {
    const size_t begin = pending_columns_.size();
    pending_operations_.push_back({job_.family, record.timestamp, begin, begin});
    for (const Field& field : record.fields) AddColumn({field.name, field.value});
  }
  RETURN_IF_ERROR(TakeCells(record.cells));
  summary_.timed = summary_.timed || record.timestamp.has_value() || !record.cells.empty();
  pending.end = pending_operations_.size();
  pending_.push_back(pending);
  return {};
}

/// A row that the table has under a former key is moved before more is written to it. An exported
/// row may bring a former key itself.
Status Importer::MoveFromFormerKeys() {
  if (!job_.typed_key.has_value() || job_.typed_key->schemas().size() == 1) return {};
  if (job_.bulk) return {};  // It will be refused.
  const Result<std::vector<RowKeyField>> fields = job_.typed_key->Decode(key_);
  if (!fields.has_value()) return {};
  ASSIGN_OR_RETURN(key_, database_->KeyForWrite({}, job_.table, *fields));
  return {};
}

/// Cells are in the order of families and columns, so that neighbours of one time are one
/// operation.
Status Importer::TakeCells(std::span<const Cell> cells) {
  if (!cells.empty() && !job_.family.empty()) {
    return Status::InvalidArgument(
        name_ + ": exported rows name their families themselves; leave --family out");
  }
  const Cell* last = nullptr;
  for (const Cell& cell : cells) {
    const bool together = last != nullptr && last->family == cell.family &&
                          last->timestamp == cell.timestamp && last->qualifier < cell.qualifier;
    if (!together) {
      const size_t begin = pending_columns_.size();
      pending_operations_.push_back({kept_.Copy(cell.family), cell.timestamp, begin, begin});
    }
    AddColumn({cell.qualifier, cell.value});
    versions_.See(key_, cell);
    last = &cell;
  }
  return {};
}

/// To the operation that was begun last.
void Importer::AddColumn(const ColumnValue& column) {
  pending_columns_.push_back({kept_.Copy(column.qualifier), kept_.Copy(column.value)});
  pending_operations_.back().end = pending_columns_.size();
}

Status Importer::Commit() {
  if (pending_.empty()) return {};
  if (job_.bulk && !load_.has_value()) {
    // A table that takes no load refuses all records, and none of them is malformed.
    ASSIGN_OR_RETURN(load_, database_->BeginBulkLoad(job_.table, {.any_order = true}));
  }
  batch_.Clear();
  for (const Pending& record : pending_) AddToBatch(record);
  Status status = WriteCollected();
  if (status.ok()) {
    if (!rises_) {
      for (const Pending& record : pending_) keys_.Prefetch(record.key);
    }
    for (const Pending& record : pending_) Count(record);
  } else if (status.code() == StatusCode::kInvalidArgument) {
    status = CommitOneByOne();
  }
  pending_.clear();
  pending_operations_.clear();
  pending_columns_.clear();
  kept_.Reset();
  RETURN_IF_ERROR(status);
  if (job_.acknowledge) {
    WriteBytes(context_.out, Format("{}\n", summary_.records));
    std::fflush(context_.out);
  }
  return {};
}

Status Importer::WriteCollected() {
  if (job_.bulk) return load_->Add(batch_);
  return database_->Write({.durability = Durability::kWritten}, batch_);
}

Status Importer::CommitOneByOne() {
  for (const Pending& record : pending_) {
    batch_.Clear();
    AddToBatch(record);
    const Status status = WriteCollected();
    if (status.code() == StatusCode::kInvalidArgument) {
      RETURN_IF_ERROR(Reject(record.line, status.message()));
    } else {
      RETURN_IF_ERROR(status);
      Count(record);
    }
  }
  return {};
}

void Importer::AddToBatch(const Pending& record) {
  for (size_t i = record.begin; i < record.end; ++i) {
    const PendingOperation& operation = pending_operations_[i];
    const std::span columns(pending_columns_.data() + operation.begin,
                            operation.end - operation.begin);
    batch_.PutColumns(job_.table, record.key, operation.family, columns, operation.timestamp);
  }
}

/// While keys rise, an equal one is the last one; their hashes are kept for the set.
bool Importer::IsNew(std::string_view key) {
  if (!rises_) return keys_.Insert(key);
  if (key < last_key_) {
    rises_ = false;
    for (const uint64_t hash : rising_hashes_) keys_.InsertHash(hash);
    rising_hashes_ = {};
    return keys_.Insert(key);
  }
  if (key == last_key_) return false;
  last_key_ = key;
  rising_hashes_.push_back(KeySet::HashOf(key));
  return true;
}

void Importer::Count(const Pending& record) {
  ++summary_.records;
  if (!IsNew(record.key)) ++summary_.repeated;
  summary_.bytes += record.key.size();
  for (size_t i = record.begin; i < record.end; ++i) {
    const PendingOperation& operation = pending_operations_[i];
    summary_.cells += operation.end - operation.begin;
    for (size_t j = operation.begin; j < operation.end; ++j) {
      summary_.bytes += pending_columns_[j].qualifier.size() + pending_columns_[j].value.size();
    }
  }
}

Status Importer::Reject(uint64_t line, std::string_view problem) {
  const std::string message = Format("{}:{}: {}", name_, line, problem);
  if (job_.strict) return Status::InvalidArgument(message);
  ++summary_.rejected;
  if (summary_.rejected > kRejectedShown) return {};
  progress_.Wipe();
  WriteBytes(context_.err, "tandem: import: " + message + "\n");
  if (summary_.rejected == kRejectedShown) {
    WriteBytes(context_.err, "tandem: import: further malformed records are only counted\n");
  }
  return {};
}

// Merging is left to the engine's policy: the work is in proportion to the table, not to what was
// imported.
Status Importer::Finish() {
  Status status = load_.has_value() ? load_->Commit() : Status();
  load_.reset();
  if (status.ok() && job_.compact) status = database_->Compact(job_.table);
  progress_.Wipe();
  return status;
}

ImportSummary Importer::summary() const {
  ImportSummary summary = summary_;
  summary.lost = versions_.lost();
  summary.seconds = progress_.seconds();
  return summary;
}

}  // namespace tandem::tools
