// See arguments.h.
#include "tools/bench/arguments.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>

#include "tools/bench/peers.h"
#include "tools/bench/phases.h"

namespace tandem::bench {

namespace {

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

void CheckNames(const std::vector<std::string>& names, const std::vector<std::string>& known,
                const std::string& what) {
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      Refuse("no " + what + " '" + name + "' in this build");
  }
}

}  // namespace

std::string UsageText() {
  return "usage: tandem_bench [--rows N] [--rounds N] [--engines A,B] [--phases A,B] [--seconds "
         "S]\n"
         "                    [--cache-mib N] [--directory DIR] [--json FILE]\n"
         "       tandem_bench compare BEFORE.json AFTER.json\n"
         "       tandem_bench contents FILE [DIRECTORY]     the large set\n"
         "engines in this build:" +
         Join(BuiltEngines()) + "phases:" + Join(Families());
}

bool Arguments::Wants(const std::string& family) const {
  return std::find(phases.begin(), phases.end(), family) != phases.end();
}

Arguments ParseArguments(const std::vector<std::string>& words) {
  Arguments arguments;
  arguments.engines = BuiltEngines();
  arguments.phases = Families();
  arguments.directory = std::filesystem::temp_directory_path();
  using Take = std::function<void(const std::string&, const std::string&)>;
  const auto text = [](std::string* target) -> Take {
    return [target](const std::string&, const std::string& value) { *target = value; };
  };
  const auto list = [](std::vector<std::string>* target) -> Take {
    return [target](const std::string&, const std::string& value) { *target = Split(value); };
  };
  const std::map<std::string, Take> options = {
      // W1's scattered numbers and the shares of its queries hold between these.
      {"--rows",
       [&](const auto& name, const auto& value) {
         arguments.rows = ParseNumber<uint64_t>(name, value, 1000, 1'000'000'000);
       }},
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
    if (option == options.end()) Refuse("unknown argument '" + words[i] + "'");
    if (i + 1 == words.size()) Refuse(words[i] + ": expected a value after it");
    option->second(words[i], words[i + 1]);
  }
  CheckNames(arguments.engines, BuiltEngines(), "engine");
  CheckNames(arguments.phases, Families(), "phases");
  return arguments;
}

}  // namespace tandem::bench
