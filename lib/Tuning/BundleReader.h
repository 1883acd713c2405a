//===- BundleReader.h - What the readers of bundle.json share ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TUNING_BUNDLEREADER_H
#define FACT_LIB_TUNING_BUNDLEREADER_H

#include "fact/Runtime/Text.h"
#include "fact/Tuning/Bundle.h"
#include "fact/Tuning/Files.h"
#include <cctype>

namespace fact {
namespace tuning {

/// A JSON value with its path, for error messages.
class Node {
public:
  Node(const nlohmann::ordered_json &json, std::string path)
      : json(&json), path(std::move(path)) {}

  [[noreturn]] void fail(const std::string &what) const {
    throw Failure("bundle.json: " + path + ": " +
                  runtime::escapeControls(what));
  }

  Node operator[](const char *key) const {
    if (!json->is_object())
      fail("expected an object, found " + found());
    auto entry = json->find(key);
    if (entry == json->end())
      fail(std::string("'") + key + "' is missing");
    return Node(*entry, path + "." + key);
  }
  std::optional<Node> optional(const char *key) const {
    if (!json->is_object())
      fail("expected an object, found " + found());
    if (json->find(key) == json->end())
      return std::nullopt;
    return (*this)[key];
  }
  std::vector<Node> list() const {
    if (!json->is_array())
      fail("expected a list, found " + found());
    std::vector<Node> nodes;
    for (size_t i = 0; i < json->size(); ++i)
      nodes.emplace_back((*json)[i], path + "[" + std::to_string(i) + "]");
    return nodes;
  }
  std::string string() const {
    if (!json->is_string())
      fail("expected a string, found " + found());
    return json->get<std::string>();
  }
  /// Text that is printed without escaping.
  std::string line() const {
    std::string text = string();
    if (!runtime::isOneLine(text))
      fail("expected text without control characters, found " + found());
    return text;
  }
  /// A name is passed on as a C string, and escaped wherever it is printed.
  std::string name() const {
    std::string text = string();
    if (text.empty() || text.find('\0') != std::string::npos)
      fail("expected a name without zero bytes, found " + found());
    return text;
  }
  uint64_t count() const {
    if (!json->is_number_unsigned() &&
        !(json->is_number_integer() && json->get<int64_t>() >= 0))
      fail("expected an integer of 0 or more, found " + found());
    return json->get<uint64_t>();
  }
  uint32_t below(size_t limit, const char *what) const {
    uint64_t index = count();
    if (index >= limit)
      fail("is " + std::to_string(index) + ", but there are " +
           std::to_string(limit) + " " + what);
    return static_cast<uint32_t>(index);
  }
  bool boolean() const {
    if (!json->is_boolean())
      fail("expected true or false, found " + found());
    return json->get<bool>();
  }
  double real() const {
    if (!json->is_number())
      fail("expected a number, found " + found());
    return json->get<double>();
  }
  Words words() const {
    Words result;
    for (const Node &node : list())
      result.push_back(node.string());
    return result;
  }
  std::string identifier() const {
    std::string text = string();
    bool good =
        !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0]));
    for (unsigned char c : text)
      good = good && (std::isalnum(c) || c == '_');
    if (!good)
      fail("expected a C identifier, found \"" + text + "\"");
    return text;
  }
  const nlohmann::ordered_json &raw() const { return *json; }

private:
  std::string found() const {
    std::string text = json->dump();
    return text.size() > 60 ? text.substr(0, 57) + "..." : text;
  }

  const nlohmann::ordered_json *json;
  std::string path;
};

// Bundle.cpp

void readTensor(const Node &node, Tensor &tensor);

/// A file inside the bundle, whose folder is a canonical path. No path and no
/// link leads out of it.
std::filesystem::path readPath(const Node &node,
                               const std::filesystem::path &folder);

// BundleKernels.cpp

/// Reads all but the hash and the properties that follow from its steps.
Kernel readKernel(const Node &node, const std::filesystem::path &folder);

/// The hash that decides whether an old result is still valid: everything
/// except the names and the candidates.
std::string hashKernel(const Node &node, const Kernel &kernel,
                       const Bundle &bundle);

} // namespace tuning
} // namespace fact

#endif // FACT_LIB_TUNING_BUNDLEREADER_H
