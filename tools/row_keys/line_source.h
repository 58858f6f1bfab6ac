// Keys of a text: one a line, `\xNN` for any byte; with a weight: KEY, tab, a whole number.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "tools/row_keys/key_source.h"
#include "tools/tandem/input.h"
#include "tools/tandem/input_lines.h"

namespace tandem::row_keys {

class LineSource : public KeySource {
 public:
  /// `file` is read from its place on; `owned` is closed with the source and may be null.
  LineSource(std::FILE* file, tools::OwnedFile owned, std::string name, bool weighted);

  Result<bool> Next(WeightedKey* key) override;
  uint64_t read_bytes() const override { return input_.consumed_bytes(); }
  uint64_t total_bytes() const override { return input_.total_bytes(); }

 private:
  Status TakeWeight(std::string_view* line, uint64_t* weight);
  Status Malformed(std::string_view what) const;

  tools::OwnedFile owned_;
  tools::InputBuffer input_;
  tools::LineReader lines_;
  bool weighted_;
  std::string unescaped_;
};

/// "-" is `in`, where that is not null. Errors: kNotFound, kIoError.
Result<std::unique_ptr<KeySource>> OpenLines(const std::string& path, std::FILE* in, bool weighted);

}  // namespace tandem::row_keys
