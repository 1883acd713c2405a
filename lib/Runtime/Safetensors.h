//===- Safetensors.h - Tensors of a safetensors file, mapped ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The format is the header's length in 8 bytes, a JSON header, and the data. It
// is parsed here because a library is compiled on machines that have a compiler
// and no other libraries.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_LIB_RUNTIME_SAFETENSORS_H
#define FACT_LIB_RUNTIME_SAFETENSORS_H

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fact {
namespace runtime {

struct FileTensor {
  /// The file's name of the type: "F32", "BF16", "BOOL", ...
  std::string type;
  std::vector<int64_t> shape;
  const char *data = nullptr;
  uint64_t bytes = 0;
};

struct SafetensorsFile {
  std::string path;
  std::map<std::string, FileTensor> tensors;
  /// Keeps the memory that `data` points into alive.
  std::shared_ptr<void> mapping;
};

/// The tensors of a file's bytes. Throws a std::runtime_error that says what is
/// wrong. All tensor data of the result is inside the bytes.
std::map<std::string, FileTensor> readSafetensors(const char *text,
                                                  uint64_t bytes);

/// Throws a std::runtime_error that names the file and what is wrong with it.
/// All tensor data of the result is inside the file.
SafetensorsFile openSafetensors(const std::string &path);

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_SAFETENSORS_H
