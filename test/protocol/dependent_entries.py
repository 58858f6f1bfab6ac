#!/usr/bin/env python3
"""An executable model of index entries that depend on several cells of a row, or are several of one:
indexes over several columns, joined ones, parts of the row key, several values, a family, and
partial ones (docs/index-rules.md; docs/decisions/0036, 0040, 0041, 0043, 0047, 0050, 0054 to 0056).

    dependent_entries.py [--trials N] [--seed N] [WEAKENING...]

Runs random histories of a table and compares each query by an index with all rows, at the latest
sequence, at snapshots, as of timestamps and for any version. Without a WEAKENING it runs the rules
as they are, in which nothing may be found, and each of WEAKENINGS in turn, which leaves one rule
out: for each of these a history has to be found. Prints a line each, the shortest history of what is
found though it must not be, and exits 1 if something is not as it has to be.

The model: rows p, q, s of columns a and b in family f, and c in family g; values 0 to 3, of which 0
has no key. A cell is (sequence, kind, row, column, timestamp, value) of kind put, cell (hides what
has its timestamp and a smaller sequence), column and family (hide what is at theirs or below and has
a smaller sequence; in the place of the column is the family). All cells of an operation have one
sequence. Sources, from old to new: files, whose cells flushes and merges chose, and memstores, in
which each operation has an entry of its own. An entry is (key, row, whether it is current, sequence):
of each column of the index a value, or None where the source does not know it.
"""
import random
import sys

import search

ROWS, COLUMNS, FAMILY = "pqs", "abc", {"a": "f", "b": "f", "c": "g"}
PARTS = {"p": 1, "q": 2, "s": None}  # Of the row key.
LAST = 10**9

# What each leaves out, and what has to be found then.
WEAKENINGS = {
    "left-out": "entries that leave out some of the columns are not asked for",
    "all-left-out": "nor those without any, of an index that needs order",
    "rising": "columns count as in order where timestamps go back",
    "where-order": "the columns of the predicate do not count for it",
    "above": "sources count as in order though the snapshot sees a part of one",
    "past": "so do they for a read of the past",
    "first": "where they are not in order, one that needs order is asked for its first column",
    "older": "an older Put of the first column has no entry",
    "unknown": "what a source does not know of a predicate counts as absent",
    "markers": "an operation of markers has no entry",
    "expires": "a predicate that becomes true when a cell expires serves",
    "twice": "an operation that puts a column twice has an entry of the last one alone",
    "whole": "an entry that leaves out columns decides a row of one file",
    "single": "a file decides a row that others have too",
    "covered": "records answer for rows that others have too",
    "each-value": "a Put of several values has an entry of the first alone",
    "once": "a row is returned for each of its values",
    "family-current": "of a family the newest Put alone is current, not that of each column",
    "family-put": "a newer Put of the family makes entries dead",
    "family-column": "a DeleteColumn of the family does",
    "newest": "a query of any version takes current entries alone",
    "version-dead": "and leaves out what is dead",
    "version-single": "and lets a file decide by the entry",
    "part-once": "in a memstore a row has an entry of its key and columns by the first operation alone",
    "part-exists": "a row that is found by its key is taken to exist",
    "section": "without the function a file gets an empty section",
    "function": "an index of another version of the function serves",
    "added": "an index that is added counts as being in the memstore that there is",
}


# The indexes that a weakening is tried on; else all.
CONCERNED = {
    "left-out": ["two", "three", "two where"], "all-left-out": ["joined", "where", "where or"],
    "rising": ["two", "three", "joined"], "where-order": ["where", "two where"], "above": ["two", "joined"],
    "past": ["two", "joined"], "first": ["joined", "where"], "older": ["two", "a, part"],
    "unknown": ["where", "two where", "bits where"], "markers": ["where none"], "expires": ["where none"],
    "twice": ["two", "three", "joined", "where"], "each-value": ["bits", "bits where"], "once": ["bits"],
    "family-current": ["keys", "values"], "family-put": ["keys", "values"], "family-column": ["keys", "values"],
    "newest": ["single", "bits", "two"], "version-dead": ["single", "bits"], "version-single": ["single"],
    "part-once": ["part, a", "a, part"], "part-exists": ["part", "part, a"], "section": ["call"],
    "function": ["call"],
}


