// The texts of --help: what the command-line library does not know, an example first.
#include "tools/tandem/help_text.h"

#include <algorithm>
#include <iterator>

namespace tandem::tools {
namespace {

struct VerbHelp {
  std::string_view verb;
  const char* text;
};

constexpr VerbHelp kVerbs[] = {
    {"demo",
     R"(Example: tandem demo

Imports Debian's package list into a database with three indexes, runs six
queries, draws the regions and files, and says how to go on.
)"},
    {"version",
     R"(Example: tandem version

Prints the versions of program and format.
)"},
    {"create",
     R"(Example: tandem create shop/ orders --family d,versions=3,ttl=30d --family audit \
           --index state=d:state --index total=d:total:int64:desc --split-keys 2024,2025

Makes a table, and the database where there is none.

--key declares row keys of typed fields, which put, get, delete, scan and import then
take as FIELD=VALUE: 'salt(8), user:text, at:timestamp desc'. Before the fields may be
salt(N), hash(FIELD, BYTES), mod(FIELD, N[, PARTS]); before one, reverse(FIELD). Their types:
text, bytes, text(N), bytes(N), int64, uint64, timestamp, uuid; each asc or desc.

Types: bytes (default), text, int64, uint64, double, bool, timestamp, and int64_be,
uint64_be, double_be, bool_be, timestamp_be for values stored big-endian. In names,
':' ',' and '=' are written \x3a \x2c and \x3d.
)"},
    {"split-keys",
     R"(Example: tandem split-keys auto:16 --sample keys.txt
         tandem create shop/ orders --splits auto:16 --sample keys.txt
         tandem split-keys hex:16 --as hbase

Prints where to cut a table into regions before it has rows, and how even they will be.
  auto:N              from a sample: N regions of about the same number of keys, or weight
  hex:N[:DIGITS]      keys that begin with a hash: 0-9a-f; upper-hex: 0-9A-F; decimal; binary.
                      DIGITS: default 8
  partitions:N[:M]    keys that begin with a number of 0 to N-1, and one of 0 to M-1, in digits;
                      partition-bytes: in one byte up to 256, else two, as a salt is
  @FILE               the keys of a file
A sample has a key a line, \xNN for any byte. Of any size it is read in little memory:
sketch_error is the most by which a share of the sample may be wrong, sampling_error what
to expect since it is a sample: one standard error of a region, in relation to its share.
)"},
    {"import",
     R"(Example: apt-cache dumpavail | tandem import pkg/ packages - --format deb822 \
           --row '{Package}/{Version}'

Writes each record as a row, a column a field. The fields of the row key stay columns.
Where a table has a typed row key, its fields are those of the record, unless --row says.
Of equal row keys the last record wins; it is one Put later, so columns that it lacks
stay.
  jsonl         an object a line: strings as their text, the rest as written, null absent
  csv           RFC 4180; the first line has names; empty without quotes is absent
  tsv           the same with tabs; \t \n \r \\ \xNN are escapes, \N is absent
  deb822        a paragraph a record; continuation lines stay as they are
  apt-contents  row key PATH\x00PACKAGE; columns package, section, extension
  dpkg-log      row key PACKAGE:ARCH; columns state, action, version, old_version; a line
                is a version with its time in UTC: make the family with versions=1000
What export or scan wrote as jsonl, csv or tsv comes back as it was, unless --row is
given. Malformed records are counted and the first ten shown with their line; where
there is no other record the exit code is 2.
)"},
    {"put",
     R"(Example: tandem put shop/ orders 2024-17 d:state=open d:total=1250 audit:by=ann

Writes cells of one row, all or none. Row and values are text with \xNN for any byte,
0x and hex digits, base64:..., or @file for what a file holds. A row of a table with a
typed row key may be its fields: tandem put shop/ visits user=ann at=2026-01-01 d:page=home
)"},
    {"delete",
     R"(Example: tandem delete shop/ orders 2024-17 d:state

Deletes a row, a family of it or a column, with all versions.
)"},
    {"info",
     R"(Example: tandem info shop/

Prints tables, families, indexes, regions, files, log and memory.
Only the process that has the database open for writing knows which writes wait and
which merges run: Database::Info and Database::GetStatistics have it.
)"},
    {"regions",
     R"(Example: tandem regions shop/ orders

Prints the regions of a table: keys, rows and bytes in files, runs, files, how many of
these other regions share, delete markers, index entries that no query of the present
uses, and what is in memory. A shared file counts by the rows that the region has of it.
)"},
    {"du",
     R"(Example: tandem du shop/
         tandem du shop/ orders --exact

Explains every byte of the directory, and says what would free it: the parts add up to
the sizes of its files. Of a table: region by region. Then what the cells in store files
are; without --exact an estimate from statistics, in which older versions count as live.
  outside  rows of a file that was split, which the regions have rewritten since
  older    versions that nobody sees any more      deletes  delete markers
  pinned   the same, but a snapshot sees them      expired  beyond their time to live
  snapshot  files that only named snapshots have: of the one that is named, or of several
Snapshots and cursors of other processes are not known; Database::GetSpaceUsage has them.
)"},
    {"get",
     R"(Example: tandem get shop/ orders 2024-17 --columns d:state,audit:* --versions 3

Prints one row; exit 3 when there is none of that key.
         tandem get shop/ orders 2024-17 --history state
Prints the kept values of a column: each from its time to that of the next one.
)"},
    {"scan",
     R"(Example: tandem scan shop/ orders --prefix 2024- --limit 10

Prints rows in the order of their keys. Of a table with a typed row key also by fields:
         tandem scan shop/ visits user=ann --newest 3
         tandem scan shop/ visits user=ann --from at=2026-01-01 --to at=2026-02-01
By fields, keys with a salt come in the order of their fields. --threads N: N threads read.
)"},
    {"query",
     R"(Example: tandem query shop/ orders "state = 'open' AND total > 1000" --select total

Prints the rows that satisfy a predicate: = != < <= > >=, BETWEEN, IN, PREFIX, CONTAINS,
LIKE 'p%' or '%p%', REGEXP, IS NULL, AND, OR, NOT. _row is the key, _row.user a field of it.
Page by page: --limit 20 --token, then --after and the token; or --page 3. --threads N: N read.
)"},
    {"explain",
     R"(Example: tandem explain shop/ orders "state = 'open'"

Runs a query and tells how, or what --threads N would change. tandem/explanation.h has all.
)"},
    {"count",
     R"(Example: tandem count shop/ orders "state = 'open'" --as-of 2024-06-30T00:00:00Z

Prints the number of rows that satisfy a predicate.
         tandem count shop/ orders --by state --sum total::int64 --max total::int64
Of groups of rows: a line for each value of the columns, with what is asked for.
)"},
    {"dump",
     R"(Example: tandem dump shop/store-7 --section cells --prefix 2026-01

Prints what files hold, damaged ones too, without a database around them.
  store file   header, schema, statistics, sections, blocks, cells, histograms
  log segment  header, frames, operations
  manifest     header, frames, edits, state, summary
  ROOT         header, slots        backup-N     header, record, state
csv and tsv hold one kind of records: choose by --section or --records.
)"},
    {"manifest",
     R"(Example: tandem manifest diff shop-friday/ shop/

Prints what is in one catalog only, or not the same in both: tables, families, indexes,
regions, files, log segments, counters.
)"},
    {"verify",
     R"(Example: tandem verify shop/ --deep

Checks every byte of a database or of one file of it against its checksums; of a
database that does not open every file by itself. Exit 8 and a line for each finding
when there is damage, with what it costs. Writes nothing.
  nothing  a second copy, padding, a group of the log that a crash cut off
  derived  an index, a filter, hashes: rows are whole, a merge makes it again
  access   what leads to rows; they may be whole, and salvage looks for them
  rows     rows or operations of the log are damaged or gone
)"},
    {"flush",
     R"(Example: tandem flush shop/

Writes what is in memory and in the log to store files.
)"},
    {"compact",
     R"(Example: tandem compact shop/ orders --dry-run

Merges the files of each region of a table into one. --dry-run prints for each region
what that would read, write and need in passing, what is due in the background, and which
files go unread because all their cells have expired.
)"},
    {"split",
     R"(Example: tandem split shop/ orders --dry-run

Cuts a region of a table in two: at a key, or at the row in the middle of the largest
region. No row is written: both halves share the region's files until merges rewrite them.
A region above 4 GiB is split without being asked.
)"},
    {"merge-regions",
     R"(Example: tandem merge-regions shop/ orders --dry-run

Makes two neighbouring regions of a table one: those of --key or --region, or the two that
hold the least. No row is written: the region takes over the files of both. Regions that
were split for their size and have become small are merged without being asked.
)"},
    {"drop",
     R"(Example: tandem drop shop/ old-orders --yes

Removes a table with all its rows and indexes, for good. On a terminal it asks first;
elsewhere nothing is dropped without --yes.
)"},
    {"truncate",
     R"(Example: tandem truncate shop/ sessions --yes

Removes all rows of a table, for good. Its definition and its regions stay. On a terminal
it asks first; elsewhere nothing is removed without --yes.
)"},
    {"rename",
     R"(Example: tandem rename shop/ orders orders-2025

Gives a table another name, which no other table has. No row is written.
)"},
    {"alter",
     R"(Example: tandem alter shop/ orders --column d:total:int64

Sets the type that conditions on a column have from now on. Stored values stay as they
are; one that is not of the type counts as absent. It needs no index, and no index changes
it. A single condition is cast by itself: "total::int64 < 10".
--key declares the row key: any of a table without cells, see create. Of one with rows what
leads the keys may change, such as N of a salt. Rows keep their keys, and each read looks for
those of all declarations, until rewrite-keys has moved the rows.
)"},
    {"family",
     R"(Example: tandem family add shop/ orders audit,versions=3
         tandem family alter shop/ orders audit,versions=1,ttl=30d --yes
         tandem family drop shop/ orders audit --yes

add gives a table another family. alter changes what is named: compression and block size
for files that are written from now on; versions and ttl at once. More versions and a
longer ttl hold for what is visible now and comes later: what was cut or has expired does
not come back (ttl=0s: cells never vanish). drop takes the family with its cells, and
rows that had no others; indexes over its columns have to be dropped before. Where cells
are lost, the verb asks first; elsewhere than at a terminal --yes is needed. Snapshots
that a program holds go on with what they had.
)"},
    {"observers",
     R"(Example: tandem observers shop/ orders
         tandem observers shop/ orders audit totals
         tandem observers shop/ orders --none

Lists, sets or takes off the observers of a table: code of the program that owns the
database, known here by name alone. It is asked before each write and told after it, and
may hide what reads return. Where an observer is not registered, writes are refused; so
they are by this program, whose reads show what is stored. No program loads a table in
bulk, or attaches to it, while it has observers. Off means off: what an observer
maintained, such as counters, is no longer kept up to date.
)"},
    {"index",
     R"(Example: tandem index create shop/ orders by_total=d:total:int64
         tandem index create shop/ orders "by_state_at=state, at::timestamp DESC"
         tandem index create shop/ orders "open_by_at=at::timestamp WHERE state = 'open'"
         tandem index stats shop/ orders
         tandem index advise shop/ orders slow.jsonl

create adds an index to a table with data and ends at once: queries are right from then
on. Files from before are read whole until they are copied with the index, which build
waits for; a program that has the database open does it in the background. --rate limits
what build reads a second; Ctrl-C ends it, and what is done stays. An index whose type is
not that of its column serves conditions that are cast: "total::int64 < 10"; see alter.
WHERE makes it partial: it leaves out rows that do not satisfy the predicate, and serves
queries whose conditions imply it. INCLUDE (phone, d:size) keeps cells of other columns
in it: a query that --selects these reads no row for what lies in one file alone. A unique
one, "unique by_mail=d:mail", refuses writes after which two rows would have the same
value; where the table has rows, build lists duplicates first, with exit 5 if there are.
A global one, "global by_mail=d:mail" or --global, has the entries of all regions in one
place: for values of few rows in a table of many regions. A write that touches its columns
reads them first. It serves queries when it is built, which list and build tell.
drop removes an index; its bytes go as files are merged. list shows how many files are
without each index, how many bytes of them are left to read, about how long that takes,
and how many rows have a cell of the column and no entry: a value that does not fit, or a
delete marker; build says how to list them. verify compares indexes with their rows, entry
by entry; it takes DB [TABLE [NAME]], or FILE [NAME] of one store file.
stats reads the indexes of files whole; rows in memory do not count: flush first. values
above 65,535 are an estimate (0.4 %). block_changes is how often the row of the next entry
lies in another data block: about blocks where rows lie in the order of the index, up to
entries where they lie at random. included_bytes are a part of bytes. stats --cost indexes
some rows again: what a row takes in a file, and how long a flush works on it, beside an index
over the first column alone.
advise reads queries, those of a log (query --slow-log) or a predicate a line, and says
which indexes would help them: their size, made from the rows without building them, and
the data blocks that all runs together would not read, the first index without the others.
Queries that none would help come with why. Rows in memory do not count: flush first.
)"},
    {"clock",
     R"(Example: tandem clock shop/ --accept

Prints what the database makes of the wall clock: 'right'; 'behind', when it is more than
a minute before the database's time, which waits for it and never goes back; 'doubted',
when it is more than a year ahead of the last time that the database saw, or jumped by a
day while it was open. While it is doubted nothing expires, and writes get the last
timestamp + 1 microsecond. With --accept the clock is right as it is: what is older than
its family's ttl by that clock expires, and cannot come back.
)"},
    {"snapshot",
     R"(Example: tandem snapshot create shop/ before-migration
         tandem count shop/ orders "state = 'open'" --snapshot before-migration
         tandem snapshot list shop/

create keeps the state of the tables, or of all, under a name, for any later process. It
costs one flush and a line of the catalog, and then what the tables drop or rewrite and
the snapshot still has: own_bytes of list, what drop frees. get, scan, query, explain,
count and export read it by --snapshot; tables have the names and definitions that they
had, dropped ones too. drop asks first; elsewhere than at a terminal --yes is needed.
)"},
    {"copy-table",
     R"(Example: tandem copy-table shop/ visits visits2 --key 'salt(16), user:text, at:timestamp'
         tandem copy-table shop/ old new --from-key 'user:text, n:int64' --key 'n:int64, user:text'

Makes a table of the same families and indexes whose row keys have the same fields in
another design, and copies all rows with all versions. Both are compared by rows, cells
and a digest. A row whose key does not have the fields ends the copy, and nothing of it
is left. The database is locked meanwhile, so nobody writes.
)"},
    {"rewrite-keys",
     R"(Example: tandem alter shop/ visits --key 'salt(32), user:text, at:timestamp desc'
         tandem rewrite-keys shop/ visits --rate 20MiB

Moves rows that have a former row key of the table to the one that alter --key has declared,
with all versions and their timestamps, each by one write. When none is left, the former keys
are forgotten, and reads look for one key again. What was moved stays so if it is interrupted
or killed, and the next run goes on. A program does the same by Database::RewriteKeys, beside
its readers and writers.
)"},
    {"sequence",
     R"(Example: tandem sequence create shop/ order-ids --first 1000
         tandem sequence next shop/ order-ids 50
         tandem sequence list shop/

A sequence of the database gives out each of its ids once, from --first to --last, also
when the process is killed. next takes COUNT of them, which follow one another, and prints
the first and the last. Ids may be left out: those that a process took ahead and did not
use. A restored backup goes on where the backup was taken: what was given out later comes
again there. drop asks first; elsewhere than at a terminal --yes is needed.
)"},
    {"checkpoint",
     R"(Example: tandem checkpoint shop/ shop-friday/

Makes a database of its own that is this one as of now, beside a live writer too. Files
are shared by hard links where both lie on one file system, otherwise copied and
verified. Neither disturbs the other. DEST must not exist.
)"},
    {"backup",
     R"(Example: tandem backup shop/ /mnt/backups/shop --keep 14

Adds a backup of this moment to a directory: only files that no backup there has yet
are copied, each verified. Works beside a live writer and on a read-only file system.
)"},
    {"restore",
     R"(Example: tandem restore /mnt/backups/shop shop/ --at 3
         tandem restore /mnt/backups/shop --list

Makes DEST the database as a backup has it, after every byte was verified. A backup
that is damaged is refused (exit 4); --verify lists all damage (exit 8).
)"},
    {"attach",
     R"(Example: tandem attach shop/ orders-friday/ --table orders

Adds the rows that 'tandem export --files' wrote to a table, all or none, after every
byte was verified. Families are matched by name; the table's own indexes are made for
them. DIR is not changed, and not needed afterwards.
)"},
    {"restore-table",
     R"(Example: tandem restore-table shop/ shop-friday/ orders --as orders-friday
         tandem restore-table shop/ /mnt/backups/shop orders --at 3

Adds one table of a checkpoint, of another database or of a backup, with its indexes
and its latest rows, all or none, after every byte was verified. Refused (exit 5) where
a table of that name is there: drop or rename it first, or say --as.
)"},
    {"export",
     R"(Example: tandem export shop/ orders -o orders.jsonl
         tandem export shop/ orders | tandem import copy/ orders - --format jsonl
         tandem export shop/ orders --files orders-friday/

Writes every family, column and version of a table's rows, with their timestamps, so
that import into a table of the same families reads them back, byte for byte.
--files DIR makes a database of this table alone instead, which 'tandem attach' takes.
  jsonl  {"row":R,"cells":[{"family":F,"column":C,"timestamp":T,"value":V},...]} a row;
         NAME_b64 for bytes that are no plain text; of a row of more than 1 MiB several,
         all but the last with "continues":true
  csv    row,family,column,timestamp,value: a line a cell, bytes that are no plain text
  tsv    and backslashes as \xNN
)"},
    {"salvage",
     R"(Example: tandem salvage shop/ rescued/ --output jsonl > lost.jsonl

Copies all that can be proved good out of a damaged database into a new one, and
lists the rest. Works without ROOT and without a manifest; never writes to DB.
  lost       rows by file, table, region, family, ordinals and keys; lost-row tells
             what indexes, key hashes and other families still know of each
  uncertain  keys where newer rows are lost, a deletion may be among them: the copy
             shows older data there
  log-hole   where the log breaks off, and how much lies behind; also a last group that
             a crash may have torn
  lost-snapshot  a named snapshot; salvage copies none
  orphan     a file that the catalog does not name
  repaired   damage that cost nothing: indexes, filters, second copies
Exit 0 when nothing was lost, 8 when something was.
)"},
    {"stress",
     R"(Example: tandem stress /tmp/stress --kill --threads 8 --duration 10m

Reads and writes a database of its own at random and compares every answer with what
it has to be. Prints the seed and the command that repeats the run first, what was
done last. An answer that is wrong, or that does not come within --hang-limit, ends the
run: exit 8, and the database stays in DIR/db. What else stops it is exit 1.
  threads (the default)  each writes rows of its own and reads all; mirrored tables,
                         indexes against scans, held snapshots, bulk loads,
                         truncations, named snapshots, tables as files, ids, verify
  --kill     the same in a child process that is killed and started again
  --crash    on a simulated disk that loses power and keeps a part of what was not
             synced; one thread, repeated exactly by its seed
  --faults   on a simulated disk that fails, fills up and is well again
DIR/operations says what was done; 'tandem replay' runs it again, but for threads.
)"},
    {"simulate",
     R"(Example: tandem simulate --splits hex:16 --generator hash+id --keys 100000000
         tandem simulate --splits auto:16 --generator sequence --window 10s

Sends keys to the regions of a table that does not exist and prints, for each window of
time, how many the regions got: gini is 0 where all got the same and near 1 where one got
all; ratio is most by least. Regions are counted from 1. Generators:
  sequence, reverse        an id in 12 digits; its digits backwards
  hash+id                  8 hex digits of the id's hash, then the id
  mod+id:N[:M]             id mod N, and id / N mod M, then the id
  salt+time:N              the time's hash mod N, then the time in 16 digits
  random-salt+time:N       a random number below N instead, which no reader can compute
  user+time:N[:EXPONENT]   one of N users, Zipf with an exponent, then the time
  zipf:N[:EXPONENT]        one of N ids, Zipf
--command 'awk ...' is another: it prints a key a line.
)"},
    {"lint",
     R"(Example: tandem lint --database shop/ --table orders
         tandem lint --generator user+time:100000:1.1

Tells what is unwise about row keys, and about a table: a line for each finding.
  monotone        (warning) keys rise or fall with time: one region gets every write
  hot-range       (warning) keys that come at one time lie together
  long-keys       above 100 bytes (warning), above 16
  common-prefix   all keys begin with the same 8 bytes or more
  time-first      (warning) a typed row key begins with a time
  uneven-regions  (warning) one of several regions has more than half of the rows
  long-name       a column's name of 24 bytes or more is longer than its values
  same-rows       two families with small cells that nearly every row has both of
  read-together   two families that nearly every query of --queries reads both of
Keys come in their order of time; rows of a table as of their oldest cell. rising_share is
0.5 for random keys, and hottest_share 0.06 or a little more where they spread well.
Exit 8 when there is a warning.
)"},
    {"emulate",
     R"(Example: tandem emulate --generator hash+id --keys 100000000 --column name=20 --html a.html
         tandem emulate --generator sequence --beside hash+id --beside-splits hex:16

Puts rows into a table that does not exist, by the engine's own rules, and prints sizes of
regions and disk in bytes; written: by flushes and merges for each byte flushed; gini 0: all
regions are as large. A query of an index looks into each file and reads files_with_hits.
Flushes and merges take no time: a store that cannot keep up has more runs.
)"},
    {"replay",
     R"(Example: tandem replay /tmp/stress/operations --shrink

Runs recorded operations again, step by step the same. Exit 8 when an answer is wrong or
does not come.
)"},
};

}  // namespace

const char* ProgramHelp() {
  return R"(Example: tandem demo
         tandem query shop/ orders "state = 'open' AND total > 1000" --limit 5

Tandem keeps tables of rows and their indexes in one directory.
Usage: tandem VERB [options] PATH [arguments]

Start     demo, version  import Debian's package list and query it; print versions
Make      create, split-keys  make a table, and the database; where to cut it into regions
          import    read rows from jsonl, csv, tsv and files of Debian
          put, delete  write cells of a row; delete a row, a family, a column, a version
          sequence  ids that are given out once: create, next, drop, list
          drop, truncate, rename, copy-table, rewrite-keys  rows go; another name; other keys
          index, family, alter, observers  what comes and goes; types of columns; code asked
Look      info      tables, regions, files, indexes, memory
          regions, du  list regions; explain every byte of the directory
          get, scan  print one row; print rows in key order
          query, count  print, or count, the rows that satisfy a predicate
          explain   tell how a query is answered
Files     dump      print what files of a database hold, or say about one row
          manifest  compare the catalogs of two manifests
          verify    check every byte, and indexes against rows
Care      flush, compact  write memory to files; merge files
          split, merge-regions  cut a region in two; make two regions one
          clock     what the database makes of the wall clock; accept it
          snapshot, checkpoint  keep a state under a name; a copy of it that shares files
          backup, restore, restore-table  add to backups, list them; all or one table back
          export, attach  write rows as import reads them, or as files that attach adds
          salvage   copy what is good out of a damaged database
Measure   stress, replay  random work, kills, crashes and faults, all compared; run it again
          simulate, emulate, lint  what row keys do to regions, and files; what is unwise in them

PATH is the directory of a database, for dump and verify also one file of it.
Keys and values: text with \xNN for any byte, 0x.., base64:.., or @file for what a
file holds. Data goes to stdout, all else to stderr.

Options: -h, --help after any verb; --version; -v, --verbose tells what the engine logs
         --output table|jsonl|csv|tsv|raw for verbs that print data

Exit: 0 done, 1 failure, 2 usage, 3 not found, 4 corrupt, 5 refused, 6 locked,
      7 unknown version, 8 a check found something, 130 interrupted
)";
}

const char* VerbHelpText(std::string_view verb) {
  const auto found = std::ranges::find(kVerbs, verb, &VerbHelp::verb);
  return found == std::end(kVerbs) ? "" : found->text;
}

}  // namespace tandem::tools
