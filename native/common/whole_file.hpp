// Files that are read and written as a whole.
#pragma once

#include <string>

namespace hydraconf {

/// Everything in a regular file. Throws InputError, naming the file, when it is none, cannot be read, or
/// is larger than memory.
std::string read_whole_file(const std::string& path);

/// Writes under a temporary name that then replaces `path`: it is complete or as it was. Through a link,
/// what it leads to. What is no regular file (a pipe, /dev/null) is written into, not replaced; so
/// is a file that this process has open to write to, behind what it wrote there (`/dev/stdout`, and `> file`).
/// Throws InputError, naming the file, when that fails.
void write_whole_file(const std::string& path, const std::string& bytes);

}  // namespace hydraconf
