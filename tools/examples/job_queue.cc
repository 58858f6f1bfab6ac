// A service that queues jobs over HTTP and keeps them in Tandem, so that no job is lost when it
// dies.
//
//   POST   /queues/NAME/messages[?delay=SECONDS]        the body is a message: 201 and its id
//   POST   /queues/NAME/lease[?visibility=SECONDS]      200: a message that is due, with the
//                                                       headers Message-Id, Receipt, Attempts; 204:
//                                                       none is
//   DELETE /queues/NAME/messages/ID?receipt=RECEIPT     the job is done: 204
//   GET    /queues/NAME                                 how many are due, and how many later
//   GET    /statistics                                  what the database counts
//
// A leased message is hidden for `visibility` seconds (30). Who did not acknowledge it by then may
// see it handed to somebody else, and its receipt is refused with 409. So a message is delivered at
// least once, and never again once its acknowledgement was answered with 204.
//
//   build/example_job_queue DIRECTORY [--port N] [--synced]
//
// What was answered survives kill -9; with --synced also a power failure, at the price of a sync.
#include <httplib.h>
#include <signal.h>
#include <tandem/tandem.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace {

using tandem::Result;
using tandem::Status;
using tandem::StatusCode;

constexpr size_t kBodyBytesMax = 1 << 20;
constexpr int64_t kMicrosPerSecond = 1'000'000;
constexpr int64_t kSecondsMax = 7 * 24 * 3600;
constexpr uint64_t kFoundAtOnce = 64;

int64_t NowMicros() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

/// nullopt: not a number from 0 to `most`, and nothing else.
std::optional<int64_t> ParseNumber(std::string_view text, int64_t most) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (number < 0 || number > most) return std::nullopt;
  return number;
}

struct Message {
  std::string id;
  std::string body;
  std::string receipt;
  int64_t attempts = 0;
};

struct QueueCounts {
  uint64_t due = 0;    ///< May be leased now.
  uint64_t later = 0;  ///< Leased or delayed.
};

/// A queue is a table: a row for each message under its id, and an index over the time from which
/// it may be leased. A lease moves that time into the future, an acknowledgement deletes the row.
///
/// The lease's end is its receipt: every later lease of the message ends later, so an old receipt
/// never fits again.
///
/// Threads: any. Finding a message and taking it is one step under the mutex.
class Queue {
 public:
  Queue(tandem::Database* database, std::string table, tandem::Durability durability)
      : database_(database), table_(std::move(table)), options_{.durability = durability} {}

  /// Makes the queue when it does not exist, and finds the last id in use.
  Status Open() {
    tandem::TableOptions table{.name = table_, .families = {{.name = "m"}}};
    table.indexes = {
        {.name = "due",
         .columns = {{.family = "m", .qualifier = "due", .type = tandem::ColumnType::kInt64}}}};
    const Status made = database_->CreateTable(table);
    if (!made.ok() && made.code() != StatusCode::kAlreadyExists) return made;
    auto newest = database_->Scan({}, table_, {.reverse = true, .limit = 1});
    if (!newest) return newest.error();
    if (newest->Next()) last_id_ = std::stoll(std::string(newest->row().key()), nullptr, 16);
    return newest->status();
  }

  /// The id of the new message. Ids rise, so that rows are in the order of their arrival.
  Result<std::string> Add(std::string_view body, int64_t delay_micros) {
    const std::lock_guard lock(mutex_);
    const int64_t now = NowMicros();
    last_id_ = std::max(last_id_ + 1, now);
    char id[17];
    std::snprintf(id, sizeof(id), "%016" PRIx64, last_id_);
    tandem::WriteBatch batch;
    batch.Put(table_, id, "m", "body", body);
    batch.Put(table_, id, "m", "due", std::to_string(std::max(now, oldest_due_) + delay_micros));
    if (Status status = database_->Write(options_, batch); !status.ok()) return status;
    return std::string(id);
  }

  /// The message that has been due for longest, hidden from now on; nullopt: none is due.
  Result<std::optional<Message>> Lease(int64_t visibility_micros) {
    const std::lock_guard lock(mutex_);
    const int64_t now = std::max(NowMicros(), oldest_due_);
    while (true) {
      if (due_.empty()) {
        if (Status status = FindDue(now); !status.ok()) return status;
      }
      if (due_.empty()) return std::optional<Message>();
      auto message = Take(due_.front(), now + std::max<int64_t>(visibility_micros, 1));
      if (!message) return message;  // It stays the first.
      due_.pop_front();
      if (message->has_value()) return message;
    }
  }

