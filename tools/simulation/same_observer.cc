// Mutations are copied by the public calls.
#include "tools/simulation/same_observer.h"

#include <string_view>
#include <vector>

#include "base/status_macros.h"
#include "tandem/encoding.h"

namespace tandem::test {
namespace {

std::vector<ColumnDelta> DeltasOf(const Mutation& mutation) {
  std::vector<ColumnDelta> deltas;
  for (const ColumnValue& column : mutation.columns) {
    deltas.push_back({column.qualifier, DecodeInt64Be(column.value).value_or(0)});
  }
  return deltas;
}

WriteBatch CopyOf(std::string_view table, const Mutation& mutation) {
  const auto& [kind, row, family, timestamp, columns] = mutation;
  WriteBatch copy;
  switch (kind) {
    case Mutation::Kind::kPut:
      copy.PutColumns(table, row, family, columns, timestamp);
      break;
    case Mutation::Kind::kDeleteCell:
      copy.DeleteCell(table, row, family, columns[0].qualifier, timestamp);
      break;
    case Mutation::Kind::kDeleteColumn:
      copy.DeleteColumn(table, row, family, columns[0].qualifier, timestamp);
      break;
    case Mutation::Kind::kDeleteFamily:
      copy.DeleteFamily(table, row, family, timestamp);
      break;
    case Mutation::Kind::kDeleteRow:
      copy.DeleteRow(table, row, timestamp);
      break;
    case Mutation::Kind::kIncrement:
      copy.IncrementColumns(table, row, family, DeltasOf(mutation));
      break;
    case Mutation::Kind::kAppend:
      copy.AppendColumns(table, row, family, columns);
      break;
  }
  return copy;
}

class SameObserver final : public Observer {
 public:
  Status BeforeWrite(PendingWrite* write) override {
    for (size_t i = 0; i < write->mutations().size(); ++i) {
      const Mutation& mutation = write->mutations()[i];
      RETURN_IF_ERROR(write->Get({}, write->table(), mutation.row).status());
      RETURN_IF_ERROR(write->Replace(i, CopyOf(write->table(), mutation)));
    }
    return {};
  }
  bool has_filter() const override { return true; }
};

}  // namespace

std::shared_ptr<Observer> NewSameObserver() { return std::make_shared<SameObserver>(); }

}  // namespace tandem::test
