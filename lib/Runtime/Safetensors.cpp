//===- Safetensors.cpp - Tensors of a safetensors file, mapped ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Safetensors.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fact {
namespace runtime {

/// The limit of the format's own reader.
static constexpr uint64_t maximumHeaderBytes = 100'000'000;

//===----------------------------------------------------------------------===//
// The header
//===----------------------------------------------------------------------===//

namespace {

/// Reads a JSON object of tensors. Other JSON is skipped or rejected.
class HeaderReader {
public:
  HeaderReader(const char *text, uint64_t length)
      : begin(text), at(text), end(text + length) {}

  /// Calls `field(name)` after each colon of an object.
  template <typename Field> void readFields(Field field) {
    expect('{');
    if (accept('}'))
      return;
    do {
      std::string name = readString();
      expect(':');
      field(name);
    } while (accept(','));
    expect('}');
  }

  void readEnd() {
    skipSpace();
    if (at != end)
      fail("expected the end of the header");
  }

  std::string readString() {
    expect('"');
    std::string text;
    while (true) {
      if (at == end)
        fail("expected the end of a string");
      char c = *at++;
      if (c == '"')
        return text;
      if (c == '\\')
        readEscape(text);
      else
        text += c;
    }
  }

  std::vector<int64_t> readIntegers() {
    std::vector<int64_t> values;
    expect('[');
    if (accept(']'))
      return values;
    do
      values.push_back(readInteger());
    while (accept(','));
    expect(']');
    return values;
  }

  void skipValue(int depth = 0) {
    skipSpace();
    if (at == end || depth > 64)
      fail("expected a value");
    if (*at == '"')
      readString();
    else if (*at == '{')
      readFields([&](const std::string &) { skipValue(depth + 1); });
    else if (accept('[')) {
      if (accept(']'))
        return;
      do
        skipValue(depth + 1);
      while (accept(','));
      expect(']');
    } else {
      const char *first = at;
      while (at != end && !std::strchr(",]} \t\r\n", *at))
        ++at;
      if (at == first)
        fail("expected a value");
    }
  }

  [[noreturn]] void fail(const std::string &what) const {
    throw std::runtime_error(what + " at byte " + std::to_string(at - begin) +
                             " of the header");
  }

private:
  void skipSpace() {
    while (at != end &&
           (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
      ++at;
  }

  bool accept(char wanted) {
    skipSpace();
    if (at == end || *at != wanted)
      return false;
    ++at;
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted))
      fail(std::string("expected '") + wanted + "'");
  }

  int64_t readInteger() {
    skipSpace();
    if (at == end || *at < '0' || *at > '9')
      fail("expected an integer of 0 or more");
    int64_t value = 0;
    for (; at != end && *at >= '0' && *at <= '9'; ++at)
      if (__builtin_mul_overflow(value, int64_t(10), &value) ||
          __builtin_add_overflow(value, int64_t(*at - '0'), &value))
        fail("expected an integer below 2^63");
    return value;
  }

  uint32_t readHexadecimal() {
    uint32_t value = 0;
    for (int i = 0; i < 4; ++i, ++at) {
      static const char digits[] = "0123456789abcdef";
      const char *digit =
          at == end || *at == 0 ? nullptr : std::strchr(digits, *at | 0x20);
      if (!digit)
        fail("expected four hexadecimal digits");
      value = 16 * value + static_cast<uint32_t>(digit - digits);
    }
    return value;
  }

  void readEscape(std::string &text) {
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    char c = at == end ? '\0' : *at++;
    if (c && c != 'u') {
      const char *name = std::strchr(names, c);
      if (!name)
        fail("expected an escape");
      text += meanings[name - names];
      return;
    }
    if (c != 'u')
      fail("expected an escape");
    uint32_t point = readHexadecimal();
    if (point >= 0xd800 && point < 0xdc00 && end - at >= 6 && at[0] == '\\' &&
        at[1] == 'u') {
      at += 2;
      point = 0x10000 + ((point - 0xd800) << 10) + (readHexadecimal() & 0x3ff);
    }
    appendUtf8(text, point);
  }

  static void appendUtf8(std::string &text, uint32_t point) {
    if (point < 0x80) {
      text += static_cast<char>(point);
      return;
    }
    int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static const int leads[] = {0, 0xc0, 0xe0, 0xf0};
    text += static_cast<char>(leads[more] | (point >> (6 * more)));
    while (more-- > 0)
      text += static_cast<char>(0x80 | ((point >> (6 * more)) & 0x3f));
  }