  /// Errors: kNotFound (there is no such message, or no more), kConflict (another receipt is
  /// valid).
  Status Acknowledge(std::string_view id, std::string_view receipt) {
    const std::lock_guard lock(mutex_);
    const auto row = database_->Get({.columns = {{"m", "due"}}}, table_, id);
    if (!row) return row.error();
    if (!row->has_value()) return Status::NotFound("no message " + std::string(id));
    if ((*row)->Find("m", "due") != receipt) {
      return Status::Conflict("the receipt is not, or no longer, that of message " +
                              std::string(id));
    }
    tandem::WriteBatch batch;
    batch.DeleteRow(table_, id);
    return database_->Write(options_, batch);
  }

  /// Both as of one point in time; answered from the index alone.
  Result<QueueCounts> Count() {
    auto snapshot = database_->TakeSnapshot();
    if (!snapshot) return snapshot.error();
    const tandem::ReadOptions read{.snapshot = &*snapshot};
    const std::string now = std::to_string(NowMicros());
    const auto due = database_->Count(read, table_, tandem::Predicate::LessOrEqual("due", now));
    if (!due) return due.error();
    const auto later = database_->Count(read, table_, tandem::Predicate::Greater("due", now));
    if (!later) return later.error();
    return QueueCounts{.due = *due, .later = *later};
  }

 private:
  struct Due {
    std::string id;
    std::string since;
  };

  // The next messages that are due, oldest first. All that was due before the last ones found was
  // taken: the index need not be searched from its beginning, where the entries of deleted messages
  // lie until they are compacted away.
  Status FindDue(int64_t now) {
    const auto range =
        tandem::Predicate::Between("due", std::to_string(oldest_due_), std::to_string(now));
    auto found = database_->Query({.columns = {{"m", "due"}}}, table_, range,
                                  {.order_by = "due", .limit = kFoundAtOnce});
    if (!found) return found.error();
    for (const tandem::RowView& row : *found) {
      due_.push_back({std::string(row.key()), std::string(row.Find("m", "due").value_or(""))});
    }
    if (!found->status().ok()) due_.clear();
    if (!due_.empty()) oldest_due_ = ParseNumber(due_.back().since, INT64_MAX).value_or(0);
    return found->status();
  }

  // nullopt: it was acknowledged since it was found.
  Result<std::optional<Message>> Take(const Due& due, int64_t hidden_until) {
    const auto row = database_->Get({}, table_, due.id);
    if (!row) return row.error();
    if (!row->has_value() || (*row)->Find("m", "due") != due.since) {
      return std::optional<Message>();
    }
    Message message{.id = due.id,
                    .body = std::string((*row)->Find("m", "body").value_or("")),
                    .receipt = std::to_string(hidden_until),
                    .attempts = 1};
    const auto attempts = (*row)->Find("m", "attempts").value_or("0");
    message.attempts += ParseNumber(attempts, INT32_MAX).value_or(0);
    tandem::WriteBatch batch;
    batch.Put(table_, message.id, "m", "due", message.receipt);
    batch.Put(table_, message.id, "m", "attempts", std::to_string(message.attempts));
    if (Status status = database_->Write(options_, batch); !status.ok()) return status;
    return std::optional<Message>(std::move(message));
  }

  tandem::Database* const database_;
  const std::string table_;
  const tandem::WriteOptions options_;
  std::mutex mutex_;
  int64_t last_id_ = 0;
  std::deque<Due> due_;  // Found, and not leased yet.
  // Every message that is due earlier is in due_, and no time that is given out is earlier.
  int64_t oldest_due_ = 0;
};

/// The queues of a database. Threads: any.
class Queues {
 public:
  Queues(tandem::Database* database, tandem::Durability durability)
      : database_(database), durability_(durability) {}

  /// Opens the queues that exist.
  Status Open() {
    auto info = database_->Info();
    if (!info) return info.error();
    for (const tandem::TableInfo& table : info->tables) {
      if (auto queue = Find(table.options.name, true); !queue) return queue.error();
    }
    return {};
  }

