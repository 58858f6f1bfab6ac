// The hashes, by the xxHash library; the only file that includes it.
//
// If the library supports it, the functions are chosen at run time by the processor: the second
// header replaces them with functions that return the same results with wider vectors, which makes
// block checksums four times as fast.
#include "format/hash.h"

#include <xxhash.h>
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
#endif

#include <new>

namespace tandem::format {
namespace {

struct FreeState {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};
using StatePointer = std::unique_ptr<XXH3_state_t, FreeState>;

StatePointer NewState() {
  StatePointer state(XXH3_createState());
  // This allocation does not use operator new, so report its failure the same way.
  if (state == nullptr) std::__throw_bad_alloc();
  return state;
}

}  // namespace

uint64_t Hash64(std::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

Hash128 HashOf128(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

uint64_t RowHash(std::string_view row_key, std::span<const char> secret) {
  return XXH3_64bits_withSecret(row_key.data(), row_key.size(), secret.data(), secret.size());
}

std::string HashText(const Hash128& hash) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint64_t half : {hash.high, hash.low}) {
    for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(half >> shift) & 15];
  }
  return text;
}

uint64_t ChecksumSeed(const FileId& file, uint64_t offset) {
  return XXH3_64bits(file.bytes.data(), file.bytes.size()) ^ (offset * 0x9E3779B97F4A7C15u);
}

struct StreamingHash64::State {
  StatePointer state = NewState();
};

StreamingHash64::StreamingHash64() : state_(std::make_unique<State>()) { Reset(); }
StreamingHash64::~StreamingHash64() = default;
void StreamingHash64::Reset() { XXH3_64bits_reset(state_->state.get()); }
void StreamingHash64::Add(std::string_view bytes) {
  XXH3_64bits_update(state_->state.get(), bytes.data(), bytes.size());
}
uint64_t StreamingHash64::Finish() const { return XXH3_64bits_digest(state_->state.get()); }

struct StreamingHash128::State {
  StatePointer state = NewState();
};

StreamingHash128::StreamingHash128() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(state_->state.get());
}
StreamingHash128::~StreamingHash128() = default;
StreamingHash128::StreamingHash128(StreamingHash128&&) noexcept = default;
StreamingHash128& StreamingHash128::operator=(StreamingHash128&&) noexcept = default;

void StreamingHash128::Add(std::string_view bytes) {
  XXH3_128bits_update(state_->state.get(), bytes.data(), bytes.size());
}

Hash128 StreamingHash128::Finish() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_->state.get());
  return {hash.low64, hash.high64};
}

}  // namespace tandem::format