class Index:
    def __init__(self, columns, where=None, where_columns=""):
        self.columns, self.where, self.where_columns = columns, where, where_columns
        self.is_joined = "ab" in columns
        self.is_part = "part" in columns
        self.is_family = columns[0] in ("keys", "values")
        self.needs_order = where is not None or self.is_joined
        self.of_several = len(columns) > 1 or self.needs_order or self.is_part
        self.base = set("".join(c[-1] if c == "bits a" else c for c in columns if c not in (
            "part", "keys", "values", "call")))  # Of the key.
        self.base |= {"a"} if "call" in columns else set()
        self.base |= {"a", "b"} if self.is_family else set()

    def concerns(self, cell):
        return any(touches(cell, c) for c in self.base | set(self.where_columns))


def is_one(puts, unknown):
    return unknown if "c" not in puts else puts["c"] == 1


def is_none(puts, unknown):
    return (True if unknown is False else unknown) if "c" not in puts else puts["c"] == 0


def is_one_or_two(puts, unknown):
    both = is_one(puts, unknown), (unknown if "b" not in puts else puts["b"] == 2)
    return True if True in both else None if None in both else False


INDEXES = {
    "single": lambda: Index(["a"]), "bits": lambda: Index(["bits a"]), "call": lambda: Index(["call"]),
    "two": lambda: Index(["a", "b"]), "three": lambda: Index(["c", "a", "b"]),
    "joined": lambda: Index(["ab"]), "c, joined": lambda: Index(["c", "ab"]),
    "where": lambda: Index(["a"], is_one, "c"), "where none": lambda: Index(["a"], is_none, "c"),
    "where or": lambda: Index(["a"], is_one_or_two, "cb"), "two where": lambda: Index(["a", "b"], is_one, "c"),
    "bits where": lambda: Index(["bits a"], is_one, "c"),
    "keys": lambda: Index(["keys"]), "values": lambda: Index(["values"]),
    "part": lambda: Index(["part"]), "part, a": lambda: Index(["part", "a"]), "a, part": lambda: Index(["a", "part"]),
}


def touches(cell, column):
    return cell[3] == (FAMILY[column] if cell[1] == "family" else column)


def hides(marker, put):
    reaches = put[4] == marker[4] if marker[1] == "cell" else put[4] <= marker[4]
    return reaches and put[0] < marker[0]


def shown(cells, column, at=LAST):
    """The Puts that no marker among the cells hides, newest first, one of each timestamp."""
    markers = [c for c in cells if c[1] != "put" and c[0] <= at and touches(c, column)]
    newest = {}
    for put in cells:
        if put[1] == "put" and put[3] == column and put[0] <= at and not any(hides(m, put) for m in markers):
            if put[4] not in newest or newest[put[4]][0] < put[0]:
                newest[put[4]] = put
    return [newest[t] for t in sorted(newest, reverse=True)]


def values_of(column, puts, row, version=1):
    """Those that a column of an index has in a row with the Puts."""
    if column == "part":
        return [PARTS[row]] if PARTS[row] is not None else []
    if column == "ab":
        return [(puts["a"], puts["b"])] if puts.get("a") and puts.get("b") else []
    if column == "bits a":
        return [bit for bit in (1, 2) if puts.get("a", 0) & bit]
    if column == "call":
        return [] if not puts.get("a") else [puts["a"] if version == 1 else 4 - puts["a"]]
    return [puts[column]] if puts.get(column) else []


class Source:
    def __init__(self, cells, is_file, has_index):
        self.cells, self.is_file, self.has_index = cells, is_file, has_index

    def of(self, row):
        return [c for c in self.cells if c[2] == row]

    def rows(self, at=LAST):
        return sorted({c[2] for c in self.cells if c[0] <= at})

    def newest_put(self, columns):
        return max([c[4] for c in self.cells if c[1] == "put" and c[3] in columns], default=-LAST)


