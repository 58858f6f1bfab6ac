// Line by line, word by word.
#include "test/tools/normalise.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>

#include "tools/tandem/bytes_text.h"

namespace tandem::test {
namespace {

bool IsDigits(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == word.npos;
}

bool IsHash(std::string_view word) {
  return (word.size() == 16 || word.size() == 32) &&
         word.find_first_not_of("0123456789abcdef") == word.npos;
}

/// A size or counter that depends on the format: after one of these words, with that many digits.
bool IsVariableNumber(std::string_view before, std::string_view word) {
  if (!IsDigits(word)) return false;
  for (const char* name : {"store-", "log-", "manifest-"}) {
    if (before.ends_with(name)) return true;
  }
  for (const char* name : {"\"bytes\":", "\"candidate_bytes\":", "\"total_bytes\":",
                           "\"generation\":", "\"next_file_number\":"}) {
    if (before.ends_with(name)) return word.size() >= 3;
  }
  return (before.ends_with("expected ") || before.ends_with("found ")) && word.size() >= 5;
}

std::string NormalWord(std::string_view before, const std::string& word) {
  if (IsVariableNumber(before, word)) return "N";
  if (word == std::to_string(getpid())) return "PID";
  return IsHash(word) ? "*" : word;
}

std::string NormalLine(const std::string& line) {
  std::string normal, word;
  const auto end_word = [&] {
    normal += NormalWord(normal, word);
    word.clear();
  };
  for (const char byte : line) {
    if (std::isalnum(static_cast<unsigned char>(byte)) != 0) {
      word += byte;
      continue;
    }
    end_word();
    const bool printable = (byte >= 0x20 && byte < 0x7f) || byte == '\t';
    normal += printable ? std::string(1, byte) : "<" + tools::EncodeHex({&byte, 1}) + ">";
  }
  end_word();
  return normal;
}

}  // namespace

void ReplaceAll(const std::string& from, const std::string& to, std::string* text) {
  for (size_t at = 0; (at = text->find(from, at)) != std::string::npos; at += to.size()) {
    text->replace(at, from.size(), to);
  }
}

std::string Normalise(const std::string& text) {
  std::string normal;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line = NormalLine(line);
    if (line.starts_with("bytes  ")) line = "bytes N";
    const bool timed = line.find("tandem: export: rows ") != std::string::npos;
    if (timed || line.ends_with(" records/s")) line.resize(line.rfind(';'));
    const size_t created = line.find(": this destroys snapshot '");
    if (created != line.npos) line.resize(line.find("' of ", created) + 1);
    normal += line + "\n";
  }
  return normal;
}

}  // namespace tandem::test
