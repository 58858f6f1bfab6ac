// See survival.h.
#include "tools/stress/survival.h"

#include "tools/stress/finding.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {

using tools::Format;

void Survival::Survived(uint64_t began, const std::string& what) {
  if (began <= last_began_) return;
  last_began_ = began;
  there_ = what;
}

void Survival::Lost(uint64_t acknowledged, const std::string& what) {
  if (first_lost_ != 0 && acknowledged >= first_lost_) return;
  first_lost_ = acknowledged;
  gone_ = what;
}

void Survival::Note(const CounterState& counter, uint64_t found, const std::string& name) {
  for (const NumberedStamps& last : counter.last) {
    const uint64_t number = last.number;
    if (number == 0) continue;
    const std::string what = Format("number {} of {}", number, name);
    number <= found ? Survived(last.began, what) : Lost(last.ended, what);
  }
}

Status Survival::Check() const {
  if (first_lost_ == 0 || first_lost_ >= last_began_) return {};
  return Mismatch(Format("after recovery: {}, acknowledged at {}", gone_, first_lost_),
                  Format("there, since {}, which began at {}, is", there_, last_began_), "lost");
}

}  // namespace tandem::stress
