// The check of one damaged database: whether some state of the shape explains every result.
#pragma once

#include <string>
#include <vector>

#include "test/reliability/shape.h"
#include "test/reliability/trial_workers.h"

namespace tandem::reliability {

class AnswerCheck {
 public:
  /// `floor`: at least this many batches have to be there.
  AnswerCheck(const Shape& shape, uint64_t floor)
      : shape_(shape), floor_(floor), fits_(shape.answers.size(), true) {}

  /// The reads of the shape, of the gets one in four (`salt` decides which), and Verify.
  void Read(engine::Engine& engine, uint64_t salt);
  /// An error of the engine: it has to name the file.
  void TakeError(const Status& status, const std::string& what);
  TrialResult Result() const;

 private:
  void TakeAnswer(size_t read, const ShapeAnswer& answer);
  void Verify(engine::Engine& engine);
  Outcome KindOf(size_t read, const std::string& text) const;

  const Shape& shape_;
  const uint64_t floor_;
  std::vector<bool> fits_;  // By state: explains all answers so far.
  bool reported_ = false, verified_ = false;
  TrialResult broken_{};  // The first answer that no state explains, or an odd error.
};

}  // namespace tandem::reliability
