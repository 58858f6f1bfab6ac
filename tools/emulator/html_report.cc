// See html_report.h.
#include "tools/emulator/html_report.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <vector>

#include "tools/tandem/format_text.h"

namespace tandem::emulator {
namespace {

using tools::Format;

constexpr double kWidth = 640, kHeight = 260;
constexpr double kLeft = 78, kRight = 12, kTop = 12, kBottom = 30;
constexpr int kLines = 4;  // Of the grid.

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --back: #fff; --text: #1f2328; --quiet: #656d76; --grid: #d8dee4;
  --first: #0b62d6; --second: #c2410c; }
@media (prefers-color-scheme: dark) { :root { --back: #0d1117; --text: #e6edf3; --quiet: #8d96a0;
  --grid: #30363d; --first: #58a6ff; --second: #ffa657; } }
body { background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif;
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.05rem; margin: 2rem 0 .3rem; }
table { border-collapse: collapse; } th, td { padding: .15rem 1rem .15rem 0; text-align: left;
  border-bottom: 1px solid var(--grid); } td { font-variant-numeric: tabular-nums; }
svg { width: 100%; height: auto; } svg text { fill: var(--quiet); font-size: 12px; }
.grid { stroke: var(--grid); } .line { fill: none; stroke-width: 1.8; }
.first { stroke: var(--first); } .second { stroke: var(--second); }
.least { stroke-dasharray: 2 4; } .most { stroke-dasharray: 7 4; }
.key { display: inline-block; width: .8rem; height: .8rem; margin-right: .4rem; }
.key.first { background: var(--first); } .key.second { background: var(--second); }
p { color: var(--quiet); margin: .2rem 0; })";

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    if (code < 0x20 || code > 0x7e || byte == '<' || byte == '>' || byte == '&' || byte == '"') {
      // A byte that is no ASCII has no place in a page whose encoding it may not fit.
      escaped += code < 0x20 || code > 0x7e ? "?" : Format("&#{};", static_cast<uint64_t>(code));
    } else {
      escaped.push_back(byte);
    }
  }
  return escaped;
}

std::string Count(double number) { return tools::FormatCount(static_cast<uint64_t>(number)); }
std::string Size(double bytes) { return tools::FormatSize(static_cast<uint64_t>(bytes)); }
std::string Ratio(double ratio) { return Format("{:.2f}", ratio); }

using Of = std::function<double(const State&)>;
struct Curve {
  const char* style;  ///< Of its line; "" is a solid one.
  Of value;
};
struct Plot {
  const char* title;
  const char* note;
  std::string (*text)(double);
  std::vector<Curve> curves;
};

double MeanRuns(const State& state) {
  return static_cast<double>(state.runs) / static_cast<double>(state.regions);
}

const std::vector<Plot>& Plots() {
  static const std::vector<Plot> plots = {
      {"Bytes of a region in files",
       "Solid: the median; dashed: the most; dotted: the least.",
       Size,
       {{"", [](const State& state) { return state.region_bytes.median; }},
        {"least", [](const State& state) { return state.region_bytes.least; }},
        {"most", [](const State& state) { return state.region_bytes.most; }}}},
      {"Bytes of a file",
       "Solid: the median; dashed: the most; dotted: the least.",
       Size,
       {{"", [](const State& state) { return state.file_bytes.median; }},
        {"least", [](const State& state) { return state.file_bytes.least; }},
        {"most", [](const State& state) { return state.file_bytes.most; }}}},
      {"Regions",
       "",
       Count,
       {{"", [](const State& state) { return static_cast<double>(state.regions); }}}},
      {"Bytes written for each byte flushed",
       "The flush included: 1 is no rewriting.",
       Ratio,
       {{"", [](const State& state) { return state.written_per_flushed(); }}}},
      {"Runs of a region",
       "Solid: the mean; dashed: the most. A get looks into each.",
       Ratio,
       {{"", MeanRuns},
        {"most", [](const State& state) { return static_cast<double>(state.runs_max); }}}},
      {"Bytes of all files", "", Size, {{"", [](const State& state) {
                                           return state.disk_bytes;
                                         }}}}};
  return plots;
}

/// The least of 1, 2 and 5 times a power of ten that is not below it.
double RoundedUp(double number) {
  if (number <= 0) return 1;
  const double power = std::pow(10, std::floor(std::log10(number)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (step * power >= number) return step * power;
  }
  return 10 * power;
}

const char* ColorOf(size_t outcome) { return outcome == 0 ? "first" : "second"; }

std::string LineOf(const Outcome& outcome, const Curve& curve, double puts, double top,
                   const char* color) {
  std::string line = Format(R"(<polyline class="line {} {}" points=")", color, curve.style);
  for (const State& state : outcome.states) {
    const double x = kLeft + (kWidth - kLeft - kRight) * state.counters.puts / puts;
    const double y = kTop + (kHeight - kTop - kBottom) * (1 - curve.value(state) / top);
    line += Format("{:.1f},{:.1f} ", x, y);
  }
  return line + "\"/>\n";
}

std::string Drawn(const Plot& plot, std::span<const Outcome> outcomes) {
  double puts = 1, most = 0;
  for (const Outcome& outcome : outcomes) {
    for (const State& state : outcome.states) {
      puts = std::max(puts, state.counters.puts);
      for (const Curve& curve : plot.curves) most = std::max(most, curve.value(state));
    }
  }
  const double top = RoundedUp(most);
  std::string text = Format("<h2>{}</h2>\n<p>{}</p>\n", plot.title, plot.note);
  text += Format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", kWidth, kHeight,
                 plot.title);
  for (int i = 0; i <= kLines; ++i) {
    const double y = kTop + (kHeight - kTop - kBottom) * i / kLines;
    text += Format(R"(<line class="grid" x1="{}" x2="{}" y1="{}" y2="{}"/>)", kLeft,
                   kWidth - kRight, y, y);
    text += Format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", kLeft - 6, y + 4,
                   plot.text(top * (kLines - i) / kLines));
  }
  text += Format("<text x=\"{}\" y=\"{}\">0</text>", kLeft, kHeight - 10);
  text += Format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{} rows put</text>\n",
                 kWidth - kRight, kHeight - 10, Count(puts));
  for (size_t i = 0; i < outcomes.size(); ++i) {
    for (const Curve& curve : plot.curves) {
      text += LineOf(outcomes[i], curve, puts, top, ColorOf(i));
    }
  }
  return text + "</svg>\n";
}

