# The tests, the sanitizers, the reliability suites, the fuzzer and mutation testing; docs/testing.md.

SUPPORT_OBJECTS = $(call objects,$(wildcard test/support/*.cc)) $(SIMULATION_OBJECTS)
# Those that know nothing of Boost.Test.
PLAIN_SUPPORT_OBJECTS = $(filter-out %/main.o %/script_runner.o,$(SUPPORT_OBJECTS))

# One test program a folder, so that a change links only its own: build/test_format, ...
TEST_FOLDERS = $(filter-out support allocations fuzz,$(patsubst test/%/,%,$(sort $(dir $(wildcard test/*/*.cc)))))
TEST_PROGRAMS = $(TEST_FOLDERS:%=$(BUILD)/test_%)
# The longest first; the model test in two halves that run side by side.
TEST_RUNS = $(BUILD)/test_model:model/CrashesOnTheSimulatedDisk \
  $(BUILD)/test_model:!model/CrashesOnTheSimulatedDisk \
  $(filter %/test_tools,$(TEST_PROGRAMS)) $(filter-out %/test_model %/test_tools,$(TEST_PROGRAMS))

test-programs: $(TEST_PROGRAMS)
test:
	$(INSTALL) $(PACKAGES_TEST)
	@$(MAKE) --no-print-directory programs test-programs $(BUILD)/tandem_bench
	@TANDEM=$(BUILD)/tandem tools/dev/run_tests.sh $(TEST_RUNS)

# The sanitizers run every test program, or those of FOLDERS, the long ones with fewer operations;
# RUNS names cases instead, as PROGRAM:FILTER. ASan and the fuzzer share one build by clang, whose
# thread-safety analysis comes with it. Tests are compiled without optimization and without the
# fuzzer's coverage, in less than half the time; what they test is not.
# The benchmark program is left out: its peers are not instrumented. So is test_interleave from
# `make tsan`: its threads are none, and it defines the calls that the sanitizer intercepts. Beside
# the tests `make tsan` runs threads on one database for STRESS_SECONDS; 0: it does not.
FOLDERS ?= $(filter-out bench,$(TEST_FOLDERS))
RUNS ?= $(FOLDERS:%=test_%)
CLANG ?= clang++-16
ASAN = BUILD=build-asan CXX="$(CLANG)" SANITIZE=address,undefined,fuzzer-no-link OPT=-O1 TEST_OPT=-O0 \
  TEST_SANITIZE=address,undefined CXXFLAGS=-Wthread-safety
asan:
	$(INSTALL) $(PACKAGES_TEST) clang-16 libclang-rt-16-dev
	@$(MAKE) --no-print-directory $(ASAN) sanitized
tsan:
	$(INSTALL) $(PACKAGES_TEST)
	@$(MAKE) --no-print-directory $(TSAN) sanitized RUNS='$(filter-out test_interleave%,$(RUNS))' \
	  STRESSED_SECONDS=$(STRESS_SECONDS)
# The threads alone.
STRESS_SECONDS ?= 90
TSAN = BUILD=$(BUILD)-tsan SANITIZE=thread OPT=-O1 TEST_OPT=-O0
stress-tsan:
	$(INSTALL) $(PACKAGES_BUILD)
	@$(MAKE) --no-print-directory $(TSAN) sanitized RUNS= STRESSED_SECONDS=$(STRESS_SECONDS)
.PHONY: stress-tsan sanitized
STRESSED_SECONDS ?= 0
STRESSED = $(filter-out 0,$(STRESSED_SECONDS))
SANITIZED_PROGRAMS = $(sort $(if $(STRESSED)$(filter test_tools% test_examples%,$(RUNS)),$(BUILD)/tandem) \
  $(foreach run,$(RUNS),$(BUILD)/$(firstword $(subst :, ,$(run)))))
