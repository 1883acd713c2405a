//===- BundleArchive.h - Structs from and to JSON ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A struct is described once, by a function
//
//   template <typename Archive> void describe(Archive &archive, Step &step)
//
// that names each key with its member. A Reader fills the members and checks
// them; a Writer only reads them.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_LIB_TUNING_BUNDLEARCHIVE_H
#define FACT_LIB_TUNING_BUNDLEARCHIVE_H

#include "fact/Runtime/ElementType.h"
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace fact {
namespace tuning {

//===----------------------------------------------------------------------===//
// Checked values
//===----------------------------------------------------------------------===//

/// A JSON value with its path, for error messages.
class Node {
public:
  Node(const nlohmann::json &json, std::string path)
      : json(&json), path(std::move(path)) {}

  [[noreturn]] void fail(const std::string &what) const;

  Node operator[](const char *key) const;
  std::optional<Node> optional(const char *key) const;
  std::vector<Node> list() const;
  std::vector<std::pair<std::string, Node>> members() const;

  std::string string() const;
  /// Text that is printed without escaping.
  std::string line() const;
  /// A name is passed on as a C string, and escaped wherever it is printed.
  std::string name() const;
  std::string identifier() const;
  /// An integer of 0 or more.
  uint64_t count() const;
  /// The same, of 32 bits.
  uint32_t index() const;
  int64_t integer() const;
  bool boolean() const;
  double real() const;
  double nonNegative() const;
  runtime::ElementType elementType() const;
  /// A file inside the bundle, whose folder is a canonical path. No path and no
  /// link leads out of it.
  std::filesystem::path file(const std::filesystem::path &folder) const;
  /// Fails, because the text is none of these words.
  [[noreturn]] void failWords(const std::vector<std::string> &words) const;

private:
  std::string found() const;

  const nlohmann::json *json;
  std::string path;
};

/// A member that is written as one of several words.
template <typename T> struct Choice {
  T &value;
  const std::vector<std::pair<const char *, T>> &words;
};
template <typename T>
Choice<T> choice(T &value,
                 const std::vector<std::pair<const char *, T>> &words) {
  return {value, words};
}

//===----------------------------------------------------------------------===//
// Archives
//===----------------------------------------------------------------------===//

/// Fills a struct from an object. A member whose type does not say all has a
/// function of its Node: one that returns a value reads the member, one that
/// returns nothing checks it.
class Reader {
public:
  static constexpr bool isReader = true;

  Reader(Node node, const std::filesystem::path &folder)
      : node(std::move(node)), folder(folder) {}

  template <typename T, typename... How>
  void field(const char *key, T &&value, const How &...how) {
    read(node[key], value, how...);
  }

  /// A missing key leaves the member at its default. Writers omit the key
  /// unless `isWritten`.
  template <typename T, typename... How>
  void optional(const char *key, T &&value, bool /*isWritten*/,
                const How &...how) {
    if (std::optional<Node> given = node.optional(key))
      read(*given, value, how...);
  }

  /// An object without a struct of its own.
  template <typename Describe> void object(const char *key, Describe describe) {
    Reader inner(node[key], folder);
    describe(inner);
  }

  /// A list of structs whose description needs more than the struct.
  template <typename T, typename Describe>
  void list(const char *key, std::vector<T> &values, Describe describe) {
    readList(node[key], values, describe);
  }
  template <typename T, typename Describe>
  void optionalList(const char *key, std::vector<T> &values,
                    Describe describe) {
    if (std::optional<Node> given = node.optional(key))
      readList(*given, values, describe);
  }

  /// Checks, and members that follow from others.
  template <typename Check> void whenRead(Check check) { check(node); }

private:
  template <typename T, typename How>
  void read(const Node &from, T &value, const How &how) {
    if constexpr (std::is_void_v<std::invoke_result_t<How, const Node &>>) {
      read(from, value);
      how(from);
    } else {
      value = std::invoke(how, from);
    }
  }
  void read(const Node &from, bool &value) { value = from.boolean(); }
  void read(const Node &from, double &value) { value = from.nonNegative(); }
  void read(const Node &from, uint32_t &value) { value = from.index(); }
  void read(const Node &from, uint64_t &value) { value = from.count(); }
  void read(const Node &from, int64_t &value) { value = from.integer(); }
  void read(const Node &from, std::string &value) { value = from.string(); }
  void read(const Node &from, runtime::ElementType &value) {
    value = from.elementType();
  }
  void read(const Node &from, std::filesystem::path &value) {
    value = from.file(folder);
  }
  template <typename T> void read(const Node &from, std::optional<T> &value) {
    read(from, value.emplace());
  }
  template <typename T> void read(const Node &from, std::vector<T> &values) {
    for (const Node &each : from.list())
      read(each, values.emplace_back());
  }
  template <typename T>
  void read(const Node &from, std::map<std::string, T> &values) {
    for (const auto &[name, each] : from.members())
      read(each, values[name]);
  }
  template <typename T> void read(const Node &from, Choice<T> &choice) {
    std::vector<std::string> words;
    for (const auto &[word, value] : choice.words) {
      if (from.string() == word) {
        choice.value = value;
        return;
      }
      words.push_back(word);
    }
    from.failWords(words);
  }
  template <typename T> void read(const Node &from, T &value) {
    Reader inner(from, folder);
    describe(inner, value);
  }
  template <typename T, typename Describe>
  void readList(const Node &from, std::vector<T> &values, Describe describe) {
    for (const Node &each : from.list()) {
      Reader inner(each, folder);
      describe(inner, values.emplace_back());
    }
  }

  Node node;
  const std::filesystem::path &folder;
};

/// Makes an object of a struct. Keys are sorted.
class Writer {
public:
  static constexpr bool isReader = false;

  explicit Writer(const std::filesystem::path &folder) : folder(folder) {}

  template <typename T, typename... How>
  void field(const char *key, const T &value, const How &...) {
    json[key] = write(value);
  }
  template <typename T, typename... How>
  void optional(const char *key, const T &value, bool isWritten,
                const How &...) {
    if (isWritten)
      json[key] = write(value);
  }
  template <typename Describe> void object(const char *key, Describe describe) {
    Writer inner(folder);
    describe(inner);
    json[key] = std::move(inner.json);
  }
  template <typename T, typename Describe>
  void list(const char *key, std::vector<T> &values, Describe describe) {
    nlohmann::json &written = json[key] = nlohmann::json::array();
    for (T &value : values) {
      Writer inner(folder);
      describe(inner, value);
      written.push_back(std::move(inner.json));
    }
  }
  template <typename T, typename Describe>
  void optionalList(const char *key, std::vector<T> &values,
                    Describe describe) {
    list(key, values, describe);
  }
  template <typename Check> void whenRead(const Check &) {}

  /// On one line, or on many with an indentation.
  std::string text(int indentation = -1) const;

private:
  static nlohmann::json write(bool value) { return value; }
  static nlohmann::json write(uint32_t value) { return value; }
  static nlohmann::json write(uint64_t value) { return value; }
  static nlohmann::json write(int64_t value) { return value; }
  static nlohmann::json write(const std::string &value) { return value; }
  static nlohmann::json write(double value);
  static nlohmann::json write(runtime::ElementType value) {
    return runtime::nameOf(value);
  }
  nlohmann::json write(const std::filesystem::path &value) const {
    return value.lexically_relative(folder).generic_string();
  }
  template <typename T>
  nlohmann::json write(const std::optional<T> &value) const {
    return write(*value);
  }
  template <typename T>
  nlohmann::json write(const std::vector<T> &values) const {
    nlohmann::json list = nlohmann::json::array();
    for (const T &value : values)
      list.push_back(write(value));
    return list;
  }
  template <typename T>
  nlohmann::json write(const std::map<std::string, T> &values) const {
    nlohmann::json object = nlohmann::json::object();
    for (const auto &[name, value] : values)
      object[name] = write(value);
    return object;
  }
  template <typename T> nlohmann::json write(const Choice<T> &choice) const {
    for (const auto &[word, value] : choice.words)
      if (value == choice.value)
        return word;
    return nullptr;
  }
  /// Descriptions are shared with Readers, so their structs are not const.
  template <typename T> nlohmann::json write(const T &value) const {
    Writer inner(folder);
    describe(inner, const_cast<T &>(value));
    return std::move(inner.json);
  }

  nlohmann::json json = nlohmann::json::object();
  const std::filesystem::path &folder;
};

/// The text of a whole struct.
template <typename T>
std::string print(const T &value, const std::filesystem::path &folder = {},
                  int indentation = -1) {
  Writer writer(folder);
  describe(writer, const_cast<T &>(value));
  return writer.text(indentation);
}

} // namespace tuning
} // namespace fact

#endif // FACT_LIB_TUNING_BUNDLEARCHIVE_H
