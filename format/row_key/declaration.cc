// Parsing and printing of declarations (tandem/row_key.h). A declaration is a list of parts; what
// one refers to, and the order of the parts, is checked when all have been read.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"
#include "format/row_key/field.h"
#include "tandem/limits.h"
#include "tandem/row_key.h"

namespace tandem {
namespace {

using Kind = RowKeyPart::Kind;

constexpr uint32_t kBucketsMax = 65'535;
constexpr uint32_t kXxh3BytesMax = 8, kMd5BytesMax = 16;
constexpr uint32_t kWidthMax = 1'024;
constexpr std::array<std::pair<std::string_view, RowKeyType>, 6> kTypes = {{
    {"text", RowKeyType::kText},
    {"bytes", RowKeyType::kBytes},
    {"int64", RowKeyType::kInt64},
    {"uint64", RowKeyType::kUint64},
    {"timestamp", RowKeyType::kTimestamp},
    {"uuid", RowKeyType::kUuid},
}};

std::string_view TypeName(RowKeyType type) {
  return std::ranges::find(kTypes, type, &std::pair<std::string_view, RowKeyType>::second)->first;
}

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

struct Word {
  std::string_view text;
  size_t position = 0;  // From 1.

  bool Is(std::string_view lower) const {
    return std::ranges::equal(text, lower, {}, [](char c) {
      return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    });
  }
};

Status At(size_t position, const std::string& problem) {
  return Status::InvalidArgument("row key: at position " + std::to_string(position) + ": " +
                                 problem);
}

// Words of letters and digits, and single characters, past blanks.
class WordReader {
 public:
  explicit WordReader(std::string_view text) : text_(text) { SkipBlanks(); }

  // Empty at the end.
  Word Peek() const {
    size_t end = at_;
    while (end < text_.size() && (IsLetter(text_[end]) || IsDigit(text_[end]))) ++end;
    if (end == at_ && end < text_.size()) ++end;
    return {text_.substr(at_, end - at_), at_ + 1};
  }
  Word Take() {
    const Word word = Peek();
    at_ += word.text.size();
    SkipBlanks();
    return word;
  }
  bool TakeIf(std::string_view lower) {
    const bool is_it = Peek().Is(lower);
    if (is_it) Take();
    return is_it;
  }
  Status Expected(const std::string& what) const {
    const Word found = Peek();
    return At(found.position, "expected " + what + ", found " +
                                  (found.text.empty() ? "the end" : base::Quote(found.text)));
  }
  Status Expect(std::string_view symbol) {
    return TakeIf(symbol) ? Status() : Expected("'" + std::string(symbol) + "'");
  }

 private:
  void SkipBlanks() {
    while (at_ < text_.size() && IsBlank(text_[at_])) ++at_;
  }

  const std::string_view text_;
  size_t at_ = 0;
};

// A part as it was written; the positions are for messages.
struct WrittenPart {
  RowKeyPart part;
  Word name;  // As in RowKeyPart::field.
  size_t position = 0;
  bool is_reverse = false;  // It says that the next field is reversed.
};

class DeclarationParser {
 public:
  explicit DeclarationParser(std::string_view text) : words_(text) {}

  Result<std::vector<RowKeyPart>> Run() {
    do {
      RETURN_IF_ERROR(ParsePart());
    } while (words_.TakeIf(","));
    if (!words_.Peek().text.empty()) return words_.Expected("',' or the end");
    RETURN_IF_ERROR(CheckNames());
    RETURN_IF_ERROR(CheckOrder());
    std::vector<RowKeyPart> parts;
    bool reversed = false;
    for (WrittenPart& written : written_) {
      if (!written.is_reverse) {
        written.part.reversed = reversed;
        parts.push_back(std::move(written.part));
      }
      reversed = written.is_reverse;
    }
    return parts;
  }

 private:
  Status ParsePart() {
    const Word first = words_.Peek();
    if (written_.size() >= 2 * kRowKeyPartsMax) {
      return At(first.position, "more than " + std::to_string(kRowKeyPartsMax) + " parts");
    }
    WrittenPart& written = written_.emplace_back();
    written.position = first.position;
    ASSIGN_OR_RETURN(const Word name, TakeName("a field or salt, hash, mod, reverse"));
    if (words_.TakeIf(":")) {
      written.name = name;
      return ParseField(&written.part);
    }
    if (words_.Peek().text != "(") return words_.Expected("':' and a type, as in user:text");
    words_.Take();
    RETURN_IF_ERROR(ParseArguments(name, &written));
    return words_.Expect(")");
  }

