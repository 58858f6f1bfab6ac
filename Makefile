# Tandem's build. `make demo` and `make test` work on a fresh Debian 12: they install what is missing.
#
#   make            the program build/tandem and both libraries
#   make demo       the main job on real data
#   make test       every test               make tidy      the rules of the house
#   make asan tsan  tests under a sanitizer  make analyze   clang's thread-safety analysis
#   make strain     threads on one database under ThreadSanitizer, STRESS_SECONDS=
#   make fuzz       every decoder, 20 s each make bench     Tandem beside its peers
#   make exam       flipped bits and cuts, Tandem beside RocksDB and LevelDB
#   make prove      the proof of durability, SUITES= and MINUTES= choose; docs/testing.md
#   make museum     planted bugs: do the suites find them? PICK=5 or NAMES= choose
#   make examples   the programs of tools/examples, as build/example_*
#   make install    PREFIX=/usr/local DESTDIR= LIBDIR=$(PREFIX)/lib; make uninstall
#   make installcheck  installs in a scratch folder and links programs with it, each way
#   make clean
#
# BUILD, CXX, OPT, SANITIZE and DEBUG may be set; each combination deserves a BUILD folder of its own.

BUILD ?= build
OPT ?= -O2
AR = ar
# V=1 shows the commands.
Q = $(if $(V),,@)
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif

PACKAGES_BUILD = g++ libzstd-dev libxxhash-dev liburing-dev libroaring-dev libfmt-dev libcli11-dev \
  rapidjson-dev
PACKAGES_TEST = $(PACKAGES_BUILD) libboost-test-dev libcpp-httplib-dev python3
PACKAGES_PEERS = librocksdb-dev liblmdb-dev libsqlite3-dev
PACKAGES_INSTALLCHECK = $(PACKAGES_BUILD) cmake pkgconf
# Says nothing where all is there, on whatever system.
DEPENDENCIES = CXX='$(CXX)' CXXFLAGS='$(CXXFLAGS)' tools/house/dependencies.sh
INSTALL = @$(DEPENDENCIES)

HARDENING = -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -D_GLIBCXX_ASSERTIONS -fstack-protector-strong \
  -fstack-clash-protection -fcf-protection
# g++ 12 warns falsely about bounds in instrumented code; the plain build has these warnings on.
SANITIZING = -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer \
  -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict \
  -Wno-maybe-uninitialized -Wno-unknown-warning-option
# The public headers make visible what they declare; the shared library exports nothing else.
CXXFLAGS_ALL = -std=c++20 $(OPT) -g1 -fPIC -fvisibility=hidden -fvisibility-inlines-hidden \
  -Wall -Wextra -Werror \
  $(if $(SANITIZE),$(SANITIZING),$(HARDENING)) $(if $(DEBUG),,-DNDEBUG) -I. -Iinclude $(CXXFLAGS)
LDFLAGS_ALL = $(if $(SANITIZE),-fsanitize=$(SANITIZE)) -Wl,-z,relro,-z,now $(LDFLAGS)
LIBS = -lzstd -lxxhash -luring -lroaring -lpthread

# A library runs programs that were linked with one of the same SONAME.
VERSION := $(shell sed -n 's/.*kVersion = "\(.*\)";/\1/p' include/tandem/version.h)
SONAME = libtandem.so.$(firstword $(subst ., ,$(VERSION)))
SHARED = $(BUILD)/libtandem.so.$(VERSION)

