// Tests as scripts: commands, what they read, and what comes of them, in a text that is reviewed
// like code.
//
//   # A comment.
//   command word 'quoted word'
//   input, any number of lines
//   ----
//   output, up to a blank line
//
// Output with blank lines is between `----` twice and `----` twice. With TANDEM_REWRITE=1
// in the environment the outputs are written into the script instead of compared; the diff is what
// is reviewed.
//
// Or as a table, where a case is a line: words, "=>", and what comes of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tandem::test {

struct ScriptCommand {
  std::vector<std::string> words;  ///< The command and its arguments, at least one.
  std::string input;
  int line = 0;  ///< Of the command in its script, from 1.
};

/// Answers a command with its output.
using ScriptHandler = std::function<std::string(const ScriptCommand&)>;

/// Runs the commands of the script at `path` in order and compares their outputs with Boost checks.
void RunScript(const std::string& path, const ScriptHandler& handler);

/// Answers the words of a case.
using CaseHandler = std::function<std::string(const std::vector<std::string>& words)>;

/// Runs the cases of the table at `path` in order: one Boost check each. Requires: an answer is one
/// line. TANDEM_REWRITE=1 as above.
void RunTable(const std::string& path, const CaseHandler& handler);

/// The text with the bytes that `\xNN` names.
std::string Unescaped(const std::string& text);

/// Splits a line into words; '...' keeps everything, "..." keeps everything but \" and \\.
std::vector<std::string> SplitWords(const std::string& line);

}  // namespace tandem::test
