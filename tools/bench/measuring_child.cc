// See measuring_child.h.
#include "tools/bench/measuring_child.h"

#include <filesystem>
#include <sstream>
#include <utility>

#include "tools/bench/peer.h"

namespace tandem::bench {

std::vector<Figure> MeasuringChild::Run(const std::string& group, ProcessEnd end) const {
  std::vector<std::string> words = {std::filesystem::read_symlink("/proc/self/exe").string(),
                                    "--child",
                                    group,
                                    "--engine",
                                    engine,
                                    "--rows",
                                    std::to_string(rows),
                                    "--path",
                                    path};
  if (memory_mib != 0) words.insert(words.end(), {"--memory-mib", std::to_string(memory_mib)});
  const FinishedProcess process = RunProcess(words, end);
  std::vector<Figure> figures;
  std::istringstream lines(process.output);
  for (std::string line; std::getline(lines, line);) {
    auto figure = FromLine(line);
    if (!figure.has_value()) Fail(engine + " printed what is no figure: " + line);
    figure->engine = engine;
    figures.push_back(*std::move(figure));
  }
  return figures;
}

}  // namespace tandem::bench
