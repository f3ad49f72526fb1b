#include "spmd/launch.hpp"

#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "base/text.hpp"
#include "core/trace.hpp"
#include "interp/eval.hpp"
#include "ops/shard_map.hpp"
#include "ops/simplify.hpp"
#include <unisono/error.hpp>

namespace uni::spmd {

namespace {
std::atomic<i64> compiled{0};

using Coordinate = std::vector<i64>;
std::vector<Coordinate> coordinates(const Mesh& mesh) {
  std::vector<Coordinate> all;
  Coordinate at(mesh.axes().size(), 0);
  for (i64 d = 0; d < mesh.device_count(); ++d) {
    all.push_back(at);
    for (std::size_t i = at.size(); i-- > 0;) {
      if (++at[i] < mesh.axes()[i].size) break;
      at[i] = 0;
    }
  }
  return all;
}

// Which block of each dimension every device holds.
std::vector<std::vector<i64>> blocks_by_device(const Mesh& mesh, const P& spec, int rank) {
  std::vector<std::vector<i64>> all;
  for (const Coordinate& at : coordinates(mesh)) {
    std::vector<i64> blocks;
    for (int d = 0; d < rank; ++d) {
      i64 block = 0;
      for (const std::string& name : spec.axes(d))
        for (std::size_t a = 0; a < mesh.axes().size(); ++a)
          if (mesh.axes()[a].name == name) block = block * mesh.axes()[a].size + at[a];
      blocks.push_back(block);
    }
    all.push_back(std::move(blocks));
  }
  return all;
}

void copy_block(const runtime::Buffer& whole, const Dims& local, const std::vector<i64>& block, std::byte* out) {
  const Dims& global = whole.shape();
  const i64 item = itemsize(whole.dtype());
  const int rank = local.rank();
  if (local.count() == 0) return;
  const i64 row = local[rank - 1], rows = local.count() / row;
  std::vector<i64> at(static_cast<std::size_t>(rank), 0);
  for (i64 r = 0; r < rows; ++r) {
    i64 offset = 0;
    for (int d = 0; d < rank; ++d) {
      const auto i = static_cast<std::size_t>(d);
      offset = offset * global[d] + at[i] + block[i] * local[d];
    }
    std::memcpy(out + r * row * item, whole.data() + offset * item, static_cast<std::size_t>(row * item));
    for (int d = rank - 2; d >= 0; --d) {
      const auto i = static_cast<std::size_t>(d);
      if (++at[i] < local[d]) break;
      at[i] = 0;
    }
  }
}

bool only_leading_split(const P& spec) { return spec.dims().size() <= 1; }

runtime::Shards split(const runtime::BufferPtr& whole, const Mesh& mesh, const P& spec, const Dims& local) {
  const int rank = local.rank();
  const auto blocks = blocks_by_device(mesh, spec, rank);
  const i64 bytes = local.count() * itemsize(whole->dtype());
  runtime::Shards shards;
  const bool views = only_leading_split(spec);
  runtime::Handle<runtime::Storage> storage =
      views ? whole->storage() : detail::make_handle<runtime::Storage>(bytes * mesh.device_count());
  for (std::size_t d = 0; d < blocks.size(); ++d) {
    const i64 offset = views ? whole->offset() + blocks[d][0] * bytes : static_cast<i64>(d) * bytes;
    if (!views) copy_block(*whole, local, blocks[d], storage->data() + offset);
    shards.push_back(detail::make_handle<runtime::Buffer>(storage, offset, whole->dtype(), local, mesh.devices()[d]));
  }
  return shards;
}
}  // namespace

runtime::Shards place(const Array& a, const Mesh& mesh, const P& spec) {
  const core::Concrete* c = core::concrete(a);
  const int rank = a.rank();
  if (c && !c->donated && c->mesh.device_count() == mesh.device_count() && c->mesh.device_count() > 1 &&
      c->mesh.devices() == mesh.devices() &&
      ((c->mesh == mesh && c->spec == spec) ||
       (blocks_by_device(c->mesh, c->spec, rank) == blocks_by_device(mesh, spec, rank) &&
        c->shards[0]->shape() == ops::local_type(c->type, spec, mesh).shape)))
    return c->shards;
  const runtime::BufferPtr whole = core::whole_buffer(a);
  if (spec.dims().empty()) return runtime::Shards(static_cast<std::size_t>(mesh.device_count()), whole);
  return split(whole, mesh, spec, ops::local_type(core::type_of(a), spec, mesh).shape);
}

Arrays Launchable::run(Arrays args, std::span<const std::uint8_t> donate, const std::string& where) const {
  std::vector<runtime::Shards> shards;
  shards.reserve(args.size());
  for (std::size_t i = 0; i < args.size(); ++i) shards.push_back(place(args[i], local_.mesh, local_.in[i]));
  std::vector<std::uint8_t> taken(args.size(), 0);
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (donate.empty() || !donate[i]) continue;
    auto* node = static_cast<core::Concrete*>(args[i].node());
    if (node->use_count() > 2) continue;  // besides the caller's and this one another handle lives
    node->donated = true;
    node->donated_where = where;
    node->shards.clear();
    taken[i] = 1;
  }
  std::vector<runtime::Shards> results = executable_->execute(std::move(shards), taken);
  Arrays out;
  out.reserve(results.size());
  for (std::size_t i = 0; i < results.size(); ++i)
    out.push_back(core::make_array<core::Concrete>(out_[i], local_.mesh, local_.out[i], std::move(results[i])));
  return out;
}

detail::Handle<Launchable> compile(const ir::Program& program) {
  static std::mutex mutex;
  static auto* const cache = new std::unordered_map<std::string, detail::Handle<Launchable>>;
  constexpr std::size_t max_entries = 1024;
  runtime::Client& client = runtime::default_client();
  const std::string key = base::cat(client.platform(), " ", ir::fingerprint(program));
  {
    const std::lock_guard lock(mutex);
    if (const auto it = cache->find(key); it != cache->end()) return it->second;
  }
  runtime::LocalProgram local = localize(ops::simplify(program));
  ir::Types out = program.output_types();
  for (ir::Type& t : out) t.varying.clear();
  auto executable = client.compile(local);
  auto launchable = detail::make_handle<Launchable>(std::move(local), std::move(out), std::move(executable));
  ++compiled;
  const std::lock_guard lock(mutex);
  if (cache->size() >= max_entries) cache->clear();
  return cache->insert_or_assign(key, launchable).first->second;
}

i64 compile_count() { return compiled; }

}  // namespace uni::spmd

namespace uni::interp {
Arrays launch(const ir::Program& program, std::span<const Array> args) {
  return spmd::compile(program)->run(Arrays(args.begin(), args.end()), {}, "");
}
}  // namespace uni::interp
