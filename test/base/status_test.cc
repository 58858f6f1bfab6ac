// Status and Result: texts, sharing, and the two macros.
#define BOOST_TEST_DYN_LINK
#include "tandem/status.h"

#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <functional>
#include <memory>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/status_macros.h"

namespace tandem {
namespace {

BOOST_AUTO_TEST_SUITE(StatusSuite)

BOOST_AUTO_TEST_CASE(EveryCodeHasItsOwnName) {
  std::set<std::string_view> names;
  const int count = static_cast<int>(StatusCode::kClosed) + 1;
  for (int code = 0; code < count; ++code) {
    names.insert(StatusCodeName(static_cast<StatusCode>(code)));
  }
  BOOST_TEST(names.size() == static_cast<size_t>(count));
  BOOST_TEST(names.count("Unknown") == 0u);
  BOOST_TEST(StatusCodeName(StatusCode::kNoSpace) == "NoSpace");
  BOOST_TEST(StatusCodeName(static_cast<StatusCode>(200)) == "Unknown");
}

BOOST_AUTO_TEST_CASE(TextHasCodeAndMessage) {
  BOOST_TEST(Status().ToString() == "OK");
  BOOST_TEST(Status::NotFound("table 'x' does not exist").ToString() ==
             "NotFound: table 'x' does not exist");
}

BOOST_AUTO_TEST_CASE(CopiesShareTheMessage) {
  const Status status = Status::Busy("held by process 7");
  const Status copy = status;
  BOOST_TEST(!copy.ok());
  BOOST_TEST((copy.code() == StatusCode::kBusy));
  BOOST_TEST(static_cast<const void*>(copy.message().data()) ==
             static_cast<const void*>(status.message().data()));
}

Result<std::unique_ptr<int>> Half(int value) {
  if (value % 2 != 0) return Status::InvalidArgument("odd");
  return std::make_unique<int>(value / 2);
}

Result<int> Quarter(int value) {
  ASSIGN_OR_RETURN(const std::unique_ptr<int> half, Half(value));
  ASSIGN_OR_RETURN(const std::unique_ptr<int> quarter, Half(*half));
  return *quarter;
}

Status CheckQuarter(int value) {
  RETURN_IF_ERROR(Quarter(value).status());
  return {};
}

// What a child process that calls `call` says on standard error before it aborts; empty when it
// does not abort.
std::string LastWords(const std::function<void()>& call) {
  int ends[2];
  BOOST_REQUIRE_EQUAL(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    dup2(ends[1], STDERR_FILENO);
    call();
    _exit(0);
  }
  close(ends[1]);
  std::string words;
  char buffer[512];
  for (ssize_t count; (count = read(ends[0], buffer, sizeof(buffer))) > 0;) {
    words.append(buffer, static_cast<size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  BOOST_REQUIRE_EQUAL(waitpid(child, &status, 0), child);
  const bool aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  return aborted ? words : "";
}

BOOST_AUTO_TEST_CASE(AskingAResultForWhatItDoesNotHoldSaysWhatItHolds) {
  const Result<int> error = Status::InvalidArgument("at position 3: expected a value");
  const std::string words =
      "the value of a Result was asked for, but it holds an error: InvalidArgument: at position 3: "
      "expected a value\n";
  BOOST_TEST(LastWords([&] { (void)*error; }) == words);
  BOOST_TEST(LastWords([&] { (void)error.value(); }) == words);
  BOOST_TEST(LastWords([&] { (void)*Result<std::string>(error.error()); }) == words);
  BOOST_TEST(LastWords([&] { (void)Result<std::string>(error.error())->size(); }) == words);
  BOOST_TEST(LastWords([] { (void)Result<int>(7).error(); }) ==
             "the error of a Result was asked for, but it holds a value\n");
}

// Counts the objects of its kind that exist.
class Counted {
 public:
  explicit Counted(int value) : value_(value) { ++alive; }
  Counted(const Counted& other) : value_(other.value_) { ++alive; }
  Counted(Counted&& other) noexcept : value_(std::exchange(other.value_, 0)) { ++alive; }
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --alive; }
  int value() const { return value_; }

  static inline int alive = 0;

 private:
  int value_;
};

BOOST_AUTO_TEST_CASE(AResultHoldsTheOneOrTheOther) {
  using Held = Result<Counted>;
  const Status broken = Status::Corruption("a text too long to be kept in the object itself");
  for (const bool is_value : {true, false}) {
    for (const bool takes_value : {true, false}) {
      const auto made = [&](bool value) { return value ? Held(Counted(7)) : Held(broken); };
      Held from = made(takes_value);
      Held result = made(is_value);
      result = from;
      BOOST_TEST(Counted::alive == (takes_value ? 2 : 0));
      const Held copy = result;
      result = std::move(from);
      result = *&result;
      const Held moved = std::move(result);
      for (const Held* each : {&copy, &moved}) {
        BOOST_REQUIRE(each->has_value() == takes_value);
        if (takes_value) BOOST_TEST((*each)->value() == 7);
        if (!takes_value) BOOST_TEST(each->error().ToString() == broken.ToString());
      }
    }
    BOOST_TEST(Counted::alive == 0);
  }
  static_assert(!std::is_copy_constructible_v<Result<std::unique_ptr<int>>>);
  static_assert(std::is_nothrow_move_constructible_v<Result<std::unique_ptr<int>>>);
  static_assert(std::is_copy_constructible_v<Result<std::string>>);
}

BOOST_AUTO_TEST_CASE(MacrosPassValuesAndErrorsUp) {
  BOOST_TEST(*Quarter(12) == 3);
  BOOST_TEST(Quarter(6).error().message() == "odd");
  BOOST_TEST(CheckQuarter(8).ok());
  BOOST_TEST((CheckQuarter(7).code() == StatusCode::kInvalidArgument));
}

Result<std::vector<std::string>> Names() { return std::vector<std::string>(3, "a longer name"); }

BOOST_AUTO_TEST_CASE(ATemporaryResultCanBeWalkedOver) {
  int count = 0;
  for (const std::string& name : *Names()) count += name == "a longer name";
  BOOST_TEST(count == 3);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem
