// Blocks are compressed by what their thread keeps for it, and still where that is gone.
#define BOOST_TEST_DYN_LINK
#include "format/compression.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <thread>

namespace tandem::format {
namespace {

const std::string kRaw(10'000, 'a');

bool ComesBack() {
  std::string stored, raw(kRaw.size(), ' ');
  return Compress(kRaw, &stored) && Decompress(stored, raw).ok() && raw == kRaw;
}

// As an object of static storage, it goes after what its thread has begun to keep since.
struct GoesLast {
  ~GoesLast() {
    if (result != nullptr) *result = ComesBack();
  }
  bool* result = nullptr;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(compression)

BOOST_AUTO_TEST_CASE(BlocksComeBack) { BOOST_TEST(ComesBack()); }

BOOST_AUTO_TEST_CASE(WhatEndsAfterItsThreadsContextsMayCompress) {
  bool before = false, after = false;
  std::thread([&] {
    static thread_local GoesLast last;
    last.result = &after;
    before = ComesBack();
  }).join();
  BOOST_TEST(before);
  BOOST_TEST(after);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::format