class Table:
    def __init__(self, weakening, rng):
        self.weakening, self.rng = weakening, rng
        self.kind = rng.choice(CONCERNED.get(weakening, list(INDEXES)))
        self.index = INDEXES[self.kind]()
        self.versions = {"f": rng.choice([1, 2]), "g": 1}
        self.lives = {"f": rng.choice([None, None, 4]), "g": rng.choice([None, None, 4])}
        self.sequence, self.now, self.version = 0, 5, 1
        self.exists = rng.random() < 0.8  # The index.
        self.files, self.waiting, self.active = [], [], Source([], False, self.exists)
        self.snapshots, self.trace = [], []
        self.backwards = rng.choice([0, 0.1, 0.5])
        self.is_plain = rng.random() < 0.4  # Of one row, without deletes.

    def sources(self):
        return self.files + [m for m in self.waiting + [self.active] if m.cells]

    def visible(self, cells, column, at, now, until=LAST):
        life = self.lives[FAMILY[column]]
        alive = [p for p in shown(cells, column, at) if life is None or p[4] + life > now]
        return [p for p in alive[:self.versions[FAMILY[column]]] if p[4] <= until]

    # Writes.

    def write(self):
        rng, row = self.rng, "p" if self.is_plain else self.rng.choice("ppqs")
        back = rng.random() < self.backwards
        timestamp = rng.randint(1, self.now) if back else self.now
        self.sequence += 1
        what = rng.choices(["put", "twice", "cell", "column", "family", "row"], [9, 1, 2, 1, 1, 1])[0]
        what = "put" if self.is_plain else what
        column = rng.choice(COLUMNS)
        put = lambda c, t: (self.sequence, "put", row, c, t, rng.choice([0, 1, 1, 2, 2, 3]))
        if what == "put":
            new = [put(c, max(1, timestamp - rng.randint(0, 4)) if back else timestamp)
                   for c in COLUMNS if c == column or rng.random() < 0.3]
        elif what == "twice":
            new = [put(column, timestamp), put(column, timestamp - rng.choice([-1, 1]))]
        elif what == "cell":
            new = self.delete_cell(row, column)
        else:
            scopes = {"column": column, "family": FAMILY[column], "row": "fg"}[what]
            kind = "column" if what == "column" else "family"
            new = [(self.sequence, kind, row, scope, timestamp, None) for scope in scopes]
        self.active.cells = self.active.cells + new
        self.trace.append(f"{new}")

    def delete_cell(self, row, column):
        """Of a visible version (rule 3)."""
        cells = [c for source in self.sources() for c in source.of(row)]
        seen = self.visible(cells, column, LAST, self.now)
        if not seen:
            return []
        version = self.rng.choice(seen)
        new = [(self.sequence, "cell", row, column, version[4], None)]
        if len(seen) == self.versions[FAMILY[column]]:
            new.append((self.sequence, "column", row, column, seen[-1][4] - 1, None))
        if version is seen[0]:
            new += [(self.sequence, "put", row, column, *p[4:]) for p in
                    self.visible(cells + new, column, LAST, self.now)[:1]]
        return new

    # What goes on beside.

    def is_usable(self):
        return self.exists and (self.kind != "call" or self.version == 1)

    def switch(self):
        if self.active.cells:
            self.waiting = self.waiting + [self.active]
        self.active = Source([], False, self.is_usable())

    def kept(self, inputs, older):
        """Rules 9 and 10."""
        out = []
        for row in ROWS:
            cells = [c for source in inputs for c in source.of(row)]
            puts = {p for at in self.snapshots + [LAST] for column in COLUMNS
                    for p in self.visible(cells, column, at, self.now)}
            is_last = not any(source.of(row) for source in older)
            out += [c for c in cells if c in puts or c[1] != "put" and (not is_last or any(
                touches(c, p[3]) and hides(c, p) for p in puts))]
        has_index = self.is_usable() or (self.weakening == "section" and self.exists)
        made = Source(sorted(set(out), key=str), True, has_index)
        made.is_empty = not self.is_usable() and has_index
        return [made] if out else []

    def flush(self):
        if not self.waiting:
            self.switch()
        if self.waiting:
            self.files = self.files + self.kept(self.waiting[:1], self.files)
            self.waiting = self.waiting[1:]

    def merge(self):
        if self.files:
            begin = self.rng.randrange(len(self.files))
            end = self.rng.randint(begin, len(self.files)) + 1
            self.files = self.files[:begin] + self.kept(self.files[begin:end], self.files[:begin]) + self.files[end:]

    def change(self):
        if not self.exists:  # It is added.
            self.exists = True
            if self.weakening == "added":
                self.active.has_index, self.active.since = True, self.sequence
            else:
                self.switch()
        elif self.kind == "call":  # The program comes with another version, or without the function.
            self.version = self.rng.choice([1, 1, 2, None])
            for memstore in self.waiting + [self.active]:
                memstore.has_index = self.is_usable()
        else:  # It is built in files that are older.
            for i, file in enumerate(self.files):
                self.files[i] = Source(file.cells, True, True)

    # Entries.

    def entries(self, source, at):
        if getattr(source, "is_empty", False):
            return []
        if source.is_file:
            return [e for row in source.rows() for e in self.entries_of_row(row, source.of(row))]
        since = getattr(source, "since", 0)
        operations = {(c[0], c[2]) for c in source.cells if since < c[0] <= at}
        return [e for sequence, row in sorted(operations) for e in self.entries_of_operation(
            row, [c for c in source.of(row) if c[0] == sequence], source)]

    def entries_of_row(self, row, cells):
        index = self.index
        if index.is_family:
            newest = [p for column in "ab" for p in shown(cells, column)[:1]]
            if self.weakening == "family-current" and newest:
                newest = [max(newest, key=lambda p: p[4])]
            return [(key, row, c in newest, c[0]) for c in cells for key in self.family_keys(c)]
        current = {c: p[0] for c in COLUMNS if (p := shown(cells, c))}
        out = []
        if index.is_part or any(index.concerns(c) for c in cells):
            out = self.keys({c: p[5] for c, p in current.items()}, row, True)
        elif not index.of_several:
            return []
        first = index.columns[0]
        if not index.needs_order and first != "part" and self.weakening != "older":
            for put in cells:
                if put[1] == "put" and put[3] == first[-1] or (first == "call" and put[3] == "a"):
                    if put[1] == "put" and put is not current.get(put[3]):
                        out += [((value,) + (None,) * (len(index.columns) - 1), row, False, 0)
                                for value in values_of(first, {put[3]: put[5]}, row)]
        return out

    def family_keys(self, cell):
        if cell[1] != "put" or cell[3] not in "ab":
            return []
        return [(cell[3],)] if self.index.columns[0] == "keys" else [(cell[5],)] if cell[5] else []

    def keys(self, puts, row, current, sequence=0):
        """The entries of a source that knows the Puts."""
        index = self.index
        unknown = False if self.weakening == "unknown" else None
        if index.where is not None and index.where(puts, unknown) is False:
            return []
        values = [values_of(column, puts, row) for column in index.columns]
        if len(values) == 1 and not values[0] and not index.needs_order:
            return []
        firsts = values[0][:1] if self.weakening == "each-value" else values[0]
        rest = tuple(v[0] if v else None for v in values[1:])
        return [((first,) + rest, row, current, sequence) for first in firsts or [None]]

    def entries_of_operation(self, row, cells, source):
        index, sequence = self.index, cells[0][0]
        if index.is_family:
            return [(key, row, True, sequence) for c in cells for key in self.family_keys(c)]
        puts = [c for c in cells if c[1] == "put"]
        if index.is_part and len(index.columns) > 1 and self.weakening == "part-once":
            if any(c[0] < sequence for c in source.of(row)):
                return []
        if not index.is_part and not any(index.concerns(c) for c in cells):
            return []
        if self.weakening == "markers" and not puts:
            return []
        by_column = {c[3]: c[5] for c in puts}
        if len(by_column) == len(puts) or self.weakening == "twice":
            return self.keys(by_column, row, True, sequence)
        out = self.keys({}, row, True, sequence) if index.needs_order else []  # It puts one twice.
        return out + [e for c in puts for e in self.keys_of_one(c, row, sequence)]

    def keys_of_one(self, put, row, sequence):
        values = [values_of(column, {put[3]: put[5]}, row) for column in self.index.columns]
        rest = tuple(v[0] if v else None for v in values[1:])
        return [((first,) + rest, row, True, sequence) for first in values[0] or [None]]


