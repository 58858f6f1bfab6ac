// Encoding and checked decoding of column names.
#include "format/cell/dictionary.h"

#include <utility>

#include "format/byte_reader.h"
#include "format/coding.h"
#include "tandem/limits.h"

namespace tandem::format {

Result<Dictionary> Dictionary::Decode(BlockRef block) {
  if (block->count > kDictionaryNamesMax) return block->Corrupt("dictionary has too many names");
  Dictionary dictionary;
  dictionary.names_.reserve(block->count);
  ByteReader reader(block->raw());
  for (uint32_t i = 0; i < block->count; ++i) {
    dictionary.names_.push_back(reader.Bytes(reader.VarintUpTo(kQualifierBytesMax)));
  }
  if (!reader.done()) return block->Corrupt("dictionary is malformed");
  dictionary.block_ = std::move(block);
  return dictionary;
}

uint32_t DictionaryBuilder::IdOf(std::string_view name) {
  for (const uint32_t guess : {guess_, 0u}) {
    if (guess < names_.size() && names_[guess] == name) {
      guess_ = guess + 1;
      return guess_;
    }
  }
  const auto found = ids_.find(name);
  if (found != ids_.end()) return guess_ = found->second;
  if (names_.size() == kDictionaryNamesMax || name_bytes_ + name.size() > kDictionaryBytesMax) {
    return 0;
  }
  names_.emplace_back(name);
  name_bytes_ += name.size();
  guess_ = size();
  ids_.emplace(names_.back(), guess_);
  return guess_;
}

std::string DictionaryBuilder::Encode() const {
  std::string raw;
  for (const std::string& name : names_) AppendLengthPrefixed(&raw, name);
  return raw;
}

}  // namespace tandem::format
