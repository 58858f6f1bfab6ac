# Files of a folder of the programs and the tests are compiled GROUP at a time, as one, in less than
# half the time: most of it goes to headers that all of them include. `make alone` finds includes that
# are missing. What a read or a write of a row passes through is compiled file by file: the compiler
# inlines what a unit calls once (docs/decisions/0083-files-of-a-folder-are-compiled-together.md).
# With a sanitizer nothing is measured, and the whole library is compiled in groups.
GROUP ?= 8
# Of engine/ itself these are hot.
HOT = $(patsubst %,engine/%.cc,database reads writes prepared_query observed_calls row_space)
COLD = engine/ $(patsubst %,engine/%/,advice backup jobs runtime salvage split_keys storage verify)
GROUPED_FOLDERS = $(sort $(dir $(call files,tools test $(wildcard test/*) $(if $(SANITIZE),$(LIBRARY)),cc)) $(COLD))

# What has options of its own, is linked without its neighbours, or has the names of one of them.
ALONE = %/main.cc test/fuzz/% tools/tandem/json.cc tools/tandem/command_line.cc tools/examples/% \
  $(foreach peer,rocksdb leveldb lmdb sqlite,tools/bench/$(peer)_% %_$(peer).cc) \
  $(patsubst %,tools/row_keys/%.cc,router simulation skew) $(patsubst %,tools/emulator/%.cc,log region sample store) \
  $(patsubst %,test/%.cc,growth/growth engine/test_engine engine/read_world reliability/wrapped_calls \
    support/script_runner interleave/instrumented interleave/fiber interleave/interpose) \
  $(HOT) format/json_scalar.cc $(patsubst %,engine/%.cc,advice/section_sizes storage/snapshot_record \
    counting/offset_in_order group/counted_groups jobs/bulk_sorter predicate/bound predicate/field_ranges read/covered_rows)
alone = $(patsubst %.cc,$(BUILD)/obj/%.o,$(1))
# $(call objects,FILES): those that they are in.
objects = $(sort $(foreach file,$(1),$(or $(object_of_$(file)),$(call alone,$(file)))))

# $(call make_groups,FILES): of one folder. A last file joins the group before it. An object has the
# names of its first and its last file.
next = $(wordlist 1,$(if $(word $(words x x $(wordlist 1,$(GROUP),$(1))),$(1)),$(GROUP),$(words $(1))),$(1))
make_groups = $(if $(word 2,$(1)),$(call make_group,$(next))$(call make_groups,$(wordlist $(words x $(next)),$(words $(1)),$(1))))
make_group = $(if $(word 2,$(1)),$(call name_group,$(basename $(call alone,$(firstword $(1))))+$(notdir $(basename $(lastword $(1)))).o,$(1)))
name_group = $(eval GROUPS += $(1))$(eval files_of_$(1) := $(2))$(eval $(1): $(2))$(foreach file,$(2),$(eval object_of_$(file) := $(1)))
$(foreach folder,$(GROUPED_FOLDERS), \
  $(call make_groups,$(filter-out $(ALONE) test/%_test.cc,$(wildcard $(folder)*.cc))) \
  $(call make_groups,$(filter-out $(ALONE),$(filter test/%_test.cc,$(wildcard $(folder)*.cc)))))

# Each test has its kRows, so here each has a namespace of its own.
HASH = \#
read_group = printf '$(HASH)include "%s"\n' $(files_of_$@)
TEST_GROUPS = $(foreach group,$(GROUPS),$(if $(filter test/%_test.cc,$(files_of_$(group))),$(group)))
$(TEST_GROUPS): read_group = for file in $(files_of_$@); do echo "$(HASH)line 1 \"$$file\""; \
  sed "s,^namespace tandem.*{$$,& namespace $$(echo $${file%.cc} | tr / _) {,; s,^}  // namespace tandem,} &," $$file; done
compile_group = $(read_group) | $(CXX) -include $(PRELUDE) $(CXXFLAGS_ALL) -Wno-subobject-linkage \
  -MMD -MP -MF $(@:.o=.d) -MT $@ -x c++ -c - -o $@
$(GROUPS): $(BUILD)/obj/flags | $(BUILD)/obj/tools/dev/prelude.h.gch
	@mkdir -p $(@D)
	@echo "  CXX $(firstword $(files_of_$@)) to $(notdir $(lastword $(files_of_$@)))"
	$(Q)$(compile_group)
	@for file in $(files_of_$@); do printf '%s: %s\n%s:\n' $@ $$file $$file; done >>$(@:.o=.d)
$(filter $(BUILD)/obj/test/%,$(GROUPS)): | $(BUILD)/obj/test/prelude.h.gch
