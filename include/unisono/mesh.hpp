// Meshes of devices and partition specs.
#pragma once
#include <concepts>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <unisono/shape.hpp>

namespace uni {

// One axis name, or several in order (the first is the slowest).
class AxisName {
 public:
  AxisName(const char* name) : names_{name} {}
  AxisName(std::string name) : names_{std::move(name)} {}
  AxisName(std::initializer_list<std::string> names) : names_(names) {}
  explicit AxisName(std::vector<std::string> names) : names_(std::move(names)) {}
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
};

struct MeshAxis {
  std::string name;
  i64 size = 1;
  bool operator==(const MeshAxis&) const = default;
};

// Devices arranged on named axes, row-major: the last axis is the fastest.
class Mesh {
 public:
  Mesh() = default;
  // Throws ShardingError unless the sizes are positive, the names differ, and there are as many different devices.
  Mesh(std::vector<MeshAxis> axes, std::vector<int> devices);
  const std::vector<MeshAxis>& axes() const { return lists().axes; }
  const std::vector<int>& devices() const { return lists().devices; }
  i64 device_count() const { return static_cast<i64>(devices().size()); }
  bool has(const std::string& name) const;
  // The size of one axis or the product over several; throws ShardingError for an unknown name.
  i64 size(const AxisName& name) const;
  bool operator==(const Mesh& other) const {
    return lists_ == other.lists_ || (axes() == other.axes() && devices() == other.devices());
  }

 private:
  struct Lists {
    std::vector<MeshAxis> axes;
    std::vector<int> devices;
  };
  const Lists& lists() const { return lists_ ? *lists_ : no_lists(); }
  static const Lists& no_lists();
  std::shared_ptr<const Lists> lists_;  // every array has a mesh
};
// A mesh over the first devices. Throws ShardingError when there are too few devices, a name appears twice or a size is
// not positive.
Mesh make_mesh(const std::vector<MeshAxis>& axes);
// A mesh over the named devices, in this order.
Mesh make_mesh(const std::vector<MeshAxis>& axes, const std::vector<int>& devices);
// "(data=4, model=2)"
std::string to_string(const Mesh& mesh);

// The number of devices. On the CPU these are virtual: any number may be asked for, at any time (at least 1).
int device_count();
void set_device_count(int count);

// One dimension of a partition spec: not split, or split over axes.
class SpecDim {
 public:
  SpecDim() = default;
  SpecDim(None) {}
  SpecDim(const char* name) : names_{name} {}
  SpecDim(std::string name) : names_{std::move(name)} {}
  SpecDim(std::initializer_list<std::string> names) : names_(names) {}
  explicit SpecDim(std::vector<std::string> names) : names_(std::move(names)) {}
  const std::vector<std::string>& names() const { return names_; }
  bool operator==(const SpecDim&) const = default;

 private:
  std::vector<std::string> names_;
};
// A partition spec: which mesh axes split which dimension. Dimensions beyond the end are not split.
class P {
 public:
  P() = default;
  P(std::initializer_list<SpecDim> dims) : P(std::vector<SpecDim>(dims)) {}
  explicit P(std::vector<SpecDim> dims) : dims_(std::move(dims)) { trim(); }
  const std::vector<SpecDim>& dims() const { return dims_; }
  // Axes that split dimension `dim`, empty when none does.
  const std::vector<std::string>& axes(int dim) const;
  bool operator==(const P&) const = default;

 private:
  void trim() {
    while (!dims_.empty() && dims_.back().names().empty()) dims_.pop_back();
  }
  std::vector<SpecDim> dims_;
};
// P("data", none)
std::string to_string(const P& spec);

}  // namespace uni
