// See durable_database.h. What is durable of a manifest stays as it is while the program only
// appends to it: Changes learns of everything else, and the trace linter looks no further where a
// test changed the files.
#include "tools/simulation/durable_database.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "engine/storage/files.h"
#include "engine/storage/storage.h"
#include "format/frame_chain.h"

namespace tandem::test {
namespace {

// What is durable of a file, to be read where it lies.
class DurableContent final : public base::File {
 public:
  explicit DurableContent(const Inode& inode) : image_(inode.durable) {}

  Result<size_t> Read(uint64_t offset, std::span<char> buffer) override {
    if (offset >= image_.size_bytes) return size_t{0};
    const size_t count = std::min<uint64_t>(buffer.size(), image_.size_bytes - offset);
    const size_t kept =
        offset < image_.bytes.size() ? image_.bytes.copy(buffer.data(), count, offset) : size_t{0};
    std::fill(buffer.begin() + static_cast<ptrdiff_t>(kept),
              buffer.begin() + static_cast<ptrdiff_t>(count), '\0');
    return count;
  }
  Status Write(uint64_t, std::string_view) override { return Refused(); }
  Status DataSync() override { return Refused(); }
  Result<uint64_t> Size() override { return image_.size_bytes; }
  Status Truncate(uint64_t) override { return Refused(); }
  Status Preallocate(uint64_t) override { return Refused(); }
  const std::string& name() const override { return name_; }

 private:
  static Status Refused() { return Status::ReadOnly("what is durable is only read"); }
  const Image& image_;
  const std::string name_ = "durable content";
};

}  // namespace

std::optional<format::RootFile> ReadDurableRoot(const DirectoryImage& directory) {
  const Inode* inode = DurableFile(directory, engine::kRootName);
  if (inode == nullptr) return std::nullopt;
  DurableContent content(*inode);
  Result<format::RootFile> root = format::ReadRoot(&content);
  if (!root.has_value() || root->record.manifest.number.value == 0) return std::nullopt;
  return std::move(*root);
}

const Inode* DurableFile(const DirectoryImage& directory, const std::string& name) {
  const auto found = directory.durable.find(name);
  return found == directory.durable.end() ? nullptr : found->second.get();
}

std::optional<DurableDatabases::Database> DurableDatabases::Read(DiskImage* image,
                                                                 const std::string& path) {
  const DirectoryImage* directory = image->Find(path);
  const auto root = directory == nullptr ? std::nullopt : ReadDurableRoot(*directory);
  if (!root.has_value()) return std::nullopt;
  const std::string manifest = engine::ManifestName(root->record.manifest.number);
  const Inode* inode = DurableFile(*directory, manifest);
  if (inode == nullptr) return std::nullopt;
  Known& known = known_[path];
  const bool is_read_on = !rewritten_.contains(path) && ReadOn(*inode, *root, &known).ok();
  if (!is_read_on && !ReadWhole(*inode, *root, &known).ok()) {
    known_.erase(path);
    return std::nullopt;
  }
  return Database{.manifest = manifest, .catalog = &known.contents.catalog};
}

void DurableDatabases::Changes(const std::string& path, const Inode& inode, uint64_t offset) {
  const auto known = known_.find(path);
  if (known == known_.end() || known->second.inode != inode.id) return;
  if (offset < known->second.contents.end.length_bytes) rewritten_.insert(path);
}

// Reads what was appended. Any error: it cannot be read so, and has to be read as a whole.
Status DurableDatabases::ReadOn(const Inode& inode, const format::RootFile& root, Known* known) {
  format::ManifestContents& contents = known->contents;
  format::BoundFile& end = contents.end;
  const format::BoundFile& bound = root.record.manifest;
  const bool is_same = known->inode == inode.id && contents.catalog.database == root.database &&
                       end.number == bound.number && end.id == bound.id;
  // Of a closed one ROOT says the exact end.
  if (!is_same || root.record.closed || inode.durable.size_bytes < end.length_bytes) {
    return Status::NotFound("not what was read");
  }
  DurableContent content(inode);
  format::FrameReader reader(&content, end.id, end.length_bytes, inode.durable.size_bytes);
  format::FrameChain chain;
  chain.last_checksum = end.last_checksum;
  chain.last_sequence = contents.last_edit;
  const auto apply = [&](const format::Frame& frame) {
    return format::ApplyManifestFrame(frame, &contents);
  };
  ASSIGN_OR_RETURN(end.length_bytes, format::FollowChain(&reader, content.name(), apply, &chain));
  end.last_checksum = chain.last_checksum;
  frames_read_ += chain.frames;
  if (end.length_bytes < bound.length_bytes ||
      (end.length_bytes == bound.length_bytes && end.last_checksum != bound.last_checksum)) {
    return Status::Corruption("not as ROOT says");
  }
  return chain.frames == 0 ? Status() : format::CheckCatalog(contents.catalog);
}

Status DurableDatabases::ReadWhole(const Inode& inode, const format::RootFile& root, Known* known) {
  DurableContent content(inode);
  ASSIGN_OR_RETURN(known->contents, format::ReadManifest(&content, root));
  known->inode = inode.id;
  frames_read_ += known->contents.last_edit;
  return {};
}

}  // namespace tandem::test
