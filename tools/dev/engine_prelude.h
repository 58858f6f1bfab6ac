// What most files of the engine include, compiled once: see tools/dev/prelude.h.
#pragma once

#include "engine/region/view.h"
#include "tools/dev/prelude.h"
