# The programs of this folder, as build/example_*.

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
