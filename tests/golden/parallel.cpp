#include "golden/parallel.hpp"

#include <regex>

namespace golden {

using namespace uni;

namespace {
Body over_mesh(const Body& f, const std::vector<MeshAxis>& axes) {
  std::vector<int> front;
  std::vector<SpecDim> dims;
  for (const MeshAxis& a : axes) {
    front.push_back(static_cast<int>(front.size()));
    dims.emplace_back(a.name);
  }
  const auto local = [f, front](const Arrays& mapped, const Arrays& whole) {
    Arrays rows, out;
    for (const Array& m : mapped) rows.push_back(squeeze(m, Axes(front)));
    for (const Array& r : f(rows, whole)) out.push_back(expand_dims(r, Axes(front)));
    return out;
  };
  const P split(dims);
  return shard_map(local, make_mesh(axes), {.in = {split, P{}}, .out = {split}});
}
}  // namespace

Body in_context(Context context, Body f, const std::vector<MeshAxis>& axes) {
  if (context == Context::shard_map) return over_mesh(f, axes);
  const std::vector<AxisSpec> in{0, std::nullopt};
  for (auto a = axes.rbegin(); a != axes.rend(); ++a) {
    if (context == Context::pmap)
      f = pmap(f, {.axis = a->name, .in_axes = in});
    else
      f = vmap(f, {.in_axes = in, .axis_name = a->name});
  }
  return f;
}

std::string to_string(Context context) {
  return context == Context::pmap ? "pmap" : context == Context::vmap ? "vmap" : "shard_map";
}

void add_leaves(const json& tree, std::vector<json>& out) {
  if (tree.is_object() && tree.contains("dtype")) {
    out.push_back(tree);
    return;
  }
  for (const json& child : tree) add_leaves(child, out);
}
std::vector<json> leaves(const json& tree) {
  std::vector<json> out;
  add_leaves(tree, out);
  return out;
}

std::string differences(const std::vector<json>& expected, const Arrays& got, const Tolerance& tolerance) {
  if (expected.size() != got.size())
    return "expected " + std::to_string(expected.size()) + " arrays, got " + std::to_string(got.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::string wrong = difference(expected[i], got[i], tolerance);
    if (!wrong.empty()) return "array " + std::to_string(i) + ": " + wrong;
  }
  return "";
}

// ---- Calls
namespace {
std::vector<std::string> found(const std::string& text, const char* pattern) {
  std::vector<std::string> out;
  const std::regex expression(pattern);
  for (auto it = std::sregex_iterator(text.begin(), text.end(), expression); it != std::sregex_iterator(); ++it)
    out.push_back((*it)[1]);
  return out;
}
int number_after(const std::string& text, const std::string& key, int otherwise) {
  const auto all = found(text, (key + "=(-?\\d+)").c_str());
  return all.empty() ? otherwise : std::stoi(all[0]);
}
Permutation pairs_in(const std::string& text) {
  if (text.find("ring of 6") != std::string::npos) return ring_shift(6);
  const auto sources = found(text, "\\((\\d), \\d\\)"), destinations = found(text, "\\(\\d, (\\d)\\)");
  Permutation out;
  for (std::size_t i = 0; i < sources.size(); ++i) out.emplace_back(std::stoi(sources[i]), std::stoi(destinations[i]));
  if (text.find("ring)") != std::string::npos) return ring_shift(4);
  return out;
}

// One collective on all mapped arrays: "all_gather(x, ('i', 'j'), tiled=True)".
Body plain_collective(const std::string& call) {
  const std::string op = call.substr(0, call.find('('));
  const AxisName axis(found(call, "'(\\w+)'"));
  const bool tiled = call.find("tiled=True") != std::string::npos;
  if (op == "psum") return [=](const Arrays& x, const Arrays&) { return psum(x, axis); };
  if (op == "pmean") return [=](const Arrays& x, const Arrays&) { return pmean(x, axis); };
  if (op == "pmax") return [=](const Arrays& x, const Arrays&) { return pmax(x, axis); };
  if (op == "pmin") return [=](const Arrays& x, const Arrays&) { return pmin(x, axis); };
  if (op == "all_gather")
    return [=, d = number_after(call, "axis", 0)](const Arrays& x, const Arrays&) {
      return all_gather(x, axis, {.axis = d, .tiled = tiled});
    };
  if (op == "psum_scatter")
    return [=, d = number_after(call, "scatter_dimension", 0)](const Arrays& x, const Arrays&) {
      return psum_scatter(x, axis, {.axis = d, .tiled = tiled});
    };
  if (op == "all_to_all") {
    const auto positions = found(call, ", (\\d)(?=[,)])");
    const int split = std::stoi(positions.at(0)), concat = std::stoi(positions.at(1));
    return [=](const Arrays& x, const Arrays&) {
      return all_to_all(x, axis, {.split = split, .concat = concat, .tiled = tiled});
    };
  }
  if (op == "ppermute")
    return [=, list = pairs_in(call)](const Arrays& x, const Arrays&) { return ppermute(x, axis, list); };
  return nullptr;
}

// What a function of one mapped array x, or of the whole w and x, computes.
Body of_x(std::function<Array(const Array&)> f) {
  return [f](const Arrays& x, const Arrays&) { return Arrays{f(x.at(0))}; };
}
Body of_w_and_x(std::function<Array(const Array&, const Array&)> f) {
  return [f](const Arrays& x, const Arrays& w) { return Arrays{f(w.at(0), x.at(0))}; };
}
Array with_double(const Array& w) { return concatenate({w, 2 * w}); }

const std::map<std::string, Body>& programs() {
  static const std::map<std::string, Body> all = {
      {"max(all_gather(x, 'i'), 0)", of_x([](const Array& x) { return max(all_gather(x, "i"), {.axis = 0}); })},
      {"min(all_gather(x, 'i'), 0)", of_x([](const Array& x) { return min(all_gather(x, "i"), {.axis = 0}); })},
      {"psum(1, 'i') * x", of_x([](const Array& x) { return psum(1, "i") * x; })},
      {"psum(psum(x, 'i'), 'i')", of_x([](const Array& x) { return psum(psum(x, "i"), "i"); })},
      {"all_gather(psum_scatter(x, 'i', tiled=True), 'i', tiled=True)",
       of_x([](const Array& x) { return all_gather(psum_scatter(x, "i", {.tiled = true}), "i", {.tiled = true}); })},
      {"x * axis_index('i')", of_x([](const Array& x) { return x * axis_index("i"); })},
      {"x * axis_size('i')", of_x([](const Array& x) { return x * axis_size("i"); })},
      {"exp(x - pmax(x)) / psum(exp(x - pmax(x)))", of_x([](const Array& x) {
         const Array e = exp(x - pmax(stop_gradient(x), "i"));
         return e / psum(e, "i");
       })},
      {"pmax(w, 'i') + x", of_w_and_x([](const Array& w, const Array& x) { return pmax(w, "i") + x; })},
      {"pmean(sum((w * x)**2), 'i')",
       of_w_and_x([](const Array& w, const Array& x) { return pmean(sum(square(w * x)), "i"); })},
      {"psum of unmapped", of_w_and_x([](const Array& w, const Array& x) { return psum(w, "i") + x; })},
      {"pmean of unmapped", of_w_and_x([](const Array& w, const Array& x) { return pmean(w, "i") + x; })},
      {"all_gather of unmapped", of_w_and_x([](const Array& w, const Array& x) { return all_gather(w, "i") + x; })},
      {"psum_scatter of unmapped",
       of_w_and_x([](const Array& w, const Array& x) { return psum_scatter(with_double(w), "i") + x; })},
      {"all_to_all of unmapped",
       of_w_and_x([](const Array& w, const Array& x) { return all_to_all(with_double(w), "i")[slice(none, 2)] + x; })},
      {"ppermute of unmapped", of_w_and_x([](const Array& w, const Array& x) {
         return ppermute(w, "i", {{0, 1}, {1, 2}}) + x;
       })},
      {"product of unmapped", of_w_and_x([](const Array& w, const Array& x) { return w * x; })},
      {"psum of product of unmapped", of_w_and_x([](const Array& w, const Array& x) { return psum(w * x, "i"); })},
  };
  return all;
}
}  // namespace

Body body_of(const std::string& call) {
  const std::string key = call.substr(0, call.find(" w (see generator)"));
  const auto it = programs().find(key);
  if (it != programs().end()) return it->second;
  if (call.starts_with("x + 100 * axis_size(")) {
    const AxisName axis(found(call.substr(0, call.find(" + axis_index")), "'(\\w+)'"));
    return of_x([axis](const Array& x) { return x + 100 * axis_size(axis) + axis_index(axis); });
  }
  return plain_collective(call);
}

}  // namespace golden
