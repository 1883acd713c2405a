//===- BundleFolder.h - A bundle's folder, replaced as a whole --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Throws nothing: fact-compile, which is built without exceptions, uses it.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_TUNING_BUNDLEFOLDER_H
#define FACT_TUNING_BUNDLEFOLDER_H

#include <filesystem>
#include <string>

namespace fact {
namespace tuning {

/// The member "magic" of every bundle.json: what tells a bundle from any other
/// folder that has a file of this name.
inline constexpr char bundleMagic[] = "fact-bundle";

/// A bundle while it is written. Its files are written into a folder aside,
/// which then takes the place of the bundle that was there, together with that
/// one's measurements. A process that ends at any moment leaves the old bundle
/// or the new one, and measurements in either; the next one that opens the
/// folder removes what was left beside it. The caller holds the folder's
/// PathLock. Functions return what went wrong, or "".
class BundleFolder {
public:
  BundleFolder() = default;
  ~BundleFolder();
  BundleFolder(const BundleFolder &) = delete;
  BundleFolder &operator=(const BundleFolder &) = delete;

  /// Recovers from an earlier end, refuses a folder that is not a bundle or
  /// that holds anything else, and makes the folder aside.
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

/// Copies a database with all that its write-ahead log holds; nothing where
/// there is none.
std::string copyDatabase(const std::filesystem::path &from,
                         const std::filesystem::path &to);

} // namespace tuning
} // namespace fact

#endif // FACT_TUNING_BUNDLEFOLDER_H
