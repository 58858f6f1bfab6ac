// What the program shows of files of every kind: `dump` and `verify FILE`.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "format/file_header.h"
#include "format/types.h"
#include "store_file/store_file.h"
#include "test/fuzz/mutator.h"
#include "test/fuzz/samples.h"
#include "test/fuzz/sealing.h"
#include "test/fuzz/target.h"
#include "test/support/sample_store_files.h"
#include "tools/dump/dump.h"
#include "tools/simulation/simulated_disk.h"
#include "tools/tandem/file_check.h"
#include "wal/log.h"

namespace tandem::fuzz {
namespace {

using format::FileKind;

// What was printed goes nowhere.
std::FILE* Nowhere() {
  static std::FILE* const kFile = std::fopen("/dev/null", "w");
  return kFile;
}

// As ProbeFile, of bytes in memory, in a directory of their own. False: they do not begin with a
// header.
bool Probe(const std::string& bytes, tools::ProbedFile* probed) {
  if (bytes.size() < format::kFileHeaderBytes) return false;
  const auto header =
      format::DecodeFileHeader(std::string_view(bytes), static_cast<FileKind>(bytes[8]), "input");
  if (!header) return false;
  auto disk = std::make_unique<test::SimulatedDisk>(1, nullptr);
  disk->SetContent("files", "input", bytes);
  auto directory = disk->OpenDirectory("files", /*create=*/false);
  if (!directory) return false;
  auto file = (*directory)->Open("input", base::OpenMode::kReadOnly);
  if (!file) return false;
  probed->header = *header;
  probed->size_bytes = bytes.size();
  probed->file_system = std::move(disk);
  probed->directory = std::move(*directory);
  probed->file = std::move(*file);
  return true;
}

// Upper flags choose between checking and printing, the output, and what of the file is printed.
void Show(const std::string& bytes, uint8_t flags) {
  tools::ProbedFile probed;
  if (!Probe(bytes, &probed)) return;
  if ((flags & 16) != 0) {
    VerifyReport report;
    return (void)tools::CheckFile(&probed, /*deep=*/true, &report);
  }
  constexpr tools::OutputMode kModes[] = {tools::OutputMode::kTable, tools::OutputMode::kJsonLines,
                                          tools::OutputMode::kCsv, tools::OutputMode::kTsv};
  tools::DumpOptions options;
  options.file = "input";
  options.output = kModes[flags / 4 % std::size(kModes)];
  // What the bits of `flags` leave open is chosen by the bytes themselves.
  const uint8_t view = bytes.empty() ? 0 : static_cast<uint8_t>(bytes.size() % 7);
  if ((flags & 2) != 0) options.index = "city";
  if (options.index.empty() && view == 1) options.at = std::to_string(bytes.size() / 2);
  if (options.index.empty() && view == 2) options.section = "histograms";
  if (options.index.empty() && view == 3) options.section = "state";
  if (view == 4) options.range.start = "m";
  tools::Context context;
  context.out = Nowhere();
  const auto writer = tools::NewRecordWriter(options.output, context.out);
  tools::DumpRecords records(writer.get(), {});
  (void)tools::DumpFile(options, context, &probed, &records);
}

void RunDumpStore(std::string_view input) {
  using enum format::BlockKind;
  static const SampleChoice kSamples(
      test::SmallStoreFiles(), {test::kNoBlock, kRows, kBlockIndex, kBlockIndexTop, kDictionary,
                                kKeyHashes, kBitmap, kFilter, kIndexLeaf, kIndexDirectory,
                                kPostings, kSchema, kStatistics, kDigests, kSectionTable});
  const std::optional<ChangedSample> changed = Change(kSamples, input);
  if (changed) Show(changed->bytes, FlagsOf(input).flags);
}

// A file of any other kind, by the kind that its header states.
void RunDumpChain(std::string_view input) {
  const Flagged flagged = FlagsOf(input);
  std::string bytes(flagged.bytes);
  if (bytes.size() < format::kFileHeaderBytes) return;
  const auto kind = static_cast<FileKind>(bytes[8]);
  if (kind == FileKind::kRoot) bytes = SpreadRoot(bytes);
  if (flagged.is_sealed()) {
    format::FileId id;
    std::copy_n(bytes.begin() + 64, id.bytes.size(), id.bytes.begin());
    const bool is_log = kind == FileKind::kLog;
    if (kind == FileKind::kRoot) SealRoot(&bytes);
    if (is_log) SealSegmentHeader(&bytes);
    if (!is_log) SealHeader(&bytes);
    const size_t begin = is_log ? wal::kSegmentHeaderBytes : format::kFileHeaderBytes;
    if (kind != FileKind::kRoot) (void)SealFrames(id, begin, NumberAt(bytes, begin - 8), &bytes);
  }
  Show(bytes, flagged.flags);
}

// The files of the targets of chains, whose seeds begin with their own flags.
std::vector<std::string> DumpChainSeeds() {
  std::vector<std::string> seeds;
  for (const Target& target : ChainTargets()) {
    const size_t skipped = target.name == "log" ? 3 : 1;
    const std::string seed = target.seeds().front();
    seeds.push_back(std::string(1, static_cast<char>(kChecksumsRight)) + seed.substr(skipped));
  }
  return seeds;
}

}  // namespace

std::span<const Target> DumpTargets() {
  static const Target kTargets[] = {
      {"dump_store", RunDumpStore, EditSeeds, Shape::kEdits},
      {"dump_chain", RunDumpChain, DumpChainSeeds, Shape::kSealed, 2048}};
  return kTargets;
}

}  // namespace tandem::fuzz
