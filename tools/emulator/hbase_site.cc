// See hbase_site.h. Expat reads the XML; it expands no entity of a file or of the network.
#include "tools/emulator/hbase_site.h"

#include <expat.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"

namespace tandem::emulator {
namespace {

using tools::Format;

struct Property {
  std::string name, value;
};

// What is read: configuration/property/name and configuration/property/value.
struct Reader {
  std::vector<std::string> path;
  std::string text;
  Property property;
  std::vector<Property> properties;
  std::string root;
};

const std::vector<std::string> kProperty = {"configuration", "property"};

void Begin(void* user, const XML_Char* name, const XML_Char**) {
  auto* const reader = static_cast<Reader*>(user);
  if (reader->path.empty()) reader->root = name;
  reader->path.emplace_back(name);
  reader->text.clear();
  if (reader->path == kProperty) reader->property = {};
}

std::string Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(kBlanks) - first + 1));
}

void End(void* user, const XML_Char* name) {
  auto* const reader = static_cast<Reader*>(user);
  if (reader->path == kProperty) reader->properties.push_back(std::move(reader->property));
  reader->path.pop_back();
  if (reader->path != kProperty) return;
  if (std::string_view(name) == "name") reader->property.name = Trimmed(reader->text);
  if (std::string_view(name) == "value") reader->property.value = Trimmed(reader->text);
}

void Text(void* user, const XML_Char* text, int length) {
  auto* const reader = static_cast<Reader*>(user);
  if (reader->path.size() == kProperty.size() + 1)
    reader->text.append(text, static_cast<size_t>(length));
}

Status Malformed(XML_Parser parser) {
  return Status::InvalidArgument(Format("no XML: line {}: {}",
                                        static_cast<uint64_t>(XML_GetCurrentLineNumber(parser)),
                                        XML_ErrorString(XML_GetErrorCode(parser))));
}

Result<std::vector<Property>> ReadProperties(std::string_view xml) {
  const std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser(
      XML_ParserCreate("UTF-8"), &XML_ParserFree);
  if (parser == nullptr) return Status::OutOfMemory("for a parser of XML");
  Reader reader;
  XML_SetUserData(parser.get(), &reader);
  XML_SetElementHandler(parser.get(), Begin, End);
  XML_SetCharacterDataHandler(parser.get(), Text);
  if (xml.size() > std::numeric_limits<int>::max()) return Status::InvalidArgument("too large");
  if (XML_Parse(parser.get(), xml.data(), static_cast<int>(xml.size()), XML_TRUE) !=
      XML_STATUS_OK) {
    return Malformed(parser.get());
  }
  if (reader.root != kProperty.front()) {
    return Status::InvalidArgument(
        Format("no <configuration>: its root is <{}>", tools::EscapeBytes(reader.root)));
  }
  return std::move(reader.properties);
}

struct Known {
  const char* name;
  uint64_t usual, least, most;
};
// The defaults of HBase 2.
constexpr Known kFlushSize = {"hbase.hregion.memstore.flush.size", 128ull << 20, 64 << 10,
                              1ull << 40};
constexpr Known kFileSize = {"hbase.hregion.max.filesize", 10ull << 30, 1 << 20, 1ull << 50};
constexpr Known kThreshold = {"hbase.hstore.compactionThreshold", 3, 2, 1000};
constexpr Known kMultiplier = {"hbase.hregion.memstore.block.multiplier", 4, 1, 1000};

SiteValue ValueOf(const Known& known, const std::vector<Property>& properties) {
  SiteValue found{.name = known.name, .value = known.usual, .note = "HBase's default"};
  const auto last = std::find_if(properties.rbegin(), properties.rend(),
                                 [&](const Property& each) { return each.name == known.name; });
  if (last == properties.rend()) return found;
  uint64_t value = 0;
  const char* const end = last->value.data() + last->value.size();
  const auto [stop, error] = std::from_chars(last->value.data(), end, value);
  if (error != std::errc() || stop != end || value < known.least || value > known.most) {
    found.note = Format("HBase's default: expected {} to {}, found '{}'", known.least, known.most,
                        tools::EscapeBytes(last->value));
    return found;
  }
  found.value = value;
  found.note = "from the file";
  return found;
}

}  // namespace

Result<HBaseSite> ParseHBaseSite(std::string_view xml) {
  ASSIGN_OR_RETURN(const std::vector<Property> properties, ReadProperties(xml));
  HBaseSite site;
  for (const Known& known : {kFlushSize, kFileSize, kThreshold, kMultiplier}) {
    site.values.push_back(ValueOf(known, properties));
  }
  site.flush_bytes = site.values[0].value;
  site.region_bytes_max = site.values[1].value;
  site.compaction_threshold = static_cast<uint32_t>(site.values[2].value);
  site.block_multiplier = static_cast<uint32_t>(site.values[3].value);
  for (const Property& property : properties) {
    if (std::ranges::find(site.values, property.name, &SiteValue::name) == site.values.end()) {
      site.others.push_back(property.name);
    }
  }
  return site;
}

void Apply(const HBaseSite& site, engine::Tuning* sizes) {
  sizes->memstore_bytes = site.flush_bytes;
  sizes->memstores_total_bytes = site.flush_bytes * site.block_multiplier;
  sizes->region_bytes_max = site.region_bytes_max;
  sizes->compaction_runs = site.compaction_threshold;
}

}  // namespace tandem::emulator
