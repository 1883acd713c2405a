//===- WorkerReport.cpp - What a worker tells fact-tune -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WorkerReport.h"
#include "fact/Runtime/Device.h"
#include "fact/Runtime/ElementType.h"
#include <cstdio>
#include <unistd.h>

namespace fact {
namespace runtime {

/// The descriptor that the parent reads.
static int reportDescriptor = 1;

void openReport() {
  reportDescriptor = dup(1);
  dup2(2, 1);
}

std::string quoted(const std::string &text) {
  std::string json = "\"";
  for (unsigned char c : text) {
    char escape[8];
    if (c == '"' || c == '\\')
      (json += '\\') += static_cast<char>(c);
    else if (c >= 0x20)
      json += static_cast<char>(c);
    else {
      std::snprintf(escape, sizeof(escape), "\\u%04x", c);
      json += escape;
    }
  }
  return json + "\"";
}

std::string hexadecimal(const std::vector<unsigned char> &bytes) {
  std::string digits;
  for (unsigned char byte : bytes)
    for (int nibble : {byte >> 4, byte & 15})
      digits += "0123456789abcdef"[nibble];
  return quoted(digits);
}

static void report(const std::string &json) {
  std::string line = json + "\n";
  size_t written = 0;
  while (written < line.size()) {
    ssize_t count =
        write(reportDescriptor, line.data() + written, line.size() - written);
    if (count <= 0)
      return;
    written += static_cast<size_t>(count);
  }
}

void reportPhase(const char *phase) {
  report("{\"phase\": " + quoted(phase) + "}");
}

void finish(const std::string &status, const std::string &rest) {
  report("{\"phase\": \"done\", \"status\": " + quoted(status) + rest + "}");
  _exit(0);
}

void reject(const std::string &status, const std::string &detail) {
  finish(status, ", \"detail\": " + quoted(detail));
}

std::string shown(double value) {
  if (!isFinite(value) && !isInfinite(value))
    return "nan"; // Whatever its sign.
  char text[40];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

std::string number(double value) {
  return shown(isFinite(value) ? value : 1e300);
}

void deviceFailed(const char *status) {
  std::string message = device::lastError();
  bool noMemory = message.find("out of memory") != std::string::npos;
  reject(noMemory ? "out_of_memory" : status, message);
}

} // namespace runtime
} // namespace fact
