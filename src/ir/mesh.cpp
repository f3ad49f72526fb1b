#include <unisono/mesh.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "base/text.hpp"
#include <unisono/error.hpp>

namespace uni {

namespace {
constexpr int default_devices = 8;
std::atomic<int>& configured_devices() {
  static std::atomic<int> count = [] {
    const char* text = std::getenv("UNISONO_DEVICES");
    const int n = text ? std::atoi(text) : default_devices;
    return n > 0 ? n : default_devices;
  }();
  return count;
}
std::vector<std::string> axis_names(const Mesh& mesh) {
  std::vector<std::string> names;
  for (const MeshAxis& a : mesh.axes()) names.push_back(a.name);
  return names;
}
}  // namespace

int device_count() { return configured_devices(); }
void set_device_count(int count) {
  if (count < 1)
    throw ShardingError(base::cat("set_device_count: ", count, " devices asked for; at least 1 is needed"));
  configured_devices() = count;
}

bool Mesh::has(const std::string& name) const {
  for (const MeshAxis& a : axes())
    if (a.name == name) return true;
  return false;
}

i64 Mesh::size(const AxisName& name) const {
  i64 product = 1;
  for (const std::string& n : name.names()) {
    const MeshAxis* found = nullptr;
    for (const MeshAxis& a : axes())
      if (a.name == n) found = &a;
    if (!found)
      throw ShardingError(
          base::cat("mesh ", to_string(*this), " has no axis \"", n, "\"", base::did_you_mean(n, axis_names(*this))));
    product *= found->size;
  }
  return product;
}

namespace {
std::string sizes(const std::vector<MeshAxis>& axes) {
  std::string out = "(";
  for (std::size_t i = 0; i < axes.size(); ++i) out += base::cat(i ? ", " : "", axes[i].name, "=", axes[i].size);
  return out + ")";
}
i64 checked_count(const std::vector<MeshAxis>& axes) {
  i64 count = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].name.empty()) throw ShardingError("make_mesh: axis " + std::to_string(i) + " has an empty name");
    if (axes[i].size < 1)
      throw ShardingError(base::cat("make_mesh: axis \"", axes[i].name, "\" has size ", axes[i].size));
    for (std::size_t j = 0; j < i; ++j)
      if (axes[j].name == axes[i].name)
        throw ShardingError(base::cat("make_mesh: axis name \"", axes[i].name, "\" appears twice"));
    if (__builtin_mul_overflow(count, axes[i].size, &count) || count > std::numeric_limits<int>::max())
      throw ShardingError(base::cat("make_mesh: mesh ", sizes(axes), " has too many devices"));
  }
  return count;
}
}  // namespace

const Mesh::Lists& Mesh::no_lists() {
  static const auto* const none = new Lists;  // static arrays have meshes
  return *none;
}

Mesh::Mesh(std::vector<MeshAxis> axes, std::vector<int> devices) {
  const i64 count = checked_count(axes);
  if (count != static_cast<i64>(devices.size()))
    throw ShardingError(base::cat("make_mesh: mesh ", sizes(axes), " needs ", count, " devices, ", devices.size(),
                                  devices.size() == 1 ? " was named" : " were named"));
  std::vector<int> sorted = devices;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    throw ShardingError(base::cat("make_mesh: mesh ", sizes(axes), " names device ", *twice, " twice"));
  if (!sorted.empty() && sorted[0] < 0)
    throw ShardingError(base::cat("make_mesh: mesh ", sizes(axes), " names device ", sorted[0]));
  lists_ = std::make_shared<const Lists>(Lists{std::move(axes), std::move(devices)});
}

Mesh make_mesh(const std::vector<MeshAxis>& axes) {
  std::vector<int> devices(static_cast<std::size_t>(checked_count(axes)));
  std::iota(devices.begin(), devices.end(), 0);
  return make_mesh(axes, devices);
}

Mesh make_mesh(const std::vector<MeshAxis>& axes, const std::vector<int>& devices) {
  Mesh mesh(axes, devices);
  for (int d : devices)
    if (d >= device_count())
      throw ShardingError(base::cat("make_mesh: mesh ", to_string(mesh), " needs device ", d, "; there are ",
                                    device_count(), " devices\nfix: set_device_count(",
                                    *std::max_element(devices.begin(), devices.end()) + 1, ")"));
  return mesh;
}

std::string to_string(const Mesh& mesh) { return sizes(mesh.axes()); }

const std::vector<std::string>& P::axes(int dim) const {
  static const std::vector<std::string> nothing;
  return dim < static_cast<int>(dims_.size()) ? dims_[static_cast<std::size_t>(dim)].names() : nothing;
}

std::string to_string(const P& spec) {
  std::string out = "P(";
  for (std::size_t i = 0; i < spec.dims().size(); ++i) {
    if (i) out += ", ";
    const auto& names = spec.dims()[i].names();
    if (names.empty()) out += "none";
    if (names.size() > 1) out += '{';
    for (std::size_t k = 0; k < names.size(); ++k) out += base::cat(k ? ", " : "", "\"", names[k], "\"");
    if (names.size() > 1) out += '}';
  }
  return out + ")";
}

}  // namespace uni
