// A file is closed, being opened, held, or idle (open but not held). Idle files are in a list in
// order of last use; the first is closed when a place is needed. A file's list node moves between
// that list and a list of its own, so using a file never allocates. Descriptors are opened and
// closed without the mutex.
#include "base/file_pool.h"

#include <new>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/status_macros.h"

namespace tandem::base {
namespace {

Result<File*> NoFile() { return static_cast<File*>(nullptr); }

// A read may fail only by its status: a queue that submits many requests cannot stop in the middle.
Result<std::unique_ptr<File>> OpenOnce(FilePool::Source* source) {
  try {
    return source->Open();
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory();
  }
}

}  // namespace

class FilePool::PooledFile final : public File {
 public:
  PooledFile(std::shared_ptr<FilePool> pool, std::string name, std::unique_ptr<Source> source)
      : pool_(std::move(pool)), name_(std::move(name)), source_(std::move(source)) {
    place_ = own_.insert(own_.end(), this);
  }
  ~PooledFile() override { pool_->Forget(this); }

  Result<size_t> Read(uint64_t offset, std::span<char> buffer) override;
  Result<uint64_t> Size() override;
  Status Write(uint64_t, std::string_view) override { return Refused(); }
  Status DataSync() override { return Refused(); }
  Status Truncate(uint64_t) override { return Refused(); }
  Status Preallocate(uint64_t) override { return Refused(); }
  std::vector<bool> CachedPages(uint64_t offset, uint64_t size_bytes) override;
  void DropCached(uint64_t offset, uint64_t size_bytes) override;
  const std::string& name() const override { return name_; }
  FilePin Pin() override;

 private:
  friend class FilePool;

  void Unpin() override { pool_->Release(this, Hold::kLasting); }
  Status Refused() const { return Status::IoError("'" + name_ + "' is open for reading only"); }

  const std::shared_ptr<FilePool> pool_;
  const std::string name_;
  const std::unique_ptr<Source> source_;  // Used only by the thread that opens the file.
  // Guarded by the pool's mutex.
  std::unique_ptr<File> file_;              // Null: closed, or being opened.
  bool is_opening_ = false;                 // A thread is opening it.
  bool was_open_ = false;                   // It has been opened before.
  uint32_t holds_ = 0;                      // Calls and pins that use it.
  uint32_t pins_ = 0;                       // How many of holds_ are pins.
  std::list<PooledFile*> own_;              // Holds its node while it is not idle.
  std::list<PooledFile*>::iterator place_;  // Its node, in own_ or in idle_.
};

// Holds a file for a call.
class FilePool::Use {
 public:
  Use(FilePool* pool, PooledFile* file) : pool_(pool), pooled_(file) {}
  ~Use() {
    if (is_held_) pool_->Release(pooled_, Hold::kBrief);
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

  Result<File*> Begin() {
    Result<File*> file = pool_->Acquire(pooled_, Hold::kBrief);
    is_held_ = file.has_value();
    return file;
  }

 private:
  FilePool* const pool_;
  PooledFile* const pooled_;
  bool is_held_ = false;
};

// The place of a file that is being opened. It is released unless the file was opened.
class FilePool::Opening {
 public:
  Opening(FilePool* pool, PooledFile* file, Hold hold) : pool_(pool), pooled_(file), hold_(hold) {}
  Opening(const Opening&) = delete;
  Opening& operator=(const Opening&) = delete;
  ~Opening() {
    if (is_done_) return;
    MutexLock lock(pool_->mutex_);
    pooled_->is_opening_ = false;
    --pool_->open_;
    pool_->Uncount(pooled_, hold_);
    pool_->changed_.NotifyAll();
  }

  File* Finish(std::unique_ptr<File> file) {
    MutexLock lock(pool_->mutex_);
    is_done_ = true;
    pooled_->is_opening_ = false;
    pooled_->file_ = std::move(file);
    if (std::exchange(pooled_->was_open_, true)) ++pool_->reopened_;
    pool_->changed_.NotifyAll();
    return pooled_->file_.get();
  }

