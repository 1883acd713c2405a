//===- WholeFile.h - Files that are whole or not there ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links no LLVM and throws nothing, so that every tool writes files this way.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_SUPPORT_WHOLEFILE_H
#define FACT_SUPPORT_WHOLEFILE_H

#include <filesystem>
#include <string>
#include <string_view>

namespace fact {

/// An unpredictable name beside `path`, under which nobody can plant a link:
/// `<path>.<purpose>-` and twelve random digits.
std::filesystem::path getUniqueName(const std::filesystem::path &path,
                                    const std::string &purpose);

/// Whether `candidate` is a name that getUniqueName returns for `name`.
bool isUniqueName(const std::string &candidate, const std::string &name,
                  const std::string &purpose);

/// The purpose of incomplete files.
inline constexpr char partial[] = "partial";

/// `Yes`: the content is on the disk before the call returns, so that it
/// survives a loss of power.
enum class Synchronize { No, Yes };

/// Writes a new file beside `path`, without following links, and renames it:
/// readers see the old content or the new one, and a failure leaves the old one
/// and nothing else. Returns 0 or the errno of what failed.
int writeWholeFile(const std::filesystem::path &path, std::string_view content,
                   Synchronize synchronize = Synchronize::No);

/// Whether writeWholeFile could write a file of this name; leaves no file.
/// Returns 0 or the errno of what failed.
int probeFile(const std::filesystem::path &path);

/// Synchronizes a file, or a folder, so that a renamed file survives a loss of
/// power. Returns 0 or the errno of what failed.
int synchronize(const std::filesystem::path &path);

} // namespace fact

#endif // FACT_SUPPORT_WHOLEFILE_H
