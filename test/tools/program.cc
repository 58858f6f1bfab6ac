// Streams over memory, and a clock of the system.
#include "test/tools/program.h"

#include <cstdio>
#include <cstdlib>

#include "base/clock.h"
#include "test/tools/input_from_text.h"
#include "tools/tandem/run.h"

namespace tandem::test {
namespace {

/// A stream that collects what is written to it.
class Collector {
 public:
  Collector() : file_(open_memstream(&text_, &size_)) {}
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;
  ~Collector() {
    std::fclose(file_);
    std::free(text_);
  }
  std::FILE* file() { return file_; }
  std::string text() {
    std::fflush(file_);
    return {text_, size_};
  }

 private:
  char* text_ = nullptr;
  size_t size_ = 0;
  std::FILE* file_;
};

}  // namespace

ProgramRun RunProgram(const std::vector<std::string>& arguments, const std::string& input,
                      const std::atomic<bool>* interrupted) {
  const auto clock = base::NewSystemClock();
  TextStream in(input);
  Collector out, err;
  tools::Context context;
  context.in = in.file();
  context.out = out.file();
  context.err = err.file();
  context.clock = clock.get();
  context.interrupted = interrupted;
  ProgramRun run;
  run.exit_code = tools::Run(arguments, context);
  run.out = out.text();
  run.err = err.text();
  return run;
}

}  // namespace tandem::test
