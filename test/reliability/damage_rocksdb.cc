// RocksDB under damage: its defaults, paranoid checks on, checksums verified by the scan.
#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include "test/reliability/damage_peer.h"

namespace tandem::reliability {
namespace {

class RocksDbPeer final : public DamagePeer {
 public:
  std::string name() const override { return "RocksDB"; }

  std::string Make(const std::string& path) override {
    std::unique_ptr<rocksdb::DB> database;
    rocksdb::Status status = Open(path, true, &database);
    for (uint64_t i = 0; i < kPeerKeys && status.ok(); ++i) {
      rocksdb::WriteOptions options;
      options.sync = i + 1 == kPeerKeys;
      if (i == kPeerKeysFlushed) status = database->Flush({});
      if (status.ok()) status = database->Put(options, PeerKey(i), PeerValue(i));
    }
    if (status.ok()) status = database->Close();
    return status.ok() ? "" : status.ToString();
  }

  PeerRead Read(const std::string& path) override {
    std::unique_ptr<rocksdb::DB> database;
    const rocksdb::Status status = Open(path, false, &database);
    PeerRead read;
    if (!status.ok()) {
      read.error = status.ToString();
      return read;
    }
    rocksdb::ReadOptions options;
    options.verify_checksums = true;
    const std::unique_ptr<rocksdb::Iterator> rows(database->NewIterator(options));
    for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
      read.rows.emplace(rows->key().ToString(), rows->value().ToString());
    }
    if (!rows->status().ok()) read.error = rows->status().ToString();
    return read;
  }

 private:
  static rocksdb::Status Open(const std::string& path, bool create,
                              std::unique_ptr<rocksdb::DB>* database) {
    rocksdb::Options options;
    options.create_if_missing = create;
    options.paranoid_checks = true;
    rocksdb::DB* opened = nullptr;
    const rocksdb::Status status = rocksdb::DB::Open(options, path, &opened);
    database->reset(opened);
    return status;
  }
};

}  // namespace

std::unique_ptr<DamagePeer> NewRocksDbPeer() { return std::make_unique<RocksDbPeer>(); }

}  // namespace tandem::reliability
