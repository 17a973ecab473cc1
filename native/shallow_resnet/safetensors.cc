#include "shallow_resnet/safetensors.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>

#include "common/json_reader.hpp"
#include "common/json_writer.hpp"
#include "common/memory_limit.hpp"
#include "common/text.hpp"

namespace hydraconf {
namespace {

constexpr std::size_t kLengthBytes = 8;
// The limit of the format's own reader: a longer header is damage or an attack.
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
// As many as NumPy's arrays can have.
constexpr std::size_t kMostSizes = 64;

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

std::string system_message(int code) { return std::generic_category().message(code); }

/// Bytes in a regular file. Anything else may have no end (/dev/zero) or no writer (a pipe).
std::size_t regular_file_size(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0)
    throw InputError("cannot read " + path + ": " + system_message(errno));
  if (!S_ISREG(status.st_mode)) throw InputError("cannot read " + path + ": not a regular file");
  return static_cast<std::size_t>(status.st_size);
}

std::string read_file(const std::string& path) {
  const std::size_t size = regular_file_size(path);
  const std::size_t present = memory_limit();
  if (present != 0 && size > present)
    throw InputError(path + ": reading it needs " + std::to_string(size >> 20u) +
                     " MiB of memory; there are " + std::to_string(present >> 20u) + " MiB here");
  std::string bytes;
  bytes.reserve(size);
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) throw InputError("cannot read " + path + ": " + system_message(errno));
  std::vector<char> chunk(1 << 20);
  for (;;) {
    errno = 0;
    const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), file.get());
    bytes.append(chunk.data(), got);
    if (got < chunk.size()) {
      if (std::ferror(file.get()) != 0)
        throw InputError("cannot read " + path + ": " + system_message(errno));
      return bytes;
    }
  }
}

std::uint64_t little_endian_64(const char* bytes) {
  std::uint64_t value = 0;
  for (int i = 7; i >= 0; --i)
    value = (value << 8u) | static_cast<unsigned char>(bytes[i]);
  return value;
}

float little_endian_float(const char* bytes) {
  std::uint32_t bits = 0;
  for (int i = 3; i >= 0; --i)
    bits = (bits << 8u) | static_cast<unsigned char>(bytes[i]);
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

void append_little_endian(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xFFu);
}

/// Bytes per element of the format's types; 0 for a name that is none of them.
std::size_t dtype_bytes(const std::string& dtype) {
  static const std::map<std::string, std::size_t> kBytes = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"I16", 2},
      {"U16", 2},  {"F16", 2}, {"BF16", 2}, {"I32", 4},    {"U32", 4},     {"F32", 4},
      {"F64", 8},  {"I64", 8}, {"U64", 8}};
  const auto found = kBytes.find(dtype);
  return found == kBytes.end() ? 0 : found->second;
}

struct Entry {
  std::string name;
  std::string dtype;
  Sizes sizes;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Reads one file's header; every complaint of it begins with the file's name.
class HeaderReader {
 public:
  HeaderReader(std::string path, const std::string& bytes)
      : path_(std::move(path)), bytes_(bytes) {}

  std::vector<Entry> entries() {
    const JsonValue header = parse_header();
    std::vector<Entry> entries;
    for (const auto& [name, value] : header.members) {
      if (name == "__metadata__") {
        check_metadata(value);
      } else {
        entries.push_back(entry(name, value));
      }
    }
    check_layout(entries);
    return entries;
  }

  std::size_t data_offset() const { return data_offset_; }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(path_ + " is not a valid safetensors file: " + message);
  }

  JsonValue parse_header() {
    if (bytes_.size() < kLengthBytes)
      fail("it has " + std::to_string(bytes_.size()) + " bytes, fewer than its length field");
    const std::uint64_t length = little_endian_64(bytes_.data());
    if (length > kMaxHeaderBytes)
      fail("its header claims " + std::to_string(length) + " bytes, more than any real one has");
    if (length > bytes_.size() - kLengthBytes)
      fail("its header claims " + std::to_string(length) + " bytes, but only " +
           std::to_string(bytes_.size() - kLengthBytes) + " follow");
    data_offset_ = kLengthBytes + static_cast<std::size_t>(length);
    const std::string_view text(bytes_.data() + kLengthBytes, static_cast<std::size_t>(length));
    try {
      JsonValue header = read_json(text);
      if (header.kind != JsonValue::Kind::object) fail("its header is not a JSON object");
      return header;
    } catch (const JsonError& error) {
      fail(std::string("its header is not JSON: ") + error.what());
    }
  }

  void check_metadata(const JsonValue& value) const {
    if (value.kind != JsonValue::Kind::object) fail("'__metadata__' is not an object");
    for (const auto& [key, text] : value.members)
      if (text.kind != JsonValue::Kind::string)
        fail("'__metadata__." + printable(key) + "' is not a string");
  }

