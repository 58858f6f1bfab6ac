// What a check of one file finds: sentences that name the file, the place, what was expected and
// what was found, in bounded number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tandem/database.h"
#include "tandem/status.h"

namespace tandem::format {

/// Threads: one at a time. Lifetime: `report` outlives it.
class Findings {
 public:
  /// A file with more findings than this is not described further, only counted.
  static constexpr uint64_t kMax = 50;

  /// `subject` opens every sentence: a file's name, for the most part.
  Findings(std::string subject, VerifyReport* report)
      : subject_(std::move(subject)), report_(report) {}
  /// Says how many findings were not described.
  ~Findings();
  Findings(const Findings&) = delete;
  Findings& operator=(const Findings&) = delete;

  /// Adds "SUBJECT: WHAT".
  void Add(std::string_view what);
  /// Adds "SUBJECT: offset OFFSET: WHAT".
  void AddAt(uint64_t offset, std::string_view what);
  /// Adds "SUBJECT: WHAT: expected EXPECTED, found FOUND" unless they are equal.
  void Compare(std::string_view what, uint64_t expected, uint64_t found);
  /// A file that cannot be read or understood (kCorruption, kIoError, kUnsupported, kNotFound) is a
  /// finding; returns OK then, and `error` itself otherwise.
  Status AddError(const Status& error);

  uint64_t count() const { return count_; }
  VerifyReport* report() const { return report_; }

 private:
  std::string subject_;
  VerifyReport* report_;
  uint64_t count_ = 0;
};

/// `bytes` in quotes, at most 60 of them, others than printable ASCII as \xNN.
std::string Quoted(std::string_view bytes);

}  // namespace tandem::format
