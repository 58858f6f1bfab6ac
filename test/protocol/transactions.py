#!/usr/bin/env python3
"""An executable model of transactions: how a commit is validated while others write, flush, merge,
split, load and truncate (docs/decisions/0025).

    transactions.py [--trials N] [--seed N] [WEAKENING...]

Runs random interleavings and compares everything that a transaction was told, and every row, with
the commits one after the other. Without a WEAKENING it runs the protocol, in which nothing may be
found, and each of WEAKENINGS in turn, which leaves one rule out: for each of these an interleaving
has to be found. Prints a line each, the shortest interleaving of what is found though it must not
be, and exits 1 if something is not as it has to be.

The model: rows a, b, c of one column. A cell is (sequence, timestamp, value); the one with the
greatest timestamp, then sequence, is seen. A region has memstores, files and `changed`: the largest
sequence that has left its memstores, or never was in one. Regions are cut between rows.

A transaction begins at the published sequence S, reads rows or a range of rows, puts and increments
rows, and commits:
1. Before the queue, what it has noted in a region that has changed since the note's point is read
   at S and at a new point. If both are equal, the new point is that of the note from now on.
2. The leader takes the requests of its group one after the other. It asks of each note: has its
   region changed above the note's point (back to 1); does a memstore, or an earlier request of the
   group, have something newer (a conflict). It reads no file.
"""
import random
import sys

import search

ROWS = "abc"
READS_MAX = 3  # How often step 1 is done.

# What each leaves out, and what has to be found then.
WEAKENINGS = {
    "memstores": "the leader does not ask the memstores",
    "group": "the leader does not ask the earlier requests of its group",
    "changed": "the leader does not ask whether a region has changed",
    "compare": "what is read again is not compared",
    "late-point": "the new point is taken after the rows were read",
    "one-point": "one point for all notes, not one for each region",
    "two-looks": "the leader asks for the change first, and for the memstores after a flush",
    "load": "a load does not count as a change of its region",
    "truncate": "a truncation does not count as a change",
    "split": "the halves of a region begin without its change",
    "snapshot": "merges forget what the beginning of an open transaction sees",
    "returned": "of a range only the rows that were returned are noted",
    "range-memstores": "the leader does not look for rows of a range in memstores",
    "timestamp": "a commit may come after the version of the future that it replaced",
}


class Region:
    def __init__(self, rows):
        self.rows, self.active, self.waiting, self.files, self.changed = rows, [], [], [], 0

    def memstores(self):
        return [self.active] + self.waiting

    def cells(self, row, at):
        return [c for source in self.memstores() + self.files for r, c in source if r == row and c[0] <= at]


def seen(cells):
    """The cell that is seen, without its sequence, which merges forget."""
    return max((c[1], c[0], c[2]) for c in cells)[::2] if cells else None


