// The program `tandem`: hands its words and streams to Run. Ctrl-C asks the verb to stop at the
// next safe point; a second one ends the process.
#include <malloc.h>
#include <signal.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <vector>

#include "base/clock.h"
#include "tools/tandem/run.h"

namespace {

std::atomic<bool> interrupted{false};

void Interrupt(int) { interrupted.store(true, std::memory_order_relaxed); }

}  // namespace

int main(int count, char** words) {
  // glibc would raise this with every large block that is freed, and keep what merges of files
  // leave between blocks that live on: a third of an import's memory.
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  struct sigaction action {};
  action.sa_handler = Interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // No SA_RESTART: a waiting read returns.
  sigaction(SIGINT, &action, nullptr);

  const auto clock = tandem::base::NewSystemClock();
  tandem::tools::Context context;
  context.in = stdin;
  context.out = stdout;
  context.err = stderr;
  context.clock = clock.get();
  context.interrupted = &interrupted;
  if (count > 0) context.program = words[0];
  return tandem::tools::Run(std::vector<std::string>(words + (count > 0), words + count), context);
}
