// power: a real file system on a loop device loses its power. The ioctl GOINGDOWN without a flush
// of its log throws away what no sync made durable; after the next mount everything that was
// acknowledged as synced is there. Mounts live in a name space of the worker, the image has no
// name, and the loop device is released by itself, so nothing is left however a worker ends.
#include <fcntl.h>
#include <linux/loop.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "test/reliability/process_life.h"
#include "test/reliability/rounds.h"
#include "test/reliability/trial_workers.h"
#include "test/support/temporary_directory.h"

namespace tandem::reliability {
namespace {

constexpr uint64_t kCyclesPerDatabase = 10;
constexpr uint64_t kDatabases = 6;
constexpr unsigned long kGoingDown = 0x8004587d;  // EXT4_IOC_SHUTDOWN, XFS_IOC_GOINGDOWN.
constexpr uint32_t kNoLogFlush = 2;

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int operator*() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

std::string Errno(const std::string& what) { return what + ": " + std::strerror(errno); }

struct FileSystemKind {
  const char* name;
  const char* make;  ///< Followed by the image.
  uint64_t image_bytes;
};
constexpr FileSystemKind kKinds[] = {
    {"ext4", "mkfs.ext4 -q -F -E lazy_itable_init=1,lazy_journal_init=1 ", 64 << 20},
    {"xfs", "mkfs.xfs -q -f ", 320 << 20},
};

bool HasProgram(const std::string& name) {
  return std::filesystem::exists("/sbin/" + name) || std::filesystem::exists("/usr/sbin/" + name);
}

/// A file system in a file. Every call answers what went wrong, or nothing.
class LoopFileSystem {
 public:
  explicit LoopFileSystem(const FileSystemKind& kind) : kind_(kind) {}
  ~LoopFileSystem() {
    if (is_mounted_) umount2(mount_point().c_str(), MNT_DETACH);
  }

  std::string Make(const std::string& directory) {
    directory_.emplace(directory);
    if (unshare(CLONE_NEWNS) != 0) return Errno("unshare");
    if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return Errno("private /");
    const std::string image = directory_->Path("image");
    Descriptor file(open(image.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!file.is_open() || ftruncate(*file, static_cast<off_t>(kind_.image_bytes)) != 0) {
      return Errno("image");
    }
    const std::string command = kind_.make + image + " >/dev/null 2>&1";
    if (std::system(command.c_str()) != 0) return std::string("mkfs of ") + kind_.name + " failed";
    std::string wrong = Attach(*file);
    unlink(image.c_str());
    std::error_code failed;
    std::filesystem::create_directory(mount_point(), failed);
    return wrong;
  }
  std::string Mount() {
    const char* options = std::strcmp(kind_.name, "xfs") == 0 ? "nouuid" : "";
    if (mount(device_path_.c_str(), mount_point().c_str(), kind_.name, MS_NOATIME, options) != 0) {
      return Errno("mount of " + device_path_);
    }
    is_mounted_ = true;
    return "";
  }
  std::string PowerOff() {
    Descriptor root(open(mount_point().c_str(), O_RDONLY | O_CLOEXEC));
    uint32_t flags = kNoLogFlush;
    return ioctl(*root, kGoingDown, &flags) == 0 ? "" : Errno("GOINGDOWN");
  }
  /// Waits until the kernel has released the files of a process that died.
  std::string Unmount(base::Clock* clock) {
    for (int trial = 0; umount2(mount_point().c_str(), 0) != 0; ++trial) {
      if (errno != EBUSY || trial == 1000) return Errno("umount");
      clock->SleepMicros(2000);
    }
    is_mounted_ = false;
    return "";
  }
  std::string mount_point() const { return directory_->Path("mount"); }

 private:
  std::string Attach(int file) {
    const Descriptor control(open("/dev/loop-control", O_RDWR | O_CLOEXEC));
    if (!control.is_open()) return Errno("/dev/loop-control");
    loop_config config{};
    config.fd = static_cast<uint32_t>(file);
    config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
    for (int trial = 0; trial < 20; ++trial) {  // Another process may take the free one first.
      const int number = ioctl(*control, LOOP_CTL_GET_FREE);
      device_path_ = "/dev/loop" + std::to_string(number);
      device_ = Descriptor(open(device_path_.c_str(), O_RDWR | O_CLOEXEC));
      if (!device_.is_open()) return Errno(device_path_);
      if (ioctl(*device_, LOOP_CONFIGURE, &config) == 0) return "";
      if (errno != EBUSY) break;
    }
    return Errno("LOOP_CONFIGURE");
  }

  const FileSystemKind& kind_;
  std::optional<test::TemporaryDirectory> directory_;
  Descriptor device_;
  std::string device_path_;
  bool is_mounted_ = false;
};

/// One database through its power cuts.
class PowerTrial {
 public:
  PowerTrial(const Plan& plan, uint64_t number, const FileSystemKind& kind)
      : parent_(plan.directory),
        plan_{.seed = plan.seed * 1000 + number, .uring = number % 2 == 0, .no_losses = false},
        disk_(kind),
        name_(kind.name),
        random_(base::NewSeededRandom(plan_.seed)),
        model_(plan_.seed) {}

