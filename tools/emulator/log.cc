// See log.h. The same steps as those of engine/maintenance.cc.
#include "tools/emulator/log.h"

#include "engine/region/size_rules.h"

namespace tandem::emulator {
namespace {

// The log is looked at after every sixteenth of a memstore.
constexpr uint64_t kLookFraction = 16;

}  // namespace

Log::Log(uint64_t memstore_bytes, uint64_t segment_bytes)
    : bytes_max_(static_cast<double>(engine::LogBytesMax(memstore_bytes))),
      segment_bytes_(static_cast<double>(segment_bytes)),
      look_bytes_(static_cast<double>(memstore_bytes / kLookFraction)) {}

bool Log::Append(double bytes) {
  end_ += bytes;
  if (end_ - looked_at_ < look_bytes_) return false;
  looked_at_ = end_;
  return true;
}

void Log::RollIfDue() {
  const double segment = end_ - segment_begin_;
  if (segment <= segment_bytes_ && (bytes() <= bytes_max_ || segment <= bytes() / 2)) return;
  sealed_.push_back(end_);
  segment_begin_ = end_;
}

void Log::DropBefore(double needed) {
  while (!sealed_.empty() && sealed_.front() <= needed) {
    begin_ = sealed_.front();
    sealed_.pop_front();
  }
}

double Log::FlushBefore() const {
  return bytes() <= bytes_max_ || sealed_.empty() ? 0 : sealed_.front();
}

}  // namespace tandem::emulator