  Entry entry(const std::string& name, const JsonValue& value) const {
    const std::string where = "tensor '" + printable(name) + "'";
    const JsonValue* dtype = value.find("dtype");
    const JsonValue* shape = value.find("shape");
    const JsonValue* offsets = value.find("data_offsets");
    if (value.kind != JsonValue::Kind::object || dtype == nullptr || shape == nullptr ||
        offsets == nullptr || value.members.size() != 3)
      fail(where + " must have exactly dtype, shape and data_offsets");
    if (dtype->kind != JsonValue::Kind::string || dtype_bytes(dtype->text) == 0)
      fail(where + " has an unknown dtype");
    if (shape->kind != JsonValue::Kind::array) fail(where + ": shape is not a list");
    if (shape->items.size() > kMostSizes)
      fail(where + ": its shape has " + std::to_string(shape->items.size()) + " sizes");
    if (offsets->kind != JsonValue::Kind::array || offsets->items.size() != 2)
      fail(where + ": data_offsets is not a list of two offsets");

    Entry result;
    result.name = name;
    result.dtype = dtype->text;
    for (const JsonValue& size : shape->items) result.sizes.push_back(size_of(size, where));
    result.begin = size_of(offsets->items[0], where);
    result.end = size_of(offsets->items[1], where);
    if (result.begin > result.end || result.end > bytes_.size() - data_offset_)
      fail(where + ": data_offsets [" + std::to_string(result.begin) + ", " +
           std::to_string(result.end) + "] lie outside of the " +
           std::to_string(bytes_.size() - data_offset_) + " bytes of data");
    if (byte_count(result, where) != result.end - result.begin)
      fail(where + ": shape " + sizes_text(result.sizes) + " of " + result.dtype + " does not take " +
           std::to_string(result.end - result.begin) + " bytes");
    return result;
  }

  std::size_t size_of(const JsonValue& value, const std::string& where) const {
    const bool digits = value.kind == JsonValue::Kind::number && !value.text.empty() &&
                        value.text.find_first_not_of("0123456789") == std::string::npos;
    // 18 digits always fit into 64 bits, and no file has more bytes than that.
    if (!digits || value.text.size() > 18) fail(where + ": a size or offset is not a whole number");
    return static_cast<std::size_t>(std::stoull(value.text));
  }

  std::size_t byte_count(const Entry& entry, const std::string& where) const {
    try {
      return checked_multiply(element_count(entry.sizes), dtype_bytes(entry.dtype));
    } catch (const InputError&) {
      fail(where + ": shape " + sizes_text(entry.sizes) + " overflows");
    }
  }

  /// The format allows neither holes nor overlaps: the tensors tile the data exactly.
  void check_layout(std::vector<Entry> entries) const {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::size_t expected = 0;
    for (const Entry& entry : entries) {
      if (entry.begin != expected)
        fail("tensor '" + printable(entry.name) + "' begins at byte " + std::to_string(entry.begin) +
             " of the data, expected " + std::to_string(expected));
      expected = entry.end;
    }
    if (expected != bytes_.size() - data_offset_)
      fail(std::to_string(bytes_.size() - data_offset_ - expected) +
           " bytes at its end belong to no tensor");
  }

  std::string path_;
  const std::string& bytes_;
  std::size_t data_offset_ = 0;
};

HostTensor decode(const std::string& path, const Entry& entry, const char* data) {
  HostTensor tensor;
  tensor.sizes = entry.sizes;
  tensor.values.resize(element_count(entry.sizes));
  for (std::size_t i = 0; i < tensor.values.size(); ++i) {
    tensor.values[i] = little_endian_float(data + i * sizeof(float));
    if (!std::isfinite(tensor.values[i]))
      throw InputError(path + ": tensor '" + printable(entry.name) + "' holds a value that is not finite (" +
                       std::to_string(tensor.values[i]) + " at index " + std::to_string(i) + ")");
  }
  return tensor;
}

std::string header_text(const std::vector<std::pair<std::string, const HostTensor*>>& tensors) {
  // "format": "pt" is what PyTorch's own loaders look for.
  std::string header = R"({"__metadata__":{"format":"pt"})";
  std::size_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    std::string shape;
    for (const std::size_t size : tensor->sizes)
      shape += (shape.empty() ? "" : ",") + std::to_string(size);
    const std::size_t end = offset + tensor->values.size() * sizeof(float);
    header += "," + json_quote(name) + R"(:{"dtype":"F32","shape":[)" + shape +
              R"(],"data_offsets":[)" + std::to_string(offset) + "," + std::to_string(end) + "]}";
    offset = end;
  }
  header += "}";
  // Padding with spaces keeps the data aligned for readers that map the file.
  header.append((8 - header.size() % 8) % 8, ' ');
  return header;
}

}  // namespace

TensorMap read_safetensors(const std::string& path) {
  const std::string bytes = read_file(path);
  HeaderReader reader(path, bytes);
  TensorMap tensors;
  for (const Entry& entry : reader.entries()) {
    if (entry.dtype == "F32") {
      tensors.emplace(entry.name,
                      decode(path, entry, bytes.data() + reader.data_offset() + entry.begin));
    } else if (!ends_with(entry.name, "num_batches_tracked")) {
      throw InputError(path + ": tensor '" + printable(entry.name) + "' is " + entry.dtype +
                       "; only F32 is supported");
    }
  }
  return tensors;
}

void write_safetensors(const std::string& path,
                       const std::vector<std::pair<std::string, const HostTensor*>>& tensors) {
  const std::string header = header_text(tensors);
  std::string bytes;
  append_little_endian(bytes, header.size(), 8);
  bytes += header;
  for (const auto& [name, tensor] : tensors) {
    for (const float value : tensor->values) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      append_little_endian(bytes, bits, 4);
    }
  }

  const std::string temporary = path + ".tmp" + std::to_string(getpid());
  File file(std::fopen(temporary.c_str(), "wb"));
  if (!file) throw InputError("cannot write " + path + ": " + system_message(errno));
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  const bool closed = std::fclose(file.release()) == 0;
  if (!written || !closed || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int code = errno;
    std::remove(temporary.c_str());
    throw InputError("cannot write " + path + ": " + system_message(code));
  }
}

}  // namespace hydraconf
