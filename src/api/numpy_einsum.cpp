// einsum: operands with labelled axes, contracted two at a time.
#include <algorithm>
#include <map>

#include "api/fail.hpp"
#include "api/products.hpp"
#include "api/promote.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"
#include <unisono/products.hpp>

namespace uni {

using namespace api;

namespace {
// A letter, or an axis of the ellipsis: -1 is the last one, -2 the one before.
using Label = int;
using Labels = std::vector<Label>;

struct Term {
  Array array;
  Labels labels;
};

bool has(const Labels& labels, Label label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }
int position(const Labels& labels, Label label) {
  return static_cast<int>(std::find(labels.begin(), labels.end(), label) - labels.begin());
}

struct Spec {
  std::string text;  // without spaces
  std::vector<std::string> inputs;
  std::string output;
  bool explicit_output = false;
};

Spec parse_spec(std::string_view text, std::size_t operands) {
  Spec spec;
  for (char c : text)
    if (c != ' ') spec.text += c;
  std::string left = spec.text;
  if (const std::size_t arrow = left.find("->"); arrow != std::string::npos) {
    spec.output = left.substr(arrow + 2);
    left.resize(arrow);
    spec.explicit_output = true;
  }
  std::size_t start = 0;
  for (std::size_t comma = left.find(','); comma != std::string::npos; comma = left.find(',', start)) {
    spec.inputs.push_back(left.substr(start, comma - start));
    start = comma + 1;
  }
  spec.inputs.push_back(left.substr(start));
  if (spec.inputs.size() != operands)
    fail<ShapeError>(
        base::cat("einsum: \"", spec.text, "\" names ", spec.inputs.size(), " operands, ", operands, " are given"));
  return spec;
}

// The labels of one operand or of the result, whose ellipsis stands for `open` axes.
Labels read_labels(const Spec& spec, const std::string& part, int open) {
  Labels labels;
  bool ellipsis = false;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const char c = part[i];
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      labels.push_back(c);
      continue;
    }
    if (part.compare(i, 3, "...") != 0 || ellipsis)
      fail<ShapeError>(
          base::cat("einsum: \"", spec.text, "\": unexpected \"", std::string(1, c), "\" in \"", part, "\""));
    ellipsis = true;
    for (int k = open; k > 0; --k) labels.push_back(-k);
    i += 2;
  }
  return labels;
}

// Keeps the elements whose indices along two axes agree, on the first of them.
Array diagonal(const Array& x, int first, int second) {
  const Array same = lax::eq(lax::iota(Dtype::i32, x.shape(), first), lax::iota(Dtype::i32, x.shape(), second));
  const Array kept = lax::select(same, x, lax::full_scalar(ir::Scalar::of_int(x.dtype(), 0), x.shape(), x.weak()));
  return is_bool(x.dtype()) ? lax::reduce_or(kept, {second}) : lax::reduce_sum(kept, {second});
}

Term make_term(const Spec& spec, std::size_t number, const Array& array) {
  const std::string& part = spec.inputs[number];
  const bool ellipsis = part.find("...") != std::string::npos;
  const int named = static_cast<int>(part.size()) - (ellipsis ? 3 : 0);
  const int open = ellipsis ? array.rank() - named : 0;
  if (open < 0 || named + open != array.rank())
    fail<ShapeError>(base::cat("einsum: \"", part, "\" names ", named, " axes of operand ", number, " ",
                               ir::to_string(core::type_of(array)), ", which has ", array.rank()));
  Term term{array, read_labels(spec, part, open)};
  for (std::size_t i = 0; i < term.labels.size(); ++i) {
    for (std::size_t j = term.labels.size(); j-- > i + 1;) {
      if (term.labels[i] != term.labels[j]) continue;
      const auto a = static_cast<int>(i), b = static_cast<int>(j);
      if (term.array.shape()[a] != term.array.shape()[b])
        fail<ShapeError>(base::cat("einsum: label ", std::string(1, static_cast<char>(term.labels[i])), " names sizes ",
                                   term.array.shape()[a], " and ", term.array.shape()[b], " of operand ", number, " ",
                                   ir::to_string(core::type_of(array))));
      term.array = diagonal(term.array, a, b);
      term.labels.erase(term.labels.begin() + b);
    }
  }
  return term;
}

std::string label_text(Label label) {
  return label < 0 ? base::cat("axis ", label, " of the ellipsis")
                   : base::cat("label ", std::string(1, static_cast<char>(label)));
}

