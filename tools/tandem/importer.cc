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
constexpr size_t kPendingBytesMax = 8 * 1024 * 1024;

}  // namespace

Importer::Importer(Database* database, ImportJob job, const Context& context)
    : database_(database),
      job_(std::move(job)),
      context_(context),
      progress_(context),
      kept_(std::in_place) {}

Status Importer::Add(InputBuffer* input) {
  name_ = input->name();
  ASSIGN_OR_RETURN(const std::unique_ptr<RecordReader> reader, NewRecordReader(job_.format, input));
  const Status read = ReadAll(reader.get(), input);
  const Status commit = Commit();
  return read.ok() ? commit : read;
}

Status Importer::ReadAll(RecordReader* reader, InputBuffer* input) {
  Record record;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, reader->Next(&record));
    if (!more) return {};
    RETURN_IF_ERROR(Take(record));
    if (pending_.size() >= job_.batch_rows || kept_->size_bytes() >= kPendingBytesMax) {
      RETURN_IF_ERROR(Commit());
      progress_.Update(summary_.records, input->consumed_bytes(), input->total_bytes());
    }
    if (context_.is_interrupted()) return Status::Cancelled(name_ + ": interrupted");
  }
}

Status Importer::Take(const Record& record) {
  const std::string problem =
      record.problem.empty() ? job_.row_key.Build(record.fields, &key_) : record.problem;
  if (!problem.empty()) return Reject(record.line, problem);
  Pending pending{record.line, kept_->Copy(key_), pending_fields_.size(), 0};
  for (const Field& field : record.fields) {
    pending_fields_.push_back({kept_->Copy(field.name), kept_->Copy(field.value)});
  }
  pending.fields_end = pending_fields_.size();
  pending_.push_back(pending);
  return {};
}

Status Importer::Commit() {
  if (pending_.empty()) return {};
  batch_.Clear();
  for (const Pending& record : pending_) AddToBatch(record);
  Status status = database_->Write({.durability = Durability::kWritten}, batch_);
  if (status.ok()) {
    for (const Pending& record : pending_) Count(record);
  } else if (status.code() == StatusCode::kInvalidArgument) {
    status = CommitOneByOne();
  }
  pending_.clear();
  pending_fields_.clear();
  kept_.emplace();
  RETURN_IF_ERROR(status);
  if (job_.acknowledge) {
    WriteBytes(context_.out, Format("{}\n", summary_.records));
    std::fflush(context_.out);
  }
  return {};
}

Status Importer::CommitOneByOne() {
  for (const Pending& record : pending_) {
    batch_.Clear();
    AddToBatch(record);
    const Status status = database_->Write({.durability = Durability::kWritten}, batch_);
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
  const std::span<const ColumnValue> columns(pending_fields_.data() + record.fields_begin,
                                             record.fields_end - record.fields_begin);
  batch_.PutColumns(job_.table, record.key, job_.family, columns);
}

void Importer::Count(const Pending& record) {
  ++summary_.records;
  if (!keys_.Insert(record.key)) ++summary_.duplicates;
  summary_.cells += record.fields_end - record.fields_begin;
  summary_.bytes += record.key.size();
  for (size_t i = record.fields_begin; i < record.fields_end; ++i) {
    summary_.bytes += pending_fields_[i].qualifier.size() + pending_fields_[i].value.size();
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

Status Importer::Finish() {
  RETURN_IF_ERROR(database_->Flush(job_.table));
  return database_->Compact(job_.table);
}

ImportSummary Importer::summary() const {
  ImportSummary summary = summary_;
  summary.seconds = progress_.seconds();
  return summary;
}

}  // namespace tandem::tools
