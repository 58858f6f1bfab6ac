// Fibers over ucontext. Stacks are reused, because an exploration makes millions of fibers.
#include "test/interleave/fiber.h"

#include <cxxabi.h>
#include <sys/mman.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.h"
#include "engine/runtime/observers.h"
#include "format/lazy_once.h"

#if defined(__SANITIZE_ADDRESS__)
#define TANDEM_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TANDEM_ADDRESS_SANITIZER 1
#endif
#endif
#ifdef TANDEM_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

#ifdef TANDEM_ADDRESS_SANITIZER
// A run that fails leaves its threads where they are, with all that they hold. Locals stay on
// real stacks: those that the sanitizer keeps beside them are given back while frames outside of
// the fibers still use them.
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0:detect_stack_use_after_return=0";
}
#endif

namespace tandem::test {
namespace {

constexpr size_t kStackBytes = 512 << 10;
constexpr size_t kGuardBytes = 4096;

// Tells the sanitizer, where there is one, that the stack changes.
void StartSwitch([[maybe_unused]] void** save, [[maybe_unused]] const void* bottom,
                 [[maybe_unused]] size_t size_bytes) {
#ifdef TANDEM_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(save, bottom, size_bytes);
#endif
}
void FinishSwitch([[maybe_unused]] void* saved, [[maybe_unused]] const void** bottom,
                  [[maybe_unused]] size_t* size_bytes) {
#ifdef TANDEM_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(saved, bottom, size_bytes);
#endif
}

std::vector<char*>& FreeStacks() {
  static std::vector<char*> stacks;
  return stacks;
}

char* TakeStack() {
  std::vector<char*>& free = FreeStacks();
  if (!free.empty()) {
    char* stack = free.back();
    free.pop_back();
    return stack;
  }
  void* stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(stack != MAP_FAILED);
  CHECK(mprotect(stack, kGuardBytes, PROT_NONE) == 0);
  return static_cast<char*>(stack);
}

}  // namespace

Fiber::Fiber(std::function<void()> body) : body_(std::move(body)) {}

Fiber::~Fiber() {
  if (state_ == State::kDone) FreeStacks().push_back(stack_);
}

// makecontext passes integers only, so the address comes in two halves.
void Fiber::Begin(unsigned high, unsigned low) {
  auto* self = reinterpret_cast<Fiber*>((static_cast<uintptr_t>(high) << 32) | low);
  FinishSwitch(nullptr, &self->outside_stack_, &self->outside_size_);
  self->body_();
  self->body_ = nullptr;  // What it holds goes on its own stack.
  self->state_ = State::kDone;
  self->SwapThreadState();
  StartSwitch(nullptr, self->outside_stack_, self->outside_size_);
  setcontext(&self->outside_);
}

void Fiber::Enter() {
  if (state_ == State::kNew) {
    stack_ = TakeStack();
    CHECK(getcontext(&inside_) == 0);
    inside_.uc_stack.ss_sp = stack_;
    inside_.uc_stack.ss_size = kStackBytes;
    inside_.uc_link = nullptr;
    const auto address = reinterpret_cast<uintptr_t>(this);
    makecontext(&inside_, reinterpret_cast<void (*)()>(&Fiber::Begin), 2,
                static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
    state_ = State::kBegun;
  }
  SwapThreadState();
  StartSwitch(&entered_fake_stack_, stack_, kStackBytes);
  CHECK(swapcontext(&outside_, &inside_) == 0);
  FinishSwitch(entered_fake_stack_, nullptr, nullptr);
}

void Fiber::Leave() {
  SwapThreadState();
  StartSwitch(&own_fake_stack_, outside_stack_, outside_size_);
  CHECK(swapcontext(&inside_, &outside_) == 0);
  FinishSwitch(own_fake_stack_, &outside_stack_, &outside_size_);
}

// The layout of __cxa_eh_globals is part of the C++ ABI: a pointer and an unsigned.
void Fiber::SwapThreadState() {
  std::swap(exceptions_, *reinterpret_cast<Exceptions*>(abi::__cxa_get_globals()));
  std::swap(marks_.loads, format::loads_of_thread);
  std::swap(marks_.hook, engine::HookScope::innermost());
}

}  // namespace tandem::test