sanitized: $(SANITIZED_PROGRAMS)
	@stress=; failed=0; \
	$(if $(STRESSED),tools/dev/run_stress.sh $(BUILD)/tandem $(STRESSED) --threads 8 $(SEED:%=--seed %) & stress=$$!;) \
	$(if $(RUNS),TANDEM=$(BUILD)/tandem TANDEM_QUICK=1 tools/dev/run_tests.sh $(RUNS:%='$(BUILD)/%') || failed=1;) \
	wait $$stress || failed=1; exit $$failed

# The reliability suites: each of SUITES (all of them) at its usual count, or MINUTES of each,
# from SEED (another one every time); as many side by side as there are processors, the last of the
# list first, since it takes longest.
SUITES ?=
MINUTES ?=
SEED ?=
# Other engines answer the same reads and take the same damage where their libraries are.
COMPARED_PEERS = $(filter rocksdb sqlite leveldb,$(PEERS))
COMPARED_ABSENT = $(filter-out $(COMPARED_PEERS),rocksdb sqlite leveldb)
COMPARED_LIBS = $(if $(filter rocksdb,$(COMPARED_PEERS)),-lrocksdb) $(if $(filter sqlite,$(COMPARED_PEERS)),-lsqlite3) \
  $(if $(filter leveldb,$(COMPARED_PEERS)),-lleveldb)