  Result<Word> TakeName(const std::string& what) {
    const Word word = words_.Peek();
    if (word.text.empty() || !IsLetter(word.text[0])) return words_.Expected(what);
    if (word.text.size() > kNameBytesMax) {
      return At(word.position, "a name of more than " + std::to_string(kNameBytesMax) + " bytes");
    }
    return words_.Take();
  }

  // A number in digits, within [1, max].
  Result<uint32_t> TakeNumber(const std::string& what, uint32_t max) {
    const Word word = words_.Peek();
    uint32_t number = 0;
    const char* const end = word.text.data() + word.text.size();
    const auto [stop, error] = std::from_chars(word.text.data(), end, number);
    if (error != std::errc() || stop != end || number < 1 || number > max) {
      return words_.Expected(what + " from 1 to " + std::to_string(max));
    }
    words_.Take();
    return number;
  }

  Status ParseField(RowKeyPart* part) {
    const Word name = words_.Peek();
    const auto type =
        std::ranges::find_if(kTypes, [&name](const auto& known) { return name.Is(known.first); });
    if (type == kTypes.end()) {
      return words_.Expected("a type: text, bytes, int64, uint64, timestamp or uuid");
    }
    words_.Take();
    part->type = type->second;
    const bool has_width = part->type == RowKeyType::kText || part->type == RowKeyType::kBytes;
    if (has_width && words_.TakeIf("(")) {
      ASSIGN_OR_RETURN(part->width_bytes, TakeNumber("a number of bytes", kWidthMax));
      RETURN_IF_ERROR(words_.Expect(")"));
    }
    part->descending = words_.TakeIf("desc");
    if (!part->descending) words_.TakeIf("asc");
    return {};
  }

  // Between the parentheses of what is no field.
  Status ParseArguments(const Word& transform, WrittenPart* written) {
    RowKeyPart* const part = &written->part;
    if (transform.Is("salt")) {
      part->kind = Kind::kSalt;
      ASSIGN_OR_RETURN(part->count, TakeNumber("a number of salts", kBucketsMax));
      return {};
    }
    const bool is_hash = transform.Is("hash");
    written->is_reverse = transform.Is("reverse");
    if (!is_hash && !written->is_reverse && !transform.Is("mod")) {
      return At(transform.position,
                "expected salt, hash, mod or reverse, found " + base::Quote(transform.text));
    }
    ASSIGN_OR_RETURN(written->name, TakeName("the name of a field"));
    if (written->is_reverse) return {};
    part->kind = is_hash ? Kind::kHash : Kind::kMod;
    RETURN_IF_ERROR(words_.Expect(","));
    if (is_hash) return ParseHash(part);
    ASSIGN_OR_RETURN(part->count, TakeNumber("a number", kBucketsMax));
    if (!words_.TakeIf(",")) return {};
    ASSIGN_OR_RETURN(part->sub_partitions,
                     TakeNumber("a number of parts of each partition", kBucketsMax / part->count));
    return {};
  }

  // How many bytes of which hash.
  Status ParseHash(RowKeyPart* part) {
    const Word bytes = words_.Peek();
    ASSIGN_OR_RETURN(part->count, TakeNumber("a number of bytes", kMd5BytesMax));
    if (words_.TakeIf(",") && !words_.TakeIf("xxh3")) {
      if (!words_.TakeIf("md5")) return words_.Expected("xxh3 or md5");
      part->hash = RowKeyHash::kMd5;
    }
    if (part->hash == RowKeyHash::kMd5 || part->count <= kXxh3BytesMax) return {};
    return At(bytes.position, "xxh3 has " + std::to_string(kXxh3BytesMax) + " bytes, found " +
                                  base::Quote(bytes.text));
  }

