// The observers of a database, and how their hooks are called: without a lock, on the thread of the
// operation. What they throw is caught here, and errors get the names of observer and hook.
//
// A thread knows which databases it runs hooks for. Reads inside a hook are not observed, and all
// other calls are refused; so no hook calls itself, and none waits for itself.
#pragma once

#include <exception>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fork_mark.h"
#include "format/schema.h"
#include "tandem/observer.h"
#include "tandem/status.h"

namespace tandem::engine {

using ObserverMap = std::map<std::string, std::shared_ptr<Observer>, std::less<>>;

/// Those of a database.
struct RegisteredObservers {
  ObserverMap by_name;
  std::shared_ptr<const base::ForkMark> fork_mark;
};

/// While it lives, its thread runs a hook for the database. Threads: one.
class HookScope {
 public:
  explicit HookScope(const void* database) : database_(database), outer_(innermost_) {
    innermost_ = this;
  }
  ~HookScope() { innermost_ = outer_; }
  HookScope(const HookScope&) = delete;
  HookScope& operator=(const HookScope&) = delete;

  static bool IsInside(const void* database);
  /// Of the calling thread; null outside hooks. Tests whose threads are fibers exchange it.
  static const HookScope*& innermost() { return innermost_; }

 private:
  static thread_local const HookScope* innermost_;

  const void* const database_;
  const HookScope* const outer_;
};

/// "observer 'audit' in BeforeWrite: ..." with the code of `status`.
Status FailedInHook(std::string_view observer, std::string_view hook, const Status& status);
/// kCancelled "observer 'audit' threw in BeforeWrite: ...".
Status ThrownInHook(std::string_view observer, std::string_view hook, std::string_view what);
/// kBusy "observer 'audit' forked in BeforeWrite: ...".
Status ForkedInHook(std::string_view observer, std::string_view hook);

/// The observers of one table in its order, as long as something needs them. Immutable.
class ObserverList {
 public:
  ObserverList() = default;
  ObserverList(const void* database, std::shared_ptr<const RegisteredObservers> all)
      : database_(database), all_(std::move(all)) {}

  void Add(const ObserverMap::value_type& observer) { observers_.push_back(&observer); }
  bool empty() const { return observers_.empty(); }
  size_t size() const { return observers_.size(); }

  /// Calls a hook of the observer in a place: `call` gets an Observer& and returns a Status.
  /// Errors: that of the hook; kBusy (it forked, and this is the child, which must not go on).
  template <typename Call>
  Status Ask(size_t place, std::string_view hook, Call&& call) const {
    const auto& [name, observer] = *observers_[place];
    const HookScope scope(database_);
    try {
      const Status status = call(*observer);
      if (all_->fork_mark->in_child()) [[unlikely]]
        return ForkedInHook(name, hook);
      if (status.ok()) return status;
      return FailedInHook(name, hook, status);
    } catch (const std::bad_alloc&) {
      return Status::OutOfMemory();
    } catch (const std::exception& thrown) {
      return ThrownInHook(name, hook, thrown.what());
    } catch (...) {
      return ThrownInHook(name, hook, "something that is no std::exception");
    }
  }
  /// Calls the hook of each, up to the first error.
  template <typename Call>
  Status AskAll(std::string_view hook, const Call& call) const {
    for (size_t i = 0; i < size(); ++i) {
      const Status status = Ask(i, hook, call);
      if (!status.ok()) return status;
    }
    return {};
  }

 private:
  const void* database_ = nullptr;
  std::shared_ptr<const RegisteredObservers> all_;  // Holds what the list names.
  std::vector<const ObserverMap::value_type*> observers_;
};

/// Those of a database by name. Threads: any.
class Observers {
 public:
  /// `database` stands for the database whose hooks they are.
  Observers(const void* database, const ObserverMap& by_name,
            const std::shared_ptr<const base::ForkMark>& fork_mark);

  bool empty() const { return all_ == nullptr; }
  /// The calling thread runs a hook of this database.
  bool IsInHook() const { return !empty() && HookScope::IsInside(database_); }
  /// kInvalidArgument inside a hook.
  Status CheckOutsideHooks() const;
  /// Those of the table that are registered, in its order.
  ObserverList Of(const format::TableRecord& table) const;
  /// kUnsupported if the table names one that is not registered.
  Status CheckRegistered(const format::TableRecord& table) const;

 private:
  const void* const database_;
  const std::shared_ptr<const RegisteredObservers> all_;  // Null: there are none.
};

}  // namespace tandem::engine
