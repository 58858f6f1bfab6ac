// LevelDB under damage: paranoid checks on, checksums verified by the scan. It flushes only when
// it is opened again, so the keys that are to lie in a file are written in a first life.
#include <leveldb/db.h>
#include <leveldb/options.h>

#include "test/reliability/damage_peer.h"

namespace tandem::reliability {
namespace {

class LevelDbPeer final : public DamagePeer {
 public:
  std::string name() const override { return "LevelDB"; }

  std::string Make(const std::string& path) override {
    leveldb::Status status = Write(path, 0, kPeerKeysFlushed);
    if (status.ok()) status = Write(path, kPeerKeysFlushed, kPeerKeys);
    return status.ok() ? "" : status.ToString();
  }

  PeerRead Read(const std::string& path) override {
    std::unique_ptr<leveldb::DB> database;
    const leveldb::Status status = Open(path, false, &database);
    PeerRead read;
    if (!status.ok()) {
      read.error = status.ToString();
      return read;
    }
    leveldb::ReadOptions options;
    options.verify_checksums = true;
    const std::unique_ptr<leveldb::Iterator> rows(database->NewIterator(options));
    for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
      read.rows.emplace(rows->key().ToString(), rows->value().ToString());
    }
    if (!rows->status().ok()) read.error = rows->status().ToString();
    return read;
  }

 private:
  static leveldb::Status Open(const std::string& path, bool create,
                              std::unique_ptr<leveldb::DB>* database) {
    leveldb::Options options;
    options.create_if_missing = create;
    options.paranoid_checks = true;
    leveldb::DB* opened = nullptr;
    const leveldb::Status status = leveldb::DB::Open(options, path, &opened);
    database->reset(opened);
    return status;
  }
  static leveldb::Status Write(const std::string& path, uint64_t from, uint64_t to) {
    std::unique_ptr<leveldb::DB> database;
    leveldb::Status status = Open(path, true, &database);
    for (uint64_t i = from; i < to && status.ok(); ++i) {
      leveldb::WriteOptions options;
      options.sync = i + 1 == to;
      status = database->Put(options, PeerKey(i), PeerValue(i));
    }
    return status;
  }
};

}  // namespace

std::unique_ptr<DamagePeer> NewLevelDbPeer() { return std::make_unique<LevelDbPeer>(); }

}  // namespace tandem::reliability
