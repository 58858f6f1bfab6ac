// See run_trace.h. The hook is called before an operation, so what a write wrote is read before the
// operation after it.
#include "test/model/run_trace.h"

namespace tandem::test {

void RunTrace::Watch(SimulatedDisk* disk, const std::string& path) {
  disk_ = disk;
  path_ = path;
  disk_->control().SetHook([this](const DiskEvent& event) {
    AddWritten();
    ++event_count_;
    Add(static_cast<uint64_t>(event.operation));
    Add(event.name);
    Add(event.offset);
    Add(event.size);
    if (event.operation == DiskOperation::kWrite) written_ = event;
  });
}

void RunTrace::StopWatching() {
  AddWritten();
  if (disk_ != nullptr) disk_->control().SetHook(nullptr);
  disk_ = nullptr;
}

void RunTrace::AddWritten() {
  if (!written_.has_value()) return;
  const Result<std::string> content = disk_->Content(path_, written_->name);
  const bool is_there = content.has_value() && written_->offset < content->size();
  Add(is_there ? std::string_view(*content).substr(written_->offset, written_->size)
               : std::string_view("gone"));
  written_.reset();
}

void RunTrace::Add(std::string_view text) {
  Add(text.size());
  for (const char byte : text) hash_ = (hash_ ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
}

void RunTrace::Add(uint64_t word) {
  hash_ = (hash_ ^ word) * 0x9e3779b97f4a7c15;
  hash_ ^= hash_ >> 29;
}

}  // namespace tandem::test
