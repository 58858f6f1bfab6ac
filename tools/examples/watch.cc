// A program that watches its database: it hears of flushes and compactions as they happen and reads
// the counters at the end, as one would for a monitoring system.
//
// A listener is called by whatever thread does the work, so it guards what it keeps; it is quick,
// and it only reads. What it throws would be caught and counted.
//
//   build/example_watch DIRECTORY        events and counters on stdout, log lines on stderr
#include <tandem/tandem.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace {

class Watcher final : public tandem::EventListener {
 public:
  void OnFlushEnd(const tandem::FlushEvent& event) override {
    const std::lock_guard lock(mutex_);
    std::printf("flush of %.*s: %" PRIu64 " rows in memory, %" PRIu64 " written: %s\n",
                static_cast<int>(event.table.size()), event.table.data(), event.memstore_rows,
                event.rows, event.status.ToString().c_str());
    longest_micros_ = std::max(longest_micros_, event.micros);
  }
  void OnCompactionEnd(const tandem::CompactionEvent& event) override {
    const std::lock_guard lock(mutex_);
    std::printf("compaction of %.*s: %" PRIu64 " files of %" PRIu64 " rows to %" PRIu64
                " of %" PRIu64 ": %s\n",
                static_cast<int>(event.table.size()), event.table.data(), event.input_files,
                event.input_rows, event.files, event.rows, event.status.ToString().c_str());
    longest_micros_ = std::max(longest_micros_, event.micros);
  }
  void OnStallEnd(const tandem::StallEvent& event) override {
    std::fprintf(stderr, "a writer waited %" PRIu64 " us: %.*s\n", event.micros,
                 static_cast<int>(event.reason.size()), event.reason.data());
  }
  void OnReadOnly(const tandem::Status& reason) override {
    // The place to raise an alarm: from here on every write fails with this.
    std::fprintf(stderr, "no more writes: %s\n", reason.ToString().c_str());
  }
  void OnLogLine(std::string_view line) override {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
  }

  uint64_t longest_micros() const {
    const std::lock_guard lock(mutex_);
    return longest_micros_;
  }

 private:
  mutable std::mutex mutex_;
  uint64_t longest_micros_ = 0;
};

tandem::Status WriteRound(tandem::Database* database, int round) {
  for (int i = 0; i < 1000; ++i) {
    tandem::WriteBatch batch;
    // Every round writes the same rows again: a compaction keeps the newest version of each.
    batch.Put("sensors", "sensor" + std::to_string(i), "d", "value", std::to_string(round * i));
    if (auto status = database->Write({}, batch); !status.ok()) return status;
  }
  return database->Flush("sensors");
}

void Print(const tandem::Statistics& statistics) {
  const auto line = [](const char* name, uint64_t value) {
    std::printf("%s %" PRIu64 "\n", name, value);
  };
  line("operations", statistics.operations);
  line("flushes", statistics.flushes);
  line("flushed_rows", statistics.flushed_rows);
  line("compactions", statistics.compactions);
  line("compacted_rows", statistics.compacted_rows);
  line("stalls", statistics.stalls);
  line("listener_failures", statistics.listener_failures);
}

tandem::Status Run(const std::string& path) {
  const auto watcher = std::make_shared<Watcher>();
  tandem::Options options;
  options.create_if_missing = true;
  options.listener = watcher;
  auto opened = tandem::Database::Open(path, options);
  if (!opened) return opened.error();
  tandem::Database* database = opened->get();

  tandem::TableOptions table;
  table.name = "sensors";
  table.families = {{.name = "d"}};
  if (auto status = database->CreateTable(table); !status.ok()) return status;
  for (int round = 0; round < 3; ++round) {
    if (auto status = WriteRound(database, round); !status.ok()) return status;
  }
  if (auto status = database->Compact("sensors"); !status.ok()) return status;
  Print(database->GetStatistics());
  std::fprintf(stderr, "the longest took %" PRIu64 " us\n", watcher->longest_micros());
  return database->Close();
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 2) {
    std::fprintf(stderr, "usage: %s DIRECTORY\n", arguments[0]);
    return 2;
  }
  const tandem::Status status = Run(arguments[1]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
