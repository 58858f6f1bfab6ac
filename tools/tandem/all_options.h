// All that the verbs of the program can be asked for.
#pragma once

#include <string>

#include "tools/tandem/options.h"

namespace tandem::tools {

/// The parser of the command line binds to its members.
struct Arguments {
  DemoOptions demo;
  CreateOptions create;
  ImportOptions import;
  PutOptions put;
  DeleteOptions remove;
  GetOptions get;
  ScanVerbOptions scan;
  QueryVerbOptions query;
  ExplainOptions explain;
  CountOptions count;
  InfoOptions info;
  RegionsVerbOptions regions;
  DuVerbOptions du;
  DumpOptions dump;
  ManifestOptions manifest;
  VerifyOptions verify;
  FlushOptions flush;
  CompactOptions compact;
  SplitVerbOptions split;
  MergeRegionsVerbOptions merge_regions;
  DropVerbOptions drop;
  TruncateVerbOptions truncate;
  RenameVerbOptions rename;
  CopyTableOptions copy_table;
  RewriteKeysVerbOptions rewrite_keys;
  AlterVerbOptions alter;
  FamilyVerbOptions family;
  ObserversVerbOptions observers;
  IndexVerbOptions index;
  SnapshotVerbOptions snapshot;
  SequenceVerbOptions sequence;
  ClockOptions clock;
  ExportOptions exported;
  SalvageVerbOptions salvage;
  StressOptions stress;
  ReplayOptions replay;
  SplitKeysOptions split_keys;
  SimulateOptions simulate;
  LintOptions lint;
  EmulateOptions emulate;
  CheckpointOptions checkpoint;
  BackupOptions backup;
  RestoreOptions restore;
  AttachVerbOptions attach;
  RestoreTableVerbOptions restore_table;
  VersionOptions version;
  std::string output;
  bool verbose = false;
};

}  // namespace tandem::tools
