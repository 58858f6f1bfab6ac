// What `make installcheck` builds against an installed Tandem, once for each way of linking: a
// database is made, written, queried and closed. It proves on the way that the library prints
// nothing, handles no signal, and lets no exception pass in either direction. Prints one line.
#include <tandem/tandem.h>

#include <csignal>
#include <cstdio>
#include <memory>
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

// A class of the program's own under one of the library's, with an exception of the program's own.
struct Complaint : std::runtime_error {
  using std::runtime_error::runtime_error;
};
class Complainer : public tandem::EventListener {
 public:
  void OnFlushEnd(const tandem::FlushEvent& event) override {
    throw Complaint("flushing " + std::string(event.table));
  }
};

tandem::Result<uint64_t> UseDatabase(const std::string& path) {
  tandem::Options options;
  options.create_if_missing = true;
  options.listener = std::make_shared<Complainer>();
  if (dynamic_cast<Complainer*>(options.listener.get()) == nullptr) {
    return tandem::Status::Conflict("types do not agree");
  }
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
  if (auto status = database.Flush(); !status.ok()) return status;
  if (database.GetStatistics().listener_failures != 1) {
    return tandem::Status::Conflict("the listener was not heard");
  }
  if (auto status = database.Close(); !status.ok()) return status;
  return count;
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 2) return 2;
  const auto count = UseDatabase(arguments[1]);
  if (!count) return Fail(count.error());
  if (!AllSignalsAreUnhandled()) return Fail(tandem::Status::Conflict("a signal is handled"));
  const auto missing = tandem::Database::Open(std::string(arguments[1]) + "/nowhere");
  if (missing || missing.error().code() != tandem::StatusCode::kNotFound) return 1;
  std::printf("tandem %s: %d of 2 rows\n", tandem::kVersion, static_cast<int>(*count));
  return 0;
}
