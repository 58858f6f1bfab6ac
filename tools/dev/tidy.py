#!/usr/bin/env python3
"""The rules of docs/style.md that a script can check: the order of rooms, what a room holds, no
knot of units, one includer per third-party header, sizes of files and functions, line length, banned
calls. Prints one line a violation and exits 1 when there is any. Headers that do not compile alone are found by `make
tidy` itself."""
import os
import re
import subprocess
import sys

# The rooms of the library from the ground up. A room includes itself, rooms of earlier lines, and
# include/tandem; rooms on one line know nothing of each other.
ROOMS = [
    ["base"],
    ["format/function"],
    ["format"],
    ["format/block", "format/registry", "format/row_key"],
    ["format/cell"],
    ["format/row", "index"],
    ["store_file"],
    ["compaction", "memstore", "wal"],
    ["engine/runtime", "engine/predicate"],
    ["engine/storage"],
    ["engine/region"],
    ["engine/source"],
    ["engine/read"],
    ["engine/counting"],
    ["engine/parallel"],
    ["engine/query"],
    ["engine/advice", "engine/group", "engine/scan"],
    ["engine/commit"],
    ["engine/jobs", "engine/observer", "engine/transaction", "engine/verify"],
    ["engine/backup"],
    ["engine"],
    ["engine/salvage", "engine/split_keys"],
]
STEP = {room: step for step, rooms in enumerate(ROOMS) for room in rooms}
# What is built on the library, and what each includes besides the library and itself.
BUILT_ON = {"tools": [], "test": ["tools"]}
FOLDERS = {room.split("/")[0] for room in STEP} | BUILT_ON.keys()
ROOM_FILES_MAX = 45
THIRD_PARTY = re.compile(r"^(zstd|xxhash|liburing|roaring/roaring|utf8proc|re2/\w+|expat|CLI/CLI|fmt/\w+|rapidjson/\w+|httplib)\.(h|hpp)$")
FILE_LINES_MAX = 800
FUNCTION_LINES_MAX = 70
LINE_COLUMNS_MAX = 100

# Pattern, what it is, and the files or folders in which it has its one place.
BANS = [
    (r"std::chrono::\w*_clock|\bclock_gettime\b|\bgettimeofday\b", "a clock",
     ["base/clock.cc", "test/", "tools/examples/"]),
    (r"\bsleep_for\b|\busleep\(|\bnanosleep\b", "a sleep", ["base/clock.cc", "test/"]),
    (r"\bs?rand\(|\bgetrandom\b", "randomness", ["base/random.cc"]),
    (r"std::random_device|std::mt19937", "randomness", ["test/", "tools/generator/"]),
    (r"(?<![\w.>:])::open\(|\bopenat2?\(|\bfopen\(|std::[io]?fstream|std::filesystem|\bmkstemp\b",
     "opening files", ["base/posix_", "tools/tandem/input", "tools/tandem/output", "tools/bench/", "tools/stress/", "test/"]),
    (r"std::j?thread\b|\bpthread_create\b|std::async\b", "threads",
     ["engine/runtime/background.cc", "engine/runtime/background.h", "engine/runtime/read_threads.cc", "tools/bench/", "tools/stress/", "tools/simulation/", "tools/examples/",
      "test/"]),
    (r"\bFIXME\b|\bTODO\b|\bXXX\b", "unfinished work", []),
    (r"using namespace", "using namespace", []),
    # What a call returns is gone before the first turn of the loop when only a part of it is named.
    (r"for \([^;]*: [^;]*\)(->\w|\.\w+\[)[\w.\[\]]*\)", "a loop over a part of a temporary", []),
]


def sources():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, text=True, check=True).stdout.split("\n")
    return [p for p in listed if re.search(r"\.(h|cc)$", p) and os.path.exists(p)]


def folder_of(path):
    return path.split("/")[0]


def room_of(path):
    return os.path.dirname(path)


def may_include(path, name):
    """Whether the file at `path` may include `name`, of a folder of this tree."""
    folder, room = folder_of(path), room_of(path)
    if folder in BUILT_ON:
        return folder_of(name) in [folder, *BUILT_ON[folder]] or room_of(name) in STEP
    if room not in STEP or room_of(name) not in STEP:
        return False
    return room_of(name) == room or STEP[room_of(name)] < STEP[room]


def check_includes(path, lines, report, includers):
    for number, line in enumerate(lines, 1):
        match = re.match(r'\s*#\s*include\s+["<]([^">]+)[">]', line)
        if not match:
            continue
        name = match.group(1)
        if THIRD_PARTY.match(name):
            # The library and what is built on it may each wrap a package in their own way.
            package = name.split("/")[0], folder_of(path) in BUILT_ON
            includers.setdefault(package, set()).add(path)
        if folder_of(name) in FOLDERS and folder_of(path) in FOLDERS | {"include"} and not may_include(path, name):
            report(path, number, f"{room_of(path)}/ must not include {name}: includes point down only")


