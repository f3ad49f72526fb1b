// What control flow says about bad input.
using namespace uni;

namespace {
template <class E = Error, class Fn>
std::string message(const Fn& fn) {
  try {
    fn();
  } catch (const E& e) {
    std::string text = e.what();
    const std::size_t where = text.find("\n    in ");
    if (where == std::string::npos) return text + " (no place)";
    EXPECT_NE(text.find("errors_test.cpp:", where), std::string::npos) << text;
    const std::size_t end = text.find('\n', where + 1);
    return text.substr(0, where) + (end == std::string::npos ? "" : text.substr(end));
  }
  return "nothing thrown";
}
const auto keep = [](const Array& c, const Array& x) { return std::pair{c, x}; };
struct Model {
  Array w;
  std::vector<Array> more;
};

TEST(ControlErrors, Carries) {
  EXPECT_EQ(
      message([] {
        scan([](const Array& c, const Array& x) { return std::pair{c + x, c}; }, zeros({3}, Dtype::i32), zeros({2, 3}));
      }),
      "scan: `carry` is i32[3], the body makes f32[3] of it");
  EXPECT_EQ(message([] {
              while_loop([](const Model&) { return zeros({}, Dtype::b8); },
                         [](const Model& m) {
                           return Model{concatenate({m.w, m.w}), m.more};
                         },
                         Model{zeros({2}), {}});
            }),
            "while_loop: `carry.w` is f32[2], the body makes f32[4] of it");
  EXPECT_EQ(message([] {
              fori_loop(
                  0, 3,
                  [](const Array&, const Model& m) {
                    return Model{m.w, {m.w}};
                  },
                  Model{zeros({2}), {}});
            }),
            "fori_loop: the body changes the structure of the carry: carry.more.0 is in the second tree only");
}

TEST(ControlErrors, Lengths) {
  EXPECT_EQ(message([] { scan(keep, zeros({}), full({}, 1.0)); }), "scan: `xs` is a scalar, it has no axis 0");
  EXPECT_EQ(message([] { scan(keep, zeros({}), zeros({3}), {.length = 4}); }),
            "scan: `xs` has 3 steps along axis 0, length has 4");
  EXPECT_EQ(message([] {
              scan(
                  [](const Array& c, const std::pair<Array, Array>&) {
                    return std::pair{c, c};
                  },
                  zeros({}), std::pair{zeros({3}), zeros({2, 2})});
            }),
            "scan: `xs.1` has 2 steps along axis 0, `xs.0` has 3");
  EXPECT_EQ(message([] {
              scan([](const Array& c) { return std::pair{c, c}; }, zeros({}), ScanOptions{});
            }),
            "scan: the number of steps is unknown\nfix: give .length");
  EXPECT_EQ(message([] { scan(keep, zeros({}), zeros({3}), {.unroll = 0}); }), "scan: unroll 0 is less than 1");
  EXPECT_EQ(message([] { uni::map([](const Array& x) { return x; }, zeros({3}), {.batch_size = 0}); }),
            "map: batch_size 0 is less than 1");
}

TEST(ControlErrors, Conditions) {
  const auto one = [](const Array& x) { return x; };
  EXPECT_EQ(message([&] { cond(full({}, 1.0), one, one, zeros({})); }),
            "cond: the condition is f32[]*, expected bool[]");
  EXPECT_EQ(message([&] { cond(zeros({2}, Dtype::b8), one, one, zeros({})); }),
            "cond: the condition is bool[2], expected bool[]");
  EXPECT_EQ(message([&] { while_loop([](const Array& c) { return c; }, one, full({}, 1, {.dtype = Dtype::i32})); }),
            "while_loop: the condition is i32[], expected bool[]");
  EXPECT_EQ(message([&] { switch_(full({}, 1.5, {.dtype = Dtype::f32}), std::tuple{one}, zeros({})); }),
            "switch_: the index is f32[], expected an integer scalar");
  EXPECT_EQ(message([&] {
              fori_loop(
                  0.5f * ones({}), 3, [](const Array&, const Array& c) { return c; }, zeros({}));
            }),
            "fori_loop: a bound is f32[], expected an integer scalar");
}

TEST(ControlErrors, Branches) {
  const Array yes = ones({}, Dtype::b8);
  EXPECT_EQ(message([&] {
              cond(
                  yes, [] { return zeros({2}); }, [] { return zeros({3}); });
            }),
            "cond: `result` is f32[3] in branch 0 and f32[2] in branch 1");
  EXPECT_EQ(message([&] {
              cond(
                  yes,
                  [] {
                    return Model{zeros({2}), {}};
                  },
                  [] {
                    return Model{zeros({2}), {zeros({2})}};
                  });
            }),
            "cond: branches 0 and 1 return different structures");
}

TEST(ControlErrors, ReverseModeOfWhile) {
  const auto f = [](const Array& x) {
    return while_loop([](const Array& c) { return c < 10.0; }, [](const Array& c) { return c * 2.0; }, x);
  };
  EXPECT_EQ(message([&] { grad(f)(full({}, 1.0)); }),
            "while_loop: reverse mode needs to know the number of steps when tracing\n"
            "fix: use scan, or fori_loop with bounds that are numbers");
}
}  // namespace
