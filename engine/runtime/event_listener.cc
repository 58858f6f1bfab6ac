// By default every callback does nothing.
#include "tandem/event_listener.h"

namespace tandem {

EventListener::~EventListener() = default;
void EventListener::OnFlushBegin(const FlushEvent&) {}
void EventListener::OnFlushEnd(const FlushEvent&) {}
void EventListener::OnCompactionBegin(const CompactionEvent&) {}
void EventListener::OnCompactionEnd(const CompactionEvent&) {}
void EventListener::OnRegionSplit(const RegionSplitEvent&) {}
void EventListener::OnRegionsMerged(const RegionMergeEvent&) {}
void EventListener::OnHotRegion(const HotRegionEvent&) {}
void EventListener::OnStallBegin(const StallEvent&) {}
void EventListener::OnStallEnd(const StallEvent&) {}
void EventListener::OnOverlapsBuilt(const OverlapsEvent&) {}
void EventListener::OnBrokenSection(const BrokenSectionEvent&) {}
void EventListener::OnScrubFinding(const ScrubFindingEvent&) {}
void EventListener::OnSlowQuery(const SlowQueryEvent&) {}
void EventListener::OnReadOnly(const Status&) {}
void EventListener::OnLogLine(std::string_view) {}

}  // namespace tandem
