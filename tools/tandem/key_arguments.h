// What create, split-keys, simulate, emulate and lint share: from the words of the command line to
// a source of keys and to split keys.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tandem/split_keys.h"
#include "tandem/status.h"
#include "tools/row_keys/key_source.h"
#include "tools/row_keys/skew.h"
#include "tools/tandem/context.h"
#include "tools/tandem/options.h"

namespace tandem::tools {

/// How many keys a generator makes where --keys is not given.
inline constexpr uint64_t kKeysGenerated = 1'000'000;

/// Of a generator one key of each `step`. Requires: keys * step <= kGeneratedKeysMax. Errors:
/// kInvalidArgument, also where no source or several are given; kNotFound, and those of opening it.
Result<std::unique_ptr<row_keys::KeySource>> OpenKeys(const KeySourceArguments& arguments,
                                                      const Context& context, uint64_t step = 1);
/// Hands on each key until the source, or --keys, ends; at least one. Errors: kCancelled, those of
/// the source and of `take`; kInvalidArgument when there is no key.
Status ForEachKey(const KeySourceArguments& arguments, const Context& context,
                  row_keys::KeySource* source,
                  const std::function<Status(const row_keys::WeightedKey&)>& take);

/// The split keys that `splits` (row_keys/split_spec.h) asks for; auto: from the sample, one
/// key of each `step` of it where a generator makes it. Says on stderr when there are fewer regions
/// than asked for. Errors: kInvalidArgument: a sample is given and not needed, or the other way
/// round, or it has fewer keys than regions.
Result<SplitPlan> PlanSplits(const std::string& splits, const KeySourceArguments& sample,
                             const Context& context, uint64_t step = 1);
/// The same for keys that will be routed: where no `sample` is given, a file, auto: takes one of
/// these keys. Errors: also kInvalidArgument where they can be read once only.
Result<SplitPlan> PlanFor(const std::string& splits, const std::string& sample,
                          const KeySourceArguments& source, const Context& context);
/// How many keys a generator will make; 0: another source.
uint64_t KeysKnown(const KeySourceArguments& source);
/// Tells on stderr how even the regions will be, where that is known.
void ReportSkew(const SplitPlan& plan, const std::string& verb, const Context& context);
/// One standard error of the keys that a region gets, in relation to what it is expected to get:
/// a sample is only a sample. For regions that are expected to get the same, and keys drawn at
/// random. 0: nobody knows, as of weights.
double SamplingError(const SplitPlan& plan);

/// Rounded to six places, as reports have fractions.
double Rounded(double fraction);

}  // namespace tandem::tools
