// See child_process.h.
#include "tools/bench/child_process.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tools/bench/peer.h"
#include "tools/bench/usage.h"

namespace tandem::bench {
namespace {

[[noreturn]] void Become(const std::vector<std::string>& words, int output) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  (void)dup2(output, STDOUT_FILENO);
  execv(arguments[0], arguments.data());
  _exit(127);
}

std::string ReadAll(int from) {
  std::string text;
  char buffer[65536];
  for (ssize_t count; (count = read(from, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(count));
  return text;
}

bool EndedSo(int status, ProcessEnd end) {
  if (end == ProcessEnd::kKill) return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

FinishedProcess RunProcess(const std::vector<std::string>& words, ProcessEnd end) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) Fail("no pipe for " + words[0]);
  const double begin = SecondsNow();
  const pid_t child = fork();
  if (child == 0) Become(words, ends[1]);
  close(ends[1]);
  if (child < 0) Fail("cannot start " + words[0]);
  FinishedProcess process;
  process.output = ReadAll(ends[0]);
  close(ends[0]);
  int status = 0;
  rusage usage = {};
  if (wait4(child, &status, 0, &usage) != child || !EndedSo(status, end))
    Fail(words[0] + " " + (words.size() > 1 ? words[1] : "") + " failed");
  process.seconds = SecondsNow() - begin;
  const auto seconds_of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  process.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  process.peak_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  return process;
}

}  // namespace tandem::bench
