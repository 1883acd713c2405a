//===- BundleArchive.cpp - Structs from and to JSON -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BundleArchive.h"
#include "fact/Runtime/Text.h"
#include "fact/Tuning/Files.h"
#include <algorithm>
#include <cctype>
#include <cmath>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;
using Json = nlohmann::json;

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

void Node::fail(const std::string &what) const {
  throw Failure("bundle.json: " + path + ": " + runtime::escapeControls(what));
}

std::string Node::found() const {
  std::string text = json->dump();
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

Node Node::operator[](const char *key) const {
  if (std::optional<Node> given = optional(key))
    return *given;
  fail(std::string("'") + key + "' is missing");
}

std::optional<Node> Node::optional(const char *key) const {
  if (!json->is_object())
    fail("expected an object, found " + found());
  auto entry = json->find(key);
  if (entry == json->end())
    return std::nullopt;
  return Node(*entry, path + "." + key);
}

std::vector<Node> Node::list() const {
  if (!json->is_array())
    fail("expected a list, found " + found());
  std::vector<Node> nodes;
  for (size_t i = 0; i < json->size(); ++i)
    nodes.emplace_back((*json)[i], path + "[" + std::to_string(i) + "]");
  return nodes;
}

std::vector<std::pair<std::string, Node>> Node::members() const {
  if (!json->is_object())
    fail("expected an object, found " + found());
  std::vector<std::pair<std::string, Node>> nodes;
  for (const auto &[key, value] : json->items())
    nodes.emplace_back(key,
                       Node(value, path + "." + runtime::escapeControls(key)));
  return nodes;
}

std::string Node::string() const {
  if (!json->is_string())
    fail("expected a string, found " + found());
  return json->get<std::string>();
}

std::string Node::line() const {
  std::string text = string();
  if (!runtime::isOneLine(text))
    fail("expected text without control characters, found " + found());
  return text;
}

std::string Node::name() const {
  std::string text = string();
  if (text.empty() || text.find('\0') != std::string::npos)
    fail("expected a name without zero bytes, found " + found());
  return text;
}

std::string Node::identifier() const {
  std::string text = string();
  bool good =
      !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0]));
  for (unsigned char c : text)
    good = good && (std::isalnum(c) || c == '_');
  if (!good)
    fail("expected a C identifier, found \"" + text + "\"");
  return text;
}

uint64_t Node::count() const {
  if (!json->is_number_unsigned() &&
      !(json->is_number_integer() && json->get<int64_t>() >= 0))
    fail("expected an integer of 0 or more, found " + found());
  return json->get<uint64_t>();
}

uint32_t Node::index() const {
  if (count() > UINT32_MAX)
    fail("expected an index of 32 bits, found " + found());
  return static_cast<uint32_t>(count());
}

int64_t Node::integer() const {
  if (!json->is_number_integer() ||
      (json->is_number_unsigned() && json->get<uint64_t>() > INT64_MAX))
    fail("expected an integer of 64 bits, found " + found());
  return json->get<int64_t>();
}

bool Node::boolean() const {
  if (!json->is_boolean())
    fail("expected true or false, found " + found());
  return json->get<bool>();
}

double Node::real() const {
  if (!json->is_number())
    fail("expected a number, found " + found());
  return json->get<double>();
}

double Node::nonNegative() const {
  double value = real();
  if (!(value >= 0))
    fail("expected a number of 0 or more, found " + found());
  return value;
}

runtime::ElementType Node::elementType() const {
  runtime::ElementType type;
  if (!runtime::parseElementType(string().c_str(), type))
    fail(std::string("expected one of ") + runtime::elementTypeNames() +
         ", found \"" + string() + "\"");
  return type;
}

fs::path Node::file(const fs::path &folder) const {
  std::string text = string();
  fs::path relative = text;
  if (text.empty() || text.find('\0') != std::string::npos ||
      relative.is_absolute() ||
      std::any_of(relative.begin(), relative.end(),
                  [](const fs::path &part) { return part == ".."; }))
    fail("expected a path inside of the bundle, relative to its folder and "
         "without '..', found \"" +
         text + "\"");
  fs::path file = folder / relative;
  std::error_code code;
  if (!fs::is_regular_file(file, code))
    fail("no such file: " + file.string());
  fs::path real = fs::canonical(file, code);
  if (code ||
      std::mismatch(folder.begin(), folder.end(), real.begin(), real.end())
              .first != folder.end())
    fail("\"" + text + "\" is a link to " + real.string() +
         ", which is outside of the bundle");
  return file;
}

void Node::failWords(const std::vector<std::string> &words) const {
  std::string list;
  for (size_t i = 0; i < words.size(); ++i)
    list += (i == 0                  ? "\""
             : i + 1 == words.size() ? " or \""
                                     : ", \"") +
            words[i] + "\"";
  fail("expected " + list + ", found " + found());
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Whole numbers have no fraction: 1024, not 1024.0.
Json Writer::write(double value) {
  if (std::abs(value) < 0x1p53 && value == std::trunc(value))
    return static_cast<int64_t>(value);
  return value;
}

std::string Writer::text(int indentation) const {
  return json.dump(indentation, ' ', /*ensure_ascii=*/false,
                   Json::error_handler_t::replace);
}

} // namespace tuning
} // namespace fact
