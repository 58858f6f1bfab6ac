// Wrong bytes from the medium: each kind of read fault, through files and both kinds of queue, and
// the right bytes once it is healed.
#define BOOST_TEST_DYN_LINK
#include "tools/simulation/read_fault.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "test/base/back_ends.h"
#include "test/support/print.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::test {
namespace {

using Kind = ReadFault::Kind;

// A disk with a file of 2,000 bytes, in which each 100 have a letter of their own.
struct Machine {
  SimulatedDisk disk;
  std::unique_ptr<base::Directory> directory = *disk.OpenDirectory("/db", true);
  std::unique_ptr<base::File> file = *directory->Create("f");
  std::string content;

  Machine() {
    for (char letter = 'a'; letter < 'u'; ++letter) content += std::string(100, letter);
    BOOST_REQUIRE(file->Write(0, content).ok());
  }
  void Inject(const ReadFault& fault) {
    BOOST_REQUIRE(disk.InjectReadFault("/db/", "f", fault).ok());
  }
  // What a read gives, "!" and the error when none.
  std::string Read(uint64_t offset, size_t size) {
    std::string buffer(size, ' ');
    const Result<size_t> count = file->Read(offset, buffer);
    return count.has_value() ? buffer.substr(0, *count) : "!" + count.error().ToString();
  }
};

BOOST_AUTO_TEST_SUITE(ReadFaultSuite)

BOOST_AUTO_TEST_CASE(ALatentErrorStrikesEachReadThatTouchesIt) {
  Machine machine;
  machine.Inject({.kind = Kind::kLatentError, .offset = 512});
  for (int i = 0; i < 2; ++i) {
    BOOST_TEST(machine.Read(400, 113) == "!IoError: injected: the disk cannot read at 512");
    BOOST_TEST(machine.Read(1023, 5) == "!IoError: injected: the disk cannot read at 1023");
    BOOST_TEST(machine.Read(400, 112) == machine.content.substr(400, 112));
    BOOST_TEST(machine.Read(1024, 50) == machine.content.substr(1024, 50));
  }
  machine.disk.HealReads();
  BOOST_TEST(machine.Read(400, 200) == machine.content.substr(400, 200));
}

BOOST_AUTO_TEST_CASE(WrongBytesAreShownWhereTheFaultIsAndNowhereElse) {
  Machine machine;
  machine.Inject({.kind = Kind::kBitFlip, .offset = 50, .from = 1});
  machine.Inject({.kind = Kind::kZeros, .offset = 150, .size = 10});
  machine.Inject({.kind = Kind::kMisdirected, .offset = 300, .size = 4, .from = 498});
  std::string expected = machine.content;
  expected[50] = 'c';
  expected.replace(150, 10, 10, '\0');
  expected.replace(300, 4, "eeff");
  BOOST_TEST((machine.Read(0, 2000) == expected));
  BOOST_TEST((machine.Read(155, 146) == expected.substr(155, 146)));
  BOOST_TEST(*machine.disk.Content("/db", "f") == machine.content);
  machine.disk.HealReads();
  BOOST_TEST((machine.Read(0, 2000) == machine.content));
}

BOOST_AUTO_TEST_CASE(ALostWriteShowsWhatWasThereBefore) {
  Machine machine;
  BOOST_REQUIRE(machine.file->Write(600, std::string(10, 'X')).ok());
  BOOST_REQUIRE(machine.file->Write(600, std::string(10, 'Y')).ok());
  machine.Inject({.kind = Kind::kStale, .offset = 512, .size = 512});
  BOOST_TEST(machine.Read(598, 14) == "ffXXXXXXXXXXgg");
  // Written once only: before that there was nothing.
  machine.Inject({.kind = Kind::kStale, .offset = 0, .size = 10});
  BOOST_TEST(machine.Read(8, 4) == std::string("\0\0aa", 4));
}

BOOST_AUTO_TEST_CASE(AShortReadPretendsTheEndOfTheFile) {
  Machine machine;
  machine.Inject({.kind = Kind::kShort, .offset = 700});
  BOOST_TEST(machine.Read(690, 50) == machine.content.substr(690, 10));
  BOOST_TEST(machine.Read(700, 5) == "");
  BOOST_TEST(machine.Read(800, 5) == "");
  BOOST_TEST(machine.Read(0, 700) == machine.content.substr(0, 700));
}

BOOST_AUTO_TEST_CASE(FaultsStayOverACrashAndConcernTheirFile) {
  Machine machine;
  BOOST_REQUIRE((machine.file->DataSync().ok() && machine.directory->Sync().ok()));
  machine.Inject({.kind = Kind::kZeros, .offset = 0, .size = 1});
  machine.disk.Crash({.kept = CrashPolicy::Kept::kNone});
  machine.directory = *machine.disk.OpenDirectory("/db", false);
  machine.file = *machine.directory->Open("f", base::OpenMode::kReadOnly);
  BOOST_TEST(machine.Read(0, 2) == std::string("\0a", 2));
  machine.file = *machine.directory->Create("g");
  BOOST_REQUIRE(machine.file->Write(0, "abc").ok());
  BOOST_TEST(machine.Read(0, 3) == "abc");
  BOOST_TEST((machine.disk.InjectReadFault("/db", "h", {}).code() == StatusCode::kNotFound));
}

BOOST_AUTO_TEST_CASE(QueuesShowThemToo) {
  for (const bool over_ring : {false, true}) {
    Machine machine;
    machine.Inject({.kind = Kind::kLatentError, .offset = 512});
    machine.Inject({.kind = Kind::kZeros, .offset = 5, .size = 2});
    if (over_ring) machine.disk.UseRings();
    const auto queue = machine.disk.NewQueue(2);
    std::string wrong(10, ' '), failing(600, ' ');
    base::IoRequest requests[2];
    requests[0].file = requests[1].file = machine.file.get();
    requests[0].buffer = wrong;
    requests[1].buffer = failing;
    base::IoRequest* pointers[] = {&requests[0], &requests[1]};
    queue->Submit(pointers);
    while (queue->Wait() != nullptr) {
    }
    BOOST_TEST(requests[0].status.ok());
    BOOST_TEST(wrong == std::string("aaaaa\0\0aaa", 10));
    BOOST_TEST((requests[1].status.code() == StatusCode::kIoError));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
