#include "shallow_resnet/safetensors_header.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

#include "common/json_reader.hpp"
#include "common/json_writer.hpp"
#include "common/memory_limit.hpp"
#include "common/text.hpp"

namespace hydraconf {
namespace {

constexpr std::size_t kLengthBytes = 8;
// The limit of the format's own reader: a longer header is damage or an attack.
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
// What a byte of JSON can become in memory: measured as 37.
constexpr std::uint64_t kMostMemoryPerByte = 40;
// As many as NumPy's arrays can have.
constexpr std::size_t kMostSizes = 64;

std::uint64_t little_endian_64(const char* bytes) {
  std::uint64_t value = 0;
  for (int i = 7; i >= 0; --i)
    value = (value << 8u) | static_cast<unsigned char>(bytes[i]);
  return value;
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

/// Reads one file's header; every complaint of it begins with the file's name.
class HeaderReader {
 public:
  HeaderReader(std::string path, const std::string& bytes)
      : path_(std::move(path)), bytes_(bytes) {}

  SafetensorsHeader header() {
    const JsonValue header = parse_header();
    std::vector<SafetensorsEntry> entries;
    for (const auto& [name, value] : header.members) {
      if (name == "__metadata__") {
        check_metadata(value);
      } else {
        entries.push_back(entry(name, value));
      }
    }
    check_layout(entries);
    return {std::move(entries), data_offset_};
  }

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
    check_memory(length);
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

  /// Before it is parsed: a list of small numbers takes most, and no honest header is near that.
  void check_memory(std::uint64_t length) const {
    const std::uint64_t needed = length * kMostMemoryPerByte;
    const std::size_t present = memory_limit();
    if (present != 0 && needed > present)
      throw InputError(path_ + ": reading its header of " + std::to_string(length >> 20u) +
                       " MiB may need " + std::to_string(needed >> 20u) +
                       " MiB of memory; there are " + std::to_string(present >> 20u) + " MiB here");
  }

  void check_metadata(const JsonValue& value) const {
    if (value.kind != JsonValue::Kind::object) fail("'__metadata__' is not an object");
    for (const auto& [key, text] : value.members)
      if (text.kind != JsonValue::Kind::string)
        fail("'__metadata__." + printable(key) + "' is not a string");
  }

  SafetensorsEntry entry(const std::string& name, const JsonValue& value) const {
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

    SafetensorsEntry result;
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

  std::size_t byte_count(const SafetensorsEntry& entry, const std::string& where) const {
    try {
      return checked_multiply(element_count(entry.sizes), dtype_bytes(entry.dtype));
    } catch (const InputError&) {
      fail(where + ": shape " + sizes_text(entry.sizes) + " overflows");
    }
  }

  /// The format allows neither holes nor overlaps: the tensors tile the data exactly.
  void check_layout(std::vector<SafetensorsEntry> entries) const {
    std::sort(entries.begin(), entries.end(), [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::size_t expected = 0;
    for (const SafetensorsEntry& entry : entries) {
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

}  // namespace

SafetensorsHeader read_safetensors_header(const std::string& path, const std::string& bytes) {
  return HeaderReader(path, bytes).header();
}

std::string safetensors_header(
    const std::vector<std::pair<std::string, const HostTensor*>>& tensors) {
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
  std::string length;
  for (unsigned i = 0; i < kLengthBytes; ++i)
    length += static_cast<char>((std::uint64_t{header.size()} >> (8 * i)) & 0xFFu);
  return length + header;
}

}  // namespace hydraconf
