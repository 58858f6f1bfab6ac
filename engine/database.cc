// The public classes: each call goes to the engine, and here allocation failures stop.
#include "tandem/database.h"

#include <utility>

#include "base/status_macros.h"
#include "engine/default_environment.h"
#include "engine/engine.h"
#include "engine/guarded.h"
#include "engine/open_handles.h"
#include "engine/reader.h"

namespace tandem {

using engine::Guarded;

Snapshot::Snapshot(std::shared_ptr<engine::SnapshotState> state) : state_(std::move(state)) {}
Snapshot::Snapshot(Snapshot&&) noexcept = default;
Snapshot& Snapshot::operator=(Snapshot&&) noexcept = default;
Snapshot::~Snapshot() = default;

uint64_t Snapshot::sequence() const { return state_->registration->point().sequence.value; }

Cursor::Cursor(std::unique_ptr<engine::RowSource> source) : source_(std::move(source)) {}
Cursor::Cursor(Cursor&&) noexcept = default;
Cursor& Cursor::operator=(Cursor&&) noexcept = default;
Cursor::~Cursor() = default;

bool Cursor::Next() {
  if (!status_.ok()) return false;
  const Result<bool> found = Guarded([this] { return source_->Next(&row_); });
  if (!found.has_value()) status_ = found.error();
  return found.has_value() && *found;
}

Database::Database(std::unique_ptr<engine::Engine> engine) : engine_(std::move(engine)) {}
Database::~Database() = default;

Result<std::unique_ptr<Database>> Database::Open(const std::string& path, const Options& options) {
  return Guarded([&]() -> Result<std::unique_ptr<Database>> {
    ASSIGN_OR_RETURN(const engine::Environment environment, engine::DefaultEnvironment(options));
    ASSIGN_OR_RETURN(std::unique_ptr<engine::Engine> engine,
                     engine::Engine::Open(path, options, engine::TuningFor(options), environment));
    return std::unique_ptr<Database>(new Database(std::move(engine)));
  });
}

Status Database::Close() {
  return Guarded([&] { return engine_->Close(); });
}

Status Database::CreateTable(const TableOptions& options) {
  return Guarded([&] { return engine_->CreateTable(options); });
}

Status Database::Write(const WriteOptions& options, const WriteBatch& batch) {
  return Guarded([&] { return engine_->Write(options, batch); });
}

Result<std::optional<Row>> Database::Get(const ReadOptions& options, std::string_view table,
                                         std::string_view row) {
  return Guarded([&] { return engine_->Get(options, table, row); });
}

Result<Cursor> Database::Scan(const ReadOptions& options, std::string_view table,
                              const ScanOptions& scan) {
  return Guarded([&] { return engine_->Scan(options, table, scan); });
}

Result<Cursor> Database::Query(const ReadOptions& options, std::string_view table,
                               const Predicate& predicate, const QueryOptions& query) {
  return Guarded([&] { return engine_->Query(options, table, predicate, query); });
}

Result<uint64_t> Database::Count(const ReadOptions& options, std::string_view table,
                                 const Predicate& predicate, const QueryOptions& query) {
  return Guarded([&] { return engine_->Count(options, table, predicate, query); });
}

Result<Explanation> Database::Explain(const ReadOptions& options, std::string_view table,
                                      const Predicate& predicate, const QueryOptions& query) {
  return Guarded([&] { return engine_->Explain(options, table, predicate, query); });
}

Result<Snapshot> Database::TakeSnapshot() {
  return Guarded([&] { return engine_->TakeSnapshot(); });
}

Status Database::Flush(std::string_view table) {
  return Guarded([&] { return engine_->Flush(table); });
}

Status Database::Compact(std::string_view table) {
  return Guarded([&] { return engine_->Compact(table); });
}

Result<VerifyReport> Database::Verify(bool deep) {
  return Guarded([&] { return engine_->Verify(deep); });
}

Status Database::Checkpoint(const std::string& path) {
  return Guarded([&] { return engine_->Checkpoint(path); });
}

Result<BackupInfo> Database::Backup(const std::string& directory) {
  return Guarded([&] { return engine_->Backup(directory); });
}

Result<DatabaseInfo> Database::Info() {
  return Guarded([&]() -> Result<DatabaseInfo> { return engine_->Info(); });
}

Statistics Database::GetStatistics() { return engine_->GetStatistics(); }

}  // namespace tandem
