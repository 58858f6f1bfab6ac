// Loops on one thread, in an order that threads could run them in.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "base/executor.h"
#include "base/status_macros.h"

namespace tandem::test {

/// Runs the second half of a loop's iterations when it begins, backwards, and the others in Finish.
class SplitLoops final : public base::Parallel {
 public:
  std::unique_ptr<Loop> Begin(size_t count, Iteration iteration) override {
    ++loops_;
    size_t left = count;
    Status status;
    while (left > count / 2 && status.ok()) status = iteration(--left);
    return std::make_unique<HalfLoop>(left, std::move(iteration), std::move(status));
  }
  size_t loops() const { return loops_; }

 private:
  class HalfLoop final : public Loop {
   public:
    HalfLoop(size_t left, Iteration iteration, Status status)
        : left_(left), iteration_(std::move(iteration)), status_(std::move(status)) {}
    Status Finish() override {
      while (left_ > 0 && status_.ok()) status_ = iteration_(--left_);
      return status_;
    }

   private:
    size_t left_;
    const Iteration iteration_;
    Status status_;
  };

  size_t loops_ = 0;
};

}  // namespace tandem::test