// Sizes by label. Axes of size 1 give way to longer ones and are dropped where they do.
std::map<Label, i64> agree_on_sizes(std::vector<Term>& terms) {
  std::map<Label, i64> sizes;
  std::map<Label, std::size_t> owner;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    for (std::size_t i = 0; i < terms[t].labels.size(); ++i) {
      const Label label = terms[t].labels[i];
      const i64 size = terms[t].array.shape()[static_cast<int>(i)];
      const auto known = sizes.find(label);
      if (known == sizes.end() || known->second == 1) {
        sizes[label] = size;
        owner[label] = t;
      } else if (size != 1 && size != known->second) {
        fail<ShapeError>(base::cat("einsum: ", label_text(label), " has size ", known->second, " in operand ",
                                   owner[label], " and ", size, " in operand ", t));
      }
    }
  }
  for (Term& term : terms) {
    for (std::size_t i = term.labels.size(); i-- > 0;) {
      if (term.array.shape()[static_cast<int>(i)] == sizes[term.labels[i]]) continue;
      term.array = lax::squeeze(term.array, static_cast<int>(i));
      term.labels.erase(term.labels.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return sizes;
}

Labels output_labels(const Spec& spec, const std::vector<Term>& terms) {
  int open = 0;
  std::map<Label, int> uses;
  for (std::size_t t = 0; t < terms.size(); ++t)
    for (Label label : terms[t].labels) open = std::max(open, -label);
  if (spec.explicit_output) {
    const Labels out = read_labels(spec, spec.output, open);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const bool known = std::any_of(terms.begin(), terms.end(), [&](const Term& t) { return has(t.labels, out[i]); });
      if (!known || std::find(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(i), out[i]) !=
                        out.begin() + static_cast<std::ptrdiff_t>(i))
        fail<ShapeError>(base::cat("einsum: \"", spec.text, "\": ", label_text(out[i]), " of the result ",
                                   known ? "is named twice" : "is in no operand"));
    }
    return out;
  }
  for (const std::string& part : spec.inputs)
    for (char c : part)
      if (c != '.') ++uses[c];
  Labels out;
  for (int k = open; k > 0; --k) out.push_back(-k);
  for (const auto& [label, count] : uses)
    if (count == 1) out.push_back(label);
  return out;
}

Array sum_axes(const Array& x, const std::vector<int>& axes) {
  if (axes.empty()) return x;
  return is_bool(x.dtype()) ? lax::reduce_or(x, axes) : lax::reduce_sum(x, axes);
}

// Sums over labels that nobody else needs.
Term reduced(const Term& term, const Labels& needed) {
  Term out{term.array, {}};
  std::vector<int> axes;
  for (std::size_t i = 0; i < term.labels.size(); ++i) {
    if (has(needed, term.labels[i]))
      out.labels.push_back(term.labels[i]);
    else
      axes.push_back(static_cast<int>(i));
  }
  out.array = sum_axes(term.array, axes);
  return out;
}

// Axes in the order of `labels`, those the term lacks with size 1.
Array aligned(const Term& term, const Labels& labels) {
  std::vector<int> order;
  Dims shape;
  for (Label label : labels) {
    const bool own = has(term.labels, label);
    if (own) order.push_back(position(term.labels, label));
    shape.push_back(own ? term.array.shape()[position(term.labels, label)] : 1);
  }
  const bool sorted = std::is_sorted(order.begin(), order.end());
  return lax::reshape(sorted ? term.array : lax::transpose(term.array, order), shape);
}

Term product(const Term& a, const Term& b, const Labels& kept) {
  Labels left = kept, right = kept;
  left.insert(left.end(), b.labels.begin(), b.labels.end());
  right.insert(right.end(), a.labels.begin(), a.labels.end());
  const Term x = reduced(a, left), y = reduced(b, right);
  ops::DotGeneral dims;
  Term out;
  for (Label label : x.labels) {
    if (!has(y.labels, label)) continue;
    const bool keep = has(kept, label);
    (keep ? dims.lhs_batch : dims.lhs_contract).push_back(position(x.labels, label));
    (keep ? dims.rhs_batch : dims.rhs_contract).push_back(position(y.labels, label));
    if (keep) out.labels.push_back(label);
  }
  for (Label label : x.labels)
    if (!has(y.labels, label)) out.labels.push_back(label);
  for (Label label : y.labels)
    if (!has(x.labels, label)) out.labels.push_back(label);
  if (!dims.lhs_contract.empty()) {
    out.array = contract(x.array, y.array, dims);
    return out;
  }
  const Array p = aligned(x, out.labels), q = aligned(y, out.labels);
  const Dims shapes[] = {p.shape(), q.shape()};
  const Dims shape = broadcast_shapes("einsum", shapes);
  out.array = lax::mul(lax::broadcast_to(p, shape), lax::broadcast_to(q, shape));
  return out;
}

Labels needed_besides(const std::vector<Term>& terms, const Labels& output, std::size_t a, std::size_t b) {
  Labels needed = output;
  for (std::size_t t = 0; t < terms.size(); ++t)
    if (t != a && t != b) needed.insert(needed.end(), terms[t].labels.begin(), terms[t].labels.end());
  return needed;
}

// The number of elements of the product of two terms.
double product_size(const Term& a, const Term& b, const Labels& needed, const std::map<Label, i64>& sizes) {
  double size = 1;
  for (const auto& [label, length] : sizes)
    if (has(needed, label) && (has(a.labels, label) || has(b.labels, label))) size *= static_cast<double>(length);
  return size;
}

// The pair with the smallest product goes first.
void contract_one_pair(std::vector<Term>& terms, const Labels& output, const std::map<Label, i64>& sizes) {
  std::size_t first = 0, second = 1;
  double best = -1;
  for (std::size_t a = 0; a < terms.size(); ++a) {
    for (std::size_t b = a + 1; b < terms.size(); ++b) {
      const double size = product_size(terms[a], terms[b], needed_besides(terms, output, a, b), sizes);
      if (best >= 0 && size >= best) continue;
      best = size;
      first = a;
      second = b;
    }
  }
  terms[first] = product(terms[first], terms[second], needed_besides(terms, output, first, second));
  terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(second));
}
}  // namespace

Array einsum_of(const EinsumSpec& written, std::span<const Array> operands) {
  const core::At at(written.where());
  const Spec spec = parse_spec(written.text(), operands.size());
  ValueType type = value_type(operands[0]);
  for (const Array& x : operands) type = promote("einsum", type, value_type(x));
  std::vector<Term> terms;
  for (std::size_t i = 0; i < operands.size(); ++i)
    terms.push_back(make_term(spec, i, as_type("einsum", In(operands[i], written.where()), type)));
  const Labels output = output_labels(spec, terms);
  const std::map<Label, i64> sizes = agree_on_sizes(terms);
  while (terms.size() > 1) contract_one_pair(terms, output, sizes);
  return aligned(reduced(terms[0], output), output);
}

}  // namespace uni
