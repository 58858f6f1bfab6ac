// Rules that every use of a database's files keeps, whatever the outcome. They are checked at each
// operation of every test on a simulated disk, and need no crash to find a mistake that only a
// crash would make visible. Of the engine's files (engine/storage/files.h):
//
// L1 A byte that was written is never overwritten with another one; ROOT apart.
// L2 A store file that was opened again is not changed any more.
// L3 No name is created twice, over crashes too, once the database is born.
// L4 No byte is read that was never written.
// L5 A file is removed only when the durable manifest does not name it.
// L6 When a manifest or ROOT has become durable, so have the files that it names: their names, and
//    all bytes of the store files.
// L7 No sync is believed that says OK over bytes that a failed sync lost and nobody wrote again. Of
//    ROOT this concerns the slot that counts; the other one is written before it does.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "tools/simulation/disk_observer.h"
#include "tools/simulation/durable_database.h"

namespace tandem::test {

class TraceLinter final : public DiskObserver {
 public:
  std::string Observe(const Observation& seen, DiskImage* image) override;
  void Tampered(const std::string& directory) override;
  void Distrust() override { is_distrustful_ = true; }

  /// Of manifests, to find the names that are durable.
  uint64_t frames_read() const { return databases_.frames_read(); }

 private:
  std::string CheckWrite(const Observation& seen) const;
  std::string CheckRead(const Observation& seen) const;
  std::string CheckSync(const Observation& seen, DiskImage* image);
  std::string CheckCreate(const Observation& seen, DiskImage* image);
  std::string CheckRemove(const Observation& seen, DiskImage* image);

  DurableDatabases databases_;
  std::set<uint64_t> reopened_;                           // Inodes.
  std::map<std::string, std::set<std::string>> created_;  // By directory.
  std::set<std::string> tampered_;
  bool is_distrustful_ = false;
};

}  // namespace tandem::test