objects = $(patsubst %.cc,$(BUILD)/obj/%.o,$(1))
# What a folder and the rooms in it hold: $(call files,FOLDERS,cc).
files = $(foreach folder,$(1),$(wildcard $(folder)/*.$(2) $(folder)/*/*.$(2)))
LIBRARY = base format index store_file compaction memstore wal engine
LIBRARY_OBJECTS = $(call objects,$(call files,$(LIBRARY),cc))
# The stress harness and the tests share the simulated disk and the reference model.
SIMULATION_OBJECTS = $(call objects,$(wildcard tools/simulation/*.cc))
TOOL_OBJECTS = $(call objects,$(wildcard tools/tandem/*.cc tools/dump/*.cc tools/stress/*.cc)) $(SIMULATION_OBJECTS)
# The tests call the program's verbs in process: everything but its main().
TOOL_TESTED_OBJECTS = $(filter-out %/main.o,$(TOOL_OBJECTS))
SUPPORT_OBJECTS = $(call objects,$(wildcard test/support/*.cc)) $(SIMULATION_OBJECTS)
# Those that know nothing of Boost.Test.
PLAIN_SUPPORT_OBJECTS = $(filter-out %/main.o %/script_runner.o,$(SUPPORT_OBJECTS))
# A peer whose header is missing is left out of the benchmark program, which nothing else links.
PEERS = $(if $(wildcard /usr/include/rocksdb/db.h),rocksdb) $(if $(wildcard /usr/include/lmdb.h),lmdb) \
  $(if $(wildcard /usr/include/sqlite3.h),sqlite)
PEERS_ABSENT = $(filter-out $(PEERS),rocksdb lmdb sqlite)
PEER_LIBS = $(if $(filter rocksdb,$(PEERS)),-lrocksdb) $(if $(filter lmdb,$(PEERS)),-llmdb) \
  $(if $(filter sqlite,$(PEERS)),-lsqlite3)
BENCH_OBJECTS = $(call objects,$(filter-out $(PEERS_ABSENT:%=tools/bench/%_%),$(wildcard tools/bench/*.cc))) $(TOOL_TESTED_OBJECTS)
BENCH_TESTED_OBJECTS = $(filter-out %/bench/main.o $(foreach peer,$(PEERS),$(call objects,$(wildcard tools/bench/$(peer)_*.cc))),$(BENCH_OBJECTS))

# One test program a folder, so that a change links only its own: build/test_format, ...
TEST_FOLDERS = $(filter-out support fuzz prove,$(patsubst test/%/,%,$(sort $(dir $(wildcard test/*/*.cc)))))
TEST_PROGRAMS = $(TEST_FOLDERS:%=$(BUILD)/test_%)
# The longest first; the model test in two halves that run side by side.
TEST_RUNS = $(BUILD)/test_model:model/CrashesOnTheSimulatedDisk \
  $(BUILD)/test_model:!model/CrashesOnTheSimulatedDisk \
  $(filter %/test_tools,$(TEST_PROGRAMS)) $(filter-out %/test_model %/test_tools,$(TEST_PROGRAMS))

.PHONY: all everything programs test-programs test demo asan tsan fuzz prove analyze tidy bench clean \
  examples install uninstall installcheck
all:
	$(INSTALL) $(PACKAGES_BUILD)
	@$(MAKE) --no-print-directory programs
programs: $(BUILD)/tandem $(BUILD)/libtandem.a $(BUILD)/libtandem.so
test-programs: $(TEST_PROGRAMS)

test:
	$(INSTALL) $(PACKAGES_TEST)
	@$(MAKE) --no-print-directory programs test-programs $(BUILD)/tandem_bench
	@TANDEM=$(BUILD)/tandem tools/house/run_tests.sh $(TEST_RUNS)

demo: all
	@$(BUILD)/tandem demo

# The sanitizers run every test program, or those of FOLDERS, the long ones with fewer operations;
# RUNS names cases instead, as PROGRAM:FILTER. ASan and the fuzzer share one build by clang, whose
# thread-safety analysis comes with it.
# The benchmark program is left out: its peers are not instrumented. So is test_interleave from
# `make tsan`: its threads are none, and it defines the calls that the sanitizer intercepts. Beside
# the tests `make tsan` runs threads on one database for STRESS_SECONDS; 0: it does not.
FOLDERS ?= $(filter-out bench,$(TEST_FOLDERS))
RUNS ?= $(FOLDERS:%=test_%)
CLANG ?= clang++-16
ASAN = BUILD=build-asan CXX="$(CLANG)" SANITIZE=address,undefined,fuzzer-no-link OPT=-O1 \
  CXXFLAGS=-Wthread-safety
asan:
	$(INSTALL) $(PACKAGES_TEST) clang-16 libclang-rt-16-dev
	@$(MAKE) --no-print-directory $(ASAN) sanitized
tsan:
	$(INSTALL) $(PACKAGES_TEST)
	@$(MAKE) --no-print-directory $(TSAN) sanitized RUNS='$(filter-out test_interleave%,$(RUNS))' \
	  STRAIN_SECONDS=$(STRESS_SECONDS)
# The threads alone.
STRESS_SECONDS ?= 90
TSAN = BUILD=$(BUILD)-tsan SANITIZE=thread OPT=-O1
strain:
	$(INSTALL) $(PACKAGES_BUILD)
	@$(MAKE) --no-print-directory $(TSAN) sanitized RUNS= STRAIN_SECONDS=$(STRESS_SECONDS)
