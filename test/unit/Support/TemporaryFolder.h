//===- TemporaryFolder.h - A folder for one test ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TEST_UNIT_SUPPORT_TEMPORARYFOLDER_H
#define FACT_TEST_UNIT_SUPPORT_TEMPORARYFOLDER_H

#include "gtest/gtest.h"
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace fact {

namespace fs = std::filesystem;

/// Has a folder that goes away with the test.
class FolderTest : public testing::Test {
protected:
  FolderTest() {
    std::string pattern = (fs::temp_directory_path() / "fact.XXXXXX").string();
    folder = mkdtemp(pattern.data());
  }
  ~FolderTest() override {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }

  static std::string read(const fs::path &path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static size_t count(const fs::path &path) {
    fs::directory_iterator entries(path);
    return static_cast<size_t>(std::distance(begin(entries), end(entries)));
  }

  fs::path folder;
};

} // namespace fact

#endif // FACT_TEST_UNIT_SUPPORT_TEMPORARYFOLDER_H
