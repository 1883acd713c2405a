//===- Files.h - Files and the failure type ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TUNING_FILES_H
#define FACT_TUNING_FILES_H

#include "fact/Support/WholeFile.h"
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace fact {
namespace tuning {

/// Stops the work on a bundle: says what was found and what to do next. Caught
/// in main.
class Failure : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Stops the work on all bundles.
class Interruption : public Failure {
public:
  using Failure::Failure;
};

std::string readFile(const std::filesystem::path &path);

/// Explains the errno of writing `path`, and what to do about it.
std::string describeWriteError(int code, const std::filesystem::path &path);

/// Written to a temporary file and renamed: readers see the old file or the new
/// one.
void writeFile(const std::filesystem::path &path, const std::string &content,
               Synchronize synchronize = Synchronize::No);

void createFolder(const std::filesystem::path &path);

/// Every regular file below `folder`, sorted. Fails if a part of it cannot be
/// read.
std::vector<std::filesystem::path>
listFiles(const std::filesystem::path &folder);

} // namespace tuning
} // namespace fact

#endif // FACT_TUNING_FILES_H