class Engine:
    def __init__(self, weakening, rng):
        self.weakening, self.rng = weakening, rng
        self.regions = [Region("a"), Region("bc")] if rng.random() < 0.5 else [Region("abc")]
        self.sequence = self.published = 0
        self.clock = 10
        self.version = 0  # Of the table: a truncation makes another one.
        self.open = []  # Transactions that hold what they see.
        self.history = []  # (sequence, operations in the order of commits); see State.
        self.trace = []

    def region(self, row):
        return next(r for r in self.regions if row in r.rows)

    def read(self, row, at):
        return seen(self.region(row).cells(row, at))

    def timestamp(self):
        self.clock += 1
        return self.clock

    def apply(self, cells):
        """Of one batch: (row, timestamp, value); one sequence each."""
        for row, timestamp, value in cells:
            self.sequence += 1
            self.region(row).active.append((row, (self.sequence, timestamp, value)))
            self.history.append((self.sequence, row, timestamp, value))

    # What goes on beside.

    def switch(self, region):
        if region.active:
            region.waiting.append(region.active)
            region.active = []

    def flush(self, region):
        if not region.waiting:
            self.switch(region)
        if region.waiting:
            memstore = region.waiting.pop(0)
            region.files.append(memstore)
            region.changed = max(region.changed, max(c[0] for _, c in memstore))

    def merge(self, region):
        """Of all files, which gives their cells the greatest sequence. Keeps what somebody sees."""
        if not region.files:
            return
        points = [self.published] + ([] if self.weakening == "snapshot" else [t.begun for t in self.open])
        cells = [entry for file in region.files for entry in file]
        kept = []
        for row in region.rows:
            of_row = [c for r, c in cells if r == row]
            wanted = {max((c[1], c[0], c) for c in below)[2] for p in points
                      if (below := [c for c in of_row if c[0] <= p])}
            kept += [(row, c) for c in of_row if c in wanted or c[0] > self.published]
        region.files = [kept] if kept else []

    def load(self, region):
        self.sequence += 1
        timestamp = self.timestamp()
        rows = self.rng.sample(region.rows, self.rng.randint(1, len(region.rows)))
        value = self.rng.randint(0, 2)
        region.files.append([(row, (self.sequence, timestamp, value)) for row in rows])
        for row in rows:
            self.history.append((self.sequence, row, timestamp, value))
        if self.weakening != "load":
            region.changed = self.sequence
        self.published = self.sequence

    def truncate(self):
        self.sequence += 1
        self.history.append((self.sequence, None, 0, 0))
        for region in self.regions:
            region.active, region.waiting, region.files = [], [], []
            if self.weakening != "truncate":
                region.changed = self.sequence
        if self.weakening != "truncate":
            self.version += 1
        self.published = self.sequence

    def split(self, region):
        if len(region.rows) < 2:
            return
        halves = [Region(region.rows[:1]), Region(region.rows[1:])]
        for half in halves:
            mine = lambda source: [(r, c) for r, c in source if r in half.rows]
            half.active = mine(region.active)
            half.waiting = [m for source in region.waiting if (m := mine(source))]
            half.files = [mine(source) for source in region.files]
            half.changed = 0 if self.weakening == "split" else region.changed
        at = self.regions.index(region)
        self.regions[at:at + 1] = halves

    def do_something(self):
        region = self.rng.choice(self.regions)
        what = self.rng.choices(["switch", "flush", "merge", "load", "truncate", "split", "put", "future"],
                                [3, 8, 5, 2, 0.4, 1.5, 8, 1.5])[0]
        if what in ("switch", "flush", "merge", "load", "split"):
            getattr(self, what)(region)
        elif what == "truncate":
            self.truncate()
        else:
            soon = self.clock + self.rng.randint(2, 6)
            self.apply([(self.rng.choice(ROWS), soon if what == "future" else self.timestamp(),
                         self.rng.randint(0, 2))])
            self.published = self.sequence
        self.trace.append(f"{what} {region.rows}: {self.history[-1:]}")

    # The commit queue.

    def commit(self, group, between):
        """`between` is what others do while the leader works: flushes."""
        written = set()  # By earlier requests of the group.
        passed = []
        for t in group:
            outcome = self.validate(t, written, between)
            if outcome == "passed":
                timestamp = self.timestamp()
                if timestamp >= t.below and self.weakening != "timestamp":
                    outcome = "conflict"
                else:
                    t.batch = [(row, timestamp if own is None else own, value) for row, own, value in t.puts]
                    written |= {row for row, _, _ in t.batch}
                    passed.append(t)
            t.state = "done" if outcome != "moved" else "open"
            t.committed = outcome == "passed"
            t.reads_left -= outcome == "moved"
            if outcome == "moved" and t.reads_left == 0:
                t.state = "done"  # In the engine the leader reads for it, alone.
        for t in passed:
            t.before = self.sequence
            self.apply(t.batch)
            t.after = self.sequence
        self.published = self.sequence

    def validate(self, t, written, between):
        if self.version != t.version:
            return "conflict"
        notes = t.notes()
        for kind, row, point in notes:
            region = self.region(row)
            if self.weakening != "two-looks":
                between()  # Flushes come in between, but one version of the region answers both.
                region = self.region(row)
            changed = region.changed
            if self.weakening == "two-looks":
                between()
            if changed > point and self.weakening != "changed":
                return "moved"
            skips = self.weakening == "memstores" or (self.weakening == "range-memstores" and kind == "range")
            if not skips and any(r == row and c[0] > point for m in region.memstores() for r, c in m):
                return "conflict"
            if row in written and self.weakening != "group":
                return "conflict"
        return "passed"


