#!/usr/bin/env python3
"""An executable model of global indexes: entries that are rows of another table, kept by writes and
built beside them (docs/decisions/0046).

    global_entries.py [--trials N] [--seed N] [WEAKENING...]

Runs random interleavings of writers, flushes, merges, builds, crashes and queries, and compares what
a query by the index finds with all rows at its sequence and time. Without a WEAKENING it runs the
rules as they are, in which nothing may be found, and each of WEAKENINGS in turn, which leaves one
out: for each of these an interleaving has to be found. Prints a line each, the shortest interleaving
of what is found though it must not be, and exits 1 if something is not as it has to be.

The model: rows p, q, r of columns a and b, an index over a, or over a and b. A family keeps one
version or two, and may have a time to live. A cell is (sequence, kind, row, column, timestamp,
value) of kind put, cut (hides what is at its timestamp or below and has a smaller sequence) or
delete (hides what has its timestamp and a smaller sequence). The entries are a table with rows
(values, row). Each table has a memstore and files; a crash takes the memstores and any end of the
log that was not synced, and what is left of the log above a table's `flushed` is replayed. Edits of
the index are durable at once.

A write:
1. Is planned by the index that there is. If another one is there when it commits, it is planned again.
2. Reads what files have of its rows. If a flush comes before it commits, it reads again.
3. Is completed by the leader, with the memstores, with earlier requests of the group and with its own
   operations: where the entries before and after it differ, it takes the one and puts the other.
4. Is in the log, whatever its durability, if there is an index. If it depends on what is in no log and
   in no file, that is flushed first (docs/decisions/0009).
An index that is added is kept from then on. A task walks the rows, commits batches that put the
entries which rows have at that time, syncs the log and then says from which sequence on it serves. A
crash makes it begin again. A query registers a sequence, asks for entries at it, and reads the rows
of these later, at the same sequence; its time for the entries is not after that for the rows.
"""
import random
import sys

import search

ROWS = "pqr"

# What each leaves out, and what has to be found then.
WEAKENINGS = {
    "plan": "a write is not planned again when an index was added since",
    "moved": "a write does not read again after a flush",
    "group": "a write does not see earlier requests of its group",
    "own": "the entry after a batch is that before its last operation",
    "reveal": "a delete of one version takes the entry, and puts none for what it reveals",
    "deletes": "deletes of all versions leave the entries",
    "take": "the entry before is not taken",
    "second": "writes of the second column do not touch the entry",
    "renew": "an entry is not put again when the timestamp of its cell rises",
    "time": "entries have the time at which they are put, not that of the cell",
    "unlogged": "a write that touches the index may be in no log",
    "stored": "a write that touches the index may depend on what is in no log and no file",
    "flush-sync": "a flush does not sync the log first",
    "kept-late": "writes keep the index from the end of its build on",
    "walked": "the build puts the entries that rows had when it walked over them",
    "build-sync": "the log is not synced before the index serves",
    "resume": "a build goes on after a crash where it was",
    "since": "the index serves from the sequence on at which its build began",
    "older": "the index serves snapshots of before its build",
    "points": "rows are read at a later sequence than their entries",
    "clock": "entries are read at a later time than their rows",
    "registered": "a merge forgets what a query or snapshot sees",
    "checked": "rows are not checked for what the query asks",
}


class Table:
    def __init__(self):
        self.memstore, self.files, self.flushed, self.changed = [], [], 0, 0

    def cells(self, row):
        return [c for c in self.files + self.memstore if c[2] == row]


class Index:
    def __init__(self):
        self.entries = Table()
        self.since, self.began, self.next = None, None, 0  # `next`: of ROWS, for the build.


def versions(cells, column, at, now, limits):
    """The versions that are seen, newest first: (timestamp, value)."""
    count, ttl = limits
    newest = {}
    for sequence, kind, _, of, timestamp, value in cells:
        expired = ttl is not None and timestamp + ttl <= now
        if kind != "put" or of != column or sequence > at or expired:
            continue
        if timestamp not in newest or newest[timestamp][0] <= sequence:
            newest[timestamp] = (sequence, value)
    for sequence, kind, _, of, timestamp, _ in cells:
        if kind == "put" or of != column or sequence > at:
            continue
        for t in [t for t, (s, _) in newest.items() if s < sequence]:
            if t <= timestamp if kind == "cut" else t == timestamp:
                del newest[t]
    return [(t, newest[t][1]) for t in sorted(newest, reverse=True)[:count]]


