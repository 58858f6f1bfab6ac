// The script is read line by line and written again as it is run; what is compared is each output.
#include "test/support/script_runner.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>
#include <string_view>

namespace tandem::test {
namespace {

constexpr const char* kRule = "----";
constexpr std::string_view kArrow = " => ";

class ScriptRun {
 public:
  ScriptRun(std::string path, const ScriptHandler& handler)
      : path_(std::move(path)), handler_(handler), in_(path_) {
    BOOST_REQUIRE_MESSAGE(in_.good(), "no script " << path_);
  }

  void Run() {
    while (NextLine()) {
      written_ += line_ + "\n";
      if (!line_.empty() && line_[0] != '#') RunCommand();
    }
    if (std::getenv("TANDEM_REWRITE") != nullptr) std::ofstream(path_) << written_;
  }

 private:
  bool NextLine() {
    ++number_;
    return static_cast<bool>(std::getline(in_, line_));
  }

  void RunCommand() {
    ScriptCommand command{SplitWords(line_), "", number_};
    while (NextLine() && line_ != kRule) {
      command.input += line_ + "\n";
      written_ += line_ + "\n";
    }
    const std::string expected = ReadOutput();
    const std::string found = handler_(command);
    if (std::getenv("TANDEM_REWRITE") == nullptr) {
      BOOST_CHECK_MESSAGE(found == expected, path_ << ":" << command.line << ": expected\n"
                                                   << expected << "found\n"
                                                   << found);
    }
    WriteOutput(found);
  }

  /// The text after the rule; the line after it is consumed.
  std::string ReadOutput() {
    std::string output;
    if (!NextLine()) return output;
    const bool doubled = line_ == kRule;
    if (!doubled) {
      for (; !line_.empty() && in_; NextLine()) output += line_ + "\n";
      return output;
    }
    std::string before;
    while (NextLine() && !(line_ == kRule && before == kRule)) {
      output += line_ + "\n";
      before = line_;
    }
    output.resize(output.size() >= 5 ? output.size() - 5 : 0);  // The first rule of the last two.
    NextLine();
    return output;
  }

  void WriteOutput(const std::string& output) {
    const bool doubled = output.find("\n\n") != std::string::npos || output.starts_with("\n");
    written_ += std::string(kRule) + "\n";
    if (doubled) written_ += std::string(kRule) + "\n";
    written_ += output;
    if (doubled) written_ += std::string(kRule) + "\n" + kRule + "\n";
    written_ += "\n";
  }

  std::string path_;
  const ScriptHandler& handler_;
  std::ifstream in_;
  std::string line_;
  int number_ = 0;
  std::string written_;
};

}  // namespace

void RunScript(const std::string& path, const ScriptHandler& handler) {
  ScriptRun(path, handler).Run();
}

void RunTable(const std::string& path, const CaseHandler& handler) {
  std::ifstream in(path);
  BOOST_REQUIRE_MESSAGE(in.good(), "no table " << path);
  const bool rewrites = std::getenv("TANDEM_REWRITE") != nullptr;
  std::string line, written;
  for (int number = 1; std::getline(in, line); ++number) {
    const size_t arrow = line.find(kArrow);
    const bool is_case = !line.empty() && line[0] != '#';
    BOOST_REQUIRE_MESSAGE(!is_case || arrow != line.npos, path << ":" << number << ": no =>");
    if (is_case) {
      const std::string expected = line.substr(arrow + kArrow.size());
      line.resize(arrow);
      const std::string found = handler(SplitWords(line));
      BOOST_CHECK_MESSAGE(rewrites || found == expected, path << ":" << number << ": " << line
                                                              << ": expected " << expected
                                                              << ", found " << found);
      line.append(kArrow).append(found);
    }
    written += line + "\n";
  }
  if (rewrites) std::ofstream(path) << written;
}

std::string Unescaped(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "\\x") != 0 || i + 4 > text.size()) {
      bytes.push_back(text[i]);
      continue;
    }
    bytes.push_back(static_cast<char>(std::stoi(text.substr(i + 2, 2), nullptr, 16)));
    i += 3;
  }
  return bytes;
}

std::vector<std::string> SplitWords(const std::string& line) {
  std::vector<std::string> words;
  char quote = 0;
  bool inside = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char byte = line[i];
    if (quote == 0 && byte == ' ') {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    if (quote == 0 && (byte == '\'' || byte == '"')) {
      quote = byte;
    } else if (byte == quote) {
      quote = 0;
    } else if (quote == '"' && byte == '\\' && i + 1 < line.size() &&
               (line[i + 1] == '"' || line[i + 1] == '\\')) {
      words.back() += line[++i];
    } else {
      words.back() += byte;
    }
  }
  return words;
}

}  // namespace tandem::test
