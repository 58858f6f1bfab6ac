// Everything a program needs to use Tandem.
#pragma once

#include "tandem/database.h"
#include "tandem/limits.h"
#include "tandem/options.h"
#include "tandem/predicate.h"
#include "tandem/row.h"
#include "tandem/schema.h"
#include "tandem/status.h"
#include "tandem/write_batch.h"
