// reliability: runs reliability suites and prints a JSON line for each. Exits 8 when a
// suite found something, 2 for a wrong argument.
//
//   reliability [SUITE...] [--seconds N] [--seed N] [--directory DIR] [--only WORKLOAD] [--list]
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "test/reliability/suite.h"
#include "test/support/small_pages.h"
#include "tools/tandem/json.h"

namespace tandem::reliability {
namespace {

struct Arguments {
  Plan plan;
  bool has_seed = false;
  std::vector<const Suite*> suites;
};

const Suite* Find(std::string_view name) {
  for (const Suite& suite : Suites()) {
    if (suite.name == name) return &suite;
  }
  return nullptr;
}

int Refuse(const std::string& what) {
  std::fprintf(stderr, "reliability: %s; reliability --list names the suites\n", what.c_str());
  return 2;
}

int List() {
  for (const Suite& suite : Suites()) {
    std::printf("%-12.*s %.*s\n", static_cast<int>(suite.name.size()), suite.name.data(),
                static_cast<int>(suite.what.size()), suite.what.data());
  }
  return 0;
}

template <typename Number>
bool Parse(const char* text, Number* number) {
  const char* end = text + std::strlen(text);
  const auto parsed = std::from_chars(text, end, *number);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

// Takes the option at argv[*at] with its value; what is wrong with it, if anything.
std::optional<std::string> TakeOption(int argc, char** argv, int* at, Arguments* arguments) {
  const std::string name = argv[*at];
  if (*at + 1 == argc) return "option '" + name + "' needs a value";
  const char* value = argv[++*at];
  Plan& plan = arguments->plan;
  if (name == "--directory" || name == "--only") {
    (name == "--only" ? plan.only : plan.directory) = value;
    return std::nullopt;
  }
  if (name == "--seed") arguments->has_seed = true;
  const bool is_good = name == "--seed"      ? Parse(value, &plan.seed)
                       : name == "--seconds" ? Parse(value, &plan.seconds) && plan.seconds >= 0
                                             : false;
  if (is_good) return std::nullopt;
  return "no option '" + name + "' with the value '" + value + "'";
}

void Print(const Suite& suite, const Plan& plan, const Report& report, double seconds) {
  const char* commit = std::getenv("TANDEM_COMMIT");
  tools::JsonWriter json;
  json.BeginObject();
  json.Key("suite");
  json.String(suite.name);
  for (const auto& [name, count] : report.counts) {
    json.Key(name);
    json.Uint(count);
  }
  json.Key("failures");
  json.Uint(report.failures.size());
  if (!report.skipped.empty()) {
    json.Key("skipped");
    json.String(report.skipped);
  }
  json.Key("seed");
  json.Uint(plan.seed);
  json.Key("seconds");
  json.Uint(static_cast<uint64_t>(seconds + 0.5));
  json.Key("commit");
  json.String(commit == nullptr ? "unknown" : commit);
  json.EndObject();
  std::printf("%.*s\n", static_cast<int>(json.text().size()), json.text().data());
  std::fflush(stdout);
}

bool RunOne(const Suite& suite, const Plan& plan) {
  const auto clock = base::NewSystemClock();
  std::fprintf(stderr, "reliability: %s: seed %llu\n", std::string(suite.name).c_str(),
               static_cast<unsigned long long>(plan.seed));
  const int64_t begin = clock->MonotonicMicros();
  const Report report = suite.run(plan);
  for (size_t i = 0; i < report.failures.size() && i < kFailuresMax; ++i) {
    std::fprintf(stderr, "reliability: %s: %s\n", std::string(suite.name).c_str(),
                 report.failures[i].c_str());
  }
  Print(suite, plan, report, static_cast<double>(clock->MonotonicMicros() - begin) / 1e6);
  return report.failures.empty();
}

int Run(int argc, char** argv) {
  Arguments arguments;
  for (int at = 1; at < argc; ++at) {
    const std::string_view word = argv[at];
    if (word == "--list") return List();
    if (word.starts_with("--")) {
      if (const auto wrong = TakeOption(argc, argv, &at, &arguments)) return Refuse(*wrong);
      continue;
    }
    const Suite* suite = Find(word);
    if (suite == nullptr) return Refuse("no suite '" + std::string(word) + "'");
    arguments.suites.push_back(suite);
  }
  if (!arguments.has_seed) arguments.plan.seed = base::NewSystemRandom()->Next64() % 1'000'000'000;
  if (arguments.suites.empty()) {
    for (const Suite& suite : Suites()) arguments.suites.push_back(&suite);
  }
  bool holds = true;
  for (const Suite* suite : arguments.suites) holds = RunOne(*suite, arguments.plan) && holds;
  return holds ? 0 : 8;
}

}  // namespace
}  // namespace tandem::reliability

int main(int argc, char** argv) {
  tandem::test::UseSmallPages();
  return tandem::reliability::Run(argc, argv);
}
