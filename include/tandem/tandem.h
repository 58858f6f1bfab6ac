// All public headers of Tandem. The shared library exports what they declare between `#pragma GCC
// visibility push(default)` and pop.
#pragma once

#include "tandem/backup.h"
#include "tandem/bulk_load.h"
#include "tandem/database.h"
#include "tandem/encoding.h"
#include "tandem/event_listener.h"
#include "tandem/function.h"
#include "tandem/limits.h"
#include "tandem/observer.h"
#include "tandem/options.h"
#include "tandem/predicate.h"
#include "tandem/row.h"
#include "tandem/row_key.h"
#include "tandem/schema.h"
#include "tandem/space.h"
#include "tandem/statistics.h"
#include "tandem/status.h"
#include "tandem/transaction.h"
#include "tandem/verify.h"
#include "tandem/version.h"
#include "tandem/write_batch.h"
