// The findings of a check of one file, in bounded number: sentences that name the file, the place,
// what was expected and what was found, with what the damage costs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/block/section_writer.h"
#include "tandem/status.h"
#include "tandem/verify.h"

namespace tandem::format {

/// What a finding concerns, and what it costs.
struct FindingTopic {
  const char* kind = "file";
  FindingEffect effect = FindingEffect::kRows;
  std::optional<uint64_t> offset = {};  ///< Of what is wrong, where the finding names no other.
};

/// The finding that `text` describes in the form of corruption.h; its parts are taken from there.
Finding NewFinding(const FindingTopic& topic, std::string text);
/// The finding that an error describes; its topic is that of the file that it names first.
Finding NewFinding(const Status& error);

/// What damage of a section costs; `offset` is the section's.
FindingTopic TopicOf(const SectionEntry& section);
/// The same for a file's section of that kind, of the first family or index where each has one.
FindingTopic TopicOf(const std::vector<SectionEntry>& sections, SectionKind kind,
                     uint32_t owner = 0);

/// Threads: one at a time. Lifetime: `report` outlives it.
class Findings {
 public:
  /// A file with more findings than this is not described further, only counted.
  static constexpr uint64_t kMax = 50;

  /// `subject` starts every sentence: usually a file's name.
  Findings(std::string subject, VerifyReport* report)
      : subject_(std::move(subject)), report_(report) {}
  /// Says how many findings were not described.
  ~Findings();
  Findings(const Findings&) = delete;
  Findings& operator=(const Findings&) = delete;

  /// What the findings that follow concern.
  void set_topic(const FindingTopic& topic) { topic_ = topic; }
  /// From here on a finding with an offset in one of `sections` concerns that section.
  void set_sections(std::span<const SectionEntry> sections);

  /// Adds "SUBJECT: WHAT", with the topic's offset where it has one.
  void Add(std::string_view what);
  /// Adds "SUBJECT: offset OFFSET: WHAT".
  void AddAt(uint64_t offset, std::string_view what);
  /// As Add, on another topic.
  void AddOn(const FindingTopic& topic, std::string_view what);
  /// Adds "SUBJECT: WHAT: expected EXPECTED, found FOUND" unless they are equal.
  void Compare(std::string_view what, uint64_t expected, uint64_t found);
  /// A file that cannot be read or understood (kCorruption, kIoError, kUnsupported, kNotFound) is a
  /// finding; returns OK then, and `error` itself otherwise.
  Status AddError(const Status& error);
  /// As AddError, on another topic.
  Status AddErrorOn(const FindingTopic& topic, const Status& error);

  uint64_t count() const { return count_; }
  VerifyReport* report() const { return report_; }

 private:
  void Push(const FindingTopic& topic, std::string text);
  FindingTopic TopicAt(uint64_t offset) const;
  std::string TextOf(const Status& error) const;

  std::string subject_;
  VerifyReport* report_;
  FindingTopic topic_;
  std::map<uint64_t, SectionEntry> sections_;  // By offset.
  uint64_t count_ = 0;
};

}  // namespace tandem::format
