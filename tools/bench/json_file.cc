// See json_file.h.
#include "tools/bench/json_file.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "base/clock.h"
#include "tools/bench/peer.h"
#include "tools/tandem/json.h"

namespace tandem::bench {
namespace {

using tools::JsonWriter;

void AddNumber(const char* name, double value, JsonWriter* json) {
  json->Key(name);
  json->Double(value);
}

void AddText(const char* name, const std::string& value, JsonWriter* json) {
  json->Key(name);
  json->String(value);
}

void AddCount(const char* name, uint64_t value, JsonWriter* json) {
  json->Key(name);
  json->Uint(value);
}

std::string Now() {
  const std::time_t seconds =
      static_cast<std::time_t>(base::NewSystemClock()->WallMicros() / 1'000'000);
  std::tm parts = {};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S+00:00", &parts);
  return text;
}

void AddContext(const Arguments& arguments, const Device& device, JsonWriter* json) {
  json->Key("context");
  json->BeginObject();
  AddText("date", Now(), json);
  char host[256] = {};
  (void)gethostname(host, sizeof host - 1);
  AddText("host_name", host, json);
  AddText("executable", "tandem_bench", json);
  AddCount("num_cpus", static_cast<uint64_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN))), json);
  json->Key("load_avg");
  json->BeginArray();
  double loads[3] = {};
  const int count = getloadavg(loads, 3);
  for (int i = 0; i < count; ++i) json->Double(loads[i]);
  json->EndArray();
  AddText("library_build_type", "release", json);
  AddCount("rows", arguments.rows, json);
  AddCount("rounds", static_cast<uint64_t>(arguments.rounds), json);
  AddNumber("device_sync_ms", device.sync_millis, json);
  AddNumber("device_sequential_bytes_per_second", device.sequential_bytes, json);
  AddNumber("device_random_reads_per_second_depth_1", device.random_reads_1, json);
  AddNumber("device_random_reads_per_second_depth_32", device.random_reads_32, json);
  AddNumber("zstd_bytes_per_second", device.zstd_bytes, json);
  json->EndObject();
}

const char* UnitText(Unit unit) {
  switch (unit) {
    case Unit::kPerSecond:
      return "per_second";
    case Unit::kNanos:
      return "ns";
    case Unit::kMicros:
      return "us";
    case Unit::kMillis:
      return "ms";
    case Unit::kBytes:
      return "bytes";
    case Unit::kNumber:
      return "number";
  }
  return "";
}

void AddName(const Figure& figure, const char* suffix, const char* type, JsonWriter* json) {
  const std::string name = figure.engine + "/" + figure.phase;
  AddText("name", name + suffix, json);
  AddText("run_name", name, json);
  AddText("run_type", type, json);
}

void AddValue(const Phase& phase, double value, JsonWriter* json) {
  AddNumber("value", value, json);
  AddText("unit", UnitText(phase.unit), json);
  AddText("better", IsRate(phase.unit) ? "higher" : "lower", json);
  if (IsRate(phase.unit)) AddNumber("items_per_second", value, json);
}

void AddIteration(const Phase& phase, const Figure& figure, size_t rounds, JsonWriter* json) {
  const double items = static_cast<double>(std::max<uint64_t>(1, figure.items));
  json->BeginObject();
  AddName(figure, "", "iteration", json);
  AddCount("repetitions", rounds, json);
  AddCount("repetition_index", static_cast<uint64_t>(figure.round), json);
  AddCount("threads", 1, json);
  AddCount("iterations", figure.items, json);
  AddNumber("real_time", figure.seconds * 1e9 / items, json);
  AddNumber("cpu_time", figure.cpu_seconds * 1e9 / items, json);
  AddText("time_unit", "ns", json);
  AddValue(phase, figure.value, json);
  AddCount("read_bytes", figure.read_bytes, json);
  AddCount("written_bytes", figure.written_bytes, json);
  AddCount("peak_memory_bytes", figure.peak_bytes, json);
  json->EndObject();
}

