#!/usr/bin/env python3
"""An executable model of batches that are in no log, beside writes that depend on them
(docs/decisions/0009).

    unlogged_batches.py [--trials N] [--seed N] [WEAKENING...]

Runs random interleavings up to a crash and asks of what is left: is each batch there as a whole or
not at all; are the logged ones a beginning of all logged ones; and does each write that depends on
stored data follow from the batches before it that are left. Without a WEAKENING it runs the
protocol, in which nothing may be found, and each of WEAKENINGS in turn, which leaves one rule out:
for each of these an interleaving has to be found. Prints a line each, the shortest interleaving of
what is found though it must not be, and exits 1 if something is not as it has to be.

The model: rows a, b, c of one column that keeps two versions, in one region or two. A cell is
(sequence, row, kind, timestamp, value) of kind put, cut (hides what is at its timestamp or below and
has a smaller sequence) or delete (hides what has its timestamp and a smaller sequence). A crash
takes the memstores and any end of the log that was not synced; what is left of the log above the
region's `flushed` is replayed.

A write that depends on stored data is completed by the leader:
1. Of each cell that it read, of those that hide others too, is asked whether it may be unlogged and
   in no file. If one is, nothing is written, and its regions log everything from now on.
2. The writer has these regions flushed and gets in line again.
3. Such a region logs everything until the writer is done, and until the memstore after the flushed
   one was switched.
A batch over several regions is logged, and so is a whole group of which one batch is. A region is
flushed, and logs everything, before it is split; its halves share its memstores.
"""
import random
import sys

import search

# What each leaves out, and what has to be found then.
WEAKENINGS = {
    "ask": "a write that depends on stored data asks nothing",
    "hiding": "it asks of visible cells only, not of those that hide others",
    "other-rows": "it asks of the rows that it writes, not of those that it reads",
    "hold": "its regions take unlogged batches again while it is on its way",
    "regions": "an unlogged batch over two regions is not logged",
    "planned-region": "one is not logged that was planned before its region was split",
    "group": "of a group only the batches that ask for it are logged",
    "split": "a region is split without a flush, while it takes unlogged batches",
    "sync": "a flush does not sync the log first",
    "flushed": "a memstore that waits counts as flushed",
    "range": "only the newest unlogged batch of a region is known",
}
ROWS = "abc"


class Region:
    def __init__(self, rows):
        self.rows, self.active, self.waiting, self.files = rows, [], [], []
        self.flushed = 0  # Sequences up to there are in files.
        self.first = self.last = 0  # Unlogged ones; 0: none.
        self.logged_memstores = self.holds = 0
        self.retired = False

    def memstores(self):
        return [self.active] + [memstore for memstore, _ in self.waiting]

    def cells(self, row):
        return [c for source in self.memstores() + self.files for c in source if c[1] == row]

    def may_hold(self, sequence, weakening):
        flushed = max([self.flushed] + [top for _, top in self.waiting]) if weakening == "flushed" else self.flushed
        first = self.last if weakening == "range" else self.first
        return sequence > flushed and self.first > 0 and first <= sequence <= self.last

    def logs_everything(self):
        return self.logged_memstores > 0 or self.holds > 0


def visible(cells):
    """The two newest versions that are not hidden: (timestamp, value)."""
    newest = {}
    for sequence, _, kind, timestamp, value in cells:
        if kind == "put" and (timestamp not in newest or newest[timestamp][0] < sequence):
            newest[timestamp] = (sequence, value)
    for sequence, _, kind, timestamp, _ in cells:
        for version in [t for t, (s, _) in newest.items() if s < sequence]:
            if (kind == "cut" and version <= timestamp) or (kind == "delete" and version == timestamp):
                del newest[version]
    return [(t, newest[t][1]) for t in sorted(newest, reverse=True)[:2]]


