//===- EntryFile.h - Files of the registry, read and written ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// patterns/schema.json and this reader accept the same files.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_REGISTRY_ENTRYFILE_H
#define FACT_REGISTRY_ENTRYFILE_H

#include "fact/Registry/Registry.h"

namespace fact {
namespace registry {

/// An error message; empty: success.
using Error = std::string;

/// `<rule>/<dtype>-<architecture>.json`, relative to a layer.
std::filesystem::path getFileName(const Problem &problem);

/// Whether a text is a valid date: "2026-11-15".
bool isDate(const std::string &text);

/// Every file of a layer, sorted by name. Fails if a folder cannot be listed.
Error listFiles(const std::filesystem::path &layer,
                std::vector<std::filesystem::path> &files);

/// Reads the text of one file. All entries are of one rule, type and
/// architecture; problems are distinct.
Error parseFile(const std::string &text, std::vector<Entry> &entries);

/// Reads one file of `layer` and checks that its path matches its problems.
Error readFile(const std::filesystem::path &layer,
               const std::filesystem::path &file, std::vector<Entry> &entries);

/// The text of a file: equal entries in any order give equal bytes. All entries
/// are of one rule, type and architecture.
std::string writeText(std::vector<Entry> entries);

/// Whether a time is plausible: not less than a nanosecond, and not much less
/// than the speed of light (0: unknown).
bool isPossibleTime(double us, double solUs);

/// Why an entry cannot be written, or empty.
Error checkEntry(const Entry &entry);

/// Merges `from` into `to`, an entry of the same problem. Between two records
/// of one schedule on one machine, the stronger evidence is kept: accepted or
/// failed over pending, then the higher `versions["verifier"]`, then the later
/// date, then failed over accepted, then the faster. The result does not depend
/// on the order in which entries are merged.
void merge(Entry &to, const Entry &from);

/// The same for lists; the result is sorted by problem.
std::vector<Entry> merge(const std::vector<Entry> &first,
                         const std::vector<Entry> &second);

/// Keeps the `keep` fastest accepted schedules per machine, and all failed and
/// pending ones.
void keepFastest(Entry &entry, size_t keep);

/// Changes one file of a layer, under the layer's lock: `change` edits the
/// file's entries (none if there is no file). Writes a temporary file, syncs
/// and renames it; a file without entries is removed. A malformed file is an
/// error, and is not overwritten.
Error updateFile(const std::filesystem::path &layer,
                 const std::filesystem::path &name,
                 const std::function<void(std::vector<Entry> &)> &change);

/// Merges entries of any problems into a layer, which is created if need be.
Error addEntries(const std::filesystem::path &layer,
                 const std::vector<Entry> &entries);

} // namespace registry
} // namespace fact

#endif // FACT_REGISTRY_ENTRYFILE_H
