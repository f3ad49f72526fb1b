// Trains a network on Fashion-MNIST over several devices: each takes a part of every batch, gradients are averaged by
// pmean. The whole step is one compiled program.
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <unisono/unisono.hpp>

using uni::Array, uni::Dtype, uni::i64;

struct Mlp {
  uni::nn::Linear first, second, out;

  static Mlp init(const uni::Key& key, Dtype dtype) {
    const auto [k1, k2, k3] = uni::split<3>(key);
    return {uni::nn::Linear::init(k1, 784, 1024, {.dtype = dtype}),
            uni::nn::Linear::init(k2, 1024, 1024, {.dtype = dtype}),
            uni::nn::Linear::init(k3, 1024, 10, {.dtype = dtype})};
  }
  Array operator()(const Array& image) const {
    const Array x = reshape(image, {image.shape(0), 784});
    return out(uni::nn::relu(second(uni::nn::relu(first(x)))));
  }
};

struct Cnn {
  uni::nn::Conv first, second;
  uni::nn::Linear hidden, out;

  static Cnn init(const uni::Key& key, Dtype dtype) {
    const auto [k1, k2, k3, k4] = uni::split<4>(key);
    return {uni::nn::Conv::init(k1, 3, 1, 32, {.dtype = dtype}), uni::nn::Conv::init(k2, 3, 32, 64, {.dtype = dtype}),
            uni::nn::Linear::init(k3, 7 * 7 * 64, 256, {.dtype = dtype}),
            uni::nn::Linear::init(k4, 256, 10, {.dtype = dtype})};
  }
  Array operator()(const Array& image) const {
    Array x = reshape(image, {image.shape(0), 28, 28, 1});
    x = uni::nn::avg_pool(uni::nn::relu(first(x)), 2);
    x = uni::nn::avg_pool(uni::nn::relu(second(x)), 2);
    return out(uni::nn::relu(hidden(reshape(x, {x.shape(0), 7 * 7 * 64}))));
  }
};

struct Batch {
  Array image, label;
};
template <class Model>
struct State {
  Model model;
  uni::optim::SgdState<Model> optimizer;
};

template <class Model>
Array loss(const Model& model, const Batch& batch) {
  return uni::mean(uni::nn::cross_entropy(model(batch.image), batch.label));
}

// One step on every device: the batch is split, the state and the learning rate are the same everywhere.
template <class Model>
auto make_step() {
  const auto step = [tx = uni::optim::sgd()](const State<Model>& s, const Batch& batch, const Array& learning_rate) {
    const auto local = uni::value_and_grad(loss<Model>)(s.model, batch);
    const auto [value, gradient] = uni::pmean(std::pair{local.value, local.grad}, "batch");
    const auto [updates, optimizer] = tx.update(gradient, s.optimizer, s.model, learning_rate);
    return std::pair{State<Model>{uni::optim::apply_updates(s.model, updates), optimizer}, value};
  };
  return uni::pmap(
      step, {.axis = "batch", .in_axes = {std::nullopt, 0, std::nullopt}, .out_axes = {std::nullopt, std::nullopt}});
}

struct Options {
  int devices = 8, epochs = 0, steps = 0;
  i64 batch = 128;
  std::uint64_t seed = 0;
  double learning_rate = 0.05;
  bool f64 = false;
  std::string model = "mlp", data = "/usr/share/datasets/fashion-mnist", metrics;
};

// `rows` examples, chosen by `order`, with `leading` as their first dimensions.
Batch gather(const uni::data::IdxFile& images, const uni::data::IdxFile& labels, const i64* order, i64 rows,
             uni::Dims leading, Dtype dtype) {
  constexpr i64 pixels = 28 * 28;
  std::vector<float> image(static_cast<std::size_t>(rows * pixels));
  std::vector<std::int32_t> label(static_cast<std::size_t>(rows));
  for (i64 r = 0; r < rows; ++r) {
    const std::uint8_t* from = images.bytes.data() + order[r] * pixels;
    for (i64 k = 0; k < pixels; ++k)
      image[static_cast<std::size_t>(r * pixels + k)] = static_cast<float>(from[k]) / 255.0f;
    label[static_cast<std::size_t>(r)] = labels.bytes[static_cast<std::size_t>(order[r])];
  }
  uni::Dims image_shape = leading;
  image_shape.push_back(28);
  image_shape.push_back(28);
  return {astype(uni::array(std::span<const float>(image), image_shape), dtype),
          uni::array(std::span<const std::int32_t>(label), leading)};
}

template <class Model>
double test_accuracy(const Model& model, const uni::data::FashionMnist& data, Dtype dtype) {
  static const auto correct = uni::jit([](const Model& m, const Batch& b) {
    return uni::sum(astype(uni::argmax(m(b.image), {.axis = -1}) == b.label, Dtype::i32));
  });
  constexpr i64 rows = 1000;
  const i64 count = data.test_labels.shape[0];
  std::vector<i64> order(static_cast<std::size_t>(count));
  for (i64 i = 0; i < count; ++i) order[static_cast<std::size_t>(i)] = i;
  i64 hits = 0;
  for (i64 at = 0; at < count; at += rows) {
    const i64 n = std::min(rows, count - at);
    const Batch batch = gather(data.test_images, data.test_labels, order.data() + at, n, {n}, dtype);
    hits += correct(model, batch).template item<i64>();
  }
  return static_cast<double>(hits) / static_cast<double>(count);
}

