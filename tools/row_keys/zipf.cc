// The area below the curve x^-exponent is drawn evenly and turned back into x, whose nearest whole
// number is the rank. The bar of rank k is as high as the curve at k, and the area between k - 1/2
// and k + 1/2 is larger; what is too much is rejected.
#include "tools/row_keys/zipf.h"

#include <algorithm>
#include <cmath>

namespace tandem::row_keys {

Zipf::Zipf(uint64_t ranks, double exponent)
    : ranks_(static_cast<double>(ranks)), exponent_(exponent) {
  // Of the first bar the area would be without end for steep curves: its own height does.
  least_ = Area(1.5) - 1;
  most_ = Area(ranks_ + 0.5);
  accepted_ = 2 - AreaInverse(Area(2.5) - Density(2));
}

uint64_t Zipf::Try(uint64_t bits) const {
  const double even = static_cast<double>(bits >> 11) * 0x1.0p-53;
  const double area = most_ + even * (least_ - most_);
  const double x = AreaInverse(area);
  const double rank = std::clamp(std::floor(x + 0.5), 1.0, ranks_);
  const bool accepted = rank - x <= accepted_ || area >= Area(rank + 0.5) - Density(rank);
  return accepted ? static_cast<uint64_t>(rank) : 0;
}

/// The area from 1 to x: (x^(1-e) - 1) / (1-e), and log(x) for e = 1. Written by expm1 it does not
/// lose its digits near there.
double Zipf::Area(double x) const {
  const double power = (1 - exponent_) * std::log(x);
  return std::abs(power) < 1e-12 ? std::log(x) : std::expm1(power) / (1 - exponent_);
}

double Zipf::AreaInverse(double area) const {
  const double power = (1 - exponent_) * area;
  if (std::abs(power) < 1e-12) return std::exp(area);
  return std::exp(std::log1p(std::max(-1.0, power)) / (1 - exponent_));
}

double Zipf::Density(double x) const { return std::exp(-exponent_ * std::log(x)); }

}  // namespace tandem::row_keys