class Query:
    """Conditions on the first columns of the index: the values that each accepts."""

    def __init__(self, table, at, until, any_version):
        self.table, self.at, self.until, self.any_version = table, at, until, any_version
        rng, index = table.rng, table.index
        self.is_past = until < LAST or any_version
        self.now, self.sources = table.now, [s for s in table.sources() if any(c[0] <= at for c in s.cells)]
        self.narrow = not self.is_past and self.in_order()
        row = rng.choice(ROWS)
        state = self.state(row, [c for s in self.sources for c in s.of(row)]) or {}
        self.conditions = []
        for column in index.columns[:rng.randint(1, len(index.columns))]:
            of = {"ab": [(x, y) for x in (1, 2) for y in (1, 2)], "keys": ["a", "b"]}.get(column, [1, 2, 3])
            accepted = rng.sample(of, rng.choice([1, 1, 2]))
            if rng.random() < 0.7:  # Which a row has.
                accepted = self.values(column, row, state)[:1] or accepted
            self.conditions.append(frozenset(accepted))

    def is_possible(self):
        """Whether the index may serve such a query."""
        index, table = self.table.index, self.table
        if not table.exists or (table.kind == "call" and table.version is None):
            return False
        if self.any_version and index.needs_order:
            return False
        waits = index.where is is_none and table.lives["g"] is not None
        if waits and table.weakening != "expires":
            return False
        return table.is_usable() or table.weakening == "function"

    def in_order(self):
        """engine/source/column_order.h."""
        table, index = self.table, self.table.index
        base = index.base | (set() if table.weakening == "where-order" else set(index.where_columns))
        if any(s.is_file and max(c[0] for c in s.cells) > self.at for s in self.sources):
            if table.weakening != "above":
                return False
        if table.weakening == "rising":
            return True
        for i, source in enumerate(self.sources):
            puts = [c for c in source.cells if c[1] == "put" and c[3] in base and c[0] <= self.at]
            oldest = min([c[4] for c in puts], default=LAST)
            for older in self.sources[:i]:
                apart = source.is_file and older.is_file and not set(source.rows()) & set(older.rows())
                if not apart and older.newest_put(base) > oldest:
                    return False
            if not source.is_file and any(a[0] < b[0] and a[4] > b[4] for a in puts for b in puts):
                return False
        return True

    # What all rows say.

    def state(self, row, cells):
        """Each column's versions that count; None: the row does not exist."""
        seen = {c: self.table.visible(cells, c, self.at, self.now, self.until) for c in COLUMNS}
        if not any(seen.values()):
            return None
        return {c: [p[5] for p in (v if self.any_version else v[:1])] for c, v in seen.items() if v}

    def values(self, column, row, state):
        """Those that a column of the index has in a row."""
        if column == "keys":
            return [c for c in "ab" if c in state]
        if column == "values":
            return [v for c in "ab" for v in state.get(c, []) if v]
        version = self.table.version
        if self.any_version and column != "part":
            of = "a" if column == "call" else column[-1]
            return [x for v in state.get(of, []) for x in values_of(column, {of: v}, row, version)]
        return values_of(column, {c: v[0] for c, v in state.items()}, row, version)

    def holds(self, row, state):
        index = self.table.index
        if index.where is not None and not index.where({c: v[0] for c, v in state.items()}, False):
            return False
        return all(accepted & set(self.values(column, row, state))
                   for column, accepted in zip(index.columns, self.conditions))

    # What the index finds.

    def is_single(self, source, row):
        """Rule 16."""
        if not source.is_file or (self.is_past and self.table.weakening not in ("past", "version-single")):
            return False
        cells = source.of(row)
        puts = [c[3] for c in cells if c[1] == "put"]
        is_clean = len(set(puts)) == len(cells)
        expired = any(c[1] == "put" and (life := self.table.lives[FAMILY[c[3]]]) is not None
                      and c[4] + life <= self.now for c in source.cells)
        alone = not any(s is not source and any(c[0] <= self.at for c in s.of(row)) for s in self.sources)
        alone |= self.table.weakening == "single"
        return is_clean and alone and not expired and max(c[0] for c in source.cells) <= self.at

    def is_dead(self, source, row, entry):
        """Rules 13, 15, 23, and of a family what a DeleteFamily makes dead."""
        table, index = self.table, self.table.index
        if index.of_several or (self.is_past and not (self.any_version and table.weakening == "version-dead")):
            return False
        columns = index.base
        newer = self.sources[self.sources.index(source) + 1:]
        killers = [c for s in newer if not s.is_file or max(x[0] for x in s.cells) <= self.at
                   for c in s.of(row) if c[0] <= self.at and any(touches(c, x) for x in columns)]
        newest = source.newest_put(columns)
        if index.is_family:
            kinds = ["family"] + {"family-put": ["put"], "family-column": ["column"]}.get(table.weakening, [])
            return source.is_file and any(c[1] in kinds and c[4] >= newest for c in killers)
        if not source.is_file:
            puts = shown(source.of(row), "a", self.at)
            if not puts or entry[0][0] not in values_of(index.columns[0], {"a": puts[0][5]}, row):
                return True
            newest = puts[0][4]
        return any(c[1] != "cell" and c[4] >= newest for c in killers)

    def hits(self, source):
        """The rows that the source leads to, with whether its entry has all that was asked for; None: it
        is scanned."""
        table, index = self.table, self.table.index
        weakening = table.weakening
        narrow = self.narrow or (weakening == "past" and self.is_past and self.in_order())
        if not source.has_index or (index.needs_order and not narrow and weakening != "first"):
            return [(row, None) for row in source.rows(self.at)]
        conditions = self.conditions if narrow else self.conditions[:1]
        sees_all = max(c[0] for c in source.cells) <= self.at and not self.is_past
        out = []
        for entry in table.entries(source, self.at):
            key, row, current, _ = entry
            if not current and (sees_all or (self.any_version and weakening == "newest")):
                continue
            known = [x in accepted for x, accepted in zip(key, conditions) if x is not None]
            left_out = len(conditions) - len(known)
            if not all(known) or (left_out and (not narrow or weakening == "left-out")):
                continue
            if not known and (not index.needs_order or weakening == "all-left-out"):
                continue
            if not self.is_dead(source, row, entry):
                out.append((row, not left_out and len(conditions) == len(self.conditions)))
        return out

    def found(self):
        """(row, state) of each row that is returned."""
        table, index, out = self.table, self.table.index, []
        taken = set()
        for source in self.sources:
            hits = self.hits(source)
            for row, is_whole in sorted(set(hits), key=str):
                cells = source.of(row)
                merged = [c for s in self.sources for c in s.of(row)]
                state = self.state(row, merged)
                if self.is_single(source, row):
                    decides = is_whole is not None and (self.narrow or len(self.conditions) == 1)
                    decides |= table.weakening == "version-single" and is_whole is True
                    own = self.state(row, cells)
                    if decides and index.where is None and not (is_whole or table.weakening == "whole"):
                        continue
                    if not (decides and index.where is None) and not (own and self.holds(row, own)):
                        continue
                    state = own
                elif state is None and table.weakening == "part-exists" and index.columns[0] == "part":
                    state = {}
                elif state is None or not self.holds(row, state):
                    continue
                if table.weakening == "covered" and source.is_file and len(cells) == len({c[3] for c in cells}):
                    state = self.state(row, cells) or state
                times = hits.count((row, is_whole)) if table.weakening == "once" else 1
                if row not in taken:
                    out += [(row, state)] * (times if source.is_file else 1)
                taken.add(row)
        return sorted(out, key=str)

    def expected(self):
        all_rows = [(row, self.state(row, [c for s in self.sources for c in s.of(row)])) for row in ROWS]
        return [(row, state) for row, state in all_rows if state is not None and self.holds(row, state)]


