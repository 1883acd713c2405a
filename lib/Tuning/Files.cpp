//===- Files.cpp - Files, hashes and the failure type ---------------------===//

#include "fact/Tuning/Files.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <unistd.h>
#include <vector>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;

std::string readFile(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  if (file)
    content << file.rdbuf();
  if (!file || file.bad())
    throw Failure("cannot read " + path.string() + ": " + std::strerror(errno));
  return content.str();
}

static std::string withAdvice(int code, const fs::path &path) {
  std::string text = std::strerror(code);
  if (code == ENOSPC || code == EDQUOT || code == EFBIG)
    text += "; free some space there, or move the bundle, and run the same "
            "command again: finished work is kept";
  if (code == EACCES || code == EROFS || code == EPERM)
    text += "; fact-tune writes into " + path.parent_path().string() +
            ": make it writable, or name another place";
  return text;
}

void writeFile(const fs::path &path, const std::string &content) {
  fs::path aside = path;
  aside += ".partial";
  int file =
      open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  int code = file < 0 ? errno : 0;
  size_t written = 0;
  while (code == 0 && written < content.size()) {
    ssize_t count =
        write(file, content.data() + written, content.size() - written);
    if (count > 0)
      written += static_cast<size_t>(count);
    else if (errno != EINTR)
      code = errno;
  }
  if (file >= 0 && close(file) != 0 && code == 0)
    code = errno;
  if (code == 0 && std::rename(aside.c_str(), path.c_str()) != 0)
    code = errno;
  if (code != 0) {
    unlink(aside.c_str());
    throw Failure("cannot write " + path.string() + ": " +
                  withAdvice(code, path));
  }
}

void createFolder(const fs::path &path) {
  std::error_code code;
  fs::create_directories(path, code);
  if (code)
    throw Failure("cannot create the folder " + path.string() + ": " +
                  withAdvice(code.value(), path));
}

ContentHash &ContentHash::add(const std::string &content) {
  auto mix = [this](unsigned char byte) {
    state = (state ^ byte) * 0x100000001b3ull;
  };
  // The length first: "a" + "bc" is not "ab" + "c".
  for (size_t length = content.size(), i = 0; i < 8; ++i, length >>= 8)
    mix(static_cast<unsigned char>(length));
  for (unsigned char byte : content)
    mix(byte);
  return *this;
}

ContentHash &ContentHash::addFolder(const fs::path &folder) {
  std::error_code code;
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator entry(folder, code), end;
       !code && entry != end; entry.increment(code))
    if (entry->is_regular_file())
      files.push_back(entry->path());
  std::sort(files.begin(), files.end());
  for (const fs::path &file : files)
    add(file.lexically_relative(folder).string()).add(readFile(file));
  return *this;
}

std::string ContentHash::text() const {
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx",
                static_cast<unsigned long long>(state));
  return digits;
}

} // namespace tuning
} // namespace fact