std::string Table(std::span<const Outcome> outcomes) {
  struct Line {
    const char* what;
    std::function<std::string(const Outcome&)> text;
  };
  const Line lines[] = {
      {"rows put", [](const Outcome& each) { return Count(each.last().counters.puts); }},
      {"regions",
       [](const Outcome& each) { return Count(static_cast<double>(each.last().regions)); }},
      {"splits",
       [](const Outcome& each) { return Count(static_cast<double>(each.last().counters.splits)); }},
      {"bytes put", [](const Outcome& each) { return Size(each.raw_bytes()); }},
      {"bytes of files", [](const Outcome& each) { return Size(each.last().disk_bytes); }},
      {"of these, indexes", [](const Outcome& each) { return Size(each.last().index_bytes); }},
      {"written for each byte flushed",
       [](const Outcome& each) { return Ratio(each.last().written_per_flushed()); }},
      {"Gini of the regions' bytes",
       [](const Outcome& each) { return Ratio(each.last().region_gini); }},
      {"files", [](const Outcome& each) { return Count(static_cast<double>(each.last().files)); }},
      {"bytes of a file: median, most",
       [](const Outcome& each) {
         return Format("{}, {}", Size(each.last().file_bytes.median),
                       Size(each.last().file_bytes.most));
       }},
      {"files with rows of a query's hits", [](const Outcome& each) {
         return Format("{:.1f} for {} hits", each.files_with_hits, Count(each.hits));
       }}};
  std::string text = "<table>\n<tr><th></th>";
  for (size_t i = 0; i < outcomes.size(); ++i) {
    text += Format("<th><span class=\"key {}\"></span>{}</th>", ColorOf(i),
                   Escaped(outcomes[i].design));
  }
  text += "</tr>\n";
  for (const Line& line : lines) {
    text += Format("<tr><td>{}</td>", line.what);
    for (const Outcome& outcome : outcomes) text += Format("<td>{}</td>", line.text(outcome));
    text += "</tr>\n";
  }
  return text + "</table>\n";
}

}  // namespace

std::string HtmlReport(std::span<const Outcome> outcomes) {
  std::string title;
  for (const Outcome& outcome : outcomes) {
    title += (title.empty() ? "" : " beside ") + Escaped(outcome.design);
  }
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n";
  page += "<meta name=\"viewport\" content=\"width=device-width\"/>\n";
  page += Format("<title>{}</title>\n<style>{}\n</style>\n</head>\n<body>\n", title, kStyle);
  page += Format("<h1>Emulated: {}</h1>\n", title);
  page += Table(outcomes);
  for (const Plot& plot : Plots()) page += Drawn(plot, outcomes);
  return page + "</body>\n</html>\n";
}

}  // namespace tandem::emulator
