"""The command line of the executable models beside this file: runs a model's interleavings, and says
whether what was found is what had to be found."""
import argparse


def shortest_finding(run, seeds, weakening, stop_at_first):
    """Of the interleavings of `seeds`: how many ran, their counts, and the shortest one that shows
    something wrong, as (what, trace), or None."""
    ran, counts, shortest = 0, {}, None
    for seed in seeds:
        wrong, trace, of_run = run(seed, weakening)
        ran += 1
        for name, count in of_run.items():
            counts[name] = counts.get(name, 0) + count
        if wrong is not None and (shortest is None or len(trace) < len(shortest[1])):
            shortest = (wrong, trace)
        if shortest is not None and stop_at_first:
            break
    return ran, counts, shortest


def main(run, weakenings):
    """`run(seed, weakening)` returns what is wrong or None, the steps, and counts by name. Returns
    the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", metavar="WEAKENING", help="none, " + ", ".join(weakenings))
    parser.add_argument("--trials", type=int, default=20000, help="interleavings of the protocol as it is; of a "
                        "weakening ten times as many, until something is found")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="the shortest interleaving of each weakening")
    options = parser.parse_args()
    for name in options.names:
        if name not in ("none", *weakenings):
            parser.error(f"no weakening is called {name}; there are none, {', '.join(weakenings)}")
    failed = False
    for name in options.names or ["none", *weakenings]:
        trials = options.trials * (1 if name == "none" or options.show else 10)
        seeds = range(options.seed, options.seed + trials)
        stops = name != "none" and not options.show
        ran, counts, shortest = shortest_finding(run, seeds, name, stops)
        said = ", ".join(f"{count} {what}" for what, count in counts.items())
        print(f"{name}: {ran} interleavings, {said}: {'nothing found' if shortest is None else shortest[0]}")
        failed |= (shortest is not None) == (name == "none")
        if shortest is not None and (name == "none" or options.show):
            print("  " + "\n  ".join(shortest[1]))
    return 1 if failed else 0