def check_rooms(paths, report):
    """What is in each room of the library: files in number, and of a name one header and its source."""
    rooms, units = {}, {}
    for path in paths:
        if folder_of(path) not in FOLDERS or folder_of(path) in BUILT_ON:
            continue
        if room_of(path) not in STEP:
            report(path, 1, f"{room_of(path)}/ is no room: it has no place in ROOMS")
        rooms.setdefault(room_of(path), []).append(path)
        stem, kind = os.path.splitext(path)
        units.setdefault((stem.replace("_", "").lower(), kind), []).append(path)
        header = stem + ".h"
        if kind == ".cc" and os.path.exists(header) and own_header(path) != header:
            report(path, 1, f"has the name of {header} and does not include it first: one name, one unit")
    for room, files in sorted(rooms.items()):
        if len(files) > ROOM_FILES_MAX:
            report(files[0], 1, f"{room}/ has {len(files)} files; at most {ROOM_FILES_MAX}")
    for _, files in sorted(units.items()):
        if len(files) > 1:
            report(files[0], 1, f"has the name of {', '.join(files[1:])}")


def unit_of(path):
    """The unit that a file belongs to: X.h, X.cc and X_impl.h are one, with every X_y.cc that has no
    header of its own and includes one of theirs first."""
    stem, kind = os.path.splitext(path)
    header = own_header(path) if kind == ".cc" and not os.path.exists(stem + ".h") else None
    if header is not None and room_of(header) == room_of(path):
        stem = os.path.splitext(header)[0]
    return stem.removesuffix("_impl")


def find_knot(start, included):
    """The shortest way along `included` from a unit back to itself; None without one."""
    ways = [[start]]
    seen = set()
    for way in ways:
        for unit in sorted(included.get(way[-1], ())):
            if unit == start:
                return way + [start]
            if unit not in seen:
                seen.add(unit)
                ways.append(way + [unit])
    return None


def check_knots(paths, report):
    """Units of one folder that include each other, directly or by way of others of that folder."""
    unit_by_path = {path: unit_of(path) for path in paths}
    included, file_by_unit = {}, {}
    for path, unit in sorted(unit_by_path.items(), reverse=True):
        file_by_unit[unit] = path
        with open(path, encoding="utf-8") as file:
            names = re.findall(r'^\s*#\s*include\s+["<]([^">]+)[">]', file.read(), re.MULTILINE)
        others = {unit_by_path[name] for name in names
                  if name in unit_by_path and room_of(name) == room_of(path)}
        included.setdefault(unit, set()).update(others - {unit})
    reported = set()
    for unit in sorted(included):
        knot = find_knot(unit, included)
        if knot is not None and reported.isdisjoint(knot):
            reported.update(knot)
            report(file_by_unit[unit], 1, f"is in a knot, units that include each other: {' -> '.join(knot)}")


def own_header(path):
    with open(path, encoding="utf-8") as file:
        match = re.search(r'^#include ["<]([^">]+)[">]', file.read(), re.MULTILINE)
    return match.group(1) if match else None


def is_function_start(line):
    text = line.strip()
    if not text.endswith("{") or ")" not in text:
        return False
    return not re.match(r"(\}|if\b|for\b|while\b|switch\b|else\b|do\b|namespace\b|class\b|struct\b|enum\b|catch\b)", text)


def check_functions(path, lines, report):
    for start, line in enumerate(lines):
        if not is_function_start(line):
            continue
        # A signature may span lines: the indentation that counts is that of the closing brace, which
        # the formatter aligns with the first line of the statement.
        first = start
        while first > 0 and lines[first - 1].strip() and not re.search(r"[;{}:]\s*$|^\s*(#|//)", lines[first - 1]):
            first -= 1
        indent = re.match(r"\s*", lines[first]).group(0)
        for end in range(start + 1, len(lines)):
            if re.match(re.escape(indent) + r"\}", lines[end]):
                if end - first + 1 > FUNCTION_LINES_MAX:
                    report(path, first + 1, f"function of {end - first + 1} lines; at most {FUNCTION_LINES_MAX}")
                break


def check_text(path, lines, report):
    if len(lines) > FILE_LINES_MAX:
        report(path, len(lines), f"{len(lines)} lines; at most {FILE_LINES_MAX}")
    if path.endswith(".h") and "#pragma once" not in lines:
        report(path, 1, "no #pragma once")
    if not lines or not lines[0].startswith("//"):
        report(path, 1, "opens without a comment that says what it is")
    for number, line in enumerate(lines, 1):
        if len(line) > LINE_COLUMNS_MAX:
            report(path, number, f"{len(line)} columns; at most {LINE_COLUMNS_MAX}")
        code = re.sub(r'"(\\.|[^"\\])*"', '""', line).split("//")[0]
        for pattern, what, places in BANS:
            text = line if what == "unfinished work" else code
            if re.search(pattern, text) and not any(path.startswith(p) for p in places):
                report(path, number, f"{what} is banned here" + (f"; its place is {places[0]}" if places else ""))


def main():
    problems = []

    def report(path, line, what):
        problems.append(f"{path}:{line}: {what}")

    includers = {}
    paths = sources()
    check_rooms(paths, report)
    check_knots(paths, report)
    for path in paths:
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        if lines and lines[-1] == "":
            lines.pop()
        check_text(path, lines, report)
        check_functions(path, lines, report)
        check_includes(path, lines, report, includers)
    for (header, _), paths in sorted(includers.items()):
        if len(paths) > 1:
            report(sorted(paths)[0], 1, f"<{header}> is included by {len(paths)} files: {', '.join(sorted(paths))}")
    print("\n".join(problems) if problems else "tidy: no violation", file=sys.stderr if problems else sys.stdout)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
