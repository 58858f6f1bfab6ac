// See arguments.h.
#include "tools/bench/arguments.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "tools/bench/peers.h"
#include "tools/bench/phases.h"
#include "tools/bench/size_phases.h"
#include "tools/bench/work_directory.h"

namespace tandem::bench {

namespace {

// W1's scattered numbers and the shares of its queries hold between these.
constexpr uint64_t kRowsMin = 1000, kRowsMax = 1'000'000'000;
constexpr uint64_t kRowsOfLarge = 100'000'000;
constexpr uint64_t kSizesOfGrowth[] = {500'000, 2'000'000, 8'000'000, 32'000'000};
constexpr uint64_t kMemoryMibOfGrowth = 64;

std::string Join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += " " + name;
  return text + "\n";
}

[[noreturn]] void Refuse(const std::string& what) {
  std::fprintf(stderr, "tandem_bench: %s\n%s", what.c_str(), UsageText().c_str());
  std::exit(2);
}

template <typename Number>
Number ParseNumber(const std::string& name, const std::string& text, Number low, Number high) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < low || number > high) {
    Refuse(name + ": expected a number from " + std::to_string(low) + " to " +
           std::to_string(high) + ", found '" + text + "'");
  }
  return number;
}

std::vector<std::string> Split(const std::string& list) {
  std::vector<std::string> parts(1);
  for (const char letter : list) {
    if (letter == ',') {
      parts.emplace_back();
    } else {
      parts.back().push_back(letter);
    }
  }
  return parts;
}

// An ascending list of different numbers.
std::vector<uint64_t> ParseSizes(const std::string& name, const std::string& list) {
  std::vector<uint64_t> sizes;
  for (const std::string& text : Split(list)) {
    const uint64_t size = ParseNumber<uint64_t>(name, text, kRowsMin, kRowsMax);
    if (!sizes.empty() && size <= sizes.back())
      Refuse(name + ": expected rising numbers, found '" + list + "'");
    sizes.push_back(size);
  }
  return sizes;
}

void CheckNames(const std::vector<std::string>& names, const std::vector<std::string>& known,
                const std::string& what) {
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      Refuse("no " + what + " '" + name + "' in this build");
  }
}

// Whether the command takes the option. Those of processes that measure are of kRounds.
bool Takes(Command command, const std::string& option) {
  const std::set<std::string> large = {"--rows", "--memory-mib", "--directory", "--json"};
  const std::set<std::string> growth = {"--sizes", "--engines", "--memory-mib", "--directory",
                                        "--json"};
  if (command == Command::kLarge) return large.contains(option);
  return command == Command::kGrowth ? growth.contains(option) : option != "--sizes";
}

void SetDefaults(Command command, Arguments* arguments) {
  arguments->engines = BuiltEngines();
  arguments->phases = Families();
  if (command == Command::kRounds) {
    arguments->directory = std::filesystem::temp_directory_path();
    return;
  }
  arguments->rounds = 1;
  if (command == Command::kLarge) {
    arguments->rows = kRowsOfLarge;
    arguments->engines = {"tandem"};
    return;
  }
  arguments->sizes.assign(std::begin(kSizesOfGrowth), std::end(kSizesOfGrowth));
  arguments->memory_mib = kMemoryMibOfGrowth;
  std::erase_if(arguments->engines, [](const std::string& engine) { return !CanGrow(engine); });
}

// What one option alone does not show.
void CheckTogether(Command command, const Arguments& arguments) {
  CheckNames(arguments.engines, BuiltEngines(), "engine");
  CheckNames(arguments.phases, Families(), "phases");
  if (command == Command::kRounds) return;
  if (command == Command::kLarge && arguments.rows < kRowsOfLargeMin) {
    Refuse("--rows: expected at least " + std::to_string(kRowsOfLargeMin) + " for " +
           std::to_string(kLoadParts) + " parts, found " + std::to_string(arguments.rows));
  }
  if (command == Command::kGrowth && arguments.sizes.size() < 2)
    Refuse("--sizes: expected at least two, to compare them");
  for (const std::string& engine : arguments.engines) {
    if (!CanGrow(engine)) Refuse("growth: expected tandem or rocksdb, found '" + engine + "'");
  }
  const std::string problem = ProblemOfDirectory(arguments.directory);
  if (!problem.empty()) Refuse("--directory: " + problem);
}

}  // namespace

std::string UsageText() {
  return "usage: tandem_bench [--rows N] [--rounds N] [--engines A,B] [--phases A,B] [--seconds "
         "S]\n"
         "                    [--cache-mib N] [--directory DIR] [--json FILE]\n"
         "       tandem_bench large [--rows N] [--memory-mib N] [--directory DIR] [--json FILE]\n"
         "       tandem_bench growth [--sizes N,N] [--engines A,B] [--memory-mib N]\n"
         "                    [--directory DIR] [--json FILE]     DIR: new or empty\n"
         "       tandem_bench compare BEFORE.json AFTER.json\n"
         "       tandem_bench contents FILE [DIRECTORY]     the large set\n"
         "engines in this build:" +
         Join(BuiltEngines()) + "phases:" + Join(Families());
}

bool Arguments::Wants(const std::string& family) const {
  return std::find(phases.begin(), phases.end(), family) != phases.end();
}

Arguments ParseArguments(const std::vector<std::string>& words, Command command) {
  Arguments arguments;
  SetDefaults(command, &arguments);
  using Take = std::function<void(const std::string&, const std::string&)>;
  const auto text = [](std::string* target) -> Take {
    return [target](const std::string&, const std::string& value) { *target = value; };
  };
  const auto list = [](std::vector<std::string>* target) -> Take {
    return [target](const std::string&, const std::string& value) { *target = Split(value); };
  };
  const std::map<std::string, Take> options = {
      {"--rows",
       [&](const auto& name, const auto& value) {
         arguments.rows = ParseNumber<uint64_t>(name, value, kRowsMin, kRowsMax);
       }},
      {"--sizes",
       [&](const auto& name, const auto& value) { arguments.sizes = ParseSizes(name, value); }},
      {"--rounds",
       [&](const auto& name, const auto& value) {
         arguments.rounds = ParseNumber<int>(name, value, 1, 1000);
       }},
      {"--seconds",
       [&](const auto& name, const auto& value) {
         arguments.seconds = ParseNumber<double>(name, value, 0.001, 1000.0);
       }},
      {"--cache-mib",
       [&](const auto& name, const auto& value) {
         arguments.cache_mib = ParseNumber<uint64_t>(name, value, 8, 1 << 20);
       }},
      {"--memory-mib",
       [&](const auto& name, const auto& value) {
         arguments.memory_mib = ParseNumber<uint64_t>(name, value, 8, 1 << 20);
       }},
      {"--item",
       [&](const auto& name, const auto& value) {
         arguments.item = ParseNumber<int>(name, value, 0, 1000);
       }},
      {"--directory", text(&arguments.directory)},
      {"--engines", list(&arguments.engines)},
      {"--phases", list(&arguments.phases)},
      {"--json", text(&arguments.json)},
      {"--child", text(&arguments.child)},
      {"--engine", text(&arguments.engine)},
      {"--path", text(&arguments.path)}};
  for (size_t i = 0; i < words.size(); i += 2) {
    const auto option = options.find(words[i]);
    if (option == options.end() || !Takes(command, words[i]))
      Refuse("unknown argument '" + words[i] + "'");
    if (i + 1 == words.size()) Refuse(words[i] + ": expected a value after it");
    option->second(words[i], words[i + 1]);
  }
  CheckTogether(command, arguments);
  return arguments;
}

}  // namespace tandem::bench