  /// Errors: kInvalidArgument (the name), kNotFound (unless `create`).
  Result<Queue*> Find(const std::string& name, bool create) {
    const bool is_plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '-' || c == '_';
    });
    if (!is_plain || name.empty() || name.size() > 64) {
      return Status::InvalidArgument(
          "the name of a queue is 1 to 64 letters, digits, hyphens and underscores");
    }
    const std::lock_guard lock(mutex_);
    if (const auto found = queues_.find(name); found != queues_.end()) return found->second.get();
    if (!create) return Status::NotFound("no queue " + name);
    auto queue = std::make_unique<Queue>(database_, name, durability_);
    if (Status status = queue->Open(); !status.ok()) return status;
    return (queues_[name] = std::move(queue)).get();
  }

 private:
  tandem::Database* const database_;
  const tandem::Durability durability_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Queue>> queues_;
};

using httplib::Request;
using httplib::Response;

/// An error as an answer: one line of text, and a code that says whose fault it is.
void Answer(const Status& error, Response* response) {
  switch (error.code()) {
    case StatusCode::kInvalidArgument:
      response->status = 400;
      break;
    case StatusCode::kNotFound:
      response->status = 404;
      break;
    case StatusCode::kConflict:
      response->status = 409;
      break;
    case StatusCode::kNoSpace:
      response->status = 507;
      break;
    case StatusCode::kBusy:
    case StatusCode::kReadOnly:
    case StatusCode::kClosed:
      response->status = 503;
      break;
    default:
      response->status = 500;
  }
  response->set_content(std::string(error.message()) + "\n", "text/plain");
}

/// The parameter in microseconds, or `otherwise` where it is not given.
Result<int64_t> Seconds(const Request& request, const char* name, int64_t otherwise) {
  if (!request.has_param(name)) return otherwise * kMicrosPerSecond;
  const auto seconds = ParseNumber(request.get_param_value(name), kSecondsMax);
  if (seconds) return *seconds * kMicrosPerSecond;
  return Status::InvalidArgument(std::string(name) + " is '" + request.get_param_value(name) +
                                 "', expected a number of seconds from 0 to " +
                                 std::to_string(kSecondsMax));
}

Status Add(Queues& queues, const Request& request, Response* response) {
  const auto delay = Seconds(request, "delay", 0);
  if (!delay) return delay.error();
  const auto queue = queues.Find(request.matches[1], true);
  if (!queue) return queue.error();
  const auto id = (*queue)->Add(request.body, *delay);
  if (!id) return id.error();
  response->status = 201;
  response->set_content("{\"id\":\"" + *id + "\"}\n", "application/json");
  return {};
}

Status Lease(Queues& queues, const Request& request, Response* response) {
  const auto visibility = Seconds(request, "visibility", 30);
  if (!visibility) return visibility.error();
  const auto queue = queues.Find(request.matches[1], false);
  if (!queue) return queue.error();
  const auto message = (*queue)->Lease(*visibility);
  if (!message) return message.error();
  response->status = message->has_value() ? 200 : 204;
  if (!message->has_value()) return {};
  response->set_header("Message-Id", (*message)->id);
  response->set_header("Receipt", (*message)->receipt);
  response->set_header("Attempts", std::to_string((*message)->attempts));
  response->set_content((*message)->body, "application/octet-stream");
  return {};
}

Status Acknowledge(Queues& queues, const Request& request, Response* response) {
  if (!request.has_param("receipt")) {
    return Status::InvalidArgument("the parameter 'receipt' is missing: a lease answers with it");
  }
  const auto queue = queues.Find(request.matches[1], false);
  if (!queue) return queue.error();
  response->status = 204;
  return (*queue)->Acknowledge(std::string(request.matches[2]), request.get_param_value("receipt"));
}

Status Count(Queues& queues, const Request& request, Response* response) {
  const auto queue = queues.Find(request.matches[1], false);
  if (!queue) return queue.error();
  const auto counts = (*queue)->Count();
  if (!counts) return counts.error();
  response->set_content("{\"due\":" + std::to_string(counts->due) +
                            ",\"later\":" + std::to_string(counts->later) + "}\n",
                        "application/json");
  return {};
}

