// A cache with a lifetime: what was put an hour ago is gone, without anybody cleaning up.
//
// The lifetime is the TTL of a column family: a cell vanishes from every read when its timestamp is
// older, and the next compaction drops its bytes. A cache may forget, so it writes with kBuffered:
// an entry that a crash takes is computed again.
//
//   build/example_cache DIRECTORY
#include <tandem/tandem.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace {

using std::chrono::microseconds;

int64_t NowMicros() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<microseconds>(now).count();
}

class Cache {
 public:
  /// `lifetime` counts when the cache is made; one that exists keeps its own.
  static tandem::Result<Cache> Open(const std::string& path, microseconds lifetime) {
    tandem::Options options;
    options.create_if_missing = true;
    options.memory_bytes = 64 << 20;
    auto database = tandem::Database::Open(path, options);
    if (!database) return database.error();

    tandem::TableOptions table;
    table.name = "cache";
    table.families = {{.name = "entry", .ttl_micros = lifetime.count()}};
    const tandem::Status made = (*database)->CreateTable(table);
    if (!made.ok() && made.code() != tandem::StatusCode::kAlreadyExists) return made;
    return Cache(std::move(*database));
  }

  /// `age`: how old the value is already, for example where another cache had it.
  tandem::Status Put(std::string_view key, std::string_view value, microseconds age = {}) {
    tandem::WriteBatch batch;
    batch.Put("cache", key, "entry", "value", value, NowMicros() - age.count());
    return database_->Write({.durability = tandem::Durability::kBuffered}, batch);
  }

  /// nullopt: never put, removed, or too old.
  tandem::Result<std::optional<std::string>> Get(std::string_view key) {
    auto row = database_->Get({}, "cache", key);
    if (!row) return row.error();
    if (!row->has_value()) return std::optional<std::string>();
    // The row owns its bytes, and goes at the end of this function: the value is copied out of it.
    return std::optional<std::string>((*row)->Find("entry", "value"));
  }

  tandem::Status Remove(std::string_view key) {
    tandem::WriteBatch batch;
    batch.DeleteRow("cache", key);
    return database_->Write({.durability = tandem::Durability::kBuffered}, batch);
  }

  tandem::Status Close() { return database_->Close(); }

 private:
  explicit Cache(std::unique_ptr<tandem::Database> database) : database_(std::move(database)) {}

  std::unique_ptr<tandem::Database> database_;
};

tandem::Status Show(Cache& cache, std::string_view key) {
  const auto value = cache.Get(key);
  if (!value) return value.error();
  std::printf("%.*s: %s\n", static_cast<int>(key.size()), key.data(),
              value->has_value() ? (*value)->c_str() : "not cached");
  return {};
}

tandem::Status Run(const std::string& path) {
  using std::chrono::minutes;
  auto cache = Cache::Open(path, minutes(60));
  if (!cache) return cache.error();
  if (auto status = cache->Put("/index.html", "<h1>Hello</h1>"); !status.ok()) return status;
  if (auto status = cache->Put("/fresh", "computed a minute ago", minutes(1)); !status.ok()) {
    return status;
  }
  if (auto status = cache->Put("/stale", "computed too long ago", minutes(61)); !status.ok()) {
    return status;
  }
  if (auto status = cache->Put("/removed", "soon gone"); !status.ok()) return status;
  if (auto status = cache->Remove("/removed"); !status.ok()) return status;
  for (const char* key : {"/index.html", "/fresh", "/stale", "/removed"}) {
    if (auto status = Show(*cache, key); !status.ok()) return status;
  }
  return cache->Close();
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
