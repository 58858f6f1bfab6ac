// See figures.h.
#include "tools/bench/figures.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <map>

namespace tandem::bench {

// Names have blanks but no tab.
std::string ToLine(const Figure& figure) {
  char text[512];
  std::snprintf(text, sizeof text,
                "%s\t%s\t%.9g %" PRIu64 " %.9g %.9g %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
                " %" PRIu64,
                figure.phase.c_str(), figure.rows_name.c_str(), figure.value, figure.items,
                figure.seconds, figure.cpu_seconds, figure.row_bytes, figure.read_bytes,
                figure.written_bytes, figure.peak_bytes, figure.proof);
  return text;
}

std::optional<Figure> FromLine(const std::string& line) {
  const size_t first = line.find('\t');
  const size_t second = first == std::string::npos ? first : line.find('\t', first + 1);
  if (second == std::string::npos) return std::nullopt;
  Figure figure;
  figure.phase = line.substr(0, first);
  figure.rows_name = line.substr(first + 1, second - first - 1);
  const int count = std::sscanf(
      line.c_str() + second,
      "%lf %" SCNu64 " %lf %lf %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
      &figure.value, &figure.items, &figure.seconds, &figure.cpu_seconds, &figure.row_bytes,
      &figure.read_bytes, &figure.written_bytes, &figure.peak_bytes, &figure.proof);
  if (count != 9) return std::nullopt;
  return figure;
}

uint64_t ProofOf(const Consumer& consumer) {
  return (Mix(consumer.rows) ^ Mix(consumer.bytes) ^ consumer.mix) | 1;
}

std::vector<const Figure*> Figures::Of(const std::string& phase, const std::string& engine) const {
  std::vector<const Figure*> found;
  for (const Figure& figure : all_) {
    if (figure.phase == phase && figure.engine == engine) found.push_back(&figure);
  }
  return found;
}

std::vector<double> Figures::Values(const std::string& phase, const std::string& engine) const {
  std::vector<double> values;
  for (const Figure* figure : Of(phase, engine)) values.push_back(figure->value);
  return values;
}

std::vector<std::string> Figures::Mismatches() const {
  std::map<std::string, const Figure*> first;
  std::vector<std::string> lines;
  for (const Figure& figure : all_) {
    if (figure.proof == 0) continue;
    const Figure* other = first.emplace(figure.rows_name, &figure).first->second;
    if (other->proof == figure.proof) continue;
    lines.push_back("rows '" + figure.rows_name + "': " + figure.engine + " in '" + figure.phase +
                    "' returned others than " + other->engine + " in '" + other->phase + "'");
  }
  return lines;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

}  // namespace tandem::bench
