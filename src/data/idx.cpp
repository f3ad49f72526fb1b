#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/text.hpp"
#include <unisono/data.hpp>
#include <unisono/error.hpp>

namespace uni::data {

using base::cat;

namespace {
struct CloseFile {
  void operator()(gzFile file) const { gzclose(file); }
};
using File = std::unique_ptr<std::remove_pointer_t<gzFile>, CloseFile>;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw ExecutionError(cat("read_idx: ", path, ": ", what));
}

// Up to `bytes` bytes; fewer at the end of the file.
std::size_t read_some(gzFile file, const std::string& path, void* out, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    const unsigned chunk = static_cast<unsigned>(std::min<std::size_t>(bytes - done, 1u << 20));
    const int got = gzread(file, static_cast<char*>(out) + done, chunk);
    if (got < 0) {
      int code = 0;
      fail(path, cat("damaged: ", gzerror(file, &code)));
    }
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::vector<i64> read_header(gzFile file, const std::string& path) {
  unsigned char magic[4];
  if (read_some(file, path, magic, 4) != 4) fail(path, "shorter than the 4 bytes of an IDX header");
  if (magic[0] != 0 || magic[1] != 0 || magic[3] == 0 || magic[3] > 8) {
    std::string hex;
    for (unsigned char c : magic) {
      hex += hex.empty() ? "" : " ";
      hex += "0123456789abcdef"[c >> 4];
      hex += "0123456789abcdef"[c & 15];
    }
    fail(path, cat("no IDX file: it begins with ", hex));
  }
  if (magic[2] != 8) fail(path, cat("elements of IDX type ", static_cast<int>(magic[2]), "; only unsigned bytes (8) are read"));
  std::vector<i64> shape;
  for (int d = 0; d < magic[3]; ++d) {
    unsigned char size[4];
    if (read_some(file, path, size, 4) != 4) fail(path, "cut short in its header");
    shape.push_back((i64{size[0]} << 24) | (i64{size[1]} << 16) | (i64{size[2]} << 8) | i64{size[3]});
  }
  return shape;
}
}  // namespace

IdxFile read_idx(const std::string& path) {
  errno = 0;
  const File file(gzopen(path.c_str(), "rb"));
  if (!file) fail(path, cat("cannot be opened: ", std::strerror(errno)));
  IdxFile out;
  out.shape = read_header(file.get(), path);
  i64 count = 1;
  for (i64 s : out.shape) {
    count *= s;
    if (count > (i64{1} << 34)) fail(path, "larger than 16 GiB by its header");
  }
  // Grown as data arrives, so that a false header cannot ask for memory that the file does not fill.
  constexpr std::size_t step = std::size_t{1} << 24;
  while (static_cast<i64>(out.bytes.size()) < count) {
    const std::size_t old = out.bytes.size();
    const std::size_t want = std::min<std::size_t>(step, static_cast<std::size_t>(count) - old);
    out.bytes.resize(old + want);
    const std::size_t got = read_some(file.get(), path, out.bytes.data() + old, want);
    if (got != want)
      fail(path, cat("cut short: ", old + got, " bytes of data, its header says ", count));
  }
  unsigned char more;
  if (read_some(file.get(), path, &more, 1) != 0) fail(path, cat("too long: more than the ", count, " bytes of its header"));
  return out;
}

namespace {
bool exists(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  if (!file) return false;
  gzclose(file);
  return true;
}

IdxFile read_either(const std::string& folder, const std::string& name) {
  const std::string plain = folder + "/" + name;
  if (exists(plain + ".gz")) return read_idx(plain + ".gz");
  if (exists(plain)) return read_idx(plain);
  throw ExecutionError(cat("FashionMnist: neither ", plain, ".gz nor ", plain,
                           " is there\nfix: sudo apt-get install dataset-fashion-mnist, or name the folder by --data"));
}

void check(const char* set, const IdxFile& images, const IdxFile& labels) {
  if (images.shape.size() != 3 || labels.shape.size() != 1 || images.shape[0] != labels.shape[0] ||
      images.shape[1] != 28 || images.shape[2] != 28)
    throw ExecutionError(cat("FashionMnist: ", set, " images ", Dims(images.shape), " and labels ", Dims(labels.shape),
                             " do not fit; (n, 28, 28) and (n,) are needed"));
  for (std::uint8_t label : labels.bytes)
    if (label > 9)
      throw ExecutionError(cat("FashionMnist: ", set, " labels hold ", static_cast<int>(label), "; classes are 0 to 9"));
}
}  // namespace

FashionMnist FashionMnist::load(const std::string& folder) {
  FashionMnist d{read_either(folder, "train-images-idx3-ubyte"), read_either(folder, "train-labels-idx1-ubyte"),
                 read_either(folder, "t10k-images-idx3-ubyte"), read_either(folder, "t10k-labels-idx1-ubyte")};
  check("training", d.train_images, d.train_labels);
  check("test", d.test_images, d.test_labels);
  return d;
}

}  // namespace uni::data
