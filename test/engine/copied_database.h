// A copy of a test engine's database, a checkpoint or what was restored, opened to be looked at.
#pragma once

#include <memory>
#include <string>

#include "engine/engine.h"
#include "test/engine/test_engine.h"

namespace tandem::test {

/// Threads: one at a time.
class CopiedDatabase {
 public:
  /// Opens the database `path` of `disk`. Lifetime: `disk` outlives it, and so does `clock`, which
  /// it takes instead of one of its own.
  CopiedDatabase(SimulatedDisk* disk, const std::string& path, bool read_only = false,
                 ManualClock* clock = nullptr)
      : clock_(clock == nullptr ? own_clock_ : *clock),
        executor_(clock_),
        random_(base::NewSeededRandom(7)) {
    Options options;
    options.read_only = read_only;
    const engine::Environment environment{
        .file_system = disk, .clock = &clock_, .random = random_.get(), .executor = &executor_};
    auto opened = engine::Engine::Open(path, options, SmallTuning(), environment);
    status_ = opened.status();
    if (opened.has_value()) engine_ = std::move(*opened);
  }

  const Status& status() const { return status_; }
  engine::Engine* operator->() { return engine_.get(); }
  engine::Engine& operator*() { return *engine_; }
  InlineExecutor& executor() { return executor_; }

  /// All rows of table "t", as TestEngine::Rows; the error of the open where there was one.
  std::string Rows() {
    if (engine_ == nullptr) return "!" + status_.ToString();
    std::string text;
    Result<Cursor> cursor = engine_->Scan({}, "t", {});
    if (!cursor.has_value()) return "!" + cursor.error().ToString();
    while (cursor->Next()) {
      text.append(text.empty() ? "" : " ").append(cursor->row().key()).append("{");
      bool first = true;
      for (const Cell& cell : cursor->row().cells()) {
        text.append(first ? "" : " ").append(cell.qualifier).append("=").append(cell.value);
        first = false;
      }
      text += "}";
    }
    return cursor->status().ok() ? text : text + "!" + cursor->status().ToString();
  }
  /// What Verify finds, deeply; empty when all is well.
  std::string Findings() {
    if (engine_ == nullptr) return status_.ToString();
    const Result<VerifyReport> report = engine_->Verify(true);
    if (!report.has_value()) return report.error().ToString();
    std::string text;
    for (const Finding& finding : report->findings) text += finding.text + "\n";
    return text;
  }

 private:
  ManualClock own_clock_;
  ManualClock& clock_;
  InlineExecutor executor_;
  std::unique_ptr<base::RandomSource> random_;
  std::unique_ptr<engine::Engine> engine_;
  Status status_;
};

}  // namespace tandem::test
