// The two macros that pass a Status up. `RETURN_IF_ERROR(F());` returns F's Status when it is not
// OK; `ASSIGN_OR_RETURN(auto x, G());` declares x from G's Result or returns its Status.
#pragma once

#include "tandem/status.h"

#define RETURN_IF_ERROR(expression)                               \
  do {                                                            \
    if (::tandem::Status status_ = (expression); !status_.ok()) { \
      return status_;                                             \
    }                                                             \
  } while (false)

#define TANDEM_JOIN_INNER(a, b) a##b
#define TANDEM_JOIN(a, b) TANDEM_JOIN_INNER(a, b)
#define ASSIGN_OR_RETURN(declaration, expression) \
  ASSIGN_OR_RETURN_IMPL(TANDEM_JOIN(result_, __LINE__), declaration, expression)
#define ASSIGN_OR_RETURN_IMPL(result, declaration, expression) \
  auto result = (expression);                                  \
  if (!result.has_value()) return result.error();              \
  declaration = std::move(result).value()