class Write:
    def __init__(self, engine):
        rng = self.rng = engine.rng
        self.operations = []
        row = rng.choice(ROWS)
        for _ in range(rng.choice([1, 1, 1, 2])):
            kind = rng.choices(["put", "cut", "delete"], [6, 1, 3])[0]
            back = rng.randint(-2, 4) if rng.random() < 0.4 else 0
            self.operations.append((kind, row, rng.choice("aab"), back, rng.randint(1, 2)))
            row = row if rng.random() < 0.7 else rng.choice(ROWS)
        self.builds, self.in_log = [], rng.random() < 0.7
        self.read_set = None

    def rows(self):
        return sorted({row for _, row, _, _, _ in self.operations} | set(self.builds))

    def describe(self):
        return f"build of {''.join(self.builds)}" if self.builds else str(self.operations)


class Engine:
    def __init__(self, weakening, rng):
        self.weakening, self.rng = weakening, rng
        self.rows, self.index = Table(), None
        self.sequence, self.now = 0, 10
        self.log, self.synced = [], 0  # Batches: cells by table.
        self.unlogged = set()  # Sequences of rows.
        self.several = rng.random() < 0.4
        self.limits = (rng.choice([1, 2]), None if self.several else rng.choice([None, 4]))
        self.held = []  # (sequence, time) of queries and snapshots.
        self.trace, self.counts = [], {"queries": 0, "by the index": 0}
        self.is_exact = self.limits[1] is None
        if rng.random() < 0.4:
            self.index = Index()
            self.index.since = 0  # The table was created with it.

    # Writes.

    def plan(self, write):
        write.index = self.index
        write.read_set = self.rows.files, self.rows.changed

    def entry(self, row, cells, now):
        """(values, row) and the timestamp of the first; None: the row has none."""
        seen = {c: versions([x for x in cells if x[2] == row], c, 10**9, now, self.limits) for c in "ab"}
        if not seen["a"]:
            return None
        second = seen["b"][0][1] if self.several and seen["b"] else None
        return (seen["a"][0][1], second, row), seen["a"][0][0]

    def complete(self, write, earlier):
        """The cells that it writes to rows and to entries."""
        files = write.read_set[0]
        before = [c for c in files + self.rows.memstore if c[2] in write.rows()]
        before += [] if self.weakening == "group" else [c for c in earlier if c[2] in write.rows()]
        stored, out = list(before), []
        sequence = max([self.sequence] + [c[0] for c in earlier])
        after = before
        for kind, row, column, back, value in write.operations:
            after = list(stored)
            sequence += 1
            of_row = [c for c in stored if c[2] == row]
            if kind != "delete":
                new = [(sequence, kind, row, column, self.now - back, value)]
            else:
                seen = versions(of_row, column, 10**9, self.now, self.limits)
                if not seen:
                    continue
                new = [(sequence, "delete", row, column, seen[0][0], None)]
                if len(seen) == self.limits[0]:
                    new.append((sequence, "cut", row, column, seen[-1][0] - 1, None))
                new += [(sequence, "put", row, column, *version) for version in seen[1:2]]
            stored += new
            out += new
        if self.weakening != "own":
            after = stored
        return out, self.entries_of(write, before, after, sequence)

    def entries_of(self, write, before, after, sequence):
        index, out = write.index, []
        if index is None or (self.weakening == "kept-late" and index.since is None and not write.builds):
            return out
        for row in write.rows():
            own = [o for o in write.operations if o[1] == row]
            if self.weakening == "second" and own and all(o[2] == "b" for o in own):
                continue
            if self.weakening == "deletes" and own and all(o[0] == "cut" for o in own):
                continue
            old, new = self.entry(row, before, self.now), self.entry(row, after, self.now)
            if write.builds and self.weakening == "walked":
                old = new = write.walked[row]
            same = old is not None and new is not None and old[0] == new[0]
            if old is not None and not same and self.weakening != "take":
                out.append((sequence + 1, "cut", old[0], "e", 10**9, None))
            renewed = same and new[1] > old[1] and self.weakening != "renew"
            if new is None or (same and not renewed and not write.builds):
                continue
            if self.weakening == "reveal" and any(o[0] == "delete" for o in own):
                continue
            of_cell = self.limits[1] is not None and self.weakening != "time"
            out.append((sequence + 1, "put", new[0], "e", new[1] if of_cell else self.now, None))
        return out

    def depends_on_unlogged(self, write):
        return any(c[2] in write.rows() and c[0] in self.unlogged for c in self.rows.memstore)

    def commit(self, group):
        """Returns those that have to go on."""
        back, earlier, batches = [], [], []
        for write in group:
            if write.index is not self.index and self.weakening != "plan":
                back.append(write)
            elif write.read_set[1] != self.rows.changed and self.weakening != "moved":
                back.append(write)
            elif self.index is not None and self.weakening != "stored" and self.depends_on_unlogged(write):
                self.flush(self.rows)
                self.trace.append(f"flush of rows for {write.describe()}")
                back.append(write)
            else:
                own, entries = self.complete(write, earlier)
                earlier += own + entries
                touches = self.index is not None and self.weakening != "unlogged"
                batches.append((own, entries, write.index, write.in_log or touches))
                self.trace.append(f"commit of {write.describe()}: {own} and {entries}")
                if write.builds and write.index is self.index:
                    self.index.next += len(write.builds)
        for own, entries, index, in_log in batches:
            self.rows.memstore += own
            if index is not None:
                index.entries.memstore += entries
            if in_log:
                self.log.append((own, entries, index))
            else:
                self.unlogged |= {c[0] for c in own}
        self.sequence = max([self.sequence] + [c[0] for c in earlier])
        for write in back:
            self.plan(write)
        return back

    # What goes on beside.

    def flush(self, table):
        if self.weakening != "flush-sync":
            self.synced = len(self.log)
        table.files = table.files + table.memstore
        table.flushed = max([table.flushed] + [c[0] for c in table.memstore])
        table.changed += bool(table.memstore)
        table.memstore = []

    def merge(self, table):
        """Of all files. Keeps what somebody sees, and no marker: no older source is left."""
        limits = self.limits if table is self.rows else (1, self.limits[1])
        points = [(10**9, self.now)] + ([] if self.weakening == "registered" else self.held)
        kept = set()
        for row in {c[2] for c in table.files}:
            cells = [c for c in table.files if c[2] == row]
            for at, now in points:
                for column in {c[3] for c in cells}:
                    seen = versions(cells, column, at, now, limits)
                    kept |= {max(c for c in cells if c[1] == "put" and c[3] == column and c[4] == t and c[0] <= at)
                             for t, _ in seen}
            # A marker stays while it hides what is kept for a snapshot.
            kept |= {m for m in cells if m[1] != "put" and any(
                c[1] == "put" and c[2] == row and c[3] == m[3] and c[0] < m[0] and c[4] <= m[4] for c in kept)}
        table.files = sorted(kept, key=lambda c: c[0])
        table.changed += 1

    def build(self):
        """The next batch of the build, planned; or the edit that ends it."""
        index = self.index
        if index.began is None:
            index.began = self.sequence
        if index.next < len(ROWS):
            write = Write(self)
            write.operations, write.in_log = [], True
            write.builds = [row for row in ROWS[index.next:][:self.rng.randint(1, 2)]]
            write.walked = {row: self.entry(row, self.rows.cells(row), self.now) for row in write.builds}
            self.plan(write)
            return write
        if self.weakening != "build-sync":
            self.synced = len(self.log)
        index.since = index.began if self.weakening == "since" else self.sequence
        self.trace.append(f"the index serves from {index.since} on")
        return None

    def crash(self):
        kept = self.rng.randint(self.synced, len(self.log))
        self.trace.append(f"crash: {kept} of {len(self.log)} batches of the log are left")
        self.rows.memstore = []
        if self.index is not None:
            self.index.entries.memstore = []
            if self.index.since is None and self.weakening != "resume":
                self.index.next, self.index.began = 0, None
        for own, entries, index in self.log[:kept]:
            self.rows.memstore += [c for c in own if c[0] > self.rows.flushed]
            if index is not None and index is self.index:
                index.entries.memstore += [c for c in entries if c[0] > index.entries.flushed]
        self.log, self.synced, self.held = self.log[:kept], kept, []
        self.rows.changed += 1

    def add_or_drop(self):
        self.index = Index() if self.index is None else None
        self.trace.append("the index is dropped" if self.index is None else "an index is added")


