// See workload.h.
#include "tools/bench/workload.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace tandem::bench {
namespace {

constexpr uint32_t kCities = 1000;
constexpr double kZipfExponent = 1.0;

}  // namespace

uint64_t Mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

uint64_t Scattered(uint64_t j, uint64_t count) {
  // A prime above every count, so that multiplying by it permutes the numbers below count.
  constexpr uint64_t kPrime = 2'654'435'761;
  return j * kPrime % count;
}

void Consumer::Value(std::string_view value) {
  bytes += value.size();
  uint64_t head = 0;
  if (!value.empty()) std::memcpy(&head, value.data(), std::min<size_t>(8, value.size()));
  mix ^= head;
}

W1::W1(uint64_t rows, uint32_t payload_bytes) : rows_(rows), payload_bytes_(payload_bytes) {
  double sum = 0;
  for (uint32_t i = 1; i <= kCities; ++i)
    cumulative_.push_back(sum += 1 / std::pow(i, kZipfExponent));
  for (double& c : cumulative_) c /= sum;

  std::vector<uint64_t> cities(kCities);
  uint64_t status_rows = 0;
  for (uint64_t i = 0; i < rows; ++i) {
    ++cities[CityOf(i)];
    status_rows += Mix(i ^ 0x5747) % 10 == 3;
  }
  const std::pair<const char*, double> shares[] = {
      {"0.01 %", 1e-4}, {"0.1 %", 1e-3}, {"1 %", 1e-2}};
  for (const auto& [name, share] : shares) {
    uint32_t best = 0;  // The most frequent, which every table has.
    for (uint32_t c = 1; c < kCities; ++c) {
      if (cities[c] == 0) continue;
      if (std::fabs(cities[c] - share * rows) < std::fabs(cities[best] - share * rows)) best = c;
    }
    char value[16];
    std::snprintf(value, sizeof value, "city-%04u", best);
    targets_.push_back({name, "city", value, cities[best]});
  }
  targets_.push_back({"10 %", "status", "status-3", status_rows});
}

uint32_t W1::CityOf(uint64_t i) const {
  const double u = static_cast<double>(Mix(i ^ 0xC117) >> 11) * 0x1.0p-53;
  const auto at = std::lower_bound(cumulative_.begin(), cumulative_.end(), u);
  return std::min<uint32_t>(kCities - 1, at - cumulative_.begin());
}

std::string W1::Key(uint64_t i) const {
  char key[17];
  std::snprintf(key, sizeof key, "%016llx", static_cast<unsigned long long>(Mix(i)));
  return std::string(key, 16);
}

void W1::Update(uint64_t i, uint64_t version, W1Update* update) const {
  const uint64_t draw = Mix(i) + version + 1;
  update->key = Key(i);
  char text[16];
  update->city.assign(text, std::snprintf(text, sizeof text, "city-%04u", CityOf(draw)));
  update->status.assign(text, std::snprintf(text, sizeof text, "status-%u",
                                            static_cast<unsigned>(Mix(draw ^ 0x5747) % 10)));
}

uint64_t W1::row_bytes() const {
  W1Row row;
  Row(0, &row);
  return row.key.size() + row.city.size() + row.status.size() + row.ts.size() + row.payload.size();
}

void W1::Row(uint64_t i, W1Row* row) const {
  row->key = Key(i);
  char text[16];
  row->city.assign(text, std::snprintf(text, sizeof text, "city-%04u", CityOf(i)));
  row->status.assign(text, std::snprintf(text, sizeof text, "status-%u",
                                         static_cast<unsigned>(Mix(i ^ 0x5747) % 10)));
  row->ts.resize(8);
  const uint64_t big_endian = __builtin_bswap64(1'700'000'000'000'000 + i * 1000);
  std::memcpy(row->ts.data(), &big_endian, 8);
  row->payload.resize(payload_bytes_);
  for (size_t at = 0; at < payload_bytes_ / 2; at += 8) {
    const uint64_t noise = Mix(i * 32 + at);
    std::memcpy(row->payload.data() + at, &noise, std::min<size_t>(8, payload_bytes_ / 2 - at));
  }
  std::memset(row->payload.data() + payload_bytes_ / 2, 'a' + static_cast<char>(i % 7),
              payload_bytes_ / 2);
}

}  // namespace tandem::bench
