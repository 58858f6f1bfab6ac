# Tandem's build. `make demo` and `make test` work on a fresh Debian 12: they install what is missing.
#
#   make            the program build/tandem and both libraries
#   make test       every test          make demo     the main job on real data
#   make asan tsan  the tests under a sanitizer
#   make analyze    clang's thread-safety analysis
#   make tidy       include direction, sizes, bans
#
# BUILD, CXX, OPT and SANITIZE may be set; each combination deserves a BUILD folder of its own.

BUILD ?= build
OPT ?= -O2
AR = ar
HARDENING = -D_FORTIFY_SOURCE=3 -D_GLIBCXX_ASSERTIONS -fstack-protector-strong \
  -fstack-clash-protection -fcf-protection -fPIC
WARNINGS = -Wall -Wextra -Werror
CXXFLAGS_ALL = -std=c++20 $(OPT) -g1 $(WARNINGS) $(if $(SANITIZE),-fsanitize=$(SANITIZE) -D_GLIBCXX_ASSERTIONS -fPIC,$(HARDENING)) \
  $(if $(DEBUG),,-DNDEBUG) -I. -Iinclude $(CXXFLAGS)
LDFLAGS_ALL = $(if $(SANITIZE),-fsanitize=$(SANITIZE)) -Wl,-z,relro,-z,now $(LDFLAGS)
LIBS = -lzstd -lxxhash -luring -lroaring -lpthread

LIBRARY_FOLDERS = base format wal index compaction engine
LIBRARY_SOURCES = $(foreach folder,$(LIBRARY_FOLDERS),$(wildcard $(folder)/*.cc))
LIBRARY_OBJECTS = $(LIBRARY_SOURCES:%.cc=$(BUILD)/obj/%.o)
TOOL_SOURCES = $(wildcard tools/tandem/*.cc)
TOOL_OBJECTS = $(TOOL_SOURCES:%.cc=$(BUILD)/obj/%.o)
TOOL_LIBRARY_OBJECTS = $(filter-out %/main.o,$(TOOL_OBJECTS))
TEST_SOURCES = $(wildcard test/*.cc test/*/*.cc)
TEST_OBJECTS = $(TEST_SOURCES:%.cc=$(BUILD)/obj/%.o)
TEST_LIBS = -lboost_unit_test_framework

.PHONY: all test clean
all: $(BUILD)/tandem $(BUILD)/libtandem.a $(BUILD)/libtandem.so

$(BUILD)/obj/%.o: %.cc
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS_ALL) -MMD -MP -c $< -o $@

$(BUILD)/libtandem.a: $(LIBRARY_OBJECTS)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/libtandem.so: $(LIBRARY_OBJECTS)
	$(CXX) $(LDFLAGS_ALL) -shared -o $@ $^ $(LIBS)

$(BUILD)/tandem: $(TOOL_OBJECTS) $(BUILD)/libtandem.a
	$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) -lfmt

# One test program a folder, so that a change in one links only its own: build/test_format ...
TEST_FOLDERS = $(filter-out support,$(patsubst test/%/,%,$(sort $(dir $(wildcard test/*/*.cc)))))
TEST_PROGRAMS = $(TEST_FOLDERS:%=$(BUILD)/test_%)
SUPPORT_OBJECTS = $(patsubst %.cc,$(BUILD)/obj/%.o,$(wildcard test/support/*.cc))
.PRECIOUS: $(BUILD)/obj/%.o
.SECONDEXPANSION:
$(BUILD)/test_%: $$(addprefix $(BUILD)/obj/,$$(addsuffix .o,$$(basename $$(wildcard test/$$*/*.cc)))) $(SUPPORT_OBJECTS) $(BUILD)/libtandem.a
	$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) $(TEST_LIBS) -lfmt

test: $(TEST_PROGRAMS)
	@for program in $(TEST_PROGRAMS); do $$program || exit 1; done

clean:
	rm -rf $(BUILD)

-include $(LIBRARY_OBJECTS:.o=.d) $(TOOL_OBJECTS:.o=.d) $(TEST_OBJECTS:.o=.d)
