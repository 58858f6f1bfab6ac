// The planner against every other plan, over 200 queries of W1; see measuring.h. A query has one
// condition or two, joined by AND or OR, and with or without a limit. Its plan is compared with the
// best of a scan and of each index alone, by their fastest calls. Five microseconds are for
// planning.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "tools/bench/measuring.h"
#include "tools/bench/tandem_w1.h"

namespace tandem::bench {
namespace {

constexpr const char* kIndexes[] = {"city", "status", "ts"};
constexpr uint64_t kLimit = 20;
constexpr double kWorseMax = 1.05, kSlackSeconds = 5e-6;
constexpr double kHopeless = 3;        // Times slower than the best so far: not timed again.
constexpr double kCallSeconds = 2e-4;  // Shorter calls are timed several at once.
constexpr int kTimes = 4, kTimesAgain = 12;
constexpr size_t kShapes = 200;

struct Leaf {
  std::string column;
  Predicate predicate;
};

Predicate TimeShare(const W1& w1, double from, double share) {
  const auto time_of = [&w1](double part) {
    W1Row row;
    w1.Row(static_cast<uint64_t>(part * static_cast<double>(w1.rows() - 1)), &row);
    return row.ts;
  };
  return TimesBetween(time_of(from), time_of(from + share));
}

std::vector<Leaf> LeavesOf(const W1& w1) {
  std::vector<Leaf> leaves;
  for (const W1::Target& target : w1.targets()) {
    leaves.push_back({target.column, Predicate::Equal(target.column, target.value)});
  }
  for (const double share : {0.0001, 0.001, 0.01, 0.1, 0.5, 0.9}) {
    leaves.push_back({"ts", TimeShare(w1, 0.05, share)});
  }
  const std::string city = w1.targets()[2].value, status = w1.targets()[3].value;
  leaves.push_back({"city", Predicate::In("city", {"city-0040", "city-0041", "city-0300", city})});
  leaves.push_back({"city", Predicate::Less("city", "city-0002")});
  leaves.push_back({"city", Predicate::NotEqual("city", city)});
  leaves.push_back({"city", Predicate::IsNull("city")});
  leaves.push_back({"status", Predicate::In("status", {"status-1", "status-2", "status-5"})});
  leaves.push_back({"status", Predicate::Not(Predicate::Equal("status", status))});
  leaves.push_back({"payload", Predicate::Prefix("payload", "a")});
  return leaves;
}

struct Shape {
  Predicate predicate;
  uint64_t limit = 0;
};

// All leaves, all of their pairs over two columns by AND, and pairs by OR, as many as there is room
// for.
std::vector<Shape> ShapesOf(const W1& w1) {
  const std::vector<Leaf> leaves = LeavesOf(w1);
  std::vector<Predicate> predicates, ors;
  for (const Leaf& leaf : leaves) predicates.push_back(leaf.predicate);
  for (size_t i = 0; i < leaves.size(); ++i) {
    for (size_t j = i + 1; j < leaves.size(); ++j) {
      if (leaves[i].column == leaves[j].column) continue;
      const std::vector<Predicate> both = {leaves[i].predicate, leaves[j].predicate};
      ((i + j) % 4 == 0 ? ors : predicates)
          .push_back((i + j) % 4 == 0 ? Predicate::Or(both) : Predicate::And(both));
    }
  }
  predicates.insert(predicates.end(), ors.begin(), ors.end());
  std::vector<Shape> shapes;
  for (const uint64_t limit : {uint64_t{0}, kLimit}) {
    for (const Predicate& predicate : predicates) {
      if (shapes.size() == kShapes / 2 * (limit == 0 ? 1 : 2)) break;
      shapes.push_back({predicate, limit});
    }
  }
  return shapes;
}

class Grid {
 public:
  Grid(const W1& w1, const std::string& path) {
    database_ = OpenTandem(path, 2 * cache_bytes);
    TableOptions table;
    table.name = kRowsTable;
    table.families = {{.name = "d"}};
    table.indexes = ThreeIndexes();
    Check(database_->CreateTable(table));
    WriteBatch batch;
    W1Row row;
    for (uint64_t i = 0; i < w1.rows(); ++i) {
      w1.Row(i, &row);
      AddRow(kRowsTable, row, &batch);
      if ((i + 1) % kBatchRows != 0 && i + 1 != w1.rows()) continue;
      Check(database_->Write({}, batch));
      batch.Clear();
    }
    Check(database_->Compact(kRowsTable));
  }
  ~Grid() { Check(database_->Close()); }