class Write:
    """A batch: blind operations, or one that depends on a row."""

    def __init__(self, number, rng):
        self.number = number
        self.kind = rng.choice(["put", "put", "put", "remove", "increment", "delete-cell", "check", "copy"])
        self.row, self.other = rng.choice(ROWS), rng.choice(ROWS)
        self.rows = sorted({self.row, self.other}) if self.kind in ("put", "remove") else [self.row]
        self.value = number * 10
        self.depends = self.kind not in ("put", "remove")
        self.asks_for_log = self.depends or rng.random() < 0.3
        self.done = False
        self.holds, self.to_flush, self.turned_back = [], [], {}
        self.planned = None
        self.cells, self.logged = [], False

    def read_rows(self):
        return {"increment": [self.row], "delete-cell": [self.row], "check": [self.other],
                "copy": [self.other]}.get(self.kind, [])

    def complete(self, cells_of, sequence, timestamp):
        """The cells that it writes. `cells_of` is what is stored, by row."""
        if self.kind == "put":
            return [(sequence + i, row, "put", timestamp, self.value) for i, row in enumerate(self.rows)]
        if self.kind == "remove":
            return [(sequence + i, row, "cut", timestamp, None) for i, row in enumerate(self.rows)]
        seen = visible(cells_of(self.read_rows()[0]))
        if self.kind == "increment":
            at, before = seen[0] if seen else (timestamp, 0)
            return [(sequence, self.row, "put", max(at, timestamp), before + 1)]
        if self.kind == "check":  # That the other row exists.
            return [(sequence, self.row, "put", timestamp, self.value)] if seen else []
        if self.kind == "copy":
            return [(sequence, self.row, "put", timestamp, seen[0][1] if seen else 0)]
        if not seen:
            return []
        # What is revealed is below the version that goes; what was not seen stays hidden.
        return [(sequence, self.row, "delete", seen[0][0], None),
                (sequence + 1, self.row, "cut", seen[-1][0] - 1, None)]

    def describe(self):
        of = f" of {self.other}" if self.kind in ("check", "copy") else ""
        return f"{self.number}: {self.kind} {''.join(self.rows)}{of}{' logged' if self.asks_for_log else ''}"


class Engine:
    def __init__(self, weakening, rng):
        self.weakening, self.rng = weakening, rng
        self.regions = [Region("a"), Region("bc")] if rng.random() < 0.5 else [Region("abc")]
        self.sequence, self.clock = 0, 10
        self.log, self.synced = [], 0  # Writes, in their order; how many of them a crash keeps.
        self.done = []
        self.trace = []

    def region(self, row):
        return next(r for r in self.regions if row in r.rows)

    def plan(self, write):
        write.planned = self.region(write.rows[0])
        write.spans = len({id(self.region(row)) for row in write.rows}) > 1

    def switch(self, region):
        if region.active:
            region.waiting.append((region.active, self.sequence))
            region.active = []
            region.logged_memstores = max(0, region.logged_memstores - 1)
            if region.last <= region.flushed:
                region.first = region.last = 0

    def flush(self, region):
        """Everything that is in it now."""
        self.switch(region)
        while region.waiting:
            self.flush_oldest(region)

    def flush_oldest(self, region):
        if region.waiting:
            if self.weakening != "sync":
                self.synced = len(self.log)
            memstore, through = region.waiting.pop(0)
            region.files.append(memstore)
            region.flushed = max(region.flushed, through)

    def split(self, region):
        if len(region.rows) < 2:
            return
        if self.weakening != "split":
            region.holds += 1
            self.flush(region)
        cut = self.rng.randint(1, len(region.rows) - 1)
        halves = [Region(region.rows[:cut]), Region(region.rows[cut:])]
        for half in halves:
            half.active = [c for c in region.active if c[1] in half.rows]
            half.waiting = [([c for c in m if c[1] in half.rows], top) for m, top in region.waiting]
            half.files = [[c for c in file if c[1] in half.rows] for file in region.files]
            half.flushed = region.flushed
            if self.weakening == "split":
                half.first, half.last = region.first, region.last
        region.retired = True
        at = self.regions.index(region)
        self.regions[at:at + 1] = halves

    def hold(self, write, region):
        write.to_flush.append(region)
        write.turned_back[region] = write.turned_back.get(region, 0) + 1
        if self.weakening != "hold":
            region.logged_memstores = 2
            region.holds += 1
            write.holds.append(region)

    def commit(self, group):
        levels = [w.asks_for_log or (w.spans and self.weakening != "regions") for w in group]
        logs_all = any(levels)
        for w in group:
            changed = w.planned.retired and self.weakening != "planned-region"
            logs_all |= changed or (not w.planned.retired and w.planned.logs_everything())
        earlier, first = [], self.sequence + 1
        committed = []
        for w, asks in zip(group, levels):
            logged = asks if self.weakening == "group" else logs_all
            read = {row: self.region(row).cells(row) + [c for c in earlier if c[1] == row] for row in ROWS}
            w.sequence = self.sequence + 1 + len(earlier)
            w.timestamp = self.clock + 1 + len(committed)
            cells = w.complete(lambda row: read[row], w.sequence, w.timestamp)
            if w.depends and self.weakening != "ask":
                regions = []
                for row in w.read_rows() if self.weakening != "other-rows" else w.rows:
                    known = read[row]
                    if self.weakening == "hiding":
                        seen = visible(known)
                        known = [c for c in known if c[2] == "put" and (c[3], c[4]) in seen]
                    region = self.region(row)
                    if any(region.may_hold(c[0], self.weakening) for c in known) and region not in regions:
                        regions.append(region)
                # A condition that does not hold writes nothing that could depend on anything.
                if regions and not (w.kind == "check" and not cells):
                    for region in regions:
                        self.hold(w, region)
                    continue
            w.cells, w.logged = cells, logged
            earlier += cells
            committed.append(w)
        for w in committed:
            w.done = True
            if w.cells and w.logged:
                self.log.append(w)
            for c in w.cells:
                self.region(c[1]).active.append(c)
            for region in w.holds:
                region.holds -= 1
            w.holds = []
            if w.cells:
                self.done.append(w)
        self.sequence += len(earlier)
        self.clock += len(committed)
        unlogged = [w for w in committed if w.cells and not w.logged]
        for w in unlogged:
            region = self.region(w.cells[0][1])  # As it was planned: others are logged.
            region.first = region.first or first
            region.last = self.sequence

    def crash(self):
        """Which cells are left."""
        kept = self.log[:self.rng.randint(self.synced, len(self.log))]
        left = {c for region in self.regions for file in region.files for c in file}
        for w in kept:
            left |= {c for c in w.cells if c[0] > self.region(c[1]).flushed}
        return left, kept


