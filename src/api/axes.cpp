#include "api/axes.hpp"

#include "base/text.hpp"
#include "core/trace.hpp"
#include <unisono/error.hpp>

namespace uni::api {

using base::cat;

int wrapped_axis(std::string_view who, int axis, int rank, const Array& value) {
  const int wrapped = axis < 0 ? axis + rank : axis;
  if (wrapped >= 0 && wrapped < rank) return wrapped;
  throw ShapeError(cat(who, ": axis ", axis, " of ", ir::to_string(core::type_of(value)), " does not exist"));
}

static i64 common_size(std::string_view who, const std::vector<MappedLeaf>& leaves, std::optional<i64> axis_size) {
  std::optional<i64> size = axis_size;
  bool agree = true;
  std::vector<std::string> said;
  for (const MappedLeaf& leaf : leaves) {
    if (!leaf.axis) continue;
    const i64 rows = leaf.value.shape(*leaf.axis);
    if (!size) size = rows;
    agree = agree && rows == *size;
    if (said.size() < 5) said.push_back(cat(leaf.path, " maps ", base::counted(static_cast<std::size_t>(rows), "row")));
  }
  if (!size) throw ShapeError(cat(who, ": no argument is mapped\nfix: map one by in_axes, or give axis_size"));
  if (!agree) {
    std::string text = cat(who, ": mapped sizes differ: ");
    for (std::size_t i = 0; i < said.size(); ++i) text += cat(i ? ", " : "", said[i]);
    if (axis_size) text += cat("; axis_size is ", *axis_size);
    throw ShapeError(text);
  }
  return *size;
}

MappedArguments map_arguments(std::string_view who, const std::vector<detail::TreeRef>& args,
                              const std::vector<AxisSpec>& in_axes, std::optional<i64> axis_size) {
  if (!in_axes.empty() && in_axes.size() != args.size())
    throw ShapeError(cat(who, ": in_axes has ", base::counted(in_axes.size(), "entry"), ", the call has ",
                         base::counted(args.size(), "argument")));
  MappedArguments out;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const AxisSpec axis = in_axes.empty() ? AxisSpec(0) : in_axes[i];
    std::vector<Array*> slots;
    detail::collect_leaves(args[i], slots);
    const std::vector<std::string> paths = detail::leaf_paths(args[i], cat("args[", i, "]"));
    for (std::size_t k = 0; k < slots.size(); ++k) {
      MappedLeaf leaf{*slots[k], {}, paths[k]};
      if (axis && slots[k]->defined()) {
        if (leaf.value.rank() == 0)
          throw ShapeError(cat(who, ": ", paths[k], " is a scalar ", ir::to_string(core::type_of(leaf.value)),
                               " and cannot be mapped\nfix: in_axes = std::nullopt for it"));
        leaf.axis = wrapped_axis(cat(who, ": in_axes of ", paths[k]), *axis, leaf.value.rank(), leaf.value);
      }
      out.leaves.push_back(std::move(leaf));
    }
  }
  out.size = common_size(who, out.leaves, axis_size);
  return out;
}

std::vector<AxisSpec> result_axes(std::string_view who, const std::vector<AxisSpec>& out_axes,
                                  const std::vector<std::size_t>& leaves) {
  if (out_axes.size() > 1 && out_axes.size() != leaves.size())
    throw ShapeError(cat(who, ": out_axes has ", base::counted(out_axes.size(), "entry"), ", the function returns ",
                         base::counted(leaves.size(), "result")));
  std::vector<AxisSpec> out;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const AxisSpec axis = out_axes.empty() ? AxisSpec(0) : out_axes.size() == 1 ? out_axes[0] : out_axes[i];
    out.insert(out.end(), leaves[i], axis);
  }
  return out;
}

}  // namespace uni::api