  struct Score {
    double ratio = 1;       // Of the chosen plan's time to the best other one's.
    bool is_worse = false;  // Beyond what is allowed.
  };
  Score Try(const Shape& shape) {
    std::vector<Plan> plans = {{"the planner", {}}, {"a scan", {}}};
    plans[1].options.no_index = true;
    for (const char* index : kIndexes) {
      plans.push_back({index, {}});
      plans.back().options.use_index = index;
    }
    for (Plan& plan : plans) plan.options.limit = shape.limit;
    Time(shape, kTimes, &plans);
    Score score = ScoreOf(plans);
    if (score.is_worse) {
      Time(shape, kTimesAgain, &plans);
      score = ScoreOf(plans);
    }
    if (score.is_worse) Tell(shape, plans, score);
    return score;
  }

 private:
  struct Plan {
    const char* name;
    QueryOptions options;
    double seconds = std::numeric_limits<double>::infinity();  // Of the fastest call.
    bool is_out = false;  // Refused, or far slower than another.
  };

  // False: the plan cannot answer the query.
  bool Run(const Shape& shape, const QueryOptions& options, Consumer* consumer) {
    auto cursor = database_->Query({}, kRowsTable, shape.predicate, options);
    if (cursor.status().code() == StatusCode::kInvalidArgument) return false;
    Check(cursor.status());
    while (cursor->Next()) {
      ++consumer->rows;
      for (const Cell& cell : cursor->row().cells()) consumer->Value(cell.value);
    }
    Check(cursor->status());
    return true;
  }

  // In turn, so that what disturbs the machine disturbs all.
  void Time(const Shape& shape, int times, std::vector<Plan>* plans) {
    for (int time = 0; time < times; ++time) {
      for (Plan& plan : *plans) {
        if (!plan.is_out) TimeOnce(shape, &plan);
      }
      const double best = std::ranges::min(*plans, {}, &Plan::seconds).seconds;
      for (size_t i = 1; i < plans->size(); ++i) {
        (*plans)[i].is_out |= (*plans)[i].seconds > kHopeless * best;
      }
    }
  }

  void TimeOnce(const Shape& shape, Plan* plan) {
    const int calls = plan->seconds < kCallSeconds ? 10 : 1;
    Consumer consumer;
    const double begin = SecondsNow();
    for (int call = 0; call < calls; ++call) {
      plan->is_out = !Run(shape, plan->options, &consumer);
      if (plan->is_out) return;
    }
    plan->seconds = std::min(plan->seconds, (SecondsNow() - begin) / calls);
  }

  static const Plan& BestOther(const std::vector<Plan>& plans) {
    return *std::min_element(plans.begin() + 1, plans.end(),
                             [](const Plan& a, const Plan& b) { return a.seconds < b.seconds; });
  }

  static Score ScoreOf(const std::vector<Plan>& plans) {
    const double best = BestOther(plans).seconds;
    return {.ratio = plans[0].seconds / best,
            .is_worse = plans[0].seconds > kWorseMax * best + kSlackSeconds};
  }

  static void Tell(const Shape& shape, const std::vector<Plan>& plans, const Score& score) {
    const Plan& best = BestOther(plans);
    std::fprintf(stderr, "%.2f times %s (%.1f us): %s%s\n", score.ratio, best.name,
                 best.seconds * 1e6, shape.predicate.ToString().c_str(),
                 shape.limit == 0 ? "" : ", 20 rows");
  }

  std::unique_ptr<Database> database_;
};

}  // namespace

void MeasureGrid(const Arguments& arguments) {
  const W1 w1(arguments.rows);
  Grid grid(w1, arguments.path);
  const std::vector<Shape> shapes = ShapesOf(w1);
  const Usage begin = UsageNow();
  uint64_t worse = 0;
  double worst = 1;
  for (const Shape& shape : shapes) {
    const Grid::Score score = grid.Try(shape);
    if (!score.is_worse) continue;
    ++worse;
    worst = std::max(worst, score.ratio);
  }
  Figure figure = FigureBetween("plans worse than another", begin, UsageNow());
  figure.items = shapes.size();
  figure.value = static_cast<double>(worse);
  Print(figure);
  figure.phase = "the worst of them, times";
  figure.value = worst;
  Print(figure);
}

}  // namespace tandem::bench