class Query:
    """Begins, and asks for entries; ends with the rows."""

    def __init__(self, engine, snapshot):
        self.engine, self.at = engine, engine.sequence if snapshot is None else snapshot[0]
        self.questions = [(a, b) for a in (1, 2) for b in ((None, 1, 2) if engine.several else (None,))]
        self.hold = (self.at, engine.now)
        engine.held.append(self.hold)
        self.is_old = snapshot is not None
        self.index, self.entries = engine.index, None
        self.now = engine.now if engine.weakening == "clock" else None
        since = None if self.index is None else self.index.since
        if since is None or (since > self.at and engine.weakening != "older"):
            self.index = None

    def matches(self, question, rows, at, now):
        found = []
        for row in rows:
            cells = self.engine.rows.cells(row)
            a, b = (versions(cells, c, at, now, self.engine.limits) for c in "ab")
            if a and a[0][1] == question[0] and (question[1] is None or (b and b[0][1] == question[1])):
                found.append(row)
        return found

    def ask(self):
        """The rows of the entries of each question."""
        engine, table = self.engine, self.index.entries
        keys = [key for key in {c[2] for c in table.files + table.memstore}
                if versions(table.cells(key), "e", self.at, engine.now, (1, engine.limits[1]))]
        self.entries = [sorted({row for a, b, row in keys if a == question[0] and question[1] in (None, b)})
                        for question in self.questions]

    def end(self):
        """What is wrong, or None."""
        engine = self.engine
        now = engine.now if self.now is None else self.now
        at = engine.sequence if engine.weakening == "points" and not self.is_old else self.at
        engine.held.remove(self.hold)
        engine.counts["queries"] += 1
        if self.index is None:
            return None
        engine.counts["by the index"] += 1
        for question, rows in zip(self.questions, self.entries):
            expected = self.matches(question, ROWS, at, now)
            found = rows if engine.weakening == "checked" else self.matches(question, rows, at, now)
            if found != expected:
                return f"of {question} at {at}, time {now}, the index finds {found}, and all rows give {expected}"
        return None


