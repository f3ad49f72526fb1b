#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/text.hpp"
#include <unisono/data.hpp>
#include <unisono/error.hpp>

namespace uni::data {

using base::cat;

namespace {
constexpr const char* debian_folder = "/usr/share/datasets/fashion-mnist";
constexpr const char* install = "\nfix: sudo apt-get install dataset-fashion-mnist";
constexpr i64 largest = i64{1} << 34;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw ExecutionError(cat("read_idx: ", what, "\n    in ", path));
}

std::string hex(unsigned char byte) { return {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]}; }

// The name of an IDX element type, empty when there is none with this code.
std::string element_type(unsigned char code) {
  switch (code) {
    case 0x08:
      return "u8";
    case 0x09:
      return "i8";
    case 0x0b:
      return "i16";
    case 0x0c:
      return "i32";
    case 0x0d:
      return "f32";
    case 0x0e:
      return "f64";
    default:
      return "";
  }
}

// zlib's reader passes plain files through, so that one reader serves both kinds.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {
    errno = 0;
    file_.reset(gzopen(path.c_str(), "rb"));
    if (file_) return;
    const int code = errno;
    const bool packaged = code == ENOENT && path.starts_with(debian_folder);
    throw ExecutionError(
        cat("read_idx: cannot open the file: ", std::strerror(code), "\n    in ", path, packaged ? install : ""));
  }

  // Up to `bytes` bytes; fewer at the end of the file.
  std::size_t read(void* out, std::size_t bytes) {
    std::size_t done = 0;
    while (done < bytes) {
      const auto chunk = static_cast<unsigned>(std::min<std::size_t>(bytes - done, 1u << 20));
      const int got = gzread(file_.get(), static_cast<char*>(out) + done, chunk);
      if (got < 0) fail_reading();
      if (got == 0) {
        int code = 0;
        gzerror(file_.get(), &code);
        if (code == Z_BUF_ERROR) fail(path_, "the gzip data ends early");
        break;
      }
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail_reading() {
    const int from_system = errno;
    int code = 0;
    std::string_view why = gzerror(file_.get(), &code);
    if (code == Z_ERRNO) fail(path_, cat("cannot read the file: ", std::strerror(from_system)));
    if (why.starts_with(path_ + ": ")) why.remove_prefix(path_.size() + 2);  // zlib puts the path first
    fail(path_, cat("the gzip data is damaged: ", why));
  }

  struct Close {
    void operator()(gzFile file) const { gzclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::remove_pointer_t<gzFile>, Close> file_;
};

std::vector<i64> read_header(Reader& file) {
  unsigned char magic[4];
  if (const std::size_t got = file.read(magic, 4); got != 4)
    fail(file.path(), cat("the file has ", got, " bytes; an IDX file begins with 4 bytes of magic number"));
  if (magic[0] != 0 || magic[1] != 0 || element_type(magic[2]).empty() || magic[3] == 0)
    fail(file.path(), cat("magic number ", hex(magic[0]), " ", hex(magic[1]), " ", hex(magic[2]), " ", hex(magic[3]),
                          "; an IDX file of bytes begins with 00 00 08 and its rank"));
  if (magic[2] != 0x08)
    fail(file.path(),
         cat("elements of type ", element_type(magic[2]), " (0x", hex(magic[2]), "); only u8 (0x08) is read"));
  std::vector<i64> shape;
  for (int d = 0; d < magic[3]; ++d) {
    unsigned char size[4];
    if (file.read(size, 4) != 4)
      fail(file.path(),
           cat("the file ends inside its header: ", static_cast<int>(magic[3]), " sizes announced, ", d, " found"));
    shape.push_back((i64{size[0]} << 24) | (i64{size[1]} << 16) | (i64{size[2]} << 8) | i64{size[3]});
  }
  return shape;
}

i64 count_elements(const Reader& file, const std::vector<i64>& shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  i64 count = 1;
  for (i64 size : shape) {
    if (count > largest / size)
      fail(file.path(), cat("the header announces ", Dims(shape), ", more than the ", largest, " bytes that are read"));
    count *= size;
  }
  return count;
}
}  // namespace

IdxFile read_idx(const std::string& path) {
  Reader file(path);
  IdxFile out{read_header(file), {}};
  const auto count = static_cast<std::size_t>(count_elements(file, out.shape));
  // Grown as data arrives, so that a false header cannot ask for memory that the file does not fill.
  constexpr std::size_t step = std::size_t{1} << 24;
  while (out.bytes.size() < count) {
    const std::size_t before = out.bytes.size(), want = std::min(step, count - before);
    out.bytes.resize(before + want);
    const std::size_t got = file.read(out.bytes.data() + before, want);
    if (got != want)
      fail(path, cat("the file ends after ", before + got, " bytes of data; its header announces ", Dims(out.shape),
                     ", ", count, " bytes"));
  }
  unsigned char more = 0;
  if (file.read(&more, 1) != 0)
    fail(path, cat("data follows after the ", count, " bytes that the header announces, ", Dims(out.shape)));
  return out;
}

namespace {
IdxFile read_either(const std::string& folder, const std::string& name) {
  const std::string plain = folder + "/" + name, packed = plain + ".gz";
  std::error_code ignored;
  if (std::filesystem::exists(packed, ignored)) return read_idx(packed);
  if (std::filesystem::exists(plain, ignored)) return read_idx(plain);
  throw ExecutionError(cat("FashionMnist: neither ", name, ".gz nor ", name, " is there\n    in ", folder, install,
                           folder == debian_folder ? "" : cat(", and use ", debian_folder)));
}

void check(const char* set, const std::string& folder, const IdxFile& images, const IdxFile& labels) {
  if (images.shape.size() != 3 || labels.shape.size() != 1 || images.shape[0] != labels.shape[0] ||
      images.shape[1] != 28 || images.shape[2] != 28)
    throw ExecutionError(cat("FashionMnist: ", set, " images ", Dims(images.shape), " and labels ", Dims(labels.shape),
                             " do not fit; (n, 28, 28) and (n,) are needed\n    in ", folder));
  const auto wrong =
      std::find_if(labels.bytes.begin(), labels.bytes.end(), [](std::uint8_t label) { return label > 9; });
  if (wrong != labels.bytes.end())
    throw ExecutionError(cat("FashionMnist: ", set, " label ", wrong - labels.bytes.begin(), " is ",
                             static_cast<int>(*wrong), "; classes are 0 to 9\n    in ", folder));
}
}  // namespace

FashionMnist FashionMnist::load(const std::string& folder) {
  FashionMnist d{read_either(folder, "train-images-idx3-ubyte"), read_either(folder, "train-labels-idx1-ubyte"),
                 read_either(folder, "t10k-images-idx3-ubyte"), read_either(folder, "t10k-labels-idx1-ubyte")};
  check("training", folder, d.train_images, d.train_labels);
  check("test", folder, d.test_images, d.test_labels);
  return d;
}

}  // namespace uni::data
