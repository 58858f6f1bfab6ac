// A log of slow queries: a JSON object a line, which `index advise` reads again (query_log.h).
#pragma once

#include <memory>
#include <mutex>

#include "tandem/event_listener.h"
#include "tandem/status.h"
#include "tools/tandem/context.h"
#include "tools/tandem/json.h"
#include "tools/tandem/options.h"
#include "tools/tandem/output_file.h"

namespace tandem::tools {

/// Appends a line for each slow query of a database. Threads: any.
class SlowLog final : public EventListener {
 public:
  /// Standard error where no file is named. Errors: those of OutputFile::Append.
  static Result<std::shared_ptr<SlowLog>> Open(const SlowArguments& arguments,
                                               const Context& context);
  explicit SlowLog(OutputFile file) : file_(std::move(file)) {}

  void OnSlowQuery(const SlowQueryEvent& event) override;
  /// Errors: kIoError, kNoSpace, of a line that could not be written.
  Status Close();

 private:
  std::mutex mutex_;
  OutputFile file_;
  JsonWriter json_;
};

/// The context of a verb whose slow queries are logged, if that was asked for; `*log` keeps the
/// log, and is null where it was not. Errors: those of SlowLog::Open; kInvalidArgument.
Result<Context> WithSlowLog(const SlowArguments& arguments, const Context& context,
                            std::shared_ptr<SlowLog>* log);

}  // namespace tandem::tools
