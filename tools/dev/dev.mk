# make tidy, make alone and make analyze.

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

HEADERS = $(call files,include/tandem $(LIBRARY) tools/tandem tools/dump tools/emulator tools/stress tools/generator tools/simulation tools/bench test/support,h)
# PARTS=n: every n-th of them, from one that the commit's hash chooses.
PARTS ?= 1
part = $(if $(filter 1,$(PARTS)),$(1),$(shell printf '%s\n' $(1) | \
  awk 'NR % $(PARTS) == first' first=$$((0x$$(git rev-parse --short=6 HEAD) % $(PARTS)))))
TIDIED = $(call part,$(HEADERS))
tidy:
	$(INSTALL) $(PACKAGES_TEST)
	@tools/dev/tidy.py
	@$(MAKE) --no-print-directory tidy-headers
.PHONY: tidy-headers
tidy-headers: $(TIDIED:%=build-tidy/%.ok)
	@echo "tidy: $(words $(TIDIED)) headers compile alone"
build-tidy/%.ok: %
	@mkdir -p $(@D)
	@echo '#include "$(<:include/%=%)"' | $(CXX) -std=c++20 -fsyntax-only -Wall -Wextra -Werror -I. -Iinclude \
	  -MMD -MP -MF $(@:.ok=.d) -MT $@ -x c++ -
	@touch $@

# Compiles each file without its group (groups.mk), or every PARTS-th: does it include what it uses?
GROUPED = $(foreach group,$(GROUPS),$(files_of_$(group)))
alone:
	$(INSTALL) $(PACKAGES_TEST)
	@$(MAKE) --no-print-directory BUILD=build-alone GROUP=1 OPT=-O0 TEST_OPT=-O0 HARDENING= \
	  $(patsubst %.cc,build-alone/obj/%.o,$(call part,$(GROUPED)))
.PHONY: alone
