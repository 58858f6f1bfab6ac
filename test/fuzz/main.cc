// The entry points of libFuzzer. `fuzz --target=NAME [libFuzzer's flags] CORPUS` fuzzes one target;
// `fuzz --list` prints the targets; `fuzz --target=NAME --seeds=DIRECTORY` writes what to start
// from. At its end a run says in how many of its inputs checksums were made right.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "test/fuzz/mutator.h"
#include "test/fuzz/target.h"

namespace tandem::fuzz {
namespace {

const Target* chosen = nullptr;
uint64_t inputs = 0, sealed_inputs = 0;

template <typename Visit>
void ForEachTarget(Visit visit) {
  for (const auto& targets : {BlockTargets(), RecordTargets(), ChainTargets(), StoreFileTargets(),
                              DumpTargets(), TextTargets()}) {
    for (const Target& target : targets) visit(target);
  }
}

void WriteSeeds(const std::string& directory) {
  int number = 0;
  for (const std::string& seed : chosen->seeds()) {
    const std::string path = directory + "/seed-" + std::to_string(number++);
    std::FILE* file = std::fopen(path.c_str(), "wb");
    Expect(file != nullptr, "the directory of seeds can be written");
    std::fwrite(seed.data(), 1, seed.size(), file);
    std::fclose(file);
  }
}

void PrintSealed() {
  std::fprintf(stderr, "checksums right: %llu of %llu\n",
               static_cast<unsigned long long>(sealed_inputs),
               static_cast<unsigned long long>(inputs));
}

// The value of `--NAME=VALUE` among the arguments; empty without it.
std::string_view Argument(int count, char** arguments, std::string_view name) {
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument.starts_with(name)) return argument.substr(name.size());
  }
  return {};
}

}  // namespace
}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  using tandem::fuzz::Argument, tandem::fuzz::ForEachTarget, tandem::fuzz::Target;
  using tandem::fuzz::chosen, tandem::fuzz::WriteSeeds, tandem::fuzz::PrintSealed;
  for (int i = 1; i < *count; ++i) {
    if (std::strcmp((*arguments)[i], "--list") != 0) continue;
    ForEachTarget([](const Target& target) {
      std::printf("%.*s\n", static_cast<int>(target.name.size()), target.name.data());
    });
    std::exit(0);
  }
  const std::string_view name = Argument(*count, *arguments, "--target=");
  ForEachTarget([name](const Target& target) {
    if (target.name == name) chosen = &target;
  });
  if (chosen == nullptr) {
    std::fprintf(stderr, "no such target; --list prints them\n");
    std::exit(2);
  }
  const std::string_view seeds = Argument(*count, *arguments, "--seeds=");
  if (!seeds.empty()) {
    WriteSeeds(std::string(seeds));
    std::exit(0);
  }
  if (chosen->shape != tandem::fuzz::Shape::kPlain) std::atexit(PrintSealed);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tandem::fuzz::chosen, tandem::fuzz::inputs, tandem::fuzz::sealed_inputs;
  ++inputs;
  sealed_inputs += size > 0 && (data[0] & tandem::fuzz::kChecksumsRight) != 0 ? 1 : 0;
  chosen->run({reinterpret_cast<const char*>(data), size});
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t size_max,
                                          unsigned int seed) {
  const tandem::fuzz::Target& target = *tandem::fuzz::chosen;
  size_max = std::min(size_max, std::max(size, target.bytes_max));
  return tandem::fuzz::Mutate(target.shape, {data, size_max}, size, seed);
}
