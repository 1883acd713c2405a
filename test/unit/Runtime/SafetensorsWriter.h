//===- SafetensorsWriter.h - Makes files for tests --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TEST_UNIT_RUNTIME_SAFETENSORSWRITER_H
#define FACT_TEST_UNIT_RUNTIME_SAFETENSORSWRITER_H

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

/// A file that goes away with its owner.
class SafetensorsWriter {
public:
  SafetensorsWriter() {
    char pattern[] = "/tmp/fact-weights.XXXXXX";
    close(mkstemp(pattern));
    path = pattern;
  }
  ~SafetensorsWriter() { unlink(path.c_str()); }
  SafetensorsWriter(const SafetensorsWriter &) = delete;

  template <typename T>
  void add(const std::string &name, const std::string &type,
           const std::vector<int64_t> &shape, const std::vector<T> &values) {
    std::string entry =
        "\"" + name + "\":{\"dtype\":\"" + type + "\",\"shape\":[";
    for (size_t i = 0; i < shape.size(); ++i)
      entry += (i ? "," : "") + std::to_string(shape[i]);
    size_t begin = data.size();
    data.append(reinterpret_cast<const char *>(values.data()),
                values.size() * sizeof(T));
    entry += "],\"data_offsets\":[" + std::to_string(begin) + "," +
             std::to_string(data.size()) + "]}";
    entries += (entries.empty() ? "" : ",") + entry;
  }

  /// Returns the path.
  std::string write() { return writeRaw("{" + entries + "}", data); }

  std::string writeRaw(std::string header, const std::string &bytes) {
    header.append((8 - header.size() % 8) % 8, ' ');
    uint64_t length = header.size();
    std::string text(8, '\0');
    std::memcpy(&text[0], &length, 8);
    return writeBytes(text + header + bytes);
  }

  std::string writeBytes(const std::string &bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

private:
  std::string path, entries, data;
};

#endif // FACT_TEST_UNIT_RUNTIME_SAFETENSORSWRITER_H
