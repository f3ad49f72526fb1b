// Reading and writing by index against JAX. Index expressions are read from the rows' own text.
#include "golden/golden.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "ops/structural.hpp"

using namespace uni;
using golden::Row;

namespace {
using Names = std::map<std::string, Array>;

// Reads "1:3", "::-1", "...", "None", "[[0],[2]]", "mask" and so on, separated by commas.
class IndexReader {
 public:
  IndexReader(std::string text, Names names) : text_(std::move(text)), names_(std::move(names)) {}
  std::vector<IndexItem> items() {
    std::vector<IndexItem> out;
    while (at_ < text_.size()) {
      out.push_back(item());
      accept(",");
    }
    return out;
  }

 private:
  bool accept(const std::string& token) {
    if (text_.compare(at_, token.size(), token) != 0) return false;
    at_ += token.size();
    return true;
  }
  std::optional<i64> number() {
    std::size_t used = 0;
    try {
      const i64 value = std::stoll(text_.substr(at_), &used);
      at_ += used;
      return value;
    } catch (const std::invalid_argument&) {
      return std::nullopt;
    }
  }
  IndexItem item() {
    if (accept("...")) return ellipsis;
    if (accept("None") || accept("newaxis")) return newaxis;
    if (accept("True")) return Array(true);
    if (text_[at_] == '[') return nested_list();
    if (const auto name = longest_name(); !name.empty()) {
      accept(name);
      return accept("[:,newaxis]") ? expand_dims(names_.at(name), 1) : names_.at(name);
    }
    const std::optional<i64> first = number();
    if (first && accept(".0")) return Array(1.0);
    if (!accept(":")) return *first;
    Slice s{first, number(), std::nullopt};
    if (accept(":")) s.step = number();
    return s;
  }
  std::string longest_name() const {
    std::string best;
    for (const auto& [name, value] : names_)
      if (text_.compare(at_, name.size(), name) == 0 && name.size() > best.size()) best = name;
    return best;
  }
  Array nested_list() {
    std::size_t end = at_;
    int depth = 0;
    do {
      depth += text_[end] == '[' ? 1 : text_[end] == ']' ? -1 : 0;
    } while (++end < text_.size() && depth > 0);
    const golden::json list = golden::json::parse(text_.substr(at_, end - at_));
    at_ = end;
    Dims shape;
    for (const golden::json* level = &list; level->is_array(); level = &level->front()) {
      shape.push_back(static_cast<i64>(level->size()));
      if (level->empty()) break;
    }
    std::vector<std::int32_t> flat;
    const std::function<void(const golden::json&)> collect = [&](const golden::json& v) {
      if (!v.is_array()) return flat.push_back(v.get<std::int32_t>());
      for (const golden::json& each : v) collect(each);
    };
    collect(list);
    return array(std::span<const std::int32_t>(flat), shape);
  }

  std::string text_;
  Names names_;
  std::size_t at_ = 0;
};

// x.at() for items that are known at run time only.
AtIndex place(const Array& x, const std::vector<IndexItem>& items) {
  switch (items.size()) {
    case 0:
      return x.at(ellipsis);
    case 1:
      return x.at({items[0]});
    case 2:
      return x.at({items[0], items[1]});
    case 3:
      return x.at({items[0], items[1], items[2]});
    default:
      return x.at({items[0], items[1], items[2], items[3]});
  }
}

// The text between the outermost brackets of "m[:,1]=col" or "c[0,:,[1,2]] split".
std::string between_brackets(const std::string& text) {
  const std::size_t open = text.find('[');
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    depth += text[i] == '[' || text[i] == '(' ? 1 : text[i] == ']' || text[i] == ')' ? -1 : 0;
    if (depth == 0) return text.substr(open + 1, i - open - 1);
  }
  return "";
}

Array bools(std::initializer_list<Literal> values) { return array(values, {.dtype = Dtype::b8}); }