void print_collectives(const uni::Program& program) {
  std::printf("collectives of one step:\n");
  i64 bytes = 0;
  for (const uni::CollectiveUse& c : program.collectives()) {
    std::printf("  %-14s over %-8s %-18s %10lld bytes\n", c.operation.c_str(), c.axes.c_str(), c.type.c_str(),
                static_cast<long long>(c.bytes));
    bytes += c.bytes;
  }
  std::printf("  in all %lld bytes per device\n", static_cast<long long>(bytes));
}

template <class Model>
void train(const Options& o) {
  const auto data = uni::data::FashionMnist::load(o.data);
  const i64 examples = data.train_labels.shape[0], steps_per_epoch = examples / o.batch;
  if (o.batch < 1 || o.batch % o.devices != 0 || steps_per_epoch < 1)
    throw uni::ShapeError("--batch " + std::to_string(o.batch) + " must be a multiple of --devices " +
                          std::to_string(o.devices) + " and at most " + std::to_string(examples));
  const Dtype dtype = o.f64 ? Dtype::f64 : Dtype::f32;
  std::printf("data: %lld training and %lld test images of 28x28 pixels, from %s\n", static_cast<long long>(examples),
              static_cast<long long>(data.test_labels.shape[0]), o.data.c_str());
  std::printf("devices: %d virtual CPU devices, %lld examples each per step\n", o.devices,
              static_cast<long long>(o.batch / o.devices));

  uni::train::MetricsFile metrics(o.metrics);
  const auto init = uni::jit([dtype](const uni::Key& key) { return Model::init(key, dtype); });
  Model model = init(uni::Key(static_cast<i64>(o.seed)));
  auto optimizer = uni::optim::sgd().init(model);
  State<Model> state{std::move(model), std::move(optimizer)};
  const auto step = uni::jit(make_step<Model>(), {.donate = {0}});
  const i64 total = o.epochs * steps_per_epoch;
  i64 done = 0;
  for (int epoch = 0; epoch < o.epochs; ++epoch) {
    const std::vector<i64> order = uni::data::shuffled_indices(examples, o.seed, static_cast<std::uint64_t>(epoch));
    uni::train::Progress progress("epoch " + std::to_string(epoch + 1) + "/" + std::to_string(o.epochs),
                                  steps_per_epoch, o.batch);
    double sum = 0;
    i64 in_epoch = 0;
    while (in_epoch < steps_per_epoch && (o.steps == 0 || done < o.steps)) {
      const Batch batch = gather(data.train_images, data.train_labels, order.data() + in_epoch * o.batch, o.batch,
                                 {o.devices, o.batch / o.devices}, dtype);
      // A cosine from the full rate to zero.
      const double rate =
          o.learning_rate * 0.5 * (1 + std::cos(M_PI * static_cast<double>(done) / static_cast<double>(total)));
      auto [next, value] = step(std::move(state), batch, Array(rate));
      state = std::move(next);
      const double loss_value = value.template item<double>();
      sum += loss_value;
      ++in_epoch;
      metrics.write({{"step", static_cast<double>(++done)}, {"loss", loss_value}});
      progress.step(in_epoch, loss_value);
    }
    const double rate = progress.finish();
    const double accuracy = test_accuracy(state.model, data, dtype);
    std::printf("epoch %d/%d  loss %.4f  test accuracy %.2f %%  %.0f examples/s\n", epoch + 1, o.epochs,
                sum / static_cast<double>(in_epoch), 100 * accuracy, rate);
    std::fflush(stdout);
    metrics.write({{"epoch", epoch + 1.0}, {"test_accuracy", accuracy}, {"examples_per_second", rate}});
    if (o.steps != 0 && done >= o.steps) break;
  }
  const std::vector<i64> order = uni::data::shuffled_indices(examples, o.seed, 0);
  const Batch batch =
      gather(data.train_images, data.train_labels, order.data(), o.batch, {o.devices, o.batch / o.devices}, dtype);
  print_collectives(uni::make_program(make_step<Model>())(state, batch, Array(o.learning_rate)));
}

int main(int argc, char** argv) {
  Options o;
  CLI::App app("Trains a network on Fashion-MNIST over several devices with jit(pmap(value_and_grad(loss))).");
  app.add_option("--devices", o.devices, "virtual devices")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--model", o.model, "mlp or cnn")->check(CLI::IsMember({"mlp", "cnn"}))->capture_default_str();
  app.add_option("--epochs", o.epochs, "passes over the data (default 5, cnn 3)")->check(CLI::Range(1, 1000));
  app.add_option("--batch", o.batch, "examples per step, over all devices")->capture_default_str();
  app.add_option("--seed", o.seed, "of the weights and the order of examples")->capture_default_str();
  app.add_option("--lr", o.learning_rate, "learning rate at the start")->capture_default_str();
  app.add_option("--steps", o.steps, "stop after so many steps")->check(CLI::NonNegativeNumber);
  app.add_option("--data", o.data, "folder of the four IDX files, plain or .gz")->capture_default_str();
  app.add_option("--metrics", o.metrics, "file for one JSON line per step and per epoch");
  app.add_flag("--f64", o.f64, "compute in double precision");
  CLI11_PARSE(app, argc, argv);
  if (o.epochs == 0) o.epochs = o.model == "cnn" ? 3 : 5;
  try {
    uni::set_device_count(std::max(o.devices, uni::device_count()));
    o.model == "cnn" ? train<Cnn>(o) : train<Mlp>(o);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
