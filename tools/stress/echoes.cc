// See echoes.h.
#include "tools/stress/echoes.h"

#include <string>
#include <vector>

#include "base/status_macros.h"
#include "tandem/encoding.h"
#include "tools/simulation/same_observer.h"
#include "tools/stress/finding.h"
#include "tools/stress/schema.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

class EchoObserver final : public Observer {
 public:
  explicit EchoObserver(Expected* expected) : expected_(*expected) {}

  Status BeforeWrite(PendingWrite* write) override {
    WriteBatch echo;
    for (const Mutation& mutation : write->mutations()) {
      if (mutation.kind == Mutation::Kind::kIncrement) {
        std::vector<ColumnDelta> deltas;
        for (const ColumnValue& column : mutation.columns) {
          deltas.push_back({column.qualifier, DecodeInt64Be(column.value).value_or(0)});
        }
        echo.IncrementColumns(kEcho, mutation.row, mutation.family, deltas);
      } else if (mutation.kind == Mutation::Kind::kPut) {
        echo.PutColumns(kEcho, mutation.row, mutation.family, mutation.columns, mutation.timestamp);
      } else {
        return Status::InvalidArgument("counters are incremented and put");
      }
    }
    return write->Add(echo);
  }
  void AfterWrite(const CommittedWrite&) override { expected_.Add(Count::kEchoes); }

 private:
  Expected& expected_;
};

}  // namespace

std::shared_ptr<Observer> NewEchoObserver(Expected* expected) {
  return std::make_shared<EchoObserver>(expected);
}

Status CheckEchoes(const Stressed& stressed, const Snapshot* snapshot) {
  ReadOptions read;
  read.snapshot = snapshot;
  stressed.Begin("scan of counters and their echo");
  const auto sums = ReadAll(stressed.database->Scan(read, kSums, {}));
  if (!sums.has_value()) return In("scan of sums", sums.error());
  const auto echo = ReadAll(stressed.database->Scan(read, kEcho, {}));
  if (!echo.has_value()) return In("scan of echo", echo.error());
  return SameRows("echo: the rows that the observer of sums has added", *sums, *echo);
}

Status ChangeObservers(const Stressed& stressed, bool adds) {
  std::vector<std::string> observers;
  if (adds) observers.emplace_back(test::kSameObserver);
  const char* const what = adds ? "an observer of south" : "no observer of south";
  stressed.Begin("change of observers");
  stressed.log->Add(what);
  RETURN_IF_ERROR(In(what, stressed.database->SetObservers(kSouth, observers)));
  stressed.expected->Add(Count::kObserverChanges);
  return {};
}

}  // namespace tandem::stress
