//===- Files.h - Files, hashes and the failure type -------------*- C++ -*-===//

#ifndef FACT_TUNING_FILES_H
#define FACT_TUNING_FILES_H

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace fact {
namespace tuning {

/// What stops a run: says what was found and what to do next. Caught in main.
class Failure : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

std::string readFile(const std::filesystem::path &path);

/// Written aside and renamed: readers see the old file or the new one.
void writeFile(const std::filesystem::path &path, const std::string &content);

void createFolder(const std::filesystem::path &path);

/// FNV-1a 64, in hexadecimal.
class ContentHash {
public:
  ContentHash &add(const std::string &content);
  /// Every regular file below `folder`, names included, in a fixed order.
  ContentHash &addFolder(const std::filesystem::path &folder);
  std::string text() const;

private:
  uint64_t state = 0xcbf29ce484222325ull;
};

} // namespace tuning
} // namespace fact

#endif // FACT_TUNING_FILES_H
