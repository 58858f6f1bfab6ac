// See md5.h. The names are those of RFC 1321.
#include "format/md5.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "format/coding.h"

namespace tandem::format {
namespace {

constexpr size_t kBlockBytes = 64, kLengthBytes = 8;

using Digest = std::array<uint32_t, 4>;

// 2^32 times the sine of 1 to 64, without its sign.
constexpr std::array<uint32_t, 64> kSines = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};
// Of the four rounds.
constexpr int kRotations[4][4] = {
    {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

void AddBlock(const char* block, Digest* digest) {
  std::array<uint32_t, 16> words;
  std::memcpy(words.data(), block, kBlockBytes);
  auto [a, b, c, d] = *digest;
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t round = i / 16;
    const uint32_t mixed = round == 0   ? (b & c) | (~b & d)
                           : round == 1 ? (d & b) | (~d & c)
                           : round == 2 ? b ^ c ^ d
                                        : c ^ (b | ~d);
    constexpr uint32_t kStep[] = {1, 5, 3, 7}, kFirst[] = {0, 1, 5, 0};
    const uint32_t word = words[(kStep[round] * i + kFirst[round]) % 16];
    const uint32_t sum = a + mixed + word + kSines[i];
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, kRotations[round][i % 4]);
  }
  (*digest)[0] += a;
  (*digest)[1] += b;
  (*digest)[2] += c;
  (*digest)[3] += d;
}

}  // namespace

std::string Md5(std::string_view bytes) {
  Digest digest = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  const size_t whole = bytes.size() / kBlockBytes * kBlockBytes;
  for (size_t i = 0; i < whole; i += kBlockBytes) AddBlock(bytes.data() + i, &digest);
  // The rest, a bit, zeros up to the last bytes of a block, and the number of bits in them.
  std::string rest(bytes.substr(whole));
  rest += '\x80';
  const size_t used = rest.size() + kLengthBytes;
  rest.resize((used + kBlockBytes - 1) / kBlockBytes * kBlockBytes - kLengthBytes);
  AppendU64(&rest, uint64_t{bytes.size()} * 8);
  for (size_t i = 0; i < rest.size(); i += kBlockBytes) AddBlock(rest.data() + i, &digest);
  std::string out;
  for (const uint32_t word : digest) AppendU32(&out, word);
  return out;
}

}  // namespace tandem::format
