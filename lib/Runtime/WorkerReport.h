//===- WorkerReport.h - What a worker tells fact-tune -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_RUNTIME_WORKERREPORT_H
#define FACT_LIB_RUNTIME_WORKERREPORT_H

#include <string>
#include <vector>

namespace fact {
namespace runtime {

/// Redirects standard output to the log, where candidates print, and keeps the
/// original for reports.
void openReport();

void reportPhase(const char *phase);

/// Reports a verdict and exits at once, without destructors, which could fail
/// after a broken candidate or device context. `rest` is more of the JSON
/// object.
[[noreturn]] void finish(const std::string &status, const std::string &rest);
[[noreturn]] void reject(const std::string &status, const std::string &detail);

/// Rejects with the device's last error; with "out_of_memory" if that is the
/// cause.
[[noreturn]] void deviceFailed(const char *status);

/// Text as a JSON string.
std::string quoted(const std::string &text);
/// Bytes as a JSON string of hexadecimal digits.
std::string hexadecimal(const std::vector<unsigned char> &bytes);
/// A number formatted for people.
std::string shown(double value);
/// A number formatted for JSON, which has no infinity and no NaN.
std::string number(double value);

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_WORKERREPORT_H