def check(engine, left, kept):
    """What is wrong with what a crash has left, or None."""
    last_kept = max([engine.log.index(w) for w in kept], default=-1)
    stored = []
    for w in engine.done:
        there = [c for c in w.cells if c in left]
        if there and len(there) < len(w.cells):
            return f"of {w.describe()} only {there} is left"
        if w.logged and there and engine.log.index(w) > last_kept:
            return f"{w.describe()} is left, and not all logged before it"
        if w.logged and not there and engine.log.index(w) <= last_kept:
            return f"{w.describe()} was logged, and is gone"
        if not there:
            continue
        again = w.complete(lambda row: [c for c in stored if c[1] == row], w.sequence, w.timestamp)
        if again != w.cells:
            return f"{w.describe()} has {w.cells}; from what is left it would be {again}"
        stored += w.cells
    return None


def run(seed, weakening):
    """One interleaving. Returns what is wrong, or None, with the steps and counts."""
    rng = random.Random(seed)
    engine = Engine(weakening, rng)
    waiting, number, forced = [], 0, 0
    for _ in range(rng.randint(4, 40)):
        x = rng.random()
        if x < 0.4:
            number += 1
            write = Write(number, rng)
            engine.plan(write)
            waiting.append(write)
        elif x < 0.7 and any(not w.to_flush for w in waiting):
            ready = [w for w in waiting if not w.to_flush]
            group = rng.sample(ready, rng.randint(1, min(3, len(ready))))
            engine.commit(group)
            for w in group:
                engine.trace.append(f"{w.describe()} " + (f"writes {w.cells}" if w.done else "is turned back"))
                if max(w.turned_back.values(), default=0) > 1:
                    wrong = f"{w.describe()} was turned back twice by one region"
                    return wrong, engine.trace, {"flushes for a write": forced}
            waiting = [w for w in waiting if not w.done]
        elif x < 0.85 and any(w.to_flush for w in waiting):
            w = rng.choice([w for w in waiting if w.to_flush])
            for region in w.to_flush:
                # One that was split has been flushed before.
                if not region.retired:
                    engine.flush(region)
                    forced += 1
                engine.trace.append(f"flush of {region.rows} for {w.describe()}")
            w.to_flush = []
        else:
            region = rng.choice(engine.regions)
            what = rng.choices(["switch", "flush_oldest", "flush", "split"], [4, 3, 1, 1])[0]
            getattr(engine, what)(region)
            engine.trace.append(f"{what} {region.rows}")
    left, kept = engine.crash()
    engine.trace.append(f"crash; of the log {len(kept)} of {len(engine.log)} are left, and {sorted(left)}")
    return check(engine, left, kept), engine.trace, {"flushes for a write": forced}


if __name__ == "__main__":
    sys.exit(search.main(run, WEAKENINGS))
