//===- PatternFile.h - Files of the registry, read and written --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// patterns/schema.json and this reader accept the same files.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_PATTERNS_PATTERNFILE_H
#define FACT_PATTERNS_PATTERNFILE_H

#include "fact/Registry/Registry.h"

namespace fact {
namespace patterns {

/// What stood in the way; empty when nothing did.
using Error = std::string;

/// `<rule>/<dtype>-<architecture>.json`, relative to a layer.
std::filesystem::path getFileName(const Problem &problem);

/// Whether a text is a day of the calendar: "2026-11-15".
bool isDate(const std::string &text);

/// Every pattern file of a layer, in the order of their names. Fails where a
/// folder cannot be listed.
Error listFiles(const std::filesystem::path &layer,
                std::vector<std::filesystem::path> &files);

/// Reads the text of one file. All entries are of one rule, type and
/// architecture; problems are distinct.
Error parseFile(const std::string &text, std::vector<Entry> &entries);

/// Reads one file below `layer` and checks that it is where it belongs.
Error readFile(const std::filesystem::path &layer,
               const std::filesystem::path &file, std::vector<Entry> &entries);

/// The text of a file: equal entries in any order give equal bytes. All entries
/// are of one rule, type and architecture.
std::string writeText(std::vector<Entry> entries);

/// Whether a kernel can have taken this time: not less than a nanosecond, and
/// not much less than the speed of light (0 where that is not known).
bool isPossibleTime(double us, double solUs);

/// Why an entry cannot be written, or empty.
Error checkEntry(const Entry &entry);

/// Adds what `from` knows to `to`, an entry of the same problem. Of two records
/// of one schedule on one machine the stronger evidence stays: accepted or failed
/// before pending, then the higher number of `versions["verifier"]`, then the
/// later day, then failed before accepted, then the faster. The result does not
/// depend on the order in which entries are merged.
void merge(Entry &to, const Entry &from);

/// The same for lists; the result is sorted by problem.
std::vector<Entry> merge(const std::vector<Entry> &first,
                         const std::vector<Entry> &second);

/// Leaves the `keep` fastest accepted schedules of each machine, and all
/// others.
void keepFastest(Entry &entry, size_t keep);

/// Changes one file of a layer, under the layer's lock: `change` gets the
/// file's entries (none when there is no file) and leaves what should be there.
/// Written aside, synchronised and renamed; a file without entries goes away.
/// A broken file is not overwritten.
Error updateFile(const std::filesystem::path &layer,
                 const std::filesystem::path &name,
                 const std::function<void(std::vector<Entry> &)> &change);

/// Merges entries of any problems into a layer, which is created if need be.
Error addEntries(const std::filesystem::path &layer,
                 const std::vector<Entry> &entries);

} // namespace patterns
} // namespace fact

#endif // FACT_PATTERNS_PATTERNFILE_H