.PHONY: strain sanitized
STRAIN_SECONDS ?= 0
STRAINED = $(filter-out 0,$(STRAIN_SECONDS))
SANITIZED_PROGRAMS = $(sort $(if $(STRAINED)$(filter test_tools% test_examples%,$(RUNS)),$(BUILD)/tandem) \
  $(foreach run,$(RUNS),$(BUILD)/$(firstword $(subst :, ,$(run)))))
sanitized: $(SANITIZED_PROGRAMS)
	@strain=; failed=0; \
	$(if $(STRAINED),tools/house/run_strain.sh $(BUILD)/tandem $(STRAINED) --threads 8 $(SEED:%=--seed %) & strain=$$!;) \
	$(if $(RUNS),TANDEM=$(BUILD)/tandem TANDEM_QUICK=1 tools/house/run_tests.sh $(RUNS:%='$(BUILD)/%') || failed=1;) \
	wait $$strain || failed=1; exit $$failed

# The proof of durability: every suite of SUITES (all of them) at its usual count, or MINUTES of each,
# from SEED (another one every time); as many side by side as there are processors.
SUITES ?=
MINUTES ?=
SEED ?=
# Other engines take the exam and answer for it where their libraries are.
EXAM_PEERS = $(filter rocksdb sqlite,$(PEERS)) $(if $(wildcard /usr/include/leveldb/db.h),leveldb)
EXAM_ABSENT = $(filter-out $(EXAM_PEERS),rocksdb sqlite leveldb)
EXAM_LIBS = $(if $(filter rocksdb,$(EXAM_PEERS)),-lrocksdb) $(if $(filter sqlite,$(EXAM_PEERS)),-lsqlite3) \
  $(if $(filter leveldb,$(EXAM_PEERS)),-lleveldb)
