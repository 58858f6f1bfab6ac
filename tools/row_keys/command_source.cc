// See command_source.h.
#include "tools/row_keys/command_source.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/status_macros.h"
#include "tools/row_keys/line_source.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"

namespace tandem::row_keys {
namespace {

using tools::EscapeBytes;
using tools::Format;

/// A shell that runs a command; its output comes through `out`. Ended with this object.
class Shell {
 public:
  explicit Shell(pid_t process) : process_(process) {}
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;
  ~Shell() {
    if (process_ <= 0) return;
    kill(-process_, SIGKILL);  // Its group: what the shell has started, too.
    (void)Wait();
  }

  /// Its status as waitpid gives it, once.
  int Wait() {
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = 0;
    return status;
  }

 private:
  pid_t process_;
};

class CommandSource : public KeySource {
 public:
  CommandSource(const std::string& command, pid_t process, tools::OwnedFile out, bool weighted)
      : name_(Format("the command '{}'", EscapeBytes(command))),
        shell_(process),
        lines_(out.get(), nullptr, name_, weighted),
        out_(std::move(out)) {}

  Result<bool> Next(WeightedKey* key) override {
    if (ended_) return false;
    ASSIGN_OR_RETURN(const bool more, lines_.Next(key));
    if (more) {
      printed_ = true;
      return true;
    }
    ended_ = true;
    RETURN_IF_ERROR(Ended(shell_.Wait()));
    return false;
  }
  uint64_t read_bytes() const override { return lines_.read_bytes(); }

 private:
  Status Ended(int status) const {
    if (WIFSIGNALED(status)) {
      return Status::IoError(Format("{} died of signal {} ({})", name_, WTERMSIG(status),
                                    strsignal(WTERMSIG(status))));
    }
    if (WEXITSTATUS(status) != 0) {
      return Status::IoError(Format("{} ended with exit status {}", name_, WEXITSTATUS(status)));
    }
    if (printed_) return {};
    return Status::InvalidArgument(Format("{} printed no key", name_));
  }

  std::string name_;
  Shell shell_;
  LineSource lines_;
  tools::OwnedFile out_;
  bool printed_ = false;
  bool ended_ = false;
};

Status CannotStart(const std::string& command, int error) {
  return Status::IoError(
      Format("the command '{}' cannot be started: {}", EscapeBytes(command), std::strerror(error)));
}

/// Starts a shell whose standard output is `out`. Returns an error number, or 0.
int StartShell(const std::string& command, int out, pid_t* process) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  char shell[] = "sh", flag[] = "-c";
  std::string text = command;
  char* const words[] = {shell, flag, text.data(), nullptr};
  const int error = posix_spawn(process, "/bin/sh", &actions, &attributes, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error;
}

}  // namespace

Result<std::unique_ptr<KeySource>> RunCommand(const std::string& command, bool weighted) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return CannotStart(command, errno);
  pid_t process = 0;
  const int error = StartShell(command, ends[1], &process);
  close(ends[1]);
  tools::OwnedFile out(fdopen(ends[0], "r"));
  if (error != 0 || out == nullptr) return CannotStart(command, error != 0 ? error : errno);
  return std::unique_ptr<KeySource>(
      std::make_unique<CommandSource>(command, process, std::move(out), weighted));
}

}  // namespace tandem::row_keys
