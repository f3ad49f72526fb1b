#include "runtime/client.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

#include "base/text.hpp"
#include <unisono/error.hpp>

namespace uni::runtime {

Storage::Storage(i64 bytes) : bytes_(bytes), owned_(true) {
  constexpr std::size_t alignment = 64;
  const std::size_t rounded = (static_cast<std::size_t>(bytes) + alignment - 1) / alignment * alignment;
  data_ = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded ? rounded : alignment));
  if (!data_) throw ExecutionError(base::cat("out of memory: an array of ", bytes, " bytes cannot be allocated"));
}

Storage::Storage(std::byte* data, i64 bytes, std::shared_ptr<const void> owner)
    : data_(data), bytes_(bytes), owner_(std::move(owner)) {}

Storage::~Storage() {
  if (owned_) std::free(data_);
}

namespace {
std::atomic<Client*>& chosen() {
  static std::atomic<Client*> client{nullptr};
  return client;
}
Client& from_environment() {
  const char* name = std::getenv("UNISONO_BACKEND");
  if (!name || std::string_view(name) == "native") return native_client();
  if (std::string_view(name) == "reference") return reference_client();
  throw Error(base::cat("UNISONO_BACKEND: unknown backend \"", name, "\"; there are \"native\" and \"reference\""));
}
}  // namespace

Client& default_client() {
  if (Client* client = chosen()) return *client;
  Client& client = from_environment();
  chosen() = &client;
  return client;
}

void set_default_client(Client& client) { chosen() = &client; }

}  // namespace uni::runtime
