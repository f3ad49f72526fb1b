#include <unisono/mesh.hpp>

#include <atomic>
#include <cstdlib>

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
  for (const MeshAxis& a : axes_)
    if (a.name == name) return true;
  return false;
}

i64 Mesh::size(const AxisName& name) const {
  i64 product = 1;
  for (const std::string& n : name.names()) {
    const MeshAxis* found = nullptr;
    for (const MeshAxis& a : axes_)
      if (a.name == n) found = &a;
    if (!found)
      throw ShardingError(
          base::cat("mesh ", to_string(*this), " has no axis \"", n, "\"", base::did_you_mean(n, axis_names(*this))));
    product *= found->size;
  }
  return product;
}

Mesh make_mesh(const std::vector<MeshAxis>& axes) {
  i64 count = 1;
  for (const MeshAxis& a : axes) count *= a.size;
  std::vector<int> devices;
  for (i64 i = 0; i < count; ++i) devices.push_back(static_cast<int>(i));
  return make_mesh(axes, devices);
}

Mesh make_mesh(const std::vector<MeshAxis>& axes, const std::vector<int>& devices) {
  Mesh mesh(axes, devices);
  i64 count = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].name.empty()) throw ShardingError("make_mesh: axis " + std::to_string(i) + " has an empty name");
    if (axes[i].size < 1)
      throw ShardingError(base::cat("make_mesh: axis \"", axes[i].name, "\" has size ", axes[i].size));
    for (std::size_t j = 0; j < i; ++j)
      if (axes[j].name == axes[i].name)
        throw ShardingError(base::cat("make_mesh: axis name \"", axes[i].name, "\" appears twice"));
    count *= axes[i].size;
  }
  if (count != static_cast<i64>(devices.size()) && !devices.empty())
    throw ShardingError(
        base::cat("make_mesh: mesh ", to_string(mesh), " needs ", count, " devices, ", devices.size(), " were named"));
  for (int d : devices)
    if (d < 0 || d >= device_count())
      throw ShardingError(base::cat("make_mesh: mesh ", to_string(mesh), " needs device ", d, "; there are ",
                                    device_count(), " devices\nfix: set_device_count(", count, ")"));
  return mesh;
}

std::string to_string(const Mesh& mesh) {
  std::string out = "(";
  for (std::size_t i = 0; i < mesh.axes().size(); ++i)
    out += base::cat(i ? ", " : "", mesh.axes()[i].name, "=", mesh.axes()[i].size);
  return out + ")";
}

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
