// Counts how often each path was taken; see counters.h.
#include "test/model/counters.h"

#include <utility>
#include <vector>

namespace tandem::test {
namespace {

using Field = uint64_t Counters::*;

const std::vector<std::pair<const char*, Field>>& Fields() {
  static const std::vector<std::pair<const char*, Field>> kFields = {
      {"operations", &Counters::operations},
      {"transactions", &Counters::transactions},
      {"bulk loads", &Counters::bulk_loads},
      {"table copies", &Counters::table_copies},
      {"checked writes", &Counters::checked_writes},
      {"refused", &Counters::refused},
      {"checks", &Counters::checks},
      {"checks over 3 files and 2 memstores", &Counters::deep_checks},
      {"rows read", &Counters::rows_read},
      {"queries", &Counters::queries},
      {"pages", &Counters::pages},
      {"index refusals", &Counters::index_refusals},
      {"flushes", &Counters::flushes},
      {"compactions", &Counters::compactions},
      {"schema edits", &Counters::schema_edits},
      {"changes of limits", &Counters::limits_changed},
      {"truncations", &Counters::truncations},
      {"changes of indexes", &Counters::index_changes},
      {"refused changes of limits", &Counters::limits_refused},
      {"splits", &Counters::splits},
      {"merges of regions", &Counters::region_merges},
      {"reopens", &Counters::reopens},
      {"lives without functions", &Counters::lives_without_functions},
      {"power cuts", &Counters::power_cuts},
      {"kills", &Counters::kills},
      {"interrupted recoveries", &Counters::interrupted_recoveries},
      {"replayed operations", &Counters::replayed_operations},
      {"torn tails", &Counters::torn_tails},
      {"snapshot checks", &Counters::snapshot_checks},
      {"checks of named snapshots", &Counters::named_snapshot_checks},
      {"cursors finished", &Counters::cursors_finished},
      {"verifications", &Counters::verifications},
      {"stale hits", &Counters::stale_hits},
      {"deletes over a file", &Counters::deletes_over_files},
      {"families deleted over a file", &Counters::families_over_files},
      {"rows in several files", &Counters::rows_in_several_files},
      {"absent columns", &Counters::absent_columns},
      {"reads of the past", &Counters::past_reads},
      {"wide rows", &Counters::wide_rows},
      {"overflow values", &Counters::overflow_values},
      {"rows of several families", &Counters::rows_of_families},
      {"single-source by bitmap", &Counters::single_source_by_bitmap},
      {"by filter", &Counters::single_source_by_filter},
      {"by key", &Counters::single_source_by_key},
      {"offsets by key", &Counters::offsets_by_key},
      {"offsets in order", &Counters::offsets_in_order},
      {"offsets decided", &Counters::offsets_decided},
      {"offsets read", &Counters::offsets_read},
      {"live counts", &Counters::live_counts},
      {"by all columns", &Counters::by_all_columns},
      {"by the first column", &Counters::by_first_column},
      {"by partial indexes", &Counters::by_partial},
      {"scanned for them", &Counters::partial_scanned},
      {"rows from an index", &Counters::rows_from_index},
      {"queries of any version", &Counters::any_version_queries},
      {"groups", &Counters::groups},
      {"values of expressions", &Counters::expression_values}};
  return kFields;
}

}  // namespace

void Counters::Add(const Counters& other) {
  for (const auto& [name, field] : Fields()) this->*field += other.*field;
}

std::string Counters::Describe() const {
  std::string text;
  for (const auto& [name, field] : Fields()) {
    text += (text.empty() ? "" : ", ") + std::string(name) + " " + std::to_string(this->*field);
  }
  return text;
}

}  // namespace tandem::test
