// See line_source.h.
#include "tools/row_keys/line_source.h"

#include <charconv>
#include <utility>

#include "base/status_macros.h"
#include "tandem/limits.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"

namespace tandem::row_keys {

using tools::EscapeBytes;
using tools::Format;

namespace {

constexpr uint64_t kWeightMax = 1'000'000'000'000;

}  // namespace

LineSource::LineSource(std::FILE* file, tools::OwnedFile owned, std::string name, bool weighted)
    : owned_(std::move(owned)),
      input_(file, std::move(name)),
      lines_(&input_),
      weighted_(weighted) {}

Result<bool> LineSource::Next(WeightedKey* key) {
  ASSIGN_OR_RETURN(const bool more, lines_.Next());
  if (!more) return false;
  std::string_view line = lines_.text();
  key->weight = 1;
  if (lines_.too_long()) return Malformed("too long for a key");
  if (weighted_) RETURN_IF_ERROR(TakeWeight(&line, &key->weight));
  if (line.find("\\x") != line.npos) {
    auto unescaped = tools::ParseEscaped(line);
    if (!unescaped.has_value()) return Malformed(unescaped.error().message());
    unescaped_ = std::move(*unescaped);
    line = unescaped_;
  }
  if (line.empty()) return Malformed("an empty key");
  if (line.size() > kRowKeyBytesMax) {
    return Malformed(Format("a key of {} bytes; at most {}", line.size(), kRowKeyBytesMax));
  }
  key->key = line;
  return true;
}

Status LineSource::TakeWeight(std::string_view* line, uint64_t* weight) {
  const size_t tab = line->rfind('\t');
  if (tab == line->npos) return Malformed("expected KEY, a tab and a weight, found no tab");
  const std::string_view text = line->substr(tab + 1);
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, *weight);
  if (error != std::errc() || end != last || *weight == 0 || *weight > kWeightMax) {
    return Malformed(
        Format("weight '{}': expected a whole number, 1 to {}", EscapeBytes(text), kWeightMax));
  }
  *line = line->substr(0, tab);
  return {};
}

Status LineSource::Malformed(std::string_view what) const {
  return Status::InvalidArgument(Format("{}, line {}: {}", input_.name(), lines_.line(), what));
}

Result<std::unique_ptr<KeySource>> OpenLines(const std::string& path, std::FILE* in,
                                             bool weighted) {
  if (path == "-" && in != nullptr) {
    return std::unique_ptr<KeySource>(
        std::make_unique<LineSource>(in, nullptr, "standard input", weighted));
  }
  ASSIGN_OR_RETURN(tools::OwnedFile file, tools::OpenInput(path));
  std::FILE* const stream = file.get();
  return std::unique_ptr<KeySource>(
      std::make_unique<LineSource>(stream, std::move(file), path, weighted));
}

}  // namespace tandem::row_keys
