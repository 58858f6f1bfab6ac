// zstd with one context per thread; the only file that includes zstd.h.
#include "format/compression.h"

#include <zstd.h>

#include <memory>

namespace tandem::format {
namespace {

constexpr int kLevel = 1;

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};
using CompressionContext = std::unique_ptr<ZSTD_CCtx, FreeContext>;
using DecompressionContext = std::unique_ptr<ZSTD_DCtx, FreeContext>;

// A context takes 100 KiB to 1 MiB, and longer to create than a block takes to (de)compress, so
// each thread keeps its own.
struct Kept {
  ~Kept();
  CompressionContext compression;
  DecompressionContext decompression;
};

// What a thread keeps goes before objects of static storage, and one of these may be a database.
thread_local bool is_gone = false;  // No destructor: it can be read until the end.

Kept::~Kept() { is_gone = true; }

// nullptr: the thread's are gone, and each call has one of its own.
Kept* KeptByThread() {
  if (is_gone) [[unlikely]]
    return nullptr;
  static thread_local Kept kept;
  return &kept;
}

// Those of `kept`, or in `*own`. nullptr when memory is short.
ZSTD_CCtx* ContextOf(Kept* kept, CompressionContext* own) {
  CompressionContext& context = kept == nullptr ? *own : kept->compression;
  if (context == nullptr) context.reset(ZSTD_createCCtx());
  return context.get();
}
ZSTD_DCtx* ContextOf(Kept* kept, DecompressionContext* own) {
  DecompressionContext& context = kept == nullptr ? *own : kept->decompression;
  if (context == nullptr) context.reset(ZSTD_createDCtx());
  return context.get();
}

}  // namespace

bool Compress(std::string_view raw, std::string* out) {
  const size_t limit = raw.size() - raw.size() / 8;
  if (limit == raw.size()) return false;  // Too short to become an eighth smaller.
  CompressionContext own;
  ZSTD_CCtx* const context = ContextOf(KeptByThread(), &own);
  if (context == nullptr) return false;
  out->resize(limit);
  const size_t size =
      ZSTD_compressCCtx(context, out->data(), out->size(), raw.data(), raw.size(), kLevel);
  if (ZSTD_isError(size)) return false;  // Does not fit, or no memory.
  out->resize(size);
  return true;
}

Status Decompress(std::string_view stored, std::span<char> raw) {
  const size_t frame = ZSTD_findFrameCompressedSize(stored.data(), stored.size());
  if (ZSTD_isError(frame)) return Status::Corruption("zstd frame is malformed");
  if (frame != stored.size()) {
    return Status::Corruption("zstd frame: expected " + std::to_string(stored.size()) +
                              " bytes, found " + std::to_string(frame));
  }
  DecompressionContext own;
  ZSTD_DCtx* const context = ContextOf(KeptByThread(), &own);
  if (context == nullptr) return Status::OutOfMemory("no memory for a zstd context");
  const size_t size =
      ZSTD_decompressDCtx(context, raw.data(), raw.size(), stored.data(), stored.size());
  if (ZSTD_isError(size)) {
    return Status::Corruption(std::string("zstd frame: ") + ZSTD_getErrorName(size));
  }
  if (size != raw.size()) {
    return Status::Corruption("decompressed size: expected " + std::to_string(raw.size()) +
                              ", found " + std::to_string(size));
  }
  return {};
}

}  // namespace tandem::format