// The names that the rows use.
Names names_for(const Row& row) {
  Names names = {{"rowmask", bools({1, 0, 1})},
                 {"colmask", bools({1, 0, 0, 1})},
                 {"mask2", bools({{1, 0, 1}, {0, 1, 0}})},
                 {"mask34", astype(eye(3, {.columns = 4}), Dtype::b8)},
                 {"short mask", bools({1, 0})},
                 {"uint8 [255]", array({255}, {.dtype = Dtype::u8})}};
  if (row.op == "at.set")
    names["mask"] = row.in(0) > 12;
  else if (row.op == "index")
    names["mask"] = bools({1, 0, 1, 0, 0, 1});
  if (row.name == "read/m[m>5]") names["m>5"] = row.in(0) > 5;
  return names;
}

OutOfBounds mode_of(const Row& row) {
  const auto mode = row.params.contains("mode") ? row.params["mode"] : golden::json();
  if (!mode.is_string() || mode == "promise_in_bounds") return OutOfBounds::standard;
  return mode == "clip"   ? OutOfBounds::clip
         : mode == "fill" ? OutOfBounds::fill
         : mode == "drop" ? OutOfBounds::drop
                          : OutOfBounds::wrap;
}

using Update = Array (AtIndex::*)(In, const AtOptions&) const;
golden::Handler update(Update f) {
  return [f](const Row& row) -> Arrays { return {(row.in(0).at(row.in(1)).*f)(row.in(2), {.mode = mode_of(row)})}; };
}

void add_reads(golden::Suite& s) {
  s.by_op["index"] = [](const Row& row) -> Arrays {
    const std::string inside = between_brackets(row.params["index"]);
    if (inside == "'a'") throw Error("a string as index does not compile");
    return {place(row.in(0), IndexReader(inside == "()" ? "..." : inside, names_for(row)).items()).get()};
  };
  const golden::Handler get = [](const Row& row) -> Arrays {
    AtOptions options{.mode = mode_of(row)};
    if (row.params.contains("fill_value")) options.fill = row.params["fill_value"].get<double>();
    return {row.in(0).at(row.in(1)).get(options)};
  };
  s.by_op["at_get"] = get;
  s.by_op["at.get"] = get;
  s.by_op["take"] = [](const Row& row) -> Arrays {
    if (!row.params.contains("indices")) return {take(row.in(0), row.in(1), {.mode = mode_of(row)})};
    TakeOptions options;
    if (!row.params["axis"].is_null()) options.axis = row.params["axis"].get<int>();
    return {take(row.in(0), array({2, 0, 9}), options)};
  };
  s.by_op["take_along_axis"] = [](const Row& row) -> Arrays {
    return {take_along_axis(row.in(0), row.in(1), row.params["axis"].get<int>(), {.mode = mode_of(row)})};
  };
  s.by_op["x[mask]"] = [](const Row& row) -> Arrays { return {row.in(0)[row.in(1)]}; };
  s.by_op["dynamic_slice"] = [](const Row& row) -> Arrays {
    Arrays starts;
    if (row.params.contains("start"))
      for (const auto& v : row.params["start"]) starts.push_back(Array(v.get<i64>()));
    else
      starts.push_back(row.in(1));
    return {dynamic_slice(row.in(0), starts, golden::dims_from(row.params["sizes"]))};
  };
}

// Rows whose operation is the index expression itself: "b[:,0,:,ix]", "x[::2]".
void add_expressions(golden::Suite& s) {
  for (const Row& row : golden::rows("indexing.json")) {
    const bool mixed = row.op.starts_with("b["), plain = row.op.starts_with("x[") && row.op != "x[mask]";
    if (!mixed && !plain) continue;
    s.by_op[row.op] = [mixed](const Row& r) -> Arrays {
      const Array x = mixed ? reshape(arange(120), {2, 3, 4, 5}) : r.in(0);
      Names names;
      if (mixed) names = {{"ix", r.in(0)}, {"jx", r.in(1)}};
      return {place(x, IndexReader(between_brackets(r.op), names).items()).get()};
    };
  }
}

