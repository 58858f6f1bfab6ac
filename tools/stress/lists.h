// Lists that all threads append tokens to, two columns of one row together. A token has its thread
// and a number that rises with each of the thread's, and all have the same size: the value that an
// append returns says at which place its token is. So of each place is known which token it has, as
// soon as one append has returned it, and every value of the list, whoever reads it and when, has
// the same tokens in the same places: it is the beginning of all longer ones. In it the tokens of
// each thread are 0, 1, 2, ... in this order.
//
// A list that is half full is followed by a new one, of the next generation, when nobody writes.
#pragma once

#include <array>
#include <cstdint>

#include "tools/stress/stressed.h"
#include "tools/stress/survival.h"

namespace tandem::stress {

struct ListAppend {
  uint32_t list = 0;
  uint32_t thread = 0;
  Durability durability = Durability::kWritten;
  bool in_transaction = false;
};
/// How long the lists were that a thread has seen last.
using LastLengths = std::array<uint64_t, kLists>;

/// Appends the thread's next token to both columns, unless the list is full.
Status AppendToList(const Stressed& stressed, const ListAppend& append, LastLengths* last);
/// Threads: others may append.
Status ReadList(const Stressed& stressed, uint32_t list);
/// Every list has what was acknowledged; those that are half full are renewed. Requires: nobody
/// writes.
Status CheckLists(const Stressed& stressed);
/// After the end of a process: each list begins with what was kept, has no token that was not begun
/// and none of a thread without those before it; goes on from what is there.
Status RecoverLists(const Stressed& stressed, Survival* survival);
/// A clean close keeps everything.
void KeepLists(const Stressed& stressed);

}  // namespace tandem::stress
