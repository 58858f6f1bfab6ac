# make install, uninstall and installcheck.

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