void add_updates(golden::Suite& s) {
  for (const std::string dot : {"at_", "at."}) {
    s.by_op[dot + "set"] = update(&AtIndex::set);
    s.by_op[dot + "add"] = update(&AtIndex::add);
    s.by_op[dot + "subtract"] = update(&AtIndex::subtract);
    s.by_op[dot + "multiply"] = update(&AtIndex::multiply);
    s.by_op[dot + "divide"] = update(&AtIndex::divide);
    s.by_op[dot + "min"] = update(&AtIndex::min);
    s.by_op[dot + "max"] = update(&AtIndex::max);
  }
  s.by_op["at.set"] = [](const Row& row) -> Arrays {
    if (!row.params.contains("index")) return update(&AtIndex::set)(row);
    const std::string text = row.params["index"];
    // A host number goes in as one, so that it must fit.
    const bool number = row.inputs[1].contains("python") && !row.inputs[1]["data"].is_array();
    const std::string inside = text.find('[') == std::string::npos ? "0" : between_brackets(text);
    const AtIndex at = place(row.in(0), IndexReader(inside, names_for(row)).items());
    return {number ? at.set(row.inputs[1]["data"].get<double>()) : at.set(row.in(1))};
  };
  s.by_op["at.add"] = [](const Row& row) -> Arrays {
    if (row.name == "write/add duplicates")
      return {row.in(0).at({array({0, 0, 2}), array({1, 1, 3})}).add(array({5., 6., 7.}))};
    if (row.name == "write/int8 add wraps") {
      const Array hundreds = array({100, 100}, {.dtype = Dtype::i8});
      return {hundreds[{slice(0, 1)}].at(array({0, 0})).add(hundreds)};
    }
    return update(&AtIndex::add)(row);
  };
  s.by_op["x.at[mask].set"] = update(&AtIndex::set);
  s.by_op["dynamic_update_slice"] = [](const Row& row) -> Arrays {
    if (!row.params.contains("start")) return {dynamic_update_slice(row.in(0), row.in(1), {row.in(2)})};
    Arrays starts;
    for (const auto& v : row.params["start"]) starts.push_back(Array(v.get<i64>()));
    return {dynamic_update_slice(row.in(0), row.in(1), starts)};
  };
}

PadMode pad_mode(const std::string& name) {
  if (name == "edge") return PadMode::edge;
  if (name == "wrap") return PadMode::wrap;
  if (name == "reflect") return PadMode::reflect;
  return name == "symmetric" ? PadMode::symmetric : PadMode::constant;
}

void add_functions(golden::Suite& s) {
  s.by_op["nonzero"] = [](const Row& row) -> Arrays {
    return nonzero(row.in(0), {.size = row.params["size"].get<i64>(), .fill = row.params["fill_value"].get<i64>()});
  };
  s.by_op["segment_sum"] = [](const Row& row) -> Arrays {
    return {segment_sum(row.in(0), row.in(1), row.params["num_segments"].get<i64>())};
  };
  s.by_op["segment_max"] = [](const Row& row) -> Arrays {
    return {segment_max(row.in(0), row.in(1), row.params["num_segments"].get<i64>())};
  };
  s.by_op["one_hot"] = [](const Row& row) -> Arrays { return {one_hot(row.in(0), row.params["n"].get<i64>())}; };
  s.by_op["pad"] = [](const Row& row) -> Arrays {
    if (row.params.contains("width"))
      return {pad(row.in(0), row.params["width"].get<int>(), {.mode = pad_mode(row.params["mode"])})};
    const auto c = row.params["low_high_interior"].get<std::vector<i64>>();
    return {lax::pad(row.in(0), full({}, -1.0, {.dtype = Dtype::f32}), {c[0]}, {c[1]}, {c[2]})};
  };
  s.by_op["lax_pad"] = [](const Row& row) -> Arrays {
    const auto c = row.params["config"].get<std::vector<i64>>();
    return {lax::pad(row.in(0), zeros({}, Dtype::i32), {c[0]}, {c[1]}, {c[2]})};
  };
  s.by_op["gather"] = [](const Row& row) -> Arrays {
    const bool clip = row.params["mode"] == "clip";
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return {lax::gather(row.in(0), row.in(1), clip ? ops::IndexMode::clip : ops::IndexMode::fill,
                        ir::Scalar::of_double(Dtype::f32, nan))};
  };
  s.by_op["scatter_add"] = [](const Row& row) -> Arrays {
    const bool clip = row.params["mode"] == "clip";
    const Array updates = row.inputs.size() > 1 ? row.in(1) : ones({3, 4});
    return {lax::scatter(row.in(0), array({{0}, {0}, {5}}), updates, ops::Combine::add,
                         clip ? ops::IndexMode::clip : ops::IndexMode::fill)};
  };
  s.by_op["slice"] = [](const Row& row) -> Arrays {
    const auto dims = [&](const char* key, const Dims& otherwise) {
      return row.params.contains(key) ? golden::dims_from(row.params[key]) : otherwise;
    };
    return {lax::slice(row.in(0), dims("start", {}), dims("limit", {}), dims("strides", {1, 1}))};
  };
}

