// See answer_check.h.
#include "test/reliability/answer_check.h"

#include <algorithm>

namespace tandem::reliability {
namespace {

/// The scans read every row that a get reads, by the same blocks.
constexpr uint64_t kGetsShare = 4;

bool NamesFile(std::string_view message) {
  for (const std::string_view kind : {"ROOT", "manifest-", "log-", "store-"}) {
    if (message.find(kind) != std::string_view::npos) return true;
  }
  return false;
}

/// Whether `answer` is what `expected` says, or breaks off with an error before its end.
bool Fits(const ShapeAnswer& answer, ShapeRead::Kind kind, const std::string& expected) {
  if (answer.status.ok()) return answer.text == expected;
  return kind == ShapeRead::Kind::kCount || expected.starts_with(answer.text);
}

std::string FirstLines(const std::string& text) {
  return test::Shown(std::string_view(text).substr(0, 200));
}

}  // namespace

void AnswerCheck::Read(engine::Engine& engine, uint64_t salt) {
  for (size_t read = 0; read < shape_.reads.size(); ++read) {
    const bool is_get = shape_.reads[read].kind == ShapeRead::Kind::kGet;
    if (is_get && (read + salt) % kGetsShare != 0) continue;
    TakeAnswer(read, Ask(engine, shape_.reads[read]));
  }
  Verify(engine);
}

void AnswerCheck::Verify(engine::Engine& engine) {
  const auto report = engine.Verify(false);
  if (!report.has_value()) return TakeError(report.error(), "verify");
  if (!report->findings.empty()) verified_ = true;
}

void AnswerCheck::TakeError(const Status& status, const std::string& what) {
  reported_ = true;
  const StatusCode code = status.code();
  const bool is_told = (code == StatusCode::kCorruption || code == StatusCode::kUnsupported ||
                        code == StatusCode::kNotFound) &&
                       NamesFile(status.message());
  if (is_told || broken_.outcome != Outcome::kHarmless) return;
  broken_ = {Outcome::kOddError, what + ": " + status.ToString()};
}

void AnswerCheck::TakeAnswer(size_t read, const ShapeAnswer& answer) {
  const ShapeRead& asked = shape_.reads[read];
  if (!answer.status.ok()) TakeError(answer.status, asked.Describe());
  bool explained = false;
  for (size_t state = 0; state < fits_.size(); ++state) {
    if (!fits_[state]) continue;
    fits_[state] = Fits(answer, asked.kind, shape_.answers[state][read]);
    explained = explained || fits_[state];
  }
  if (explained || broken_.outcome == Outcome::kHole || broken_.outcome == Outcome::kWrong) return;
  broken_ = {KindOf(read, answer.text),
             asked.Describe() + " answers " + FirstLines(answer.text) + ", expected " +
                 FirstLines(shape_.answers.back()[read]) + ", " + answer.status.ToString()};
}

/// A hole where every row of the answer was there at some time.
Outcome AnswerCheck::KindOf(size_t read, const std::string& text) const {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\f', begin), text.size() - 1) + 1;
    const std::string row = text.substr(begin, end - begin);
    const bool known = std::any_of(shape_.answers.begin(), shape_.answers.end(),
                                   [&](const std::vector<std::string>& answers) {
                                     return answers[read].find(row) != std::string::npos;
                                   });
    if (!known) return Outcome::kWrong;
    begin = end;
  }
  return Outcome::kHole;
}

TrialResult AnswerCheck::Result() const {
  if (broken_.outcome != Outcome::kHarmless) return broken_;
  if (reported_) return {Outcome::kReported};
  uint64_t state = shape_.last_state();
  while (!fits_[state]) --state;
  if (state < floor_) {
    return {Outcome::kSuffixLost,
            std::to_string(state) + " batches of " + std::to_string(shape_.last_state()) +
                " are there, at least " + std::to_string(floor_) + " expected"};
  }
  if (verified_) return {Outcome::kVerified};
  return {state < shape_.last_state() ? Outcome::kTailLost : Outcome::kHarmless};
}

}  // namespace tandem::reliability
