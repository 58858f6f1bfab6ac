// One table; everything else is looked up in it.
#include "tools/dump/parts.h"

#include <algorithm>

#include "tools/tandem/bytes_text.h"
#include "tools/tandem/file_probe.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/suggest.h"

namespace tandem::tools {
namespace {

const std::vector<std::string_view> kStateKinds = {"state",   "counters",       "family",
                                                   "row_key", "former_row_key", "index",
                                                   "region",  "file",           "segment"};

std::string Joined(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

Status NoSuch(std::string_view option, const std::string& found,
              const std::vector<std::string>& known) {
  return Status::InvalidArgument(Format("{} '{}' is no part of this file{}; {}: {}", option,
                                        EscapeBytes(found), DidYouMean(found, known),
                                        option == "--section" ? "parts" : "kinds of records",
                                        Joined(known)));
}

bool Prints(const DumpPart& part, const std::string& kind) {
  return std::ranges::find(part.kinds, kind) != part.kinds.end();
}

std::vector<std::string> NamesOf(const std::vector<DumpPart>& parts) {
  std::vector<std::string> names;
  for (const DumpPart& part : parts) names.emplace_back(part.name);
  return names;
}

std::vector<std::string> KindsOf(const std::vector<const DumpPart*>& parts) {
  std::vector<std::string> kinds;
  for (const DumpPart* part : parts) {
    for (const std::string_view kind : part->kinds) {
      if (std::ranges::find(kinds, kind) == kinds.end()) kinds.emplace_back(kind);
    }
  }
  return kinds;
}

// A separated file has one line of names for all its lines.
Status CheckOneKind(const DumpOptions& options, const std::vector<const DumpPart*>& chosen) {
  const bool is_separated =
      options.output == OutputMode::kCsv || options.output == OutputMode::kTsv;
  if (!is_separated || !options.records.empty()) return {};
  const std::vector<std::string> kinds = KindsOf(chosen);
  if (kinds.size() == 1) return {};
  return Status::InvalidArgument(Format(
      "csv and tsv hold records of one kind: choose one by --records; kinds: {}", Joined(kinds)));
}

}  // namespace

const std::vector<DumpPart>& PartsOf(format::FileKind kind) {
  static const std::vector<DumpPart> kStore = {
      {"header", {"header"}},
      {"schema", {"family", "row_key", "former_row_key", "index"}},
      {"statistics", {"statistics"}},
      {"sections", {"section"}},
      {"blocks", {"block"}},
      {"cells", {"cell"}},
      {"histograms", {"histogram"}, false}};
  static const std::vector<DumpPart> kLog = {
      {"header", {"header", "segment"}}, {"frames", {"frame"}}, {"operations", {"operation"}}};
  static const std::vector<DumpPart> kManifest = {
      {"header", {"header"}},
      {"frames", {"frame"}},
      {"edits",
       {"edit", "counters", "family", "row_key", "former_row_key", "index", "add_file",
        "put_region", "add_segment", "remove_table", "remove_file", "remove_region",
        "remove_segment"}},
      {"state", kStateKinds, false},
      {"summary", {"summary"}, false}};
  static const std::vector<DumpPart> kRoot = {{"header", {"header"}},
                                              {"slots", {"slot", "bound_file"}}};
  static const std::vector<DumpPart> kBackup = {
      {"header", {"header"}}, {"record", {"backup", "backup_segment"}}, {"state", kStateKinds}};
  static const std::vector<DumpPart> kOther = {{"header", {"header"}}};
  switch (kind) {
    case format::FileKind::kStore:
      return kStore;
    case format::FileKind::kLog:
      return kLog;
    case format::FileKind::kManifest:
      return kManifest;
    case format::FileKind::kRoot:
      return kRoot;
    case format::FileKind::kBackup:
      return kBackup;
    case format::FileKind::kDead:
      break;
  }
  return kOther;
}

Result<std::vector<std::string_view>> ChooseParts(const DumpOptions& options,
                                                  format::FileKind kind) {
  const std::vector<DumpPart>& parts = PartsOf(kind);
  std::vector<const DumpPart*> chosen, fitting;
  for (const DumpPart& part : parts) {
    if (options.section.empty() || options.section == part.name) chosen.push_back(&part);
  }
  if (chosen.empty()) return NoSuch("--section", options.section, NamesOf(parts));
  for (const DumpPart* part : chosen) {
    if (options.records.empty() || Prints(*part, options.records)) fitting.push_back(part);
  }
  if (fitting.empty()) return NoSuch("--records", options.records, KindsOf(chosen));
  // What is not asked for by name is printed only where nothing else has the wanted records.
  const bool has_default =
      std::ranges::any_of(fitting, [](const DumpPart* part) { return part->is_default; });
  if (options.section.empty() && has_default) {
    std::erase_if(fitting, [](const DumpPart* part) { return !part->is_default; });
  }
  const Status one_kind = CheckOneKind(options, fitting);
  if (!one_kind.ok()) return one_kind;
  std::vector<std::string_view> names;
  for (const DumpPart* part : fitting) names.push_back(part->name);
  return names;
}

}  // namespace tandem::tools
