#!/usr/bin/env python3
"""Proves that the shared library exports the public API and nothing else.

    exported_symbols.py libtandem.so libtandem.a include/tandem

Public is what the library defines (the archive's symbols) of a class or function that a public header
declares directly in namespace tandem. Prints one line for each symbol that is exported and is not
public, and for each that is public and not exported; then exits 1. Prints the number otherwise."""
import glob
import re
import subprocess
import sys


def symbols(arguments):
    """{mangled: demangled} of what nm lists as defined and visible outside its file, not weak."""
    def run(*options):
        lines = subprocess.run(["nm", "--defined-only", "--format=posix", *options, *arguments],
                               capture_output=True, text=True, check=True).stdout.splitlines()
        return [line for line in lines if line and not line.endswith(":")]

    # A demangled name holds blanks: its kind is the last single letter before the address.
    kinds = re.compile(r"^(.*) ([A-Za-z])(?: [0-9a-f]*)*$")
    mangled = [kinds.match(line).group(1, 2) for line in run("--extern-only")]
    names = subprocess.run(["c++filt"], input="\n".join(name for name, _ in mangled),
                           capture_output=True, text=True, check=True).stdout.split("\n")
    return {name: (text, kind) for (name, kind), text in zip(mangled, names)}


def declared_names(folder):
    """The classes and functions that the headers declare directly in namespace tandem."""
    names = set()
    for path in glob.glob(folder + "/*.h"):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        # Internal types that a header only names stand in a nested namespace of their own.
        text = re.sub(r"namespace tandem::\w+ \{.*?\n\}", "", text, flags=re.S)
        names.update(re.findall(r"^(?:class|struct)(?: \[\[\w+\]\])? (\w+)", text, re.M))
        names.update(re.findall(r"^(?:\[\[\w+\]\] |const )*[\w:<>]+[*&]? (\w+)\(", text, re.M))
        # What inline functions of the headers call without being for users.
        names.update(re.findall(r"^namespace (internal) \{", text, re.M))
    return names


def main():
    shared, archive, headers = sys.argv[1:]
    declared = declared_names(headers)

    def is_public(text):
        match = re.match(r"(?:(?:vtable|typeinfo(?: name)?) for )?tandem::(\w+)", text)
        return bool(match) and match.group(1) in declared

    exported = symbols(["--dynamic", shared])
    # Inline functions are weak: every program has its own.
    public = {name: text for name, (text, kind) in symbols([archive]).items()
              if is_public(text) and kind in "TDRBV"}
    problems = [f"exported, but no part of the public API: {text}"
                for name, (text, _) in exported.items() if name not in public and not is_public(text)]
    problems += [f"public, but not exported: {text}"
                 for name, text in public.items() if name not in exported]
    if not public:
        problems.append(f"{archive} defines nothing that {headers} declares")
    for problem in sorted(problems):
        print(problem, file=sys.stderr)
    if not problems:
        print(f"{shared} exports {len(exported)} symbols, all of the public API")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