void AddMedian(const Phase& phase, const std::vector<const Figure*>& rounds, JsonWriter* json) {
  const auto median = [&](auto value_of) {
    std::vector<double> values;
    for (const Figure* figure : rounds) values.push_back(value_of(*figure));
    return Median(values);
  };
  const auto per_item = [](const Figure& figure, double seconds) {
    return seconds * 1e9 / static_cast<double>(std::max<uint64_t>(1, figure.items));
  };
  json->BeginObject();
  AddName(*rounds.front(), "_median", "aggregate", json);
  AddText("aggregate_name", "median", json);
  AddText("aggregate_unit", "time", json);
  AddCount("repetitions", rounds.size(), json);
  AddCount("threads", 1, json);
  AddCount("iterations", rounds.size(), json);
  AddNumber("real_time", median([&](const Figure& f) { return per_item(f, f.seconds); }), json);
  AddNumber("cpu_time", median([&](const Figure& f) { return per_item(f, f.cpu_seconds); }), json);
  AddText("time_unit", "ns", json);
  AddValue(phase, median([](const Figure& f) { return f.value; }), json);
  json->EndObject();
}

std::string ReadFile(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) Fail("cannot open " + path);
  std::string text;
  char buffer[65536];
  while (const size_t count = std::fread(buffer, 1, sizeof buffer, file))
    text.append(buffer, count);
  std::fclose(file);
  return text;
}

std::string ValueOf(const std::vector<tools::Field>& fields, std::string_view name) {
  for (const tools::Field& field : fields) {
    if (field.name == name) return std::string(field.value);
  }
  return {};
}

}  // namespace

std::string ToJson(const Arguments& arguments, const std::vector<Phase>& phases,
                   const Figures& figures, const Device& device) {
  JsonWriter json;
  json.BeginObject();
  AddContext(arguments, device, &json);
  json.Key("benchmarks");
  json.BeginArray();
  for (const Phase& phase : phases) {
    for (const std::string& engine : arguments.engines) {
      const std::vector<const Figure*> rounds = figures.Of(phase.name, engine);
      if (rounds.empty()) continue;
      for (const Figure* figure : rounds) AddIteration(phase, *figure, rounds.size(), &json);
      AddMedian(phase, rounds, &json);
    }
  }
  json.EndArray();
  json.EndObject();
  return std::string(json.text()) + "\n";
}

void WriteFile(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  const bool written =
      file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if ((file != nullptr && std::fclose(file) != 0) || !written) Fail("cannot write " + path);
}

std::vector<Series> ReadSeries(const std::string& path) {
  std::string text = ReadFile(path);
  std::vector<tools::Field> top;
  tools::JsonObjectReader file_reader, list_reader;
  std::string problem = file_reader.Read(text.data(), &top);
  std::string list = ValueOf(top, "benchmarks");
  if (problem.empty() && list.empty()) problem = "expected a member \"benchmarks\", found none";
  std::vector<std::vector<tools::Field>> entries;
  if (problem.empty()) problem = list_reader.ReadList(list.data(), &entries);
  if (!problem.empty()) Fail(path + ": " + problem);
  std::vector<Series> all;
  for (const auto& entry : entries) {
    const std::string name = ValueOf(entry, "name"), value = ValueOf(entry, "value");
    if (ValueOf(entry, "run_type") != "iteration") continue;
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size())
      Fail(path + ": '" + name + "': expected a number as \"value\", found '" + value + "'");
    auto series =
        std::find_if(all.begin(), all.end(), [&](const Series& s) { return s.name == name; });
    if (series == all.end()) {
      series = all.insert(all.end(), {name, ValueOf(entry, "better") == "higher", {}});
    }
    series->values.push_back(number);
  }
  return all;
}

}  // namespace tandem::bench
