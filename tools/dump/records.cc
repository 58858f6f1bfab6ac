// See records.h.
#include "tools/dump/records.h"

namespace tandem::tools {

void DumpRecords::Begin(std::string_view kind, std::vector<std::string> columns) {
  passes_ = Wants(kind);
  if (!passes_) return;
  if (!choice_.file.empty()) columns.insert(columns.begin(), "file");
  out_.Begin(kind, std::move(columns));
}

void DumpRecords::Add(std::span<const Value> values) {
  if (!passes_ || is_full()) return;
  ++passed_;
  if (choice_.file.empty()) return out_.Add(values);
  values_.assign(1, Value(choice_.file));
  values_.insert(values_.end(), values.begin(), values.end());
  out_.Add(values_);
}

void DumpRecords::End() {
  if (passes_) out_.End();
  passes_ = false;
}

void DumpRecords::AddProperties(std::string_view kind, std::span<const Property> properties) {
  if (!Wants(kind)) return;
  if (choice_.file.empty()) return out_.AddProperties(kind, properties);
  std::vector<Property> marked = {{"file", Value(choice_.file)}};
  marked.insert(marked.end(), properties.begin(), properties.end());
  out_.AddProperties(kind, marked);
}

}  // namespace tandem::tools