# Counts allocations and lets them fail: it replaces operator new, so only some programs link it.
ALLOCATIONS_OBJECT = $(call objects,test/allocations/allocations.cc)
RELIABILITY_SOURCES = $(filter-out %_test.cc,$(wildcard test/reliability/*.cc))
RELIABILITY_OBJECTS = $(ALLOCATIONS_OBJECT) $(call objects,$(filter-out $(foreach peer,$(COMPARED_ABSENT),$(wildcard test/reliability/*_$(peer).cc)),$(RELIABILITY_SOURCES))) \
  $(PLAIN_SUPPORT_OBJECTS) $(TOOL_TESTED_OBJECTS)
reliability:
	$(INSTALL) $(PACKAGES_TEST)
	@$(DEPENDENCIES) $(PACKAGES_PEERS) || echo "reliability: goes on without the peers that are missing"
	@$(MAKE) --no-print-directory $(BUILD)/reliability $(BUILD)/tandem
	@export TANDEM=$(BUILD)/tandem TANDEM_COMMIT=$$(git rev-parse --short HEAD 2>/dev/null); \
	  for suite in $(or $(SUITES),$$($(BUILD)/reliability --list | cut -d' ' -f1 | tac)); do echo $$suite; done | \
	  xargs -P "$$(nproc)" -I SUITE $(BUILD)/reliability SUITE $(if $(MINUTES),--seconds $$((60 * $(MINUTES)))) $(SEED:%=--seed %)
# The same flipped bits and cuts for Tandem, RocksDB and LevelDB, about 5 minutes.
damage-peers:
	$(INSTALL) $(PACKAGES_TEST)
	@$(DEPENDENCIES) librocksdb-dev libleveldb-dev || echo "damage-peers: goes on without the peers that are missing"
	@$(MAKE) --no-print-directory $(BUILD)/damage_peers
	@$(BUILD)/damage_peers
.PHONY: damage-peers

# Every fuzz target for FUZZ_SECONDS, two at a time, from SEED; FUZZ_TARGETS names some of them.
FUZZ_SECONDS ?= 20
FUZZ_TARGETS ?=
FUZZ_OBJECTS = $(call objects,$(wildcard test/fuzz/*.cc))
# Of the program what reads bytes; the rest of it would only be built for nothing.
FUZZED_TOOLS = $(call alone,tools/stress/script.cc $(filter-out %/verb.cc,$(wildcard tools/dump/*.cc)) $(filter-out %/input_packages.cc %/help_text.cc, \
  $(wildcard $(addprefix tools/tandem/,input*.cc output.cc output_table.cc file_*.cc \
  *json.cc *_text.cc chain_end.cc declarations.cc key_fields.cc record_reader.cc record_writer.cc row_key_template.cc \
  separated_header.cc suggest.cc))))
.PHONY: fuzz-corpus fuzz-program
fuzz fuzz-corpus: fuzz-program
	@SEED=$(SEED) GROW=$(filter fuzz-corpus,$@) \
	  tools/dev/run_fuzz.sh build-asan/fuzz $(FUZZ_SECONDS) $(FUZZ_TARGETS)
fuzz-program:
	$(INSTALL) $(PACKAGES_TEST) clang-16 libclang-rt-16-dev
	@$(MAKE) --no-print-directory $(ASAN) build-asan/fuzz

# Planted bugs, each of which a general suite must find: PICK of them, chosen by the commit's hash, or
# those of NAMES, or all.
PICK ?=
NAMES ?=
mutation:
	$(INSTALL) $(PACKAGES_TEST) patch
	@$(MAKE) --no-print-directory $(BUILD)/reliability $(BUILD)/test_model $(BUILD)/test_interleave
	+@test/mutation/planted_bugs.sh $(if $(PICK),--pick $(PICK) HEAD,$(NAMES))
.PHONY: mutation

# Most tests run for milliseconds: -O1 costs nothing and compiles faster; with -O0 the model test
# takes 1.7 times as long. Lines of stack traces take a sixth of the time to compile, and no one
# prints them but a sanitizer. What a test only needs to be there, as the header that all programs
# precompile, is not compiled so.
$(BUILD)/obj/test/%.o: test/%.cc $(BUILD)/obj/flags | $(BUILD)/obj/test/prelude.h.gch
	@mkdir -p $(@D)
	@echo "  CXX $<"
	$(Q)$(compile)
$(BUILD)/obj/test/%.o: PRELUDE = $(BUILD)/obj/test/prelude.h
TEST_OPT ?= -O1
TEST_LINES ?= $(if $(SANITIZE),-g1,-g0)
$(BUILD)/obj/test/%.o $(BUILD)/obj/test/prelude.h.gch: private override OPT = $(TEST_OPT)
$(BUILD)/obj/test/%.o $(BUILD)/obj/test/prelude.h.gch: private override LINES = $(TEST_LINES)
$(BUILD)/obj/test/%.o $(BUILD)/obj/test/prelude.h.gch: private override SANITIZE := $(or $(TEST_SANITIZE),$(SANITIZE))
# The fuzzer and the reliability suites are no Boost.Test, and what the tests share serves programs without it.
PLAIN_OBJECTS = $(FUZZ_OBJECTS) $(call objects,$(RELIABILITY_SOURCES) $(wildcard test/reliability/peers/*.cc)) $(ALLOCATIONS_OBJECT) $(SUPPORT_OBJECTS)
$(PLAIN_OBJECTS): private override OPT = -O1
$(PLAIN_OBJECTS): private override LINES = -g1
$(PLAIN_OBJECTS): private override SANITIZE := $(SANITIZE)
$(PLAIN_OBJECTS): PRELUDE = $(BUILD)/obj/tools/dev/prelude.h
$(PLAIN_OBJECTS): | $(BUILD)/obj/tools/dev/prelude.h.gch

$(BUILD)/test_%: $$(call objects,$$(call files,test/$$*,cc)) $(SUPPORT_OBJECTS) $(BUILD)/libtandem.a
	@echo "  LD $@"
	$(Q)$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) -lboost_unit_test_framework
# What the POSIX back end asks of the kernel passes by test/reliability/wrapped_calls.cc.
WRAPPED_CALLS = mkdir openat close pread pwrite fdatasync fsync sync_file_range ftruncate fallocate \
  fstat fstatvfs fcntl unlinkat flock fdopendir readdir closedir sched_yield
$(BUILD)/reliability $(BUILD)/damage_peers $(BUILD)/test_reliability: \
  override LDFLAGS += $(WRAPPED_CALLS:%=-Wl,--wrap=%)
$(BUILD)/reliability: $(RELIABILITY_OBJECTS) $(BUILD)/libtandem.a
	@echo "  LD $@"
	$(Q)$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) $(TOOL_LIBS) $(COMPARED_LIBS)
$(BUILD)/damage_peers: $(filter-out %/reliability/main.o,$(RELIABILITY_OBJECTS)) $(call objects,test/reliability/peers/main.cc) $(BUILD)/libtandem.a
	@echo "  LD $@"
	$(Q)$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) $(TOOL_LIBS) $(COMPARED_LIBS)
	@for peer in $(filter-out sqlite,$(COMPARED_ABSENT)); do echo "  damage_peers is without $$peer: its library is not installed"; done
$(BUILD)/fuzz: $(FUZZ_OBJECTS) $(PLAIN_SUPPORT_OBJECTS) $(FUZZED_TOOLS) $(BUILD)/libtandem.a
	@echo "  LD $@"
	$(Q)$(CXX) $(LDFLAGS_ALL) -fsanitize=fuzzer -o $@ $^ $(LIBS) $(TOOL_LIBS)
# Those of the benchmark program link everything but its main() and its peers.
$(BUILD)/test_bench: $(call objects,$(wildcard test/bench/*.cc)) $(SUPPORT_OBJECTS) $(BENCH_TESTED_OBJECTS) $(BUILD)/libtandem.a
	@echo "  LD $@"
	$(Q)$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) -lboost_unit_test_framework $(TOOL_LIBS)
# The tests of the program link its verbs.
$(BUILD)/test_tools: $(call objects,$(wildcard test/tools/*.cc)) $(SUPPORT_OBJECTS) $(TOOL_TESTED_OBJECTS) $(BUILD)/libtandem.a
	@echo "  LD $@"
	$(Q)$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) -lboost_unit_test_framework $(TOOL_LIBS)
$(BUILD)/test_api $(BUILD)/test_growth $(BUILD)/test_large: $(ALLOCATIONS_OBJECT)
$(BUILD)/test_growth: $(call objects,test/engine/read_world.cc $(patsubst %,tools/row_keys/%.cc,router simulation skew) \
  $(patsubst %,tools/emulator/%.cc,log region sample store))
# A line of the growth table is measured where the processes are that use memory alone.
$(BUILD)/test_memory: $(call objects,test/growth/growth.cc)
# Those of growth and of memstores use the engine that its own tests start from.
$(BUILD)/test_growth $(BUILD)/test_memstore: $(BUILD)/test_%: $$(call objects,$$(call files,test/$$*,cc) test/engine/test_engine.cc) $(SUPPORT_OBJECTS) $(BUILD)/libtandem.a
	@echo "  LD $@"
	$(Q)$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) -lboost_unit_test_framework
# Of those of the engine the ones in which threads meet: a sixth of its files, all that a build for
# the thread sanitizer needs.
THREADS_TESTS = engine/runtime/background engine/commit/commit_queue engine/commit/dependent_history \
  engine/concurrency engine/memory memstore/memstore engine/jobs/overlap_builder engine/commit/pressure \
  engine/commit/unique_history engine/parallel/part_readers
$(BUILD)/test_threads: $(call alone,$(THREADS_TESTS:%=test/%_test.cc) test/engine/test_engine.cc) $(SUPPORT_OBJECTS) $(BUILD)/libtandem.a
	@echo "  LD $@"
	$(Q)$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) -lboost_unit_test_framework
# Those of the reliability suites link them.
$(BUILD)/test_reliability: $(call objects,$(wildcard test/reliability/*_test.cc)) $(SUPPORT_OBJECTS) $(filter-out %/reliability/main.o $(SUPPORT_OBJECTS),$(RELIABILITY_OBJECTS)) $(BUILD)/libtandem.a
	@echo "  LD $@"
	$(Q)$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) -lboost_unit_test_framework $(TOOL_LIBS) $(COMPARED_LIBS)
# What the tests of the program run besides.
$(BUILD)/test_tools: | $(if $(SANITIZE),,$(BUILD)/libtandem.so)

# Names that these targets had before; docs/testing.md has the table.
.PHONY: prove exam museum strain
prove: reliability
exam: damage-peers
strain: stress-tsan
museum: mutation