def check(table, counts):
    """What is wrong, or None."""
    for at in [LAST] + sorted(set(table.snapshots)):
        for until, any_version in ((LAST, False), (LAST, False), (table.rng.randint(1, table.now), False), (LAST, True)):
            query = Query(table, at, until, any_version)
            if not query.is_possible():
                continue
            counts["queries"] += 1
            counts["in order"] += query.narrow
            found, expected = query.found(), query.expected()
            if found != expected:
                return f"by {table.kind}, {[sorted(c) for c in query.conditions]} at {at}, until {until}, " \
                       f"any version {any_version}: {found}, and all rows give {expected}"
    return None


def run(seed, weakening):
    """One history. Returns what is wrong, or None, with the steps and counts."""
    rng = random.Random(seed)
    table = Table(weakening, rng)
    table.trace.append(f"index {table.kind}, versions {table.versions}, lives {table.lives}")
    counts = {"queries": 0, "in order": 0}
    for _ in range(rng.randint(3, 22)):
        table.now += rng.choice([0, 1, 1, 1])
        what = rng.choices(["write", "switch", "flush", "merge", "snapshot", "release", "change", "tick"],
                           [12, 1, 5, 3, 1, 0.5, 1, 0.7])[0]
        if what == "snapshot":
            table.snapshots.append(table.sequence)
        elif what == "release":
            table.snapshots = table.snapshots[1:]
        elif what == "tick":
            table.now += rng.randint(1, 4)
        elif what != "write" or table.is_usable() or not table.exists:  # Else writes are refused.
            getattr(table, what)()
        if what != "write":
            table.trace.append(f"{what} at {table.now}")
    return check(table, counts), table.trace, counts


if __name__ == "__main__":
    sys.exit(search.main(run, WEAKENINGS))
