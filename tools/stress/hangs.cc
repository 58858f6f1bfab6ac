// See hangs.h.
#include "tools/stress/hangs.h"

#include <algorithm>

#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

using test::Underway;
using tools::Format;

// The report has 40 lines with its head and what is kept.
constexpr size_t kListedMax = 30;

std::string Seconds(int64_t micros) {
  constexpr int64_t kMillisecond = 1000, kSecond = 1000 * kMillisecond;
  if (micros < kSecond) return Format("{} ms", micros / kMillisecond);
  return Format("{:.1f} s", static_cast<double>(micros) / kSecond);
}

std::string DescribeHang(const HangWatch& watch, const std::vector<Underway>& underway) {
  const auto hanging = std::ranges::count_if(underway, &Underway::hangs);
  std::string text =
      Format("a hang: {} {} not come back within {}\n", hanging,
             hanging == 1 ? "operation has" : "operations have", Seconds(watch.limit_micros));
  size_t listed = 0;
  for (const Underway& one : underway) {
    if (listed++ == kListedMax) {
      text += Format("  and {} more\n", underway.size() - kListedMax);
      break;
    }
    const std::string name = watch.name_of ? watch.name_of(one.slot) + ": " : "";
    text += Format("  {}{}, for {}{}\n", name, one.what, Seconds(one.micros),
                   one.hangs ? "" : ", within the limit");
  }
  return text + watch.kept;
}

}  // namespace

std::unique_ptr<test::Watchdog> NewHangWatchdog(const HangWatch& watch,
                                                const RunEnvironment& environment) {
  return std::make_unique<test::Watchdog>(test::Watchdog::Setup{
      .slots = watch.slots,
      .limit_micros = watch.limit_micros,
      .on_hang = [watch, end = environment.end_hanging](const std::vector<Underway>& underway) {
        end(DescribeHang(watch, underway));
      }});
}

}  // namespace tandem::stress
