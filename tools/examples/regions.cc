// A table whose writes all go to one region, and what is done about it: split keys from a sample,
// each region's share of the writes, and a copy under other row keys while a writer goes on.
//
// The copy's callback must not wait for a thread that writes to the table, so a writer takes the
// name and the row key of the table under a lock, and writes without it.
//
//   build/example_regions DIRECTORY      what it finds on stdout, events on stderr
#include <tandem/tandem.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr uint64_t kRegions = 4;
constexpr int64_t kRound = 4000;  // Events of each step.

std::vector<tandem::RowKeyField> FieldsOf(int64_t event) {
  return {{"at", std::to_string(event)}, {"sensor", std::to_string(event % 7)}};
}

class Watcher final : public tandem::EventListener {
 public:
  // After ten seconds in which one region has got most of its table's writes, or of its reads.
  void OnHotRegion(const tandem::HotRegionEvent& event) override {
    std::fprintf(stderr, "region %" PRIu64 " gets %" PRIu64 " of %" PRIu64 " %s\n", event.region_id,
                 event.count, event.of, event.is_read ? "reads" : "writes");
  }
};

// Writes events to the table that has them now.
class Events {
 public:
  explicit Events(tandem::Database* database) : database_(*database) {}

  tandem::Status Use(const std::string& table, const std::string& row_key) {
    auto keys = tandem::RowKeySchema::Parse(row_key);
    if (!keys) return keys.error();
    auto place = std::make_shared<const Place>(Place{table, *std::move(keys)});
    const std::lock_guard lock(mutex_);
    place_ = std::move(place);
    return {};
  }
  tandem::Status Add(int64_t event) {
    while (true) {
      const std::shared_ptr<const Place> place = Now();
      auto key = place->keys.Encode(FieldsOf(event));
      if (!key) return key.error();
      tandem::WriteBatch batch;
      batch.Put(place->table, *key, "d", "value", std::to_string(event));
      auto status = database_.Write({}, batch);
      // The table was copied meanwhile and takes no writes any more; the event goes to the copy.
      if (status.code() != tandem::StatusCode::kConflict) return status;
    }
  }
  tandem::Status AddRound(int64_t round) {
    for (int64_t event = round * kRound; event < (round + 1) * kRound; ++event) {
      if (auto status = Add(event); !status.ok()) return status;
    }
    return {};
  }

 private:
  struct Place {
    std::string table;
    tandem::RowKeySchema keys;
  };
  std::shared_ptr<const Place> Now() {
    const std::lock_guard lock(mutex_);
    return place_;
  }

  tandem::Database& database_;
  std::mutex mutex_;
  std::shared_ptr<const Place> place_;
};

// What each region of the table has taken so far, in key order.
tandem::Result<std::vector<uint64_t>> WritesOf(tandem::Database* database, std::string_view table) {
  auto info = database->Info();
  if (!info) return info.error();
  std::vector<uint64_t> writes;
  for (const tandem::TableInfo& found : info->tables) {
    if (found.options.name != table) continue;
    for (const tandem::RegionInfo& region : found.regions) writes.push_back(region.writes);
  }
  return writes;
}

// Writes a round of events, and prints each region's share of it.
tandem::Status ShowRound(tandem::Database* database, std::string_view table, Events* events,
                         int64_t round) {
  const auto before = WritesOf(database, table);
  if (!before) return before.error();
  if (auto status = events->AddRound(round); !status.ok()) return status;
  const auto after = WritesOf(database, table);
  if (!after) return after.error();
  std::printf("%.*s:", static_cast<int>(table.size()), table.data());
  for (size_t i = 0; i < after->size(); ++i) {
    std::printf(" %" PRIu64 " %%", 100 * ((*after)[i] - (*before)[i]) / kRound);
  }
  std::printf(" of the writes\n");
  return {};
}

// Keys of the past make regions of one size.
tandem::Result<std::vector<std::string>> SplitKeysOf(const std::string& row_key) {
  const auto keys = tandem::RowKeySchema::Parse(row_key);
  if (!keys) return keys.error();
  auto sampler = tandem::SplitKeySampler::Create(kRegions);
  if (!sampler) return sampler.error();
  for (int64_t event = -10 * kRound; event < 0; ++event) {
    const auto key = keys->Encode(FieldsOf(event));
    if (!key) return key.error();
    if (auto status = sampler->Add(*key); !status.ok()) return status;
  }
  auto plan = sampler->Plan(kRegions);
  if (!plan) return plan.error();
  const auto [least, most] = std::ranges::minmax(plan->shares);
  std::printf("%zu regions, each with %.0f to %.0f %% of the sample\n", plan->regions(),
              100 * least, 100 * most);
  return std::move(plan->keys);
}

tandem::Status Redesign(tandem::Database* database, Events* events) {
  tandem::CopyTableOptions design;
  design.row_key = "salt(4), at:timestamp, sensor:text";
  design.switch_over = [&] { return events->Use("salted", design.row_key); };
  tandem::Status written;
  std::thread writer([&] { written = events->AddRound(1); });
  const auto copied = database->CopyTable("events", "salted", design);
  writer.join();
  if (!copied) return copied.error();
  if (!written.ok()) return written;
  std::fprintf(stderr, "%" PRIu64 " rows were copied; writes waited for %" PRId64 " us\n",
               copied->rows, copied->wait_micros);
  // A copy begins as one region. Each salt is to be one.
  const auto plan = tandem::PartitionSplitKeys({.partitions = kRegions, .in_bytes = true});
  if (!plan) return plan.error();
  for (const std::string& key : plan->keys) {
    if (auto split = database->Split("salted", {.key = key}); !split) return split.error();
  }
  return database->DropTable("events");
}

tandem::Status Run(const std::string& path) {
  tandem::Options options;
  options.create_if_missing = true;
  options.listener = std::make_shared<Watcher>();
  auto opened = tandem::Database::Open(path, options);
  if (!opened) return opened.error();
  tandem::Database* database = opened->get();

  tandem::TableOptions table;
  table.name = "events";
  table.families = {{.name = "d"}};
  table.row_key = "at:timestamp, sensor:text";
  auto split_keys = SplitKeysOf(table.row_key);
  if (!split_keys) return split_keys.error();
  table.split_keys = *std::move(split_keys);
  if (auto status = database->CreateTable(table); !status.ok()) return status;

  Events events(database);
  if (auto status = events.Use(table.name, table.row_key); !status.ok()) return status;
  // Time goes on, so the last region gets all, however evenly the past was cut.
  if (auto status = ShowRound(database, "events", &events, 0); !status.ok()) return status;
  if (auto status = Redesign(database, &events); !status.ok()) return status;
  if (auto status = ShowRound(database, "salted", &events, 2); !status.ok()) return status;
  const auto count = database->Count({}, "salted", {});
  if (!count) return count.error();
  std::printf("%" PRIu64 " of %" PRId64 " events\n", *count, 3 * kRound);
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
