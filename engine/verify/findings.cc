// Findings are sentences; see findings.h for what each has to name. Errors come as sentences too,
// so the parts of a finding are taken from its sentence, in this one place.
#include "engine/verify/findings.h"

#include <charconv>

#include "format/block/section_table.h"
#include "format/corruption.h"

namespace tandem {

const char* NameOf(FindingEffect effect) {
  switch (effect) {
    case FindingEffect::kNothing:
      return "nothing";
    case FindingEffect::kDerived:
      return "derived";
    case FindingEffect::kAccess:
      return "access";
    case FindingEffect::kRows:
      return "rows";
  }
  return "unknown";
}

}  // namespace tandem

namespace tandem::format {
namespace {

constexpr std::string_view kOffset = "offset ", kExpected = "expected ", kFound = ", found ";

// The start of `text` up to ": ", if that can be the name of a file.
std::string_view FileIn(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(": "));
  const bool is_name =
      name.size() < text.size() && name.find(' ') == name.npos && name != "catalog";
  return is_name ? name : std::string_view();
}

std::optional<uint64_t> OffsetIn(std::string_view text) {
  if (!text.starts_with(kOffset)) return std::nullopt;
  text.remove_prefix(kOffset.size());
  uint64_t offset = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), offset);
  return parsed.ec == std::errc() ? std::optional(offset) : std::nullopt;
}

// The last "expected E, found F"; what follows F after a semicolon is not part of it.
void TakeMismatch(std::string_view text, Finding* finding) {
  const size_t expected = text.rfind(kExpected);
  if (expected == text.npos) return;
  const std::string_view rest = text.substr(expected + kExpected.size());
  const size_t found = rest.find(kFound);
  if (found == rest.npos) return;
  finding->expected = rest.substr(0, found);
  const std::string_view after = rest.substr(found + kFound.size());
  finding->found = after.substr(0, after.find("; "));
}

FindingTopic TopicOfFile(std::string_view name) {
  const std::string_view path = FileIn(name);
  if (const size_t slash = path.rfind('/'); slash != path.npos) name.remove_prefix(slash + 1);
  if (name.starts_with("ROOT")) return {"root", FindingEffect::kAccess};
  if (name.starts_with("manifest-")) return {"manifest", FindingEffect::kAccess};
  if (name.starts_with("log-")) return {"log", FindingEffect::kRows};
  if (name.starts_with("store-")) return {"file", FindingEffect::kRows};
  return {"catalog", FindingEffect::kAccess};
}

}  // namespace

Finding NewFinding(const FindingTopic& topic, std::string text) {
  Finding finding;
  finding.kind = topic.kind;
  finding.effect = topic.effect;
  finding.file = FileIn(text);
  const std::string_view all = text;
  const size_t what = finding.file.empty() ? 0 : finding.file.size() + 2;
  finding.offset = OffsetIn(all.substr(what));
  TakeMismatch(all, &finding);
  finding.text = std::move(text);
  return finding;
}

Finding NewFinding(const Status& error) {
  return NewFinding(TopicOfFile(error.message()), std::string(error.message()));
}

FindingTopic TopicOf(const SectionEntry& section) {
  constexpr FindingEffect kDerived = FindingEffect::kDerived, kAccess = FindingEffect::kAccess;
  switch (section.kind) {
    case SectionKind::kData:
      return {"rows", FindingEffect::kRows, section.offset};
    case SectionKind::kSchema:
      return {"schema", kAccess, section.offset};
    case SectionKind::kDictionary:
      return {"rows", FindingEffect::kRows, section.offset};
    case SectionKind::kBlockIndex:
      return {"block-index", kAccess, section.offset};
    case SectionKind::kBlockIndexTop:
      return {"block-index", kDerived, section.offset};
    case SectionKind::kPresence:
      return {"presence", kAccess, section.offset};
    case SectionKind::kKeyHashes:
      return {"key-hashes", kDerived, section.offset};
    case SectionKind::kCleanRows:
      return {"clean-rows", kDerived, section.offset};
    case SectionKind::kFilter:
      return {"filter", kDerived, section.offset};
    case SectionKind::kStatistics:
      return {"statistics", kAccess, section.offset};
    default:  // Parts of indexes, of later versions too: they are rebuilt from rows.
      return {"index", kDerived, section.offset};
  }
}

FindingTopic TopicOf(const std::vector<SectionEntry>& sections, SectionKind kind, uint32_t owner) {
  const SectionEntry* section = FindSection(sections, kind, owner);
  return section != nullptr ? TopicOf(*section) : TopicOf(SectionEntry{.kind = kind});
}

Findings::~Findings() {
  if (count_ <= kMax) return;
  report_->findings.push_back(
      NewFinding(topic_, subject_ + ": and " + std::to_string(count_ - kMax) + " findings more"));
}

void Findings::set_sections(std::span<const SectionEntry> sections) {
  for (const SectionEntry& section : sections) sections_[section.offset] = section;
}

void Findings::Push(const FindingTopic& topic, std::string text) {
  if (++count_ <= kMax) report_->findings.push_back(NewFinding(topic, std::move(text)));
}

FindingTopic Findings::TopicAt(uint64_t offset) const {
  auto section = sections_.upper_bound(offset);
  if (section == sections_.begin()) return topic_;
  --section;
  const bool is_inside = offset - section->first < section->second.size_bytes;
  return is_inside ? TopicOf(section->second) : topic_;
}

void Findings::Add(std::string_view what) { AddOn(topic_, what); }

void Findings::AddAt(uint64_t offset, std::string_view what) {
  FindingTopic topic = TopicAt(offset);
  topic.offset = offset;
  AddOn(topic, what);
}

void Findings::AddOn(const FindingTopic& topic, std::string_view what) {
  std::string text = subject_ + ": ";
  if (topic.offset.has_value()) {
    text.append(kOffset).append(std::to_string(*topic.offset)).append(": ");
  }
  Push(topic, text.append(what));
}

void Findings::Compare(std::string_view what, uint64_t expected, uint64_t found) {
  if (expected != found) Add(Mismatch(what, expected, found));
}

// Messages of corruption start with the file's name already.
std::string Findings::TextOf(const Status& error) const {
  const bool named = error.message().substr(0, subject_.size()) == subject_;
  return (named ? "" : subject_ + ": ") + std::string(error.message());
}

Status Findings::AddError(const Status& error) {
  const std::optional<uint64_t> offset = NewFinding(topic_, TextOf(error)).offset;
  return AddErrorOn(offset.has_value() ? TopicAt(*offset) : topic_, error);
}

Status Findings::AddErrorOn(const FindingTopic& topic, const Status& error) {
  switch (error.code()) {
    case StatusCode::kCorruption:
    case StatusCode::kIoError:
    case StatusCode::kUnsupported:
    case StatusCode::kNotFound:
      Push(topic, TextOf(error));
      return {};
    default:
      return error;
  }
}

}  // namespace tandem::format
