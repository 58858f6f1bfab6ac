// One record a name: nothing else is known of them.
#include "tools/tandem/observers_output.h"

namespace tandem::tools {

void WriteObservers(const TableInfo& table, RecordWriter* writer) {
  if (table.options.observers.empty()) return;
  writer->Begin("observer", {"table", "observer"});
  for (const std::string& name : table.options.observers) {
    writer->Add({table.options.name, name});
  }
  writer->End();
}

}  // namespace tandem::tools
