#include "runtime/client.hpp"

#include <atomic>
#include <cstdlib>

#include "base/text.hpp"
#include "runtime/memory.hpp"
#include <unisono/error.hpp>

namespace uni::runtime {

Storage::Storage(i64 bytes) : data_(take_memory(bytes)), bytes_(bytes), owned_(true) {
  if (!data_) throw ExecutionError(base::cat("out of memory: an array of ", bytes, " bytes cannot be allocated"));
}

Storage::Storage(std::byte* data, i64 bytes, std::shared_ptr<const void> owner)
    : data_(data), bytes_(bytes), owner_(std::move(owner)) {}

Storage::~Storage() {
  if (owned_) give_memory(data_, bytes_);
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
