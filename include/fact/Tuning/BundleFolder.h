//===- BundleFolder.h - A bundle's folder, replaced as a whole --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Throws nothing, because fact-compile is built without exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_TUNING_BUNDLEFOLDER_H
#define FACT_TUNING_BUNDLEFOLDER_H

#include <filesystem>
#include <string>

namespace fact {
namespace tuning {

/// The member "magic" of every bundle.json, which distinguishes a bundle from
/// other folders with a file of this name.
inline constexpr char bundleMagic[] = "fact-bundle";

/// Writes a bundle. Files are written to a temporary folder, which then
/// replaces the existing bundle and takes over its measurements. A process that
/// ends at any time leaves the old bundle or the new one, with measurements in
/// either; the next process that opens the folder removes the leftovers. The
/// caller holds the folder's PathLock. Functions return an error message, or
/// "".
class BundleFolder {
public:
  BundleFolder() = default;
  ~BundleFolder();
  BundleFolder(const BundleFolder &) = delete;
  BundleFolder &operator=(const BundleFolder &) = delete;

  /// Recovers from an interrupted process, refuses a folder that is not a
  /// bundle or that holds other files, and creates the temporary folder.
  std::string open(const std::filesystem::path &folder);

  /// Where the files go.
  const std::filesystem::path &getAside() const { return aside; }

  /// Copies the measurements and replaces the bundle.
  std::string commit();

private:
  std::string recover();
  std::string checkReplaceable() const;
  std::string replace();

  std::filesystem::path folder, aside;
};

/// Copies a database including its write-ahead log; does nothing if there is
/// none.
std::string copyDatabase(const std::filesystem::path &from,
                         const std::filesystem::path &to);

} // namespace tuning
} // namespace fact

#endif // FACT_TUNING_BUNDLEFOLDER_H
