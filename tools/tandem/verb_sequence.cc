// sequence: sequences of ids are created, listed and dropped, and ids are taken.
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/quote.h"
#include "base/status_macros.h"
#include "format/value_text.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/confirm.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/output.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

Status CheckArguments(const SequenceVerbOptions& options) {
  constexpr std::string_view kActions[] = {"create", "next", "drop", "list"};
  if (std::ranges::find(kActions, options.action) == std::end(kActions)) {
    return Status::InvalidArgument(
        Format("sequence '{}': expected create, next, drop or list", EscapeBytes(options.action)));
  }
  const bool takes_name = options.action != "list";
  const bool takes_count = options.action == "next";
  const bool takes_bounds = options.action == "create";
  const bool has_bounds = !options.first.empty() || !options.last.empty();
  if (takes_name == !options.name.empty() && (takes_count || options.count.empty()) &&
      (takes_bounds || !has_bounds)) {
    return {};
  }
  return Status::InvalidArgument(Format("sequence {}: expected DB{}{}{}", options.action,
                                        takes_name ? " NAME" : "", takes_count ? " [COUNT]" : "",
                                        takes_bounds ? " [--first ID] [--last ID]" : ""));
}

// `otherwise` where there is no text.
Result<uint64_t> NumberOf(const std::string& text, const char* what, uint64_t otherwise) {
  if (text.empty()) return otherwise;
  const std::optional<uint64_t> number = format::ParseUint64(text);
  if (number.has_value()) return *number;
  return Status::InvalidArgument(
      Format("{} '{}': expected a number up to {}", what, EscapeBytes(text), kSequenceIdMax));
}

Result<ExitCode> Create(const SequenceVerbOptions& options, const Context& context) {
  SequenceOptions sequence;
  ASSIGN_OR_RETURN(sequence.name, ParseEscaped(options.name));
  ASSIGN_OR_RETURN(sequence.first, NumberOf(options.first, "--first", sequence.first));
  ASSIGN_OR_RETURN(sequence.last, NumberOf(options.last, "--last", sequence.last));
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  RETURN_IF_ERROR(database->CreateSequence(sequence));
  RETURN_IF_ERROR(database->Close());
  return ExitCode::kDone;
}

Result<ExitCode> Next(const SequenceVerbOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::string name, ParseEscaped(options.name));
  ASSIGN_OR_RETURN(const uint64_t count, NumberOf(options.count, "COUNT", 1));
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  ASSIGN_OR_RETURN(const uint64_t first, database->NextIds(name, count));
  RETURN_IF_ERROR(database->Close());
  const auto writer = NewRecordWriter(options.output, context.out);
  writer->Begin("ids", {"first", "last"});
  writer->Add({first, first + count - 1});
  writer->End();
  return ExitCode::kDone;
}

Result<ExitCode> List(const SequenceVerbOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  ASSIGN_OR_RETURN(const std::vector<SequenceInfo> sequences, database->ListSequences());
  const auto writer = NewRecordWriter(options.output, context.out);
  if (sequences.empty()) return ExitCode::kDone;
  writer->Begin("sequence", {"sequence", "first", "next", "last", "left"});
  for (const SequenceInfo& sequence : sequences) {
    const SequenceOptions& of = sequence.options;
    writer->Add({of.name, of.first, sequence.next, of.last, of.last + 1 - sequence.next});
  }
  writer->End();
  return ExitCode::kDone;
}

// OK: there is one of the name, and the user agrees to lose it.
Status ConfirmDrop(const std::string& name, const SequenceVerbOptions& options,
                   const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  ASSIGN_OR_RETURN(const std::vector<SequenceInfo> sequences, database->ListSequences());
  const auto found = std::ranges::find(
      sequences, name, [](const SequenceInfo& sequence) { return sequence.options.name; });
  if (found == sequences.end()) {
    return Status::NotFound(Format("sequence {} does not exist", base::Quote(name)));
  }
  if (options.yes) return {};
  return Confirm(Format("this destroys sequence {}, which is at {}; one that is created again "
                        "gives out the same ids",
                        base::Quote(name), found->next),
                 context);
}

Result<ExitCode> Drop(const SequenceVerbOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::string name, ParseEscaped(options.name));
  RETURN_IF_ERROR(ConfirmDrop(name, options, context));
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  RETURN_IF_ERROR(database->DropSequence(name));
  RETURN_IF_ERROR(database->Close());
  return ExitCode::kDone;
}

}  // namespace

Result<ExitCode> RunVerb(const SequenceVerbOptions& options, const Context& context) {
  RETURN_IF_ERROR(CheckArguments(options));
  if (options.action == "create") return Create(options, context);
  if (options.action == "next") return Next(options, context);
  if (options.action == "list") return List(options, context);
  return Drop(options, context);
}

}  // namespace tandem::tools
