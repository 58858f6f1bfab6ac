// The line is shown at most five times a second.
#include "tools/tandem/progress.h"

#include <unistd.h>

#include "tools/tandem/format_text.h"
#include "tools/tandem/output.h"

namespace tandem::tools {
namespace {

constexpr int64_t kSilentMicros = 1'000'000;
constexpr int64_t kIntervalMicros = 200'000;

}  // namespace

bool IsTerminal(std::FILE* file) {
  const int descriptor = fileno(file);
  return descriptor >= 0 && isatty(descriptor) == 1;
}

Progress::Progress(const Context& context)
    : context_(context),
      terminal_(IsTerminal(context.err)),
      begin_micros_(context.clock->MonotonicMicros()) {}

Progress::~Progress() { Wipe(); }

double Progress::seconds() const {
  return static_cast<double>(context_.clock->MonotonicMicros() - begin_micros_) / 1e6;
}

void Progress::Update(uint64_t rows, uint64_t bytes, uint64_t total_bytes) {
  if (terminal_) Update(Format("{} rows", FormatCount(rows)), bytes, total_bytes);
}

void Progress::UpdateFiles(uint64_t files_left, uint64_t bytes, uint64_t total_bytes) {
  if (terminal_) Update(Format("{} files left", FormatCount(files_left)), bytes, total_bytes);
}

void Progress::Update(const std::string& what, uint64_t bytes, uint64_t total_bytes) {
  const int64_t now = context_.clock->MonotonicMicros();
  if (now - begin_micros_ < kSilentMicros || now - shown_micros_ < kIntervalMicros) return;
  shown_micros_ = now;
  const double passed = seconds();
  std::string line = Format("{}, {}, {}/s", what, FormatSize(bytes),
                            FormatSize(static_cast<uint64_t>(static_cast<double>(bytes) / passed)));
  if (total_bytes > bytes && bytes > 0) {
    const double left =
        passed * static_cast<double>(total_bytes - bytes) / static_cast<double>(bytes);
    line += Format(", {:.0f} s left", left);
  }
  const size_t width = line.size();
  if (width < shown_width_) line.append(shown_width_ - width, ' ');
  shown_width_ = width;
  WriteBytes(context_.err, "\r" + line);
  std::fflush(context_.err);
}

void Progress::Wipe() {
  if (shown_width_ == 0) return;
  WriteBytes(context_.err, "\r" + std::string(shown_width_, ' ') + "\r");
  std::fflush(context_.err);
  shown_width_ = 0;
}

}  // namespace tandem::tools
