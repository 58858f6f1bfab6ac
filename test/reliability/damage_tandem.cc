// Tandem under the damage that its peers take, through the public interface alone.
#include "tandem/tandem.h"
#include "test/reliability/damage_peer.h"

namespace tandem::reliability {
namespace {

class TandemPeer final : public DamagePeer {
 public:
  std::string name() const override { return "Tandem"; }

  std::string Make(const std::string& path) override {
    auto database = Database::Open(path, TestedOptions(true));
    if (!database.has_value()) return database.error().ToString();
    TableOptions table;
    table.name = "t";
    table.families.push_back({.name = "d"});
    Status status = (*database)->CreateTable(table);
    for (uint64_t i = 0; i < kPeerKeys && status.ok(); ++i) {
      WriteBatch batch;
      batch.Put("t", PeerKey(i), "d", "v", PeerValue(i));
      if (i == kPeerKeysFlushed) status = (*database)->Flush();
      const bool is_last = i + 1 == kPeerKeys;
      const auto durability = is_last ? Durability::kSynced : Durability::kWritten;
      if (status.ok()) status = (*database)->Write({.durability = durability}, batch);
    }
    if (status.ok()) status = (*database)->Close();
    return status.ok() ? "" : status.ToString();
  }

  PeerRead Read(const std::string& path) override {
    PeerRead read;
    auto database = Database::Open(path, TestedOptions(false));
    if (!database.has_value()) {
      read.error = database.error().ToString();
      return read;
    }
    auto cursor = (*database)->Scan({}, "t", {});
    if (!cursor.has_value()) {
      read.error = cursor.error().ToString();
      return read;
    }
    while (cursor->Next()) {
      const RowView& row = cursor->row();
      read.rows.emplace(row.key(), row.Find("d", "v").value_or("no value"));
    }
    if (!cursor->status().ok()) read.error = cursor->status().ToString();
    return read;
  }

 private:
  static Options TestedOptions(bool create) {
    Options options;
    options.create_if_missing = create;
    options.memory_bytes = 8 << 20;  // So that a log reserves little: thousands are made.
    return options;
  }
};

}  // namespace

std::unique_ptr<DamagePeer> NewTandemPeer() { return std::make_unique<TandemPeer>(); }

}  // namespace tandem::reliability
