// The outcome of an operation. Status says what went wrong and what the caller can do about it;
// Result<T> is a value or a Status. An OK Status costs no allocation, and copying one never does.
//
// Threads: both are values; copies of one Status may be used by several threads at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)

namespace tandem {

/// Each code tells the caller what to do; the message tells a person what happened and where.
enum class StatusCode : uint8_t {
  kOk = 0,
  kInvalidArgument,  ///< The call can never succeed as made; fix the argument.
  kNotFound,         ///< A named thing (table, family, index, database) does not exist.
  kAlreadyExists,    ///< A named thing, or a value of a unique index, exists already.
  kCorruption,       ///< Bytes on disk are not what was written; the message names file and offset.
  kIoError,          ///< The operating system refused a read, write or sync.
  kNoSpace,          ///< The disk is full; the write may be retried when space returns.
  kOutOfMemory,      ///< An allocation failed.
  kBusy,             ///< In use elsewhere, or the write would have to wait.
  kConflict,         ///< The write contradicts data already there.
  kOverBudget,       ///< The query would pass the budget it was given.
  kCancelled,        ///< The caller asked to stop.
  kUnsupported,      ///< This build does not know a version, feature or size of the data.
  kReadOnly,         ///< The database accepts no writes; the message says why.
  kClosed,           ///< The database that the object belongs to was closed.
  kUnavailable,      ///< The system lacks descriptors or was interrupted; retry.
};

/// The name of a code as in the enumeration, without the `k`: "NotFound".
std::string_view StatusCodeName(StatusCode code);

/// Move and copy are cheap: copies share one immutable message.
class [[nodiscard]] Status {
 public:
  Status() = default;  ///< OK.
  Status(StatusCode code, std::string message)
      : state_(std::make_shared<const State>(State{code, std::move(message)})) {}

  static Status InvalidArgument(std::string m) {
    return {StatusCode::kInvalidArgument, std::move(m)};
  }
  static Status NotFound(std::string m) { return {StatusCode::kNotFound, std::move(m)}; }
  static Status AlreadyExists(std::string m) { return {StatusCode::kAlreadyExists, std::move(m)}; }
  static Status Corruption(std::string m) { return {StatusCode::kCorruption, std::move(m)}; }
  static Status IoError(std::string m) { return {StatusCode::kIoError, std::move(m)}; }
  static Status NoSpace(std::string m) { return {StatusCode::kNoSpace, std::move(m)}; }
  static Status OutOfMemory(std::string m) { return {StatusCode::kOutOfMemory, std::move(m)}; }
  /// Allocates nothing.
  static Status OutOfMemory();
  static Status Busy(std::string m) { return {StatusCode::kBusy, std::move(m)}; }
  static Status Conflict(std::string m) { return {StatusCode::kConflict, std::move(m)}; }
  static Status OverBudget(std::string m) { return {StatusCode::kOverBudget, std::move(m)}; }
  static Status Cancelled(std::string m) { return {StatusCode::kCancelled, std::move(m)}; }
  static Status Unsupported(std::string m) { return {StatusCode::kUnsupported, std::move(m)}; }
  static Status ReadOnly(std::string m) { return {StatusCode::kReadOnly, std::move(m)}; }
  static Status Unavailable(std::string m) { return {StatusCode::kUnavailable, std::move(m)}; }
  static Status Closed(std::string m) { return {StatusCode::kClosed, std::move(m)}; }

  bool ok() const { return state_ == nullptr; }
  StatusCode code() const { return state_ == nullptr ? StatusCode::kOk : state_->code; }
  /// Empty for OK. Lifetime: as long as this Status or a copy of it.
  std::string_view message() const {
    return state_ == nullptr ? "" : std::string_view(state_->message);
  }
  /// "OK", or "NotFound: table 'x' does not exist".
  std::string ToString() const;

  /// Drops the status on purpose; `reason` is for the reader of the code.
  void Ignore(std::string_view reason) const { (void)reason; }

 private:
  struct State {
    StatusCode code;
    std::string message;
  };
  std::shared_ptr<const State> state_;
};

namespace internal {
/// Print what a Result holds instead on standard error, and end the process.
[[noreturn]] void EndWithoutValue(const Status& error);
[[noreturn]] void EndWithoutError();
}  // namespace internal

/// A value, or the Status that explains why there is none. Members are spelled as in std::expected.
/// To access what is not there is a mistake in the program: the error is printed on standard error
/// and the process ends.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : has_value_(true), value_(std::move(value)) {}
  /// Requires: `status` is not OK.
  Result(Status status) : has_value_(false), error_(std::move(status)) {}
  Result(Result&& other) noexcept(std::is_nothrow_move_constructible_v<T>)
      : has_value_(other.has_value_) {
    Construct(std::move(other));
  }
  Result(const Result& other) requires std::is_copy_constructible_v<T>
      : has_value_(other.has_value_) {
    Construct(other);
  }
  Result& operator=(Result other) noexcept {
    static_assert(std::is_nothrow_move_constructible_v<T>);
    Destroy();
    has_value_ = other.has_value_;
    Construct(std::move(other));
    return *this;
  }
  ~Result() { Destroy(); }

  bool has_value() const { return has_value_; }
  explicit operator bool() const { return has_value(); }
  /// Requires: has_value(). Lifetime of a reference: as long as this Result.
  T& value() & { return *Held(); }
  const T& value() const& { return *Held(); }
  /// By value, so that the range of `for (auto& x : *F())` lives as long as the loop.
  T value() && { return std::move(*Held()); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  /// Requires: !has_value().
  const Status& error() const {
    if (has_value_) internal::EndWithoutError();
    return error_;
  }
  /// The error, or OK if there is a value.
  Status status() const { return has_value() ? Status() : error(); }

 private:
  T* Held() { return const_cast<T*>(std::as_const(*this).Held()); }
  const T* Held() const {
    if (!has_value_) internal::EndWithoutValue(error_);
    return std::addressof(value_);
  }
  // Requires: has_value_ is that of `other`, and nothing is held.
  template <typename Other>
  void Construct(Other&& other) {
    if (has_value_) {
      std::construct_at(std::addressof(value_), std::forward<Other>(other).value_);
    } else {
      std::construct_at(&error_, std::forward<Other>(other).error_);
    }
  }
  void Destroy() {
    if (has_value_) {
      std::destroy_at(std::addressof(value_));
    } else {
      std::destroy_at(&error_);
    }
  }

  // By hand: a std::variant for each T took an eighth of the time to compile what uses many.
  bool has_value_;
  union {
    T value_;
    Status error_;
  };
};

}  // namespace tandem

#pragma GCC visibility pop
