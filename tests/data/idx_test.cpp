// Reading IDX files: every way in which one can be wrong has its message.
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

#include <unisono/data.hpp>
#include <unisono/error.hpp>

namespace {
namespace fs = std::filesystem;
using uni::data::FashionMnist;
using uni::data::read_idx;

// A folder of its own for each test, gone afterwards.
class Idx : public testing::Test {
 protected:
  Idx() : folder_(fs::temp_directory_path() / ("unisono_idx_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~Idx() override { fs::remove_all(folder_); }

  std::string plain(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return (folder_ / name).string();
  }
  std::string packed(const std::string& name, const std::string& bytes) const {
    const std::string path = (folder_ / name).string();
    const gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
    return path;
  }
  static std::string contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static std::string error_of(const std::string& path) {
    try {
      read_idx(path);
    } catch (const uni::ExecutionError& e) {
      return e.what();
    }
    return "no error";
  }
  static void expect_error(const std::string& path, const std::string& what) {
    EXPECT_EQ(error_of(path), "read_idx: " + what + "\n    in " + path);
  }
  std::string folder() const { return folder_.string(); }

 private:
  fs::path folder_;
};

std::string header(char type, const std::vector<std::uint32_t>& sizes) {
  std::string out{0, 0, type, static_cast<char>(sizes.size())};
  for (std::uint32_t s : sizes)
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(s >> shift);
  return out;
}

TEST_F(Idx, ReadsPlainAndPackedFilesAlike) {
  const std::string bytes = header(8, {2, 3}) + std::string{1, 2, 3, 4, 5, '\xff'};
  for (const std::string& path : {plain("a", bytes), packed("b.gz", bytes)}) {
    const auto file = read_idx(path);
    EXPECT_EQ(file.shape, (std::vector<uni::i64>{2, 3}));
    EXPECT_EQ(file.bytes, (std::vector<std::uint8_t>{1, 2, 3, 4, 5, 255}));
  }
}

TEST_F(Idx, ReadsEmptyFilesOfData) {
  const auto file = read_idx(plain("a", header(8, {0, 4294967295u, 4294967295u, 4294967295u})));
  EXPECT_EQ(file.shape.size(), 4u);
  EXPECT_TRUE(file.bytes.empty());
}

TEST_F(Idx, ReadsMoreThanOneChunk) {
  const std::size_t count = (std::size_t{1} << 24) + 5;
  std::string data(count, 'x');
  data.back() = 'y';
  const auto file = read_idx(plain("a", header(8, {static_cast<std::uint32_t>(count)}) + data));
  ASSERT_EQ(file.bytes.size(), count);
  EXPECT_EQ(file.bytes.back(), 'y');
}

TEST_F(Idx, MissingFile) {
  expect_error(folder() + "/none", "cannot open the file: No such file or directory");
  const std::string packaged = "/usr/share/datasets/fashion-mnist/none.gz";
  EXPECT_EQ(error_of(packaged), "read_idx: cannot open the file: No such file or directory\n    in " + packaged +
                                    "\nfix: sudo apt-get install dataset-fashion-mnist");
}

TEST_F(Idx, Folder) { expect_error(folder(), "cannot read the file: Is a directory"); }

TEST_F(Idx, WrongMagicNumber) {
  const std::string what = "; an IDX file of bytes begins with 00 00 08 and its rank";
  expect_error(plain("png", "\x89PNG and so on"), "magic number 89 50 4e 47" + what);
  expect_error(plain("rank", header(8, {})), "magic number 00 00 08 00" + what);
  expect_error(plain("type", header(7, {1})), "magic number 00 00 07 01" + what);
}

TEST_F(Idx, WrongElementType) {
  expect_error(plain("f32", header(13, {1}) + "1234"), "elements of type f32 (0x0d); only u8 (0x08) is read");
  expect_error(plain("i16", header(11, {1}) + "12"), "elements of type i16 (0x0b); only u8 (0x08) is read");
}

TEST_F(Idx, EndsEarly) {
  expect_error(plain("empty", ""), "the file has 0 bytes; an IDX file begins with 4 bytes of magic number");
  expect_error(plain("header", header(8, {2, 3}).substr(0, 9)),
               "the file ends inside its header: 2 sizes announced, 1 found");
  const std::string short_data = header(8, {2, 3}) + "12345";
  const std::string what = "the file ends after 5 bytes of data; its header announces (2, 3), 6 bytes";
  expect_error(plain("data", short_data), what);
  expect_error(packed("data.gz", short_data), what);
}

TEST_F(Idx, PackedDataEndsEarly) {
  const std::string whole = contents(packed("whole.gz", header(8, {2, 3}) + "123456"));
  for (std::size_t n = 12; n < whole.size(); ++n)
    expect_error(plain("cut.gz", whole.substr(0, n)), "the gzip data ends early");
}

TEST_F(Idx, DamagedPackedData) {
  std::string bytes = contents(packed("good.gz", header(8, {2, 3}) + "123456"));
  bytes[bytes.size() - 8] ^= 1;  // the checksum
  expect_error(plain("bad.gz", bytes), "the gzip data is damaged: incorrect data check");
}

TEST_F(Idx, MoreDataThanAnnounced) {
  expect_error(plain("long", header(8, {2, 3}) + "1234567"),
               "data follows after the 6 bytes that the header announces, (2, 3)");
}

TEST_F(Idx, SizesThatNoFileHas) {
  const std::uint32_t most = 4294967295u;
  expect_error(
      plain("huge", header(8, {most, most, most})),
      "the header announces (4294967295, 4294967295, 4294967295), more than the 17179869184 bytes that are read");
  expect_error(plain("large", header(8, {1u << 31}) + "1"),
               "the file ends after 1 bytes of data; its header announces (2147483648,), 2147483648 bytes");
}

TEST_F(Idx, EveryPrefixOfAFileGivesAnError) {
  const std::string bytes = contents(packed("good.gz", header(8, {2, 3}) + "123456"));
  for (std::size_t n = 0; n < bytes.size(); ++n)
    EXPECT_NE(error_of(plain("cut.gz", bytes.substr(0, n))), "no error") << n << " bytes";
}

TEST_F(Idx, FashionMnistPrefersPackedFilesAndTakesPlainOnes) {
  const auto fill = [&](const std::string& set, std::uint32_t count, char label) {
    const std::string images = header(8, {count, 28, 28}) + std::string(count * 784, 'p');
    packed(set + "-images-idx3-ubyte.gz", images);
    plain(set + "-labels-idx1-ubyte", header(8, {count}) + std::string(count, label));
  };
  fill("train", 3, 9);
  fill("t10k", 2, 0);
  const auto data = FashionMnist::load(folder());
  EXPECT_EQ(data.train_images.shape, (std::vector<uni::i64>{3, 28, 28}));
  EXPECT_EQ(data.test_labels.bytes, (std::vector<std::uint8_t>{0, 0}));

  plain("train-labels-idx1-ubyte", header(8, {3}) + std::string{0, 10, 0});
  const auto message = [&] {
    try {
      FashionMnist::load(folder());
    } catch (const uni::ExecutionError& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(message(), "FashionMnist: training label 1 is 10; classes are 0 to 9\n    in " + folder());
  plain("train-labels-idx1-ubyte", header(8, {2}) + std::string{0, 1});
  EXPECT_EQ(message(),
            "FashionMnist: training images (3, 28, 28) and labels (2,) do not fit; (n, 28, 28) and (n,) are "
            "needed\n    in " +
                folder());
  fs::remove(folder() + "/train-labels-idx1-ubyte");
  EXPECT_EQ(message(),
            "FashionMnist: neither train-labels-idx1-ubyte.gz nor train-labels-idx1-ubyte is there\n    in " +
                folder() +
                "\nfix: sudo apt-get install dataset-fashion-mnist, and use "
                "/usr/share/datasets/fashion-mnist");
}

TEST_F(Idx, FashionMnistOfTheDebianPackage) {
  const auto data = FashionMnist::load();
  EXPECT_EQ(data.train_images.shape, (std::vector<uni::i64>{60000, 28, 28}));
  EXPECT_EQ(data.test_images.shape, (std::vector<uni::i64>{10000, 28, 28}));
  EXPECT_EQ(data.train_images.bytes.size(), 60000u * 784u);
  const auto per_class = [](const std::vector<std::uint8_t>& labels) {
    std::vector<int> counts(10);
    for (std::uint8_t label : labels) ++counts[label];
    return counts;
  };
  EXPECT_EQ(per_class(data.train_labels.bytes), std::vector<int>(10, 6000));
  EXPECT_EQ(per_class(data.test_labels.bytes), std::vector<int>(10, 1000));
}
}  // namespace
