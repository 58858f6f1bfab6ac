// Cutting a predicate's text into tokens.
#include "engine/predicate/lexer.h"

#include <optional>
#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"
#include "format/function/names.h"

namespace tandem::engine {
namespace {

using format::ContinuesName;
using format::EqualsUpper;
using format::StartsName;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::optional<uint8_t> HexDigit(char c) {
  if (IsDigit(c)) return static_cast<uint8_t>(c - '0');
  const char upper = format::UpperAscii(c);
  if (upper >= 'A' && upper <= 'F') return static_cast<uint8_t>(upper - 'A' + 10);
  return std::nullopt;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<Token>> Run() {
    std::vector<Token> tokens;
    do {
      while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
      Token token;
      token.position = at_ + 1;
      RETURN_IF_ERROR(Read(&token));
      tokens.push_back(std::move(token));
    } while (tokens.back().kind != Token::Kind::kEnd);
    return tokens;
  }

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  Status Read(Token* token) {
    if (at_ >= text_.size()) return {};
    const char c = Peek();
    if (c == '\'') return ReadQuoted(Token::Kind::kValue, token);
    if (c == '"') return ReadQuoted(Token::Kind::kQuotedName, token);
    if (format::UpperAscii(c) == 'X' && Peek(1) == '\'') return ReadHex(token);
    if (IsDigit(c) ||
        ((c == '-' || c == '+' || c == '.') && (IsDigit(Peek(1)) || Peek(1) == '.'))) {
      return ReadNumber(token);
    }
    if (c == '?') {
      token->kind = Token::Kind::kParameter;
      const size_t digits = ++at_;
      token->text = text_.substr(digits, SkipDigits());
      return {};
    }
    if (StartsName(c)) {
      token->kind = Token::Kind::kName;
      while (at_ < text_.size() && ContinuesName(text_[at_])) token->text += text_[at_++];
      return {};
    }
    return ReadSymbol(token);
  }

  // Two quotes in a row are one quote character.
  Status ReadQuoted(Token::Kind kind, Token* token) {
    const char quote = text_[at_++];
    token->kind = kind;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == quote && Peek() != quote) return {};
      if (c == quote) ++at_;
      token->text += c;
    }
    return Fail(std::string("a closing ") + quote, "the end of the text");
  }

  Status ReadHex(Token* token) {
    token->kind = Token::Kind::kValue;
    at_ += 2;
    while (at_ < text_.size() && text_[at_] != '\'') {
      const std::optional<uint8_t> high = HexDigit(Peek());
      const std::optional<uint8_t> low = HexDigit(Peek(1));
      if (!high.has_value() || !low.has_value()) return Fail("pairs of hexadecimal digits", Rest());
      token->text += static_cast<char>(*high << 4 | *low);
      at_ += 2;
    }
    if (at_ >= text_.size()) return Fail("a closing '", "the end of the text");
    ++at_;
    return {};
  }

  Status ReadNumber(Token* token) {
    token->kind = Token::Kind::kValue;
    const size_t start = at_;
    if (Peek() == '-' || Peek() == '+') ++at_;
    size_t digits = SkipDigits();
    if (Peek() == '.') {
      ++at_;
      digits += SkipDigits();
    }
    if (digits > 0 && format::UpperAscii(Peek()) == 'E') {
      ++at_;
      if (Peek() == '-' || Peek() == '+') ++at_;
      if (SkipDigits() == 0) return Fail("digits of an exponent", Rest());
    }
    if (digits == 0 || ContinuesName(Peek())) return Fail("a number", Rest());
    token->text = text_.substr(start, at_ - start);
    return {};
  }

  size_t SkipDigits() {
    const size_t start = at_;
    while (IsDigit(Peek())) ++at_;
    return at_ - start;
  }

  Status ReadSymbol(Token* token) {
    token->kind = Token::Kind::kSymbol;
    for (const std::string_view symbol :
         {"!=", "<>", "<=", ">=", "=", "<", ">", "(", ")", ",", "::", ":"}) {
      if (!text_.substr(at_).starts_with(symbol)) continue;
      at_ += symbol.size();
      token->text = symbol == "<>" ? "!=" : symbol;
      return {};
    }
    return Fail("a name, a value or an operator", Rest());
  }

  // Describes the byte at the current position, for a message.
  std::string Rest() const {
    if (at_ >= text_.size()) return "the end of the text";
    const uint8_t c = static_cast<uint8_t>(text_[at_]);
    if (c > 0x20 && c < 0x7f) return std::string("'") + text_[at_] + "'";
    return "the byte " + std::to_string(c);
  }

  Status Fail(std::string_view expected, std::string_view found) const {
    return Status::InvalidArgument("at position " + std::to_string(at_ + 1) + ": expected " +
                                   std::string(expected) + ", found " + std::string(found));
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Result<std::vector<Token>> Tokenize(std::string_view text) { return Lexer(text).Run(); }

bool IsKeyword(const Token& token, std::string_view word) {
  return token.kind == Token::Kind::kName && EqualsUpper(token.text, word);
}

Status SyntaxError(const Token& found, std::string_view expected) {
  std::string what = "the end of the text";
  if (found.kind == Token::Kind::kValue) {
    what = "a value";
  } else if (found.kind == Token::Kind::kParameter) {
    what = "the parameter ?" + found.text;
  } else if (found.kind != Token::Kind::kEnd) {
    what = "'" + found.text + "'";
  }
  return Status::InvalidArgument("at position " + std::to_string(found.position) + ": expected " +
                                 std::string(expected) + ", found " + what);
}

}  // namespace tandem::engine
