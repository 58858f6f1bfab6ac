// The calls of the API on sequences.
#include "base/status_macros.h"
#include "engine/engine_impl.h"

namespace tandem::engine {

Status EngineImpl::CreateSequence(const SequenceOptions& options) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  return sequences_->Create(options);
}

Status EngineImpl::DropSequence(std::string_view name) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  return sequences_->Drop(name);
}

Result<std::vector<SequenceInfo>> EngineImpl::ListSequences() {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  return sequences_->List();
}

Result<uint64_t> EngineImpl::NextIds(std::string_view sequence, uint64_t count) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  return sequences_->Next(sequence, count);
}

}  // namespace tandem::engine