std::string StatisticsJson(const tandem::Statistics& statistics) {
  std::string json;
  const auto add = [&json](const char* name, uint64_t value) {
    json += (json.empty() ? "{\"" : ",\"") + std::string(name) + "\":" + std::to_string(value);
  };
  add("batches", statistics.batches);
  add("queries", statistics.queries);
  add("flushes", statistics.flushes);
  add("compactions", statistics.compactions);
  add("stalls", statistics.stalls);
  add("stopped_writes", statistics.stopped.total().waiting);
  add("log_bytes", statistics.log_bytes);
  add("memstore_bytes", statistics.memory.memstore_bytes);
  return json + "}\n";
}

void Route(tandem::Database* database, Queues* queues, httplib::Server* server) {
  using Handler = Status (*)(Queues&, const Request&, Response*);
  const auto handle = [queues](Handler handler) {
    return [queues, handler](const Request& request, Response& response) {
      const Status status = handler(*queues, request, &response);
      if (!status.ok()) Answer(status, &response);
    };
  };
  server->Post("/queues/([^/]+)/messages", handle(Add));
  server->Post("/queues/([^/]+)/lease", handle(Lease));
  server->Delete("/queues/([^/]+)/messages/([^/]+)", handle(Acknowledge));
  server->Get("/queues/([^/]+)", handle(Count));
  server->Get("/statistics", [database](const Request&, Response& response) {
    response.set_content(StatisticsJson(database->GetStatistics()), "application/json");
  });
  // What no handler answered: a path that is none, a body that is too large, a broken request.
  server->set_error_handler([](const Request& request, Response& response) {
    if (!response.body.empty()) return;
    std::string text = "bad request";
    if (response.status == 400 && !request.has_header("Content-Length")) {
      response.status = 411;
      text = "the header Content-Length is missing; it is 0 where there is no body";
    }
    if (response.status == 404) text = "nothing is at " + request.method + " " + request.path;
    if (response.status == 413) text = "a message has at most 1048576 bytes";
    response.set_content(text + "\n", "text/plain");
  });
  server->set_payload_max_length(kBodyBytesMax);
  server->set_tcp_nodelay(true);
}

struct Arguments {
  std::string directory;
  int port = 0;  ///< 0: one that is free.
  tandem::Durability durability = tandem::Durability::kWritten;
};

std::optional<Arguments> Parse(int count, char** words) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(words[i], "--synced") == 0) {
      arguments.durability = tandem::Durability::kSynced;
    } else if (std::strcmp(words[i], "--port") == 0 && i + 1 < count) {
      const auto port = ParseNumber(words[++i], 65'535);
      if (!port) return std::nullopt;
      arguments.port = static_cast<int>(*port);
    } else if (words[i][0] == '-' || !arguments.directory.empty()) {
      return std::nullopt;
    } else {
      arguments.directory = words[i];
    }
  }
  if (arguments.directory.empty()) return std::nullopt;
  return arguments;
}

/// Serves until SIGTERM or SIGINT, which must be blocked in every thread, arrives.
Status Serve(const Arguments& arguments, const sigset_t& signals) {
  tandem::Options options;
  options.create_if_missing = true;
  options.memory_bytes = 32 << 20;
  auto database = tandem::Database::Open(arguments.directory, options);
  if (!database) return database.error();
  Queues queues(database->get(), arguments.durability);
  if (Status status = queues.Open(); !status.ok()) return status;

  httplib::Server server;
  Route(database->get(), &queues, &server);
  int port = arguments.port;
  if (port == 0) {
    port = server.bind_to_any_port("127.0.0.1");
  } else if (!server.bind_to_port("127.0.0.1", port)) {
    port = -1;
  }
  if (port <= 0) return Status::IoError("cannot listen on port " + std::to_string(arguments.port));
  std::thread listening([&server] { server.listen_after_bind(); });
  std::printf("listening on http://127.0.0.1:%d\n", port);
  std::fflush(stdout);

  int signal = 0;
  sigwait(&signals, &signal);
  server.stop();
  listening.join();
  return (*database)->Close();
}

}  // namespace

int main(int argument_count, char** words) {
  const auto arguments = Parse(argument_count, words);
  if (!arguments) {
    std::fprintf(stderr, "usage: %s DIRECTORY [--port N] [--synced]\n", words[0]);
    return 2;
  }
  // Before any thread starts: all of them inherit it, and sigwait alone takes the signals.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  const Status status = Serve(*arguments, signals);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
