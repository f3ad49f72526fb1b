// Datasets: IDX files (LeCun's MNIST format), Fashion-MNIST, seeded shuffling.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <unisono/dtype.hpp>

namespace uni::data {

// An IDX file of unsigned bytes: magic 00 00 08 rank, big-endian sizes, then the bytes in row-major order.
struct IdxFile {
  std::vector<i64> shape;
  std::vector<std::uint8_t> bytes;
};
// Reads an IDX file, plain or gzip. Throws ExecutionError when it is missing, is no IDX file of bytes, is cut short or
// too long, or its compression is damaged.
IdxFile read_idx(const std::string& path);

// 60000 training and 10000 test images of 28 x 28 pixels in ten classes (Xiao, Rasul and Vollgraf, 2017).
struct FashionMnist {
  IdxFile train_images, train_labels, test_images, test_labels;
  // From a folder that holds the four files, plain or .gz. Debian has them in the package dataset-fashion-mnist. Throws
  // ExecutionError when a file is missing or images and labels do not fit together.
  static FashionMnist load(const std::string& folder = "/usr/share/datasets/fashion-mnist");
};

// The numbers 0 .. n-1 in an order that depends on seed and epoch only, the same on every machine.
std::vector<i64> shuffled_indices(i64 n, std::uint64_t seed, std::uint64_t epoch);

}  // namespace uni::data
