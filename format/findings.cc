// Findings are sentences; see findings.h for what each has to name.
#include "format/findings.h"

#include "format/corruption.h"

namespace tandem::format {

Findings::~Findings() {
  if (count_ <= kMax) return;
  report_->findings.push_back(subject_ + ": and " + std::to_string(count_ - kMax) +
                              " findings more");
}

void Findings::Add(std::string_view what) {
  if (++count_ > kMax) return;
  report_->findings.push_back(subject_ + ": " + std::string(what));
}

void Findings::AddAt(uint64_t offset, std::string_view what) {
  Add("offset " + std::to_string(offset) + ": " + std::string(what));
}

void Findings::Compare(std::string_view what, uint64_t expected, uint64_t found) {
  if (expected != found) Add(Mismatch(what, expected, found));
}

Status Findings::AddError(const Status& error) {
  switch (error.code()) {
    case StatusCode::kCorruption:
    case StatusCode::kIoError:
    case StatusCode::kUnsupported:
    case StatusCode::kNotFound:
      // Messages of corruption open with the file's name already.
      if (++count_ <= kMax) {
        const bool named = error.message().substr(0, subject_.size()) == subject_;
        report_->findings.push_back((named ? "" : subject_ + ": ") + std::string(error.message()));
      }
      return Status();
    default:
      return error;
  }
}

std::string Quoted(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  constexpr size_t kShown = 60;
  std::string text = "'";
  for (const char byte : bytes.substr(0, kShown)) {
    if (byte >= 0x20 && byte < 0x7f && byte != '\\' && byte != '\'') {
      text += byte;
    } else {
      text += "\\x";
      text += kDigits[static_cast<uint8_t>(byte) >> 4];
      text += kDigits[byte & 15];
    }
  }
  return text + (bytes.size() > kShown ? "...'" : "'");
}

}  // namespace tandem::format
