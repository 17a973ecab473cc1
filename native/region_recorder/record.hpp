// Words of one record, built here and copied into the stream when complete.
#pragma once

#include <cstddef>
#include <cstdint>

#include "format.hpp"

namespace region_recorder {

class Record {
 public:
  explicit Record(format::RecordType type) : type_(type) {}

  void add(std::uint32_t word) { words_[count_++] = word; }
  void add64(std::uint64_t value) {
    add(format::low_half(value));
    add(format::high_half(value));
  }
  void add_flag(format::RecordFlags flag) { flags_ = static_cast<std::uint8_t>(flags_ | flag); }

  // The finished words of a record that ends with `size` bytes from elsewhere.
  std::uint32_t* words_before(std::size_t size) {
    words_[0] = format::record_head(type_, flags_, count_ + (size + 3) / 4);
    return words_;
  }

  // The finished words. The second one of a timed record is the stream's to fill in.
  std::uint32_t* words() {
    words_[0] = format::record_head(type_, flags_, count_);
    return words_;
  }

 private:
  format::RecordType type_;
  std::uint8_t flags_ = 0;
  std::size_t count_ = 1;
  std::uint32_t words_[24];
};

}  // namespace region_recorder
