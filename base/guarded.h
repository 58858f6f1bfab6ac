// Turns allocation failures into a Status, at the boundary of the API and of background jobs.
#pragma once

#include <new>
#include <stdexcept>
#include <utility>

#include "tandem/status.h"

namespace tandem::engine {

/// Returns the result of `call` (a Status or a Result), or kOutOfMemory if an allocation in it
/// failed.
template <typename Call>
auto Guarded(Call&& call) -> decltype(call()) {
  try {
    return std::forward<Call>(call)();
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory();
  } catch (const std::length_error&) {
    return Status::OutOfMemory();  // A size that no container can hold.
  }
}

}  // namespace tandem::engine