Arrays miscellaneous(const std::string& text) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Array sorted = array({1, 2, 2, 3}), wanted = array({0, 2, 4});
  if (text == "searchsorted left") return {searchsorted(sorted, wanted)};
  if (text == "searchsorted right") return {searchsorted(sorted, wanted, {.right = true})};
  if (text == "searchsorted nan") return {searchsorted(array({1.0, nan}), array({nan, 2.0}))};
  if (text == "nonzero size 3") return nonzero(array({0, 1, 0, 1}), {.size = 3});
  if (text == "nonzero size 1") return nonzero(array({0, 1, 0, 1}), {.size = 1});
  if (text == "nonzero fill") return nonzero(array({0, 1}), {.size = 3, .fill = -1});
  if (text == "repeat counts") return {repeat(array({1, 2, 3}), array({2, 0, 1}))};
  if (text == "repeat total") return {repeat(array({1, 2, 3}), array({2, 0, 1}), {.total = 5})};
  if (text == "segment_sum") return {segment_sum(array({1, 2, 3, 4}), array({0, 2, 0, 9}), 3)};
  if (text == "segment_max empty") return {segment_max(array({1., 2.}), array({0, 2}), 3)};
  if (text == "one_hot oob") return {one_hot(array({0, -1, 3}), 3)};
  if (text == "unravel") return unravel_index(array({5, 12, -1}), {3, 4});
  if (text == "diag k") return {diag(array({1, 2}), {.offset = -1})};
  if (text == "roll") return {roll(array({1, 2, 3}), -4)};
  if (text == "array_split 7/3") return split(arange(7), 3, {.uneven = true});
  if (text == "split 7/3") return split(arange(7), 3);
  if (text == "tril -1") return {tril(reshape(arange(12.0), {3, 4}), {.offset = -1})};
  ADD_FAILURE() << "no expression " << text;
  return {};
}

Arrays gradient_of_read(const Row& row) {
  const Array indices = row.in(1), weights = row.in(2);
  const AtOptions options{.mode = mode_of(row)};
  return {grad([&](const Array& x) { return dot(weights, nan_to_num(x.at(indices).get(options))); })(row.in(0))};
}

golden::Handler gradient_of_update(Update f) {
  return [f](const Row& row) -> Arrays {
    const auto positions = row.params["index"].get<std::vector<std::int32_t>>();
    const Array indices = array(std::span<const std::int32_t>(positions), {3});
    const Array weights = row.in(2);
    const auto total = [&](const std::pair<Array, Array>& p) {
      return dot(weights, (p.first.at(indices).*f)(p.second, {}));
    };
    const auto [x, u] = grad(total)(std::pair{row.in(0), row.in(1)});
    return {x, u};
  };
}

golden::Suite suite() {
  golden::Suite s;
  add_reads(s);
  add_expressions(s);
  add_updates(s);
  add_functions(s);
  s.by_op["grad of dot(w, x.at[i].get)"] = gradient_of_read;
  s.by_op["vjp of at.set"] = gradient_of_update(&AtIndex::set);
  s.by_op["vjp of at.add"] = gradient_of_update(&AtIndex::add);
  s.by_op["vjp of at.multiply"] = gradient_of_update(&AtIndex::multiply);
  s.by_op["vjp of at.min"] = gradient_of_update(&AtIndex::min);
  s.by_op["vjp of at.max"] = gradient_of_update(&AtIndex::max);
  for (const Row& row : golden::rows("core_indexing.json")) {
    if (!row.name.starts_with("misc/")) continue;
    const golden::Handler named = s.by_op[row.op];
    s.by_op[row.op] = [named](const Row& r) -> Arrays {
      return r.params.contains("expression") ? miscellaneous(r.params["expression"]) : named(r);
    };
  }
  return s;
}

TEST(Golden, Indexing) { golden::run("indexing.json", suite()); }
TEST(Golden, CoreIndexing) { golden::run("core_indexing.json", suite()); }
}  // namespace