  const char *begin, *at, *end;
};

} // namespace

/// Bytes per element; 0 for types that no library uses.
static uint64_t elementBytes(const std::string &type) {
  if (type == "F64" || type == "I64" || type == "U64")
    return 8;
  if (type == "F32" || type == "I32" || type == "U32")
    return 4;
  if (type == "F16" || type == "BF16" || type == "I16" || type == "U16")
    return 2;
  if (type == "I8" || type == "U8" || type == "BOOL")
    return 1;
  return 0;
}

static FileTensor readTensor(HeaderReader &reader, const std::string &name,
                             const char *data, uint64_t dataBytes) {
  FileTensor tensor;
  std::vector<int64_t> offsets;
  reader.readFields([&](const std::string &field) {
    if (field == "dtype")
      tensor.type = reader.readString();
    else if (field == "shape")
      tensor.shape = reader.readIntegers();
    else if (field == "data_offsets")
      offsets = reader.readIntegers();
    else
      reader.skipValue();
  });
  auto refuse = [&](const std::string &what) {
    throw std::runtime_error("tensor '" + name + "' " + what);
  };
  if (tensor.type.empty() || offsets.size() != 2)
    refuse("has no dtype or no data_offsets");
  if (offsets[0] > offsets[1] || static_cast<uint64_t>(offsets[1]) > dataBytes)
    refuse("lies at bytes " + std::to_string(offsets[0]) + " to " +
           std::to_string(offsets[1]) + ", but the file has " +
           std::to_string(dataBytes) + " bytes of data: it is truncated");
  tensor.data = data + offsets[0];
  tensor.bytes = static_cast<uint64_t>(offsets[1] - offsets[0]);
  uint64_t expected = elementBytes(tensor.type);
  if (!expected)
    return tensor;
  for (int64_t extent : tensor.shape)
    if (__builtin_mul_overflow(expected, static_cast<uint64_t>(extent),
                               &expected))
      refuse("has a shape of more elements than a file can hold");
  if (expected != tensor.bytes)
    refuse("has " + std::to_string(tensor.bytes) +
           " bytes; its type and "
           "shape need " +
           std::to_string(expected));
  return tensor;
}

std::map<std::string, FileTensor> readSafetensors(const char *text,
                                                  uint64_t bytes) {
  if (bytes < 8)
    throw std::runtime_error("it has " + std::to_string(bytes) +
                             " bytes, fewer than the 8 of a header's "
                             "length");
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i)
    length = (length << 8) | static_cast<unsigned char>(text[i]);
  if (length > bytes - 8)
    throw std::runtime_error("its header is " + std::to_string(length) +
                             " bytes long, but the file has " +
                             std::to_string(bytes));
  if (length > maximumHeaderBytes)
    throw std::runtime_error(
        "its header has " + std::to_string(length) + " bytes, more than the " +
        std::to_string(maximumHeaderBytes) + " that the format allows");
  std::map<std::string, FileTensor> tensors;
  HeaderReader reader(text + 8, length);
  reader.readFields([&](const std::string &name) {
    if (name == "__metadata__") {
      reader.skipValue();
      return;
    }
    FileTensor tensor =
        readTensor(reader, name, text + 8 + length, bytes - 8 - length);
    if (!tensors.emplace(name, std::move(tensor)).second)
      throw std::runtime_error("duplicate tensor '" + name + "'");
  });
  reader.readEnd();
  return tensors;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

static std::shared_ptr<void> mapFile(const std::string &path, uint64_t &bytes) {
  auto fail = [&](const char *what, int code) {
    throw std::runtime_error(std::string("cannot ") + what + " '" + path +
                             "': " + std::strerror(code));
  };
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    fail("open", errno);
  struct stat status;
  int code = fstat(file, &status) == 0 ? 0 : errno;
  if (!code && S_ISDIR(status.st_mode))
    code = EISDIR;
  bytes = code ? 0 : static_cast<uint64_t>(status.st_size);
  // An empty file cannot be mapped; the caller rejects it by its size.
  void *memory = nullptr;
  if (!code && bytes) {
    memory = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    code = memory == MAP_FAILED ? errno : 0;
  }
  close(file);
  if (code)
    fail("read", code);
  uint64_t length = bytes;
  return std::shared_ptr<void>(memory, [length](void *mapped) {
    if (mapped)
      munmap(mapped, length);
  });
}

SafetensorsFile openSafetensors(const std::string &path) {
  SafetensorsFile file;
  file.path = path;
  uint64_t bytes = 0;
  file.mapping = mapFile(path, bytes);
  try {
    file.tensors =
        readSafetensors(static_cast<const char *>(file.mapping.get()), bytes);
  } catch (const std::runtime_error &problem) {
    throw std::runtime_error("cannot read '" + path +
                             "' as safetensors: " + problem.what());
  }
  return file;
}

} // namespace runtime
} // namespace fact