PROVE_OBJECTS = $(call objects,$(filter-out $(foreach peer,$(EXAM_ABSENT),$(wildcard test/prove/exam_$(peer)*.cc)),$(wildcard test/prove/*.cc))) \
  $(PLAIN_SUPPORT_OBJECTS) $(TOOL_TESTED_OBJECTS)
prove:
	$(INSTALL) $(PACKAGES_TEST)
	@$(DEPENDENCIES) $(PACKAGES_PEERS) || echo "prove: goes on without the peers that are missing"
	@$(MAKE) --no-print-directory $(BUILD)/prove $(BUILD)/tandem
	@export TANDEM=$(BUILD)/tandem TANDEM_COMMIT=$$(git rev-parse --short HEAD 2>/dev/null); \
	  for suite in $(or $(SUITES),$$($(BUILD)/prove --list | cut -d' ' -f1)); do echo $$suite; done | \
	  xargs -P "$$(nproc)" -I SUITE $(BUILD)/prove SUITE $(if $(MINUTES),--seconds $$((60 * $(MINUTES)))) $(SEED:%=--seed %)
# The same flipped bits and cuts for Tandem, RocksDB and LevelDB, about 5 minutes.
exam:
	$(INSTALL) $(PACKAGES_TEST)
	@$(DEPENDENCIES) librocksdb-dev libleveldb-dev || echo "exam: goes on without the peers that are missing"
	@$(MAKE) --no-print-directory $(BUILD)/exam_peers
	@$(BUILD)/exam_peers
.PHONY: exam

# Every fuzz target for FUZZ_SECONDS, two at a time, from SEED; FUZZ_TARGETS names some of them.
FUZZ_SECONDS ?= 20
FUZZ_TARGETS ?=
FUZZ_OBJECTS = $(call objects,$(wildcard test/fuzz/*.cc))
# Of the program what reads bytes; the rest of it would only be built for nothing.
FUZZED_TOOLS = $(call objects,tools/stress/script.cc $(filter-out %/verb.cc,$(wildcard tools/dump/*.cc)) $(filter-out %/input_packages.cc %/help_text.cc, \
  $(wildcard $(addprefix tools/tandem/,input*.cc output.cc output_table.cc file_*.cc \
  *json.cc *_text.cc chain_end.cc declarations.cc record_reader.cc row_key_template.cc \
  separated_header.cc suggest.cc))))
.PHONY: fuzz-corpus fuzz-program
fuzz fuzz-corpus: fuzz-program
	@SEED=$(SEED) GROW=$(filter fuzz-corpus,$@) \
	  tools/house/run_fuzz.sh build-asan/fuzz $(FUZZ_SECONDS) $(FUZZ_TARGETS)
fuzz-program:
	$(INSTALL) $(PACKAGES_TEST) clang-16 libclang-rt-16-dev
	@$(MAKE) --no-print-directory $(ASAN) build-asan/fuzz

# Planted bugs, each of which a general suite must find: PICK of them, chosen by the commit's hash, or
# those of NAMES, or all.
PICK ?=
NAMES ?=
museum:
	$(INSTALL) $(PACKAGES_TEST) patch
	@$(MAKE) --no-print-directory $(BUILD)/prove $(BUILD)/test_model $(BUILD)/test_interleave
	+@test/museum/museum.sh $(if $(PICK),--pick $(PICK) HEAD,$(NAMES))
.PHONY: museum

# Clang 16: Debian's default 14 cannot compile libstdc++ 12's <ranges>.
ANALYZED = $(patsubst %.cc,build-analyze/%.ok,$(call files,$(LIBRARY),cc))
analyze:
	$(INSTALL) $(PACKAGES_BUILD) clang-16
	@$(MAKE) --no-print-directory analyzed
.PHONY: analyzed
analyzed: $(ANALYZED)
	@echo "analyze: $(words $(ANALYZED)) files, no finding"
build-analyze/%.ok: %.cc
	@mkdir -p $(@D)
	@clang++-16 -std=c++20 -fsyntax-only -Wall -Wextra -Wthread-safety -Werror -I. -Iinclude -MMD -MP \
	  -MF $(@:.ok=.d) -MT $@ $<
	@touch $@

HEADERS = $(call files,include/tandem $(LIBRARY) tools/tandem tools/dump tools/stress tools/simulation tools/bench test/support,h)
tidy:
	$(INSTALL) $(PACKAGES_TEST)
	@tools/house/tidy.py
	@$(MAKE) --no-print-directory tidy-headers
.PHONY: tidy-headers
tidy-headers: $(HEADERS:%=build-tidy/%.ok)
	@echo "tidy: $(words $(HEADERS)) headers compile alone"
build-tidy/%.ok: %
	@mkdir -p $(@D)
	@echo '#include "$(<:include/%=%)"' | $(CXX) -std=c++20 -fsyntax-only -Wall -Wextra -Werror -I. -Iinclude \
	  -MMD -MP -MF $(@:.ok=.d) -MT $@ -x c++ -
	@touch $@

# About 10 minutes. ROWS=, ROUNDS=, ENGINES=, PHASES=, JSON= choose otherwise; docs/performance.md.
ROWS ?= 500000
ROUNDS ?= 3
bench:
	$(INSTALL) $(PACKAGES_BUILD)
	@$(DEPENDENCIES) $(PACKAGES_PEERS) || echo "bench: goes on without the peers that are missing"
	@$(MAKE) --no-print-directory $(BUILD)/tandem_bench
	@echo "W1, $(ROWS) rows, $(ROUNDS) rounds: 500,000 rows and 3 rounds take about 10 minutes"
	@$(BUILD)/tandem_bench --rows $(ROWS) --rounds $(ROUNDS) $(ENGINES:%=--engines %) \
	  $(PHASES:%=--phases %) $(JSON:%=--json %)

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
INSTALLATION = VERSION='$(VERSION)' SONAME='$(SONAME)' LIBS='$(LIBS)' DESTDIR='$(DESTDIR)' \
  PREFIX='$(abspath $(PREFIX))' BINDIR='$(abspath $(BINDIR))' LIBDIR='$(abspath $(LIBDIR))' \
  INCLUDEDIR='$(abspath $(INCLUDEDIR))'
install: all
	@$(INSTALLATION) tools/install/install.sh install $(BUILD)
uninstall:
	@$(INSTALLATION) tools/install/install.sh uninstall
installcheck: all
	$(INSTALL) $(PACKAGES_INSTALLCHECK)
	@MAKE='$(MAKE)' CXX='$(CXX)' BUILD='$(BUILD)' VERSION='$(VERSION)' tools/install/check.sh

clean:
	rm -rf build build-*

# Two precompiled headers halve the time of a build; see tools/house/prelude.h.
PRELUDE = $(BUILD)/obj/tools/house/prelude.h
$(BUILD)/obj/%.h.gch: %.h $(BUILD)/obj/flags
	@mkdir -p $(@D)
	@cp $< $(@:.gch=)
	@echo "  PCH $<"
	$(Q)$(CXX) $(CXXFLAGS_ALL) -MMD -MP -w -x c++-header $< -o $@

# Changes when the flags do, and everything is compiled anew.
FLAGS := $(CXXFLAGS_ALL)
$(BUILD)/obj/flags: always
	@mkdir -p $(@D)
	@echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' > $@
.PHONY: always

compile = $(CXX) -include $(PRELUDE) $(CXXFLAGS_ALL) -MMD -MP -c $< -o $@
$(BUILD)/obj/%.o: %.cc $(BUILD)/obj/flags | $(BUILD)/obj/tools/house/prelude.h.gch
	@mkdir -p $(@D)
	@echo "  CXX $<"
	$(Q)$(compile)
# A test runs for milliseconds: -O1 costs nothing and compiles faster. What a test only needs to be
# there, as the header that all programs precompile, is not compiled so.
$(BUILD)/obj/test/%.o: test/%.cc $(BUILD)/obj/flags | $(BUILD)/obj/test/prelude.h.gch
	@mkdir -p $(@D)
	@echo "  CXX $<"
	$(Q)$(compile)
$(BUILD)/obj/test/%.o: PRELUDE = $(BUILD)/obj/test/prelude.h
$(BUILD)/obj/test/%.o $(BUILD)/obj/test/prelude.h.gch: private OPT = -O1
# The fuzzer and the proof are no Boost.Test, and what the tests share serves programs without it.
PLAIN_OBJECTS = $(FUZZ_OBJECTS) $(call objects,$(wildcard test/prove/*.cc test/prove/peers/*.cc)) $(SUPPORT_OBJECTS)
$(PLAIN_OBJECTS): PRELUDE = $(BUILD)/obj/tools/house/prelude.h
$(PLAIN_OBJECTS): | $(BUILD)/obj/tools/house/prelude.h.gch
# RapidJSON adds to a null pointer where its stack is empty.
$(BUILD)/obj/tools/tandem/json.o: override CXXFLAGS += $(if $(SANITIZE),-fno-sanitize=pointer-overflow)
# CLI11 is slow to compile and runs once a process.
$(BUILD)/obj/tools/tandem/command_line.o: OPT = -O0
$(BUILD)/obj/tools/tandem/command_line.o: HARDENING = -D_GLIBCXX_ASSERTIONS -fstack-protector-strong

$(BUILD)/libtandem.a: $(LIBRARY_OBJECTS)
	@rm -f $@
	@echo "  AR $@"
	$(Q)$(AR) rcs $@ $^
$(SHARED): $(LIBRARY_OBJECTS) tools/install/libtandem.map
	@echo "  LD $@"
	$(Q)$(CXX) $(LDFLAGS_ALL) -shared -Wl,-soname,$(SONAME) $(if $(SANITIZE),,-Wl,-z,defs) \
	  -Wl,--version-script=tools/install/libtandem.map -o $@ $(filter %.o,$^) $(LIBS)
$(BUILD)/libtandem.so: $(SHARED)
	@ln -sf libtandem.so.$(VERSION) $(BUILD)/$(SONAME)
	@ln -sf $(SONAME) $@
$(BUILD)/tandem: $(TOOL_OBJECTS) $(BUILD)/libtandem.a
	@echo "  LD $@"
	$(Q)$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) -lfmt
$(BUILD)/tandem_bench: $(BENCH_OBJECTS) $(BUILD)/libtandem.a
	@echo "  LD $@"
	$(Q)$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) -lfmt $(PEER_LIBS)
	@for peer in $(PEERS_ABSENT); do echo "  tandem_bench is without $$peer: its library is not installed"; done

# Objects that only a pattern rule names stay.
.SECONDARY:
.SECONDEXPANSION:
$(BUILD)/test_%: $$(call objects,$$(call files,test/$$*,cc)) $(SUPPORT_OBJECTS) $(BUILD)/libtandem.a
	@echo "  LD $@"
	$(Q)$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) -lboost_unit_test_framework
# What the POSIX back end asks of the kernel passes by test/prove/wrapped_calls.cc.
WRAPPED_CALLS = mkdir openat close pread pwrite fdatasync fsync ftruncate fallocate fstat fstatvfs \
  fcntl unlinkat flock fdopendir readdir closedir sched_yield
$(BUILD)/prove $(BUILD)/exam_peers $(BUILD)/test_proof: \
  override LDFLAGS += $(WRAPPED_CALLS:%=-Wl,--wrap=%)
$(BUILD)/prove: $(PROVE_OBJECTS) $(BUILD)/libtandem.a
	@echo "  LD $@"
	$(Q)$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) -lfmt $(EXAM_LIBS)
$(BUILD)/exam_peers: $(filter-out %/prove/main.o,$(PROVE_OBJECTS)) $(call objects,test/prove/peers/main.cc) $(BUILD)/libtandem.a
	@echo "  LD $@"
	$(Q)$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) -lfmt $(EXAM_LIBS)
	@for peer in $(filter-out sqlite,$(EXAM_ABSENT)); do echo "  exam_peers is without $$peer: its library is not installed"; done
$(BUILD)/fuzz: $(FUZZ_OBJECTS) $(PLAIN_SUPPORT_OBJECTS) $(FUZZED_TOOLS) $(BUILD)/libtandem.a
	@echo "  LD $@"
	$(Q)$(CXX) $(LDFLAGS_ALL) -fsanitize=fuzzer -o $@ $^ $(LIBS) -lfmt
# The examples see what a user sees: the public headers. Debian's cpp-httplib is compiled with these.
$(BUILD)/obj/tools/examples/%.o: tools/examples/%.cc
	@mkdir -p $(@D)
	@echo "  CXX $<"
	$(Q)$(CXX) -std=c++20 -O1 -Wall -Wextra -Werror $(if $(SANITIZE),$(SANITIZING)) -Iinclude \
	  $(HTTP_FLAGS) -MMD -MP -c $< -o $@
$(BUILD)/obj/tools/examples/job_queue.o: HTTP_FLAGS = -DCPPHTTPLIB_OPENSSL_SUPPORT \
  -DCPPHTTPLIB_ZLIB_SUPPORT -DCPPHTTPLIB_BROTLI_SUPPORT
$(BUILD)/example_job_queue: HTTP_LIBS = -lcpp-httplib
$(BUILD)/example_%: $(BUILD)/obj/tools/examples/%.o $(BUILD)/libtandem.a
	@echo "  LD $@"
	$(Q)$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) $(HTTP_LIBS)
EXAMPLES = $(patsubst tools/examples/%.cc,$(BUILD)/example_%,$(wildcard tools/examples/*.cc))
$(BUILD)/test_examples: | $(EXAMPLES)
examples:
	$(INSTALL) $(PACKAGES_TEST)
	@$(MAKE) --no-print-directory $(EXAMPLES)
# Those of the benchmark program link everything but its main() and its peers.
$(BUILD)/test_bench: $(call objects,$(wildcard test/bench/*.cc)) $(SUPPORT_OBJECTS) $(BENCH_TESTED_OBJECTS) $(BUILD)/libtandem.a
	@echo "  LD $@"
	$(Q)$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) -lboost_unit_test_framework -lfmt
# The tests of the program link its verbs.
$(BUILD)/test_tools: $(call objects,$(wildcard test/tools/*.cc)) $(SUPPORT_OBJECTS) $(TOOL_TESTED_OBJECTS) $(BUILD)/libtandem.a
	@echo "  LD $@"
	$(Q)$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) -lboost_unit_test_framework -lfmt
# Those of growth and of memstores use the engine that its own tests start from.
$(BUILD)/test_growth $(BUILD)/test_memstore: $(BUILD)/test_%: $$(call objects,$$(call files,test/$$*,cc) test/engine/test_engine.cc) $(SUPPORT_OBJECTS) $(BUILD)/libtandem.a
	@echo "  LD $@"
	$(Q)$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) -lboost_unit_test_framework
# Of those of the engine the ones in which threads meet: a sixth of its files, all that a build for
# the thread sanitizer needs.
THREADS_TESTS = engine/runtime/background engine/commit/commit_queue engine/concurrency engine/memory \
  memstore/memstore engine/jobs/overlap_builder engine/commit/pressure
$(BUILD)/test_threads: $(call objects,$(THREADS_TESTS:%=test/%_test.cc) test/engine/test_engine.cc) $(SUPPORT_OBJECTS) $(BUILD)/libtandem.a
	@echo "  LD $@"
	$(Q)$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) -lboost_unit_test_framework
# Those of the proof link its suites.
$(BUILD)/test_proof: $(call objects,$(wildcard test/proof/*.cc)) $(SUPPORT_OBJECTS) $(filter-out %/prove/main.o $(SUPPORT_OBJECTS),$(PROVE_OBJECTS)) $(BUILD)/libtandem.a
	@echo "  LD $@"
	$(Q)$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) -lboost_unit_test_framework -lfmt $(EXAM_LIBS)
# What the tests of the program run besides.
$(BUILD)/test_tools: | $(if $(SANITIZE),,$(BUILD)/libtandem.so)

-include $(shell find $(wildcard build build-*) -name '*.d' 2>/dev/null)
