// Where allocation failures stop: at the edge of the API and of background jobs they become a
// Status.
#pragma once

#include <new>
#include <stdexcept>
#include <utility>

#include "tandem/status.h"

namespace tandem::engine {

/// What `call` returns (a Status or a Result), or kOutOfMemory when an allocation failed in it.
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
