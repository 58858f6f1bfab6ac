// What the processes do that measure the large set; see contents.cc.
#pragma once

#include <memory>
#include <string>

#include "tools/bench/contents_peer.h"

namespace tandem::bench {

/// Ends the process when there is no such engine or it was not built.
std::unique_ptr<ContentsPeer> OpenContents(const std::string& engine, const std::string& path);

/// Loads the file `contents` in batches and settles.
void LoadContents(const std::string& engine, const std::string& path, const std::string& contents);

/// Runs a query on an open database of which no page is in memory, then until a fifth of a second
/// has passed, and prints two figures in milliseconds a run: "cold NAME" and NAME.
void MeasureContentsQuery(const std::string& engine, const std::string& path, size_t query);

}  // namespace tandem::bench
