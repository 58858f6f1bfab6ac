// A function that runs on a stack of its own, which is entered and left explicitly: a scheduled
// thread of a test. All fibers run on the one thread that enters them.
#pragma once

#include <ucontext.h>

#include <functional>
#include <memory>

namespace tandem::engine {
class HookScope;
}

namespace tandem::test {

class Fiber {
 public:
  /// `body` must return, and throw nothing.
  explicit Fiber(std::function<void()> body);
  /// Requires: the body has not begun or has returned; otherwise its stack, and what is on it,
  /// is left as it is.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs the body until it leaves or returns.
  void Enter();
  /// Goes back to the fiber that entered. Requires: called on this fiber.
  void Leave();
  bool is_done() const { return state_ == State::kDone; }

 private:
  enum class State : uint8_t { kNew, kBegun, kDone };
  /// What the C++ runtime keeps of a thread: the exceptions that are being handled.
  struct Exceptions {
    void* caught = nullptr;
    unsigned uncaught = 0;
  };

  /// What the engine keeps of a thread.
  struct Marks {
    int loads = 0;
    const engine::HookScope* hook = nullptr;
  };

  static void Begin(unsigned high, unsigned low);
  /// Exchanges what is kept of this fiber and of the real thread.
  void SwapThreadState();

  std::function<void()> body_;
  State state_ = State::kNew;
  char* stack_ = nullptr;
  ucontext_t inside_ = {}, outside_ = {};
  Exceptions exceptions_;
  Marks marks_;
  // For the address sanitizer, which must know the stacks.
  void* own_fake_stack_ = nullptr;
  void* entered_fake_stack_ = nullptr;
  const void* outside_stack_ = nullptr;
  size_t outside_size_ = 0;
};

}  // namespace tandem::test
