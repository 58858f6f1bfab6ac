// A log of several segments on the simulated disk, written by the real writer, with handles to
// change its bytes and to replay it.
#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "test/support/sample_records.h"
#include "tools/simulation/simulated_disk.h"
#include "wal/log.h"

namespace tandem::test {

inline const format::DatabaseId kLogDatabase = SampleId(1);

/// What replaying gave: the report or the error, and the payloads seen.
struct Replayed {
  Status status;
  wal::ReplayReport report;
  std::vector<std::string> payloads;
};

class LogFixture {
 public:
  LogFixture() { directory = *disk.OpenDirectory("db", true); }

  static std::string Name(uint64_t number) { return "log-" + std::to_string(number); }
  static format::FileId Id(uint64_t number) { return SampleId(static_cast<uint8_t>(number * 16)); }

  Result<std::unique_ptr<wal::SegmentWriter>> Create(uint64_t number, wal::SegmentEnd predecessor,
                                                     uint64_t reserve = 0) {
    wal::SegmentSpec spec;
    spec.database = kLogDatabase;
    spec.number = format::FileNumber(number);
    spec.id = Id(number);
    spec.predecessor = predecessor;
    spec.reserved_bytes = reserve;
    auto file = directory->Create(Name(number));
    if (!file) return file.error();
    if (Status reserved = wal::SegmentWriter::Reserve(file->get(), reserve); !reserved.ok()) {
      return reserved;
    }
    if (Status synced = directory->Sync(); !synced.ok()) return synced;
    return wal::SegmentWriter::Create(std::move(*file), spec);
  }

  /// Begins a segment after the last one, which is closed first.
  void Begin(uint64_t number) {
    wal::SegmentEnd predecessor;
    if (writer != nullptr) {
      BOOST_TEST_REQUIRE(writer->Close().ToString() == "OK");
      predecessor = writer->end();
    }
    auto created = Create(number, predecessor);
    BOOST_TEST_REQUIRE(created.status().ToString() == "OK");
    writer = std::move(*created);
    numbers.push_back(number);
  }

  void Append(std::string_view payload, uint32_t count = 1) {
    format::Frame frame;
    frame.first_sequence = next_sequence;
    frame.durable_mark = writer->synced_end().last_sequence;
    frame.timestamp = static_cast<int64_t>(next_sequence) * 10;
    frame.count = count;
    frame.payload = payload;
    writer->Append(frame);
    next_sequence += count;
  }
  /// Appends and writes `count` frames "A0", "A1", ...; the last is synced with `sync`.
  void AppendMany(const std::string& prefix, int count, bool sync) {
    for (int i = 0; i < count; ++i) {
      Append(prefix + std::to_string(i));
      BOOST_TEST_REQUIRE(writer->Write().ToString() == "OK");
    }
    if (sync) BOOST_TEST_REQUIRE(writer->Sync().ToString() == "OK");
  }

  std::string Bytes(uint64_t number) { return *disk.Content("db", Name(number)); }
  void SetBytes(uint64_t number, std::string_view bytes) {
    disk.SetContent("db", Name(number), bytes);
  }

  /// Opens segments and counts how many are open at once.
  wal::SegmentOpener Opener() {
    return [this](format::FileNumber number) -> Result<std::shared_ptr<base::File>> {
      auto file = directory->Open(Name(number.value), base::OpenMode::kReadOnly);
      if (!file) return file.error();
      open_max = std::max(open_max, ++open_now);
      return std::shared_ptr<base::File>(file->release(), [this](base::File* closed) {
        --open_now;
        delete closed;
      });
    };
  }

  /// Replays the segments; `bound` as a closed ROOT would have it.
  Replayed Replay(const std::vector<format::BoundFile>* bound = nullptr,
                  uint64_t durable_bytes = 0) {
    Replayed replayed;
    directory = *disk.OpenDirectory("db", true);
    std::vector<wal::ReplaySegment> segments;
    for (size_t i = 0; i < numbers.size(); ++i) {
      wal::ReplaySegment segment;
      segment.number = format::FileNumber(numbers[i]);
      segment.id = Id(numbers[i]);
      if (bound != nullptr) segment.bound = &(*bound)[i];
      if (i + 1 == numbers.size()) segment.durable_bytes = durable_bytes;
      segments.push_back(std::move(segment));
    }
    auto report = wal::Replay(segments, kLogDatabase, Opener(), [&](const format::Frame& frame) {
      replayed.payloads.emplace_back(frame.payload);
      return Status();
    });
    replayed.status = report.status();
    if (report) replayed.report = *report;
    return replayed;
  }

  SimulatedDisk disk;
  std::unique_ptr<base::Directory> directory;
  std::unique_ptr<wal::SegmentWriter> writer;
  std::vector<uint64_t> numbers;
  uint64_t next_sequence = 1;
  size_t open_now = 0, open_max = 0;
};

}  // namespace tandem::test
