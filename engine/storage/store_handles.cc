// The first open of a file records its size and id; every later open must find the same. Whether it
// was the right file is checked by the reader of its header and footer (store_file/open.cc).
#include "engine/storage/store_handles.h"

#include <string>
#include <utility>

#include "base/status_macros.h"
#include "engine/storage/files.h"
#include "engine/storage/storage.h"
#include "format/corruption.h"
#include "format/file_header.h"

namespace tandem::engine {
namespace {

Result<format::FileId> ReadId(base::File* file) {
  char bytes[format::kFileHeaderBytes];
  ASSIGN_OR_RETURN(const size_t count, file->Read(0, bytes));
  ASSIGN_OR_RETURN(
      const format::FileHeader header,
      format::DecodeFileHeader({bytes, count}, format::FileKind::kStore, file->name()));
  return header.id;
}

class StoreFileSource final : public base::FilePool::Source {
 public:
  StoreFileSource(base::Directory* directory, std::string name, std::optional<format::FileId> id)
      : directory_(directory), name_(std::move(name)), id_(std::move(id)) {}

  Result<std::unique_ptr<base::File>> Open() override {
    Result<std::unique_ptr<base::File>> file = directory_->Open(name_, base::OpenMode::kReadOnly);
    if (!file) return size_bytes_.has_value() ? Gone(file.error()) : file.error();
    RETURN_IF_ERROR(size_bytes_.has_value() ? Check(file->get()) : Learn(file->get()));
    return file;
  }

 private:
  Status Learn(base::File* file) {
    ASSIGN_OR_RETURN(const uint64_t size, file->Size());
    if (!id_.has_value()) {
      ASSIGN_OR_RETURN(id_, ReadId(file));
    }
    size_bytes_ = size;
    return {};
  }

  Status Check(base::File* file) const {
    ASSIGN_OR_RETURN(const uint64_t size, file->Size());
    if (size != *size_bytes_) {
      return format::CorruptionAt(name_, 0, format::Mismatch("file size", *size_bytes_, size));
    }
    ASSIGN_OR_RETURN(const format::FileId id, ReadId(file));
    if (id == *id_) return {};
    return format::CorruptionAt(name_, 0, "another file than the one that was open before");
  }

  Status Gone(const Status& error) const {
    if (error.code() != StatusCode::kNotFound) return error;
    return Status::IoError(name_ +
                           ": it was closed to keep within open_files_max and is gone now that it "
                           "is read again: another process removed it; open the database again, or "
                           "raise open_files_max (Options) above its number of files");
  }

  base::Directory* const directory_;
  const std::string name_;
  std::optional<format::FileId> id_;
  std::optional<uint64_t> size_bytes_;  // nullopt: it was not open yet.
};

}  // namespace

Result<std::unique_ptr<base::File>> StoreHandles::Open(format::FileNumber number,
                                                       std::optional<format::FileId> id) {
  const std::string name = StoreFileName(number);
  return pool_->Open(name, std::make_unique<StoreFileSource>(directory_, name, std::move(id)));
}

}  // namespace tandem::engine
