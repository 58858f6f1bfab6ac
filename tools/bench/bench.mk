# make bench: Tandem beside its peers.

# A peer whose header is missing is left out of the benchmark program, which nothing else links.
PEERS = $(if $(wildcard /usr/include/rocksdb/db.h),rocksdb) $(if $(wildcard /usr/include/leveldb/db.h),leveldb) \
  $(if $(wildcard /usr/include/lmdb.h),lmdb) $(if $(wildcard /usr/include/sqlite3.h),sqlite)
PEERS_ABSENT = $(filter-out $(PEERS),rocksdb leveldb lmdb sqlite)
PEER_LIBS = $(if $(filter rocksdb,$(PEERS)),-lrocksdb) $(if $(filter leveldb,$(PEERS)),-lleveldb) \
  $(if $(filter lmdb,$(PEERS)),-llmdb) $(if $(filter sqlite,$(PEERS)),-lsqlite3)
BENCH_OBJECTS = $(call objects,$(filter-out $(PEERS_ABSENT:%=tools/bench/%_%),$(wildcard tools/bench/*.cc))) $(TOOL_TESTED_OBJECTS)
BENCH_TESTED_OBJECTS = $(filter-out %/bench/main.o $(foreach peer,$(PEERS),$(call objects,$(wildcard tools/bench/$(peer)_*.cc))),$(BENCH_OBJECTS))

# About 45 minutes. ROWS=, ROUNDS=, ENGINES=, PHASES=, JSON= choose otherwise; docs/performance.md.
ROWS ?= 500000
ROUNDS ?= 3
bench:
	$(INSTALL) $(PACKAGES_BUILD)
	@$(DEPENDENCIES) $(PACKAGES_PEERS) || echo "bench: goes on without the peers that are missing"
	@$(MAKE) --no-print-directory $(BUILD)/tandem_bench
	@echo "W1, $(ROWS) rows, $(ROUNDS) rounds: 500,000 rows and 3 rounds take about 45 minutes"
	@$(BUILD)/tandem_bench --rows $(ROWS) --rounds $(ROUNDS) $(ENGINES:%=--engines %) \
	  $(PHASES:%=--phases %) $(JSON:%=--json %)

# One long load of Tandem, with queries and a kill; loads of several sizes beside RocksDB. DIRECTORY=, which has to be
# empty or new, MEMORY= in MiB and JSON= choose otherwise, ENGINES= of growth. 100 million rows need about 60 GB.
.PHONY: bench-large bench-growth
bench-large: ROWS = 100000000
bench-growth: ROWS = 500000,2000000,8000000,32000000
bench-large bench-growth:
	$(INSTALL) $(PACKAGES_BUILD)
	@$(if $(filter bench-growth,$@),$(DEPENDENCIES) librocksdb-dev || echo "$@: goes on without RocksDB")
	@$(MAKE) --no-print-directory $(BUILD)/tandem_bench
	@$(BUILD)/tandem_bench $(@:bench-%=%) $(if $(filter bench-large,$@),--rows,--sizes) $(ROWS) \
	  $(MEMORY:%=--memory-mib %) $(DIRECTORY:%=--directory %) $(JSON:%=--json %) \
	  $(if $(filter bench-growth,$@),$(ENGINES:%=--engines %))

$(BUILD)/tandem_bench: $(BENCH_OBJECTS) $(BUILD)/libtandem.a
	@echo "  LD $@"
	$(Q)$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) $(TOOL_LIBS) $(PEER_LIBS)
	@for peer in $(PEERS_ABSENT); do echo "  tandem_bench is without $$peer: its library is not installed"; done
