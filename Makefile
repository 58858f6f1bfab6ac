# Tandem's build. `make demo` and `make test` work on a fresh Debian 12: they install what is missing.
#
#   make            the program build/tandem and both libraries
#   make demo       the main job on real data
#   make test       every test               make tidy      the rules of style that a script can check
#   make asan tsan  tests under a sanitizer  make analyze   clang's thread-safety analysis
#   make stress-tsan  threads on one database under ThreadSanitizer, STRESS_SECONDS=
#   make fuzz       every decoder, 20 s each make bench     Tandem beside its peers
#   make bench-large   one long load of Tandem, ROWS=100000000: rates, runs, memory, stalls, queries, a kill
#   make bench-growth  loads of several sizes with 64 MiB beside RocksDB, ROWS=500000,2000000
#   make damage-peers  flipped bits and cuts, Tandem beside RocksDB and LevelDB
#   make reliability  crashes, faults, damage: SUITES= and MINUTES= choose; docs/testing.md
#   make mutation   planted bugs: do the suites find them? PICK=5 or NAMES= choose
#   make alone      compiles each file without its group: does it include what it uses? PARTS=60
#   make examples   the programs of tools/examples, as build/example_*
#   make install    PREFIX=/usr/local DESTDIR= LIBDIR=$(PREFIX)/lib; make uninstall
#   make installcheck  installs in a scratch folder and links programs with it, each way
#   make help       shows this
#   make clean
#
# BUILD, CXX, OPT, SANITIZE, DEBUG and GROUP may be set; each combination deserves a BUILD folder of its own.

.DEFAULT_GOAL = all
BUILD ?= build
OPT ?= -O2
# Lines in stack traces.
LINES ?= -g1
AR = ar
# V=1 shows the commands.
Q = $(if $(V),,@)
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif

PACKAGES_BUILD = g++ libzstd-dev libxxhash-dev liburing-dev libroaring-dev libutf8proc-dev \
  libre2-dev libfmt-dev libcli11-dev rapidjson-dev libexpat1-dev
PACKAGES_TEST = $(PACKAGES_BUILD) libboost-test-dev libcpp-httplib-dev python3
PACKAGES_PEERS = librocksdb-dev libleveldb-dev liblmdb-dev libsqlite3-dev
PACKAGES_INSTALLCHECK = $(PACKAGES_BUILD) cmake pkgconf
# Says nothing where all is there, on whatever system.
DEPENDENCIES = CXX='$(CXX)' CXXFLAGS='$(CXXFLAGS)' tools/dev/dependencies.sh
INSTALL = @$(DEPENDENCIES)

HARDENING = -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -D_GLIBCXX_ASSERTIONS -fstack-protector-strong \
  -fstack-clash-protection -fcf-protection
# g++ 12 warns falsely about bounds in instrumented code; the plain build has these warnings on.
SANITIZING = -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer \
  -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict \
  -Wno-maybe-uninitialized -Wno-unknown-warning-option
# The public headers make visible what they declare; the shared library exports nothing else.
CXXFLAGS_ALL = -std=c++20 $(OPT) $(LINES) -fPIC -fvisibility=hidden -fvisibility-inlines-hidden \
  -Wall -Wextra -Werror \
  $(if $(SANITIZE),$(SANITIZING),$(HARDENING)) $(if $(DEBUG),,-DNDEBUG) -I. -Iinclude $(CXXFLAGS)
LDFLAGS_ALL = $(if $(SANITIZE),-fsanitize=$(SANITIZE)) -Wl,-z,relro,-z,now $(LDFLAGS)
LIBS = -lzstd -lxxhash -luring -lroaring -lutf8proc -lre2 -lpthread
# Of the program alone.
TOOL_LIBS = -lfmt -lexpat

# A library runs programs that were linked with one of the same SONAME.
VERSION := $(shell sed -n 's/.*kVersion = "\(.*\)";/\1/p' include/tandem/version.h)
SONAME = libtandem.so.$(firstword $(subst ., ,$(VERSION)))
SHARED = $(BUILD)/libtandem.so.$(VERSION)

# What a folder and the rooms in it hold: $(call files,FOLDERS,cc).
files = $(foreach folder,$(1),$(wildcard $(folder)/*.$(2) $(folder)/*/*.$(2)))
LIBRARY = base format index store_file compaction memstore wal engine
# objects, of files.
include tools/dev/groups.mk
LIBRARY_OBJECTS = $(call objects,$(call files,$(LIBRARY),cc))
# The stress harness and the tests share the simulated disk, the reference model and what makes
# random operations.
SIMULATION_OBJECTS = $(call objects,$(wildcard tools/simulation/*.cc tools/generator/*.cc))
TOOL_OBJECTS = $(call objects,$(wildcard $(addsuffix /*.cc,tools/tandem tools/dump tools/row_keys tools/emulator tools/stress))) $(SIMULATION_OBJECTS)
# The tests call the program's verbs in process: everything but its main().
TOOL_TESTED_OBJECTS = $(filter-out %/main.o,$(TOOL_OBJECTS))

.PHONY: all everything programs test-programs test demo asan tsan fuzz reliability analyze tidy bench clean \
  examples install uninstall installcheck help
all:
	$(INSTALL) $(PACKAGES_BUILD)
	@$(MAKE) --no-print-directory programs
programs: $(BUILD)/tandem $(BUILD)/libtandem.a $(BUILD)/libtandem.so

demo: all
	@$(BUILD)/tandem demo

help:
	@sed -n '3,/^$$/s/^# \{0,1\}//p' Makefile

clean:
	rm -rf build build-*

# Two precompiled headers halve the time of a build; see tools/dev/prelude.h.
PRELUDE = $(BUILD)/obj/tools/dev/prelude.h
$(BUILD)/obj/%.h.gch: %.h $(BUILD)/obj/flags
	@mkdir -p $(@D)
	@cp $< $(@:.gch=)
	@echo "  PCH $<"
	$(Q)$(CXX) $(CXXFLAGS_ALL) -MMD -MP -w -x c++-header $< -o $@

# Changes when the flags do, and everything is compiled again.
FLAGS := $(CXXFLAGS_ALL)
$(BUILD)/obj/flags: always
	@mkdir -p $(@D)
	@echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' > $@
.PHONY: always

compile = $(CXX) -include $(PRELUDE) $(CXXFLAGS_ALL) -MMD -MP -c $< -o $@
$(BUILD)/obj/%.o: %.cc $(BUILD)/obj/flags | $(BUILD)/obj/tools/dev/prelude.h.gch
	@mkdir -p $(@D)
	@echo "  CXX $<"
	$(Q)$(compile)
# RapidJSON adds to a null pointer where its stack is empty.
$(BUILD)/obj/tools/tandem/json.o $(BUILD)/obj/format/json_scalar.o: override CXXFLAGS += $(if $(SANITIZE),-fno-sanitize=pointer-overflow)
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
	$(Q)$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) $(TOOL_LIBS)

# Objects that only a pattern rule names stay.
.SECONDARY:
.SECONDEXPANSION:
# What is built elsewhere is described there.
include tools/bench/bench.mk tools/examples/examples.mk tools/install/install.mk
include tools/dev/dev.mk test/test.mk

-include $(shell find $(wildcard build build-*) -name '*.d' 2>/dev/null)
