// An observer that does everything that one can and changes nothing: a table behaves with it as it
// does without.
#pragma once

#include <memory>

#include "tandem/observer.h"

namespace tandem::test {

/// Its name among Options::observers.
inline constexpr const char* kSameObserver = "same";

/// Replaces each mutation by itself, reads its row, and filters rows without hiding a cell.
/// Threads: any.
std::shared_ptr<Observer> NewSameObserver();

}  // namespace tandem::test