def entries_too_many(engine):
    """Without a time to live entries are exactly those of the rows."""
    index = engine.index
    if index is None or not engine.is_exact:
        return None
    expected = {e[0] for row in ROWS if (e := engine.entry(row, engine.rows.cells(row), engine.now))}
    table = index.entries
    there = {c[2] for c in table.files + table.memstore
             if versions(table.cells(c[2]), "e", 10**9, engine.now, (1, None))}
    more = there - expected
    return f"entries {sorted(more, key=str)} are of no row" if more else None


def run(seed, weakening):
    """One interleaving. Returns what is wrong, or None, with the steps and counts."""
    rng = random.Random(seed)
    engine = Engine(weakening, rng)
    writes, queries, building, wrong = [], [], None, None
    for _ in range(rng.randint(5, 60)):
        engine.now += rng.choice([0, 1, 1])
        what = rng.choices(["write", "commit", "flush", "merge", "build", "query", "go on", "snapshot",
                            "index", "crash", "tick"], [8, 8, 3, 3, 6, 4, 5, 2, 1, 1, 1])[0]
        if what == "write":
            writes.append(Write(engine))
            engine.plan(writes[-1])
        elif what == "commit" and writes:
            group = rng.sample(writes, rng.randint(1, min(3, len(writes))))
            back = engine.commit(group)
            writes = [w for w in writes if w not in group or w in back]
            if building is not None and building not in writes:
                building = None
            wrong = entries_too_many(engine)
        elif what in ("flush", "merge"):
            tables = [engine.rows] + ([engine.index.entries] if engine.index else [])
            table = rng.choice(tables)
            getattr(engine, what)(table)
            engine.trace.append(f"{what} of {'rows' if table is engine.rows else 'entries'}")
        elif what == "build" and engine.index and engine.index.since is None and building is None:
            building = engine.build()
            writes += [] if building is None else [building]
            if building is None and rng.random() < 0.3:
                engine.crash()
                writes, queries = [], []
        elif what == "query":
            held = rng.choice([None] + engine.held)
            queries.append(Query(engine, held))
            if queries[-1].index is not None and rng.random() < 0.5:
                queries[-1].ask()
        elif what == "snapshot":
            engine.held.append((engine.sequence, engine.now))
        elif what == "index" and (engine.index is None or rng.random() < 0.1):
            engine.add_or_drop()
            writes, building = [w for w in writes if w is not building], None
        elif what == "crash":
            engine.crash()
            writes, queries, building = [], [], None
        elif what == "tick":
            engine.now += rng.randint(1, 4)
        elif what == "go on" and queries:
            query = rng.choice(queries)
            if query.index is not None and query.entries is None:
                query.ask()
            else:
                queries.remove(query)
                wrong = query.end()
        if wrong is not None:
            return wrong, engine.trace, engine.counts
    for held in [None] + list(engine.held):
        query = Query(engine, held)
        if query.index is not None:
            query.ask()
        wrong = wrong or query.end()
    return wrong, engine.trace, engine.counts


if __name__ == "__main__":
    sys.exit(search.main(run, WEAKENINGS))