  // Each name belongs to one field, and what refers to a field refers to one that is there.
  Status CheckNames() {
    std::map<std::string_view, RowKeyType> types;
    for (WrittenPart& written : written_) {
      written.part.field = std::string(written.name.text);
      if (!IsField(written)) continue;
      if (!types.emplace(written.name.text, written.part.type).second) {
        return At(written.position, "field " + base::Quote(written.name.text) + " is repeated");
      }
    }
    for (const WrittenPart& written : written_) {
      if (IsField(written) || written.part.kind == Kind::kSalt) continue;
      const auto type = types.find(written.name.text);
      const std::string field = base::Quote(written.name.text);
      if (type == types.end()) {
        return At(written.name.position,
                  "the key has no field " + field + "; declare it after this, as in user:text");
      }
      if (written.part.kind == Kind::kMod && !format::IsNumber(type->second)) {
        return At(written.name.position, "mod is of a number or a timestamp; field " + field +
                                             " is " + std::string(TypeName(type->second)) +
                                             ": use hash");
      }
    }
    return {};
  }

  Status CheckOrder() const {
    const auto fields = std::ranges::count_if(written_, IsField);
    if (fields == 0) return words_.Expected("a field after what leads the key, as in user:text");
    size_t parts = 0;
    bool has_field = false;
    for (size_t i = 0; i < written_.size(); ++i) {
      const WrittenPart& written = written_[i];
      parts += written.is_reverse ? 0 : 1;
      if (parts > kRowKeyPartsMax) {
        return At(written.position, "more than " + std::to_string(kRowKeyPartsMax) + " parts");
      }
      if (written.is_reverse) {
        const bool is_before = i + 1 < written_.size() && IsField(written_[i + 1]) &&
                               written_[i + 1].name.text == written.name.text;
        if (!is_before) {
          return At(written.position,
                    "reverse stands right before its field " + base::Quote(written.name.text));
        }
      } else if (IsField(written)) {
        has_field = true;
      } else if (has_field) {
        return At(written.position, "salt, hash and mod come before all fields");
      } else if (written.part.kind == Kind::kSalt && i > 0) {
        return At(written.position, "salt is the first part, and there is one at most");
      }
    }
    return {};
  }

  static bool IsField(const WrittenPart& written) {
    return written.part.kind == Kind::kField && !written.is_reverse;
  }

  WordReader words_;
  std::vector<WrittenPart> written_;
};

void AppendPart(const RowKeyPart& part, std::string* text) {
  const std::string count = std::to_string(part.count);
  switch (part.kind) {
    case Kind::kSalt:
      *text += "salt(" + count + ")";
      return;
    case Kind::kHash:
      *text += "hash(" + part.field + ", " + count;
      *text += part.hash == RowKeyHash::kMd5 ? ", md5)" : ")";
      return;
    case Kind::kMod:
      *text += "mod(" + part.field + ", " + count;
      if (part.sub_partitions > 1) *text += ", " + std::to_string(part.sub_partitions);
      *text += ")";
      return;
    case Kind::kField:
      if (part.reversed) *text += "reverse(" + part.field + "), ";
      (*text += part.field + ":") += TypeName(part.type);
      if (part.width_bytes != 0) *text += "(" + std::to_string(part.width_bytes) + ")";
      if (part.descending) *text += " desc";
      return;
  }
}

}  // namespace

Result<RowKeySchema> RowKeySchema::Parse(std::string_view declaration) {
  if (declaration.size() > kRowKeyTextBytesMax) {
    return Status::InvalidArgument("row key: its declaration has " +
                                   std::to_string(declaration.size()) + " bytes, the limit is " +
                                   std::to_string(kRowKeyTextBytesMax));
  }
  ASSIGN_OR_RETURN(std::vector<RowKeyPart> parts, DeclarationParser(declaration).Run());
  RowKeySchema schema(std::move(parts));
  // The printed form is what is stored; blanks after commas may make it the longer one.
  if (schema.ToString().size() > kRowKeyTextBytesMax) {
    return Status::InvalidArgument("row key: its declaration has more than " +
                                   std::to_string(kRowKeyTextBytesMax) + " bytes");
  }
  return schema;
}

std::string RowKeySchema::ToString() const {
  std::string text;
  for (const RowKeyPart& part : parts_) {
    if (!text.empty()) text += ", ";
    AppendPart(part, &text);
  }
  return text;
}

}  // namespace tandem