  TrialResult Run() {
    std::string wrong = disk_.Make(parent_);
    if (wrong.empty()) wrong = disk_.Mount();
    plan_.path = disk_.mount_point() + "/db";
    for (uint64_t cycle = 0; cycle < kCyclesPerDatabase && wrong.empty(); ++cycle) {
      wrong = Cycle();
      if (!wrong.empty()) wrong = "cycle " + std::to_string(cycle) + ": " + wrong;
    }
    TrialResult result;
    result.figures = {cycles_, synced_, lost_};
    if (!wrong.empty()) {
      result.outcome = Outcome::kWrong;
      result.note = std::string(name_) + (plan_.uring ? ", io_uring: " : ", posix: ") + wrong;
    }
    return result;
  }

 private:
  uint64_t Below(uint64_t limit) { return random_->Next64() % limit; }

  std::string Cycle() {
    progress_->Reset(model_.counts());
    std::string wrong = EndLife();
    if (wrong.empty()) wrong = disk_.Unmount(clock_.get());
    if (wrong.empty()) wrong = disk_.Mount();
    if (!wrong.empty()) return wrong;
    for (size_t writer = 0; writer < kLifeWriters; ++writer) {
      synced_ += progress_->synced[writer] - model_.counts()[writer];
    }
    Check();
    ++cycles_;
    return progress_->wrong;
  }
  std::string EndLife() {
    const int process = ForkBound();
    if (process == 0) {
      Live(plan_, model_.counts(), progress_.get());
      _exit(0);
    }
    while (!progress_->is_open && !HasEnded(process) && !OneIn(200)) clock_->SleepMicros(500);
    clock_->SleepMicros(static_cast<int64_t>(Below(60'000)));
    std::string wrong = progress_->wrong;  // Errors that come after this are those of the power.
    // What is acknowledged while the kernel shuts the file system down may be on either side of it.
    LifeCounts synced{};
    for (size_t writer = 0; writer < kLifeWriters; ++writer) {
      synced[writer] = progress_->synced[writer];
    }
    const std::string failed = disk_.PowerOff();
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
    progress_->Tell("");
    for (size_t writer = 0; writer < kLifeWriters; ++writer) {
      progress_->synced[writer] = synced[writer];
    }
    return wrong.empty() ? failed : wrong;
  }
  bool OneIn(uint64_t count) { return Below(count) == 0; }
  void Check() {
    const bool dies = OneIn(2);
    const int process = ForkBound();
    if (process == 0) {
      CheckLife(plan_, model_, dies, progress_.get());
      _exit(0);
    }
    waitpid(process, nullptr, 0);
    if (!progress_->checked) progress_->Tell("the process that checks died");
    if (progress_->wrong[0] != '\0') return;
    LifeCounts counts{};
    for (size_t writer = 0; writer < kLifeWriters; ++writer) {
      counts[writer] = progress_->found[writer];
      lost_ += progress_->begun[writer] - counts[writer];
    }
    model_.AdvanceTo(counts);
  }

  const std::string parent_;
  LifePlan plan_;
  LoopFileSystem disk_;
  const char* name_;
  std::unique_ptr<base::RandomSource> random_;
  std::unique_ptr<base::Clock> clock_ = base::NewSystemClock();
  LifeModel model_;
  SharedProgress progress_;
  uint64_t cycles_ = 0, synced_ = 0, lost_ = 0;
};

/// Why power cannot be cut on a file system of this kind here; empty where it can.
std::string WhyNot(const Plan& plan, const FileSystemKind& kind) {
  if (geteuid() != 0) return "not root";
  if (!HasProgram(std::string("mkfs.") + kind.name)) return std::string("no mkfs.") + kind.name;
  std::string wrong;
  SharedProgress answer;
  RunInChild([&] {
    LoopFileSystem disk(kind);
    wrong = disk.Make(plan.directory);
    if (wrong.empty()) wrong = disk.Mount();
    answer->Tell(wrong);
    return wrong.empty();
  });
  return answer->wrong;
}

}  // namespace

Report RunPower(const Plan& plan) {
  Report report;
  std::vector<const FileSystemKind*> kinds;
  for (const FileSystemKind& kind : kKinds) {
    const std::string why = WhyNot(plan, kind);
    if (why.empty()) kinds.push_back(&kind);
    if (!why.empty() && &kind == &kKinds[0]) report.skipped = why;
  }
  if (kinds.empty()) return report;
  report.skipped.clear();
  const TrialRun run = RunTrials(
      {.count = plan.seconds > 0 ? ~uint32_t{0} : kDatabases,
       .seconds = plan.seconds,
       .hang_seconds = 120},
      [&](uint64_t number) {
        // Both back ends on each kind; a third of them on the second.
        const size_t kind = number / 2 % 3 == 2 ? kinds.size() - 1 : 0;
        return PowerTrial(plan, number, *kinds[kind]).Run();
      },
      [](uint64_t number) { return "database " + std::to_string(number); });
  report.counts = {{"databases", run.ran},
                   {"power cuts", run.figures[0]},
                   {"synced batches", run.figures[1]},
                   {"unsynced batches lost", run.figures[2]},
                   {"kinds of file systems", kinds.size()}};
  for (const std::string& note : run.notes) {
    report.failures.push_back(note + "\n  reliability power --seed " + std::to_string(plan.seed));
  }
  return report;
}

}  // namespace tandem::reliability
