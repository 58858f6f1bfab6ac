// The verbs: each takes its options and does what the program's help says. They return the exit
// code, or the Status that the program turns into a message and an exit code.
#pragma once

#include "tandem/status.h"
#include "tools/tandem/context.h"
#include "tools/tandem/options.h"

namespace tandem::tools {

Result<ExitCode> RunVerb(const DemoOptions& options, const Context& context);
Result<ExitCode> RunVerb(const CreateOptions& options, const Context& context);
Result<ExitCode> RunVerb(const ImportOptions& options, const Context& context);
Result<ExitCode> RunVerb(const PutOptions& options, const Context& context);
Result<ExitCode> RunVerb(const DeleteOptions& options, const Context& context);
Result<ExitCode> RunVerb(const GetOptions& options, const Context& context);
Result<ExitCode> RunVerb(const ScanVerbOptions& options, const Context& context);
Result<ExitCode> RunVerb(const ExportOptions& options, const Context& context);
Result<ExitCode> RunVerb(const QueryVerbOptions& options, const Context& context);
Result<ExitCode> RunVerb(const ExplainOptions& options, const Context& context);
Result<ExitCode> RunVerb(const CountOptions& options, const Context& context);
Result<ExitCode> RunVerb(const InfoOptions& options, const Context& context);
Result<ExitCode> RunVerb(const RegionsVerbOptions& options, const Context& context);
Result<ExitCode> RunVerb(const DuVerbOptions& options, const Context& context);
Result<ExitCode> RunVerb(const DumpOptions& options, const Context& context);
Result<ExitCode> RunVerb(const ManifestOptions& options, const Context& context);
Result<ExitCode> RunVerb(const VerifyOptions& options, const Context& context);
Result<ExitCode> RunVerb(const FlushOptions& options, const Context& context);
Result<ExitCode> RunVerb(const CompactOptions& options, const Context& context);
Result<ExitCode> RunVerb(const SplitVerbOptions& options, const Context& context);
Result<ExitCode> RunVerb(const MergeRegionsVerbOptions& options, const Context& context);
Result<ExitCode> RunVerb(const DropVerbOptions& options, const Context& context);
Result<ExitCode> RunVerb(const TruncateVerbOptions& options, const Context& context);
Result<ExitCode> RunVerb(const RenameVerbOptions& options, const Context& context);
Result<ExitCode> RunVerb(const CopyTableOptions& options, const Context& context);
Result<ExitCode> RunVerb(const RewriteKeysVerbOptions& options, const Context& context);
Result<ExitCode> RunVerb(const AlterVerbOptions& options, const Context& context);
Result<ExitCode> RunVerb(const FamilyVerbOptions& options, const Context& context);
Result<ExitCode> RunVerb(const ObserversVerbOptions& options, const Context& context);
Result<ExitCode> RunVerb(const IndexVerbOptions& options, const Context& context);
Result<ExitCode> RunVerb(const SnapshotVerbOptions& options, const Context& context);
Result<ExitCode> RunVerb(const SequenceVerbOptions& options, const Context& context);
Result<ExitCode> RunVerb(const ClockOptions& options, const Context& context);
Result<ExitCode> RunVerb(const SalvageVerbOptions& options, const Context& context);
Result<ExitCode> RunVerb(const StressOptions& options, const Context& context);
Result<ExitCode> RunVerb(const ReplayOptions& options, const Context& context);
Result<ExitCode> RunVerb(const SplitKeysOptions& options, const Context& context);
Result<ExitCode> RunVerb(const SimulateOptions& options, const Context& context);
Result<ExitCode> RunVerb(const LintOptions& options, const Context& context);
Result<ExitCode> RunVerb(const EmulateOptions& options, const Context& context);
Result<ExitCode> RunVerb(const CheckpointOptions& options, const Context& context);
Result<ExitCode> RunVerb(const BackupOptions& options, const Context& context);
Result<ExitCode> RunVerb(const RestoreOptions& options, const Context& context);
Result<ExitCode> RunVerb(const AttachVerbOptions& options, const Context& context);
Result<ExitCode> RunVerb(const RestoreTableVerbOptions& options, const Context& context);
Result<ExitCode> RunVerb(const VersionOptions& options, const Context& context);

}  // namespace tandem::tools