class Transaction:
    def __init__(self, engine):
        self.engine, self.begun, self.version = engine, engine.published, engine.version
        self.points = {}  # Of each note (kind, row): unchanged up to there.
        self.told = []  # (row, cell or None): what the database answered, own writes aside.
        self.puts, self.own = [], {}
        self.provisional = engine.clock + 0.5  # After all that it sees without a time of the future.
        self.below = float("inf")
        self.committed, self.state, self.reads_left, self.batch = False, "open", READS_MAX, []
        self.expected = {}  # What it sees of rows that it has written.
        engine.open.append(self)

    def note(self, kind, row):
        self.points.setdefault((kind, row), self.begun)

    def notes(self):
        return [(kind, row, point) for (kind, row), point in self.points.items()]

    def see(self, row):
        """As a read of the transaction: its own writes are above the snapshot."""
        own = [(self.provisional if own is None else own, 1 + i, value)
               for i, (r, own, value) in enumerate(self.puts) if r == row]
        stored = self.engine.read(row, self.begun)
        cells = own + ([(stored[0], 0, stored[1])] if stored is not None else [])
        return max(cells)[::2] if cells else None

    def do_something(self):
        rng, row = self.engine.rng, self.engine.rng.choice(ROWS)
        what = rng.choices(["get", "range", "put", "increment"], [3, 2, 3, 3])[0]
        if what in ("get", "increment"):
            self.note("row", row)
            if not any(r == row for r, _, _ in self.puts):
                self.told.append((row, self.engine.read(row, self.begun)))
        if what == "range":
            for each in ROWS if rng.random() < 0.5 else ROWS[:2]:
                cell = self.engine.read(each, self.begun)
                self.told.append((each, cell))
                if cell is not None or self.engine.weakening != "returned":
                    self.note("range", each)
        if what == "put":
            self.note("row", row)
            self.puts.append((row, None, rng.randint(0, 2)))
        if what == "increment":
            cell = self.see(row)
            above = cell is not None and cell[0] > self.provisional
            if above:
                self.below = min(self.below, cell[0])
            self.puts.append((row, cell[0] if above else None, (cell[1] if cell else 0) + 1))
        # A put below a version of the future is seen when its time has come; a sum never goes.
        if what == "increment" or row in self.expected:
            self.expected[row] = self.see(row)[1]
        self.engine.trace.append(f"transaction at {self.begun} {what} {row}: puts {self.puts}")

    def reread(self):
        """Step 1. What was published when it began is read while others go on."""
        engine = self.engine
        point = engine.published
        moved = [(kind, row) for (kind, row), at in self.points.items() if engine.region(row).changed > at]
        then = {row: engine.read(row, self.begun) for _, row in moved}
        now = {row: engine.read(row, point) for _, row in moved}
        if engine.weakening == "late-point":
            engine.do_something()
            point = engine.published
        if engine.weakening != "compare" and engine.version == self.version and then != now:
            self.state = "done"
            return
        noted = self.points if moved and engine.weakening == "one-point" else moved
        for note in list(noted):
            self.points[note] = max(self.points[note], point)


def check(engine, transactions):
    """What is wrong, compared with the history, in the order of sequences; or None."""
    def state(through, row):
        cells = []
        for sequence, r, timestamp, value in engine.history:
            if sequence > through:
                break
            if r is None:
                cells = []
            elif r == row:
                cells.append((sequence, timestamp, value))
        return seen(cells)
    engine.history.sort(key=lambda entry: entry[0])
    for row in ROWS:
        if engine.read(row, engine.published) != state(engine.published, row):
            return f"row {row} is {engine.read(row, engine.published)}, not {state(engine.published, row)}"
    for t in transactions:
        if not t.committed:
            continue
        # One that writes nothing reads one state.
        at = t.before if t.puts else t.begun
        for row, cell in t.told:
            if state(at, row) != cell:
                return f"a transaction that began at {t.begun} and committed after {at} was told {cell} of " \
                       f"row {row}; before it was {state(at, row)}"
        for row, value in t.expected.items():
            if t.puts and state(t.after, row)[1] != value:
                return f"row {row} of a transaction that committed after {at} has {state(t.after, row)}, " \
                       f"and it saw {value}"
    return None


def run(seed, weakening):
    """One interleaving. Returns what is wrong, or None, with the steps and counts."""
    rng = random.Random(seed)
    engine = Engine(weakening, rng)
    for _ in range(rng.randint(0, 4)):
        engine.do_something()
    transactions = []
    count = rng.randint(1, 4)
    for _ in range(60):
        living = [t for t in transactions if t.state != "done"]
        if not living and len(transactions) == count:
            break
        x = rng.random()
        if len(transactions) < count and (x < 0.2 or not living):
            transactions.append(Transaction(engine))
        elif x < 0.45:
            engine.do_something()
        elif x < 0.75:
            t = rng.choice(living)
            # A truncation is a conflict for what it reads later, too.
            if engine.version == t.version:
                t.do_something()
        elif x < 0.87:
            t = rng.choice(living)
            t.reread()
            engine.trace.append(f"transaction at {t.begun} reads again: {t.points}")
        else:
            group = rng.sample(living, rng.randint(1, len(living)))
            writers = [t for t in group if t.puts]
            for t in group:
                if not t.puts:
                    t.committed, t.state = True, "done"

            def between():
                if rng.random() < 0.3:
                    region = rng.choice(engine.regions)
                    engine.flush(region)
                    engine.trace.append(f"flush beside the leader {region.rows}")
            engine.commit(writers, between)
            engine.trace.append("commit of " + ", ".join(
                f"the one at {t.begun}: {t.batch if t.committed else 'no'}" for t in writers))
        engine.open = [t for t in transactions if t.state != "done"]
    ended = [t for t in transactions if t.state == "done"]
    committed = sum(t.committed for t in ended)
    counts = {"commits": committed, "conflicts": len(ended) - committed}
    return check(engine, transactions), engine.trace, counts


if __name__ == "__main__":
    sys.exit(search.main(run, WEAKENINGS))
