#include <unisono/detail/tree_type.hpp>

#include "base/text.hpp"
#include <unisono/error.hpp>

namespace uni::detail {

void collect_leaves(const TreeRef& tree, std::vector<Array*>& out) {
  if (tree.type->kind == TreeKind::leaf) {
    out.push_back(static_cast<Array*>(tree.object));
    return;
  }
  if (tree.type->kind == TreeKind::node)
    tree.type->each(tree.object, [&](std::string_view, const TreeType& t, void* v) { collect_leaves({&t, v}, out); });
}

void append_structure(const TreeRef& tree, std::string& out) {
  if (tree.type->kind == TreeKind::leaf) {
    out += static_cast<const Array*>(tree.object)->defined() ? '*' : '!';
    return;
  }
  out.append(reinterpret_cast<const char*>(&tree.type), sizeof tree.type);
  if (tree.type->kind == TreeKind::fixed) {
    tree.type->key(out, tree.object);
    return;
  }
  tree.type->shape(out, tree.object);
  tree.type->each(tree.object, [&](std::string_view, const TreeType& t, void* v) { append_structure({&t, v}, out); });
}

static std::string joined_path(const std::string& at, std::string_view name) {
  return name.empty() ? at : at.empty() ? std::string(name) : base::cat(at, ".", name);
}

static void append_paths(const TreeRef& tree, const std::string& at, std::vector<std::string>& out) {
  if (tree.type->kind == TreeKind::leaf) {
    out.push_back(at);
    return;
  }
  if (tree.type->kind != TreeKind::node) return;
  tree.type->each(tree.object, [&](std::string_view name, const TreeType& t, void* v) {
    append_paths({&t, v}, joined_path(at, name), out);
  });
}

std::vector<std::string> leaf_paths(const TreeRef& tree, std::string_view root) {
  std::vector<std::string> out;
  append_paths(tree, std::string(root), out);
  return out;
}

void set_leaves(const TreeRef& tree, std::span<const Array> leaves) {
  std::vector<Array*> slots;
  collect_leaves(tree, slots);
  if (slots.size() != leaves.size())
    throw TreeError(base::cat("a tree of ", slots.size(), " arrays was given ", leaves.size()));
  for (std::size_t i = 0; i < slots.size(); ++i) *slots[i] = leaves[i];
}

namespace {
struct Part {
  std::string path;
  TreeKind kind;
  std::string key;
};
void append_parts(const TreeRef& tree, const std::string& at, std::vector<Part>& out) {
  Part part{at, tree.type->kind, ""};
  if (part.kind == TreeKind::leaf) append_structure(tree, part.key);
  if (part.kind == TreeKind::fixed) tree.type->key(part.key, tree.object);
  if (part.kind == TreeKind::node) tree.type->shape(part.key, tree.object);
  out.push_back(std::move(part));
  if (tree.type->kind != TreeKind::node) return;
  tree.type->each(tree.object, [&](std::string_view name, const TreeType& t, void* v) {
    append_parts({&t, v}, joined_path(at, name), out);
  });
}

// Of trees whose leaves have the same paths.
std::string explain_part(const TreeRef& a, const TreeRef& b, std::string_view root) {
  std::vector<Part> left, right;
  append_parts(a, std::string(root), left);
  append_parts(b, std::string(root), right);
  for (std::size_t i = 0; i < left.size() && i < right.size(); ++i) {
    if (left[i].key == right[i].key) continue;
    switch (left[i].kind) {
      case TreeKind::leaf:
        return base::cat(left[i].path, " is empty in the ", left[i].key == "!" ? "first" : "second", " tree only");
      case TreeKind::fixed:
        return base::cat(left[i].path, " has different static values");
      case TreeKind::node:
        return base::cat(left[i].path, " has different sizes or keys");
    }
  }
  return "";
}
}  // namespace

std::string explain_mismatch(const TreeRef& a, const TreeRef& b, std::string_view root) {
  const std::vector<std::string> left = leaf_paths(a, root), right = leaf_paths(b, root);
  for (std::size_t i = 0; i < left.size() || i < right.size(); ++i) {
    if (i >= left.size()) return base::cat(right[i], " is in the second tree only");
    if (i >= right.size()) return base::cat(left[i], " is in the first tree only");
    if (left[i] != right[i]) return base::cat(left[i], " in the first tree, ", right[i], " in the second");
  }
  return explain_part(a, b, root);
}

}  // namespace uni::detail

namespace uni::detail {
void throw_tree_mismatch(std::string_view who, const TreeRef& first, const TreeRef& other, int position) {
  throw TreeError(base::cat(who, ": tree 0 and tree ", position, " differ: ", explain_mismatch(first, other, "tree")));
}
}  // namespace uni::detail
