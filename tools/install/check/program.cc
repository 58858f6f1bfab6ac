// What `make installcheck` builds against an installed Tandem, once for each way of linking: a
// database is made, written, queried and closed. It proves on the way that the library prints
// nothing, handles no signal, and lets no exception pass in either direction. Prints one line.
#include <tandem/tandem.h>

#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace {

int Fail(const tandem::Status& status) {
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}

bool AllSignalsAreUnhandled() {
  for (int signal = 1; signal < SIGRTMAX; ++signal) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0) continue;
    if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN) return false;
  }
  return true;
}

tandem::Result<uint64_t> UseDatabase(const std::string& path, uint64_t* lines) {
  tandem::Options options;
  options.create_if_missing = true;
  options.io = tandem::IoBackend::kPosix;
  options.log = [lines](std::string_view) {
    ++*lines;
    throw std::runtime_error("a sink that fails");
  };
  auto opened = tandem::Database::Open(path, options);
  if (!opened) return opened.error();
  tandem::Database& database = **opened;

  tandem::TableOptions table;
  table.name = "people";
  table.families = {{.name = "d"}};
  table.indexes = {{.name = "city", .columns = {{.family = "d", .qualifier = "city"}}}};
  if (auto status = database.CreateTable(table); !status.ok()) return status;
  tandem::WriteBatch batch;
  batch.Put("people", "alice", "d", "city", "Oslo");
  batch.Put("people", "bob", "d", "city", "Rome");
  if (auto status = database.Write({}, batch); !status.ok()) return status;
  auto count = database.Count({}, "people", tandem::Predicate::Equal("city", "Oslo"));
  if (!count) return count;
  if (auto status = database.Close(); !status.ok()) return status;
  return count;
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 2) return 2;
  uint64_t lines = 0;
  const auto count = UseDatabase(arguments[1], &lines);
  if (!count) return Fail(count.error());
  if (!AllSignalsAreUnhandled()) return Fail(tandem::Status::Conflict("a signal is handled"));
  const auto missing = tandem::Database::Open(std::string(arguments[1]) + "/nowhere");
  if (missing || missing.error().code() != tandem::StatusCode::kNotFound) return 1;
  std::printf("tandem %s: %d of 2 rows\n", tandem::kVersion, static_cast<int>(*count));
  return 0;
}