 private:
  FilePool* const pool_;
  PooledFile* const pooled_;
  const Hold hold_;
  bool is_done_ = false;
};

Result<size_t> FilePool::PooledFile::Read(uint64_t offset, std::span<char> buffer) {
  Use use(pool_.get(), this);
  ASSIGN_OR_RETURN(File* const file, use.Begin());
  return file->Read(offset, buffer);
}

Result<uint64_t> FilePool::PooledFile::Size() {
  Use use(pool_.get(), this);
  ASSIGN_OR_RETURN(File* const file, use.Begin());
  return file->Size();
}

std::vector<bool> FilePool::PooledFile::CachedPages(uint64_t offset, uint64_t size_bytes) {
  Use use(pool_.get(), this);
  const Result<File*> file = use.Begin();
  return file.has_value() ? (*file)->CachedPages(offset, size_bytes) : std::vector<bool>();
}

void FilePool::PooledFile::DropCached(uint64_t offset, uint64_t size_bytes) {
  Use use(pool_.get(), this);
  const Result<File*> file = use.Begin();
  if (file.has_value()) (*file)->DropCached(offset, size_bytes);
}

// If the file cannot be opened the pin is empty; the operation's own call then reports the error,
// or succeeds.
FilePin FilePool::PooledFile::Pin() {
  const Result<File*> file = pool_->Acquire(this, Hold::kLasting);
  if (!file.has_value() || *file == nullptr) return FilePin();
  return FilePin(*file, this);
}

Result<std::unique_ptr<File>> FilePool::Open(std::string name, std::unique_ptr<Source> source) {
  auto file = std::make_unique<PooledFile>(shared_from_this(), std::move(name), std::move(source));
  Use use(this, file.get());
  RETURN_IF_ERROR(use.Begin().status());
  return std::unique_ptr<File>(std::move(file));
}

// Returns null when a pin finds no free place.
Result<File*> FilePool::Acquire(PooledFile* file, Hold hold) {
  std::unique_ptr<File> closing;
  {
    MutexLock lock(mutex_);
    const bool is_lasting = hold == Hold::kLasting;
    if (is_lasting && file->pins_ == 0 && lasting_ == lasting_max_) return NoFile();
    while (file->file_ == nullptr && (file->is_opening_ || !MakeRoom(&closing))) {
      if (is_lasting) return NoFile();
      changed_.Wait(mutex_);
    }
    Count(file, hold);
    if (file->file_ != nullptr) return file->file_.get();
    file->is_opening_ = true;
    ++open_;
  }
  Opening opening(this, file, hold);
  closing.reset();  // Before opening the next: never more open than places_.
  ASSIGN_OR_RETURN(std::unique_ptr<File> opened, OpenFreeingPlaces(file));
  return opening.Finish(std::move(opened));
}

// If the process has run out of descriptors, closes idle files and tries again.
Result<std::unique_ptr<File>> FilePool::OpenFreeingPlaces(PooledFile* file) {
  while (true) {
    Result<std::unique_ptr<File>> opened = OpenOnce(file->source_.get());
    const bool may_pass = !opened && opened.error().code() == StatusCode::kUnavailable;
    if (!may_pass || !CloseIdle()) return opened;
  }
}

void FilePool::Release(PooledFile* file, Hold hold) {
  MutexLock lock(mutex_);
  Uncount(file, hold);
  if (file->holds_ > 0) return;
  idle_.splice(idle_.end(), file->own_);
  changed_.NotifyAll();
}

void FilePool::Count(PooledFile* file, Hold hold) {
  if (file->holds_++ == 0 && file->file_ != nullptr) {
    file->own_.splice(file->own_.end(), idle_, file->place_);
  }
  if (hold == Hold::kLasting && file->pins_++ == 0) ++lasting_;
}

void FilePool::Uncount(PooledFile* file, Hold hold) {
  if (hold == Hold::kLasting && --file->pins_ == 0) --lasting_;
  --file->holds_;
}

bool FilePool::MakeRoom(std::unique_ptr<File>* closing) {
  if (open_ < places_) return true;
  *closing = TakeIdle();
  return *closing != nullptr;
}

std::unique_ptr<File> FilePool::TakeIdle() {
  if (idle_.empty()) return nullptr;
  PooledFile* const file = idle_.front();
  file->own_.splice(file->own_.end(), idle_, file->place_);
  --open_;
  return std::move(file->file_);
}

bool FilePool::CloseIdle() {
  std::unique_ptr<File> closing;  // Closed without the mutex.
  MutexLock lock(mutex_);
  closing = TakeIdle();
  if (closing != nullptr) changed_.NotifyAll();
  return closing != nullptr;
}

// Requires: nobody holds the file.
void FilePool::Forget(PooledFile* file) {
  std::unique_ptr<File> closing;
  MutexLock lock(mutex_);
  CHECK(file->holds_ == 0);
  if (file->file_ == nullptr) return;
  idle_.erase(file->place_);
  --open_;
  closing = std::move(file->file_);
  changed_.NotifyAll();
}

FilePool::Counters FilePool::counters() const {
  MutexLock lock(mutex_);
  return {.open = open_, .reopened = reopened_};
}

}  // namespace tandem::base
