//===- BundleFuzzer.cpp - Any text as bundle.json -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reader refuses with a message, or what it read can be written as a
// library, with no index, path or name that leads outside, and as a bundle that
// is read again.
//
//===----------------------------------------------------------------------===//

#include "fact/Runtime/Text.h"
#include "fact/Tuning/Bundle.h"
#include "fact/Tuning/Files.h"
#include "fact/Tuning/LibraryWriter.h"
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t limit);

using namespace fact::tuning;
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

//===----------------------------------------------------------------------===//
// Mutations of the tree
//===----------------------------------------------------------------------===//

static void list(Json &node, std::vector<Json *> &nodes) {
  nodes.push_back(&node);
  if (node.is_structured())
    for (Json &child : node)
      list(child, nodes);
}

static Json makeValue(std::minstd_rand &random) {
  switch (random() % 12) {
  case 0:
    return nullptr;
  case 1:
    return Json::array();
  case 2:
    return Json::object();
  case 3:
    return -1;
  case 4:
    return uint64_t(1) << random() % 64;
  case 5:
    return (uint64_t(1) << random() % 64) - 1;
  case 6:
    return 0.5;
  case 7:
    return 1e308;
  case 8:
    return "../constants/0.bin";
  case 9:
    return "/etc/passwd";
  case 10:
    return "*/ int injected; /*\\\n";
  default:
    return std::string("a\0\x1b\xc2\x9b", 5);
  }
}

static void mutate(Json &root, std::minstd_rand &random) {
  std::vector<Json *> nodes;
  list(root, nodes);
  auto pick = [&] { return nodes[random() % nodes.size()]; };
  Json *node = pick();
  switch (random() % 6) {
  case 0:
    *node = makeValue(random);
    break;
  case 1: {
    Json copy = *pick();
    *node = std::move(copy);
    break;
  }
  case 2:
    if (node->is_array() && !node->empty())
      node->erase(random() % node->size());
    else if (node->is_object() && !node->empty())
      node->erase(std::next(node->begin(), random() % node->size()).key());
    break;
  case 3:
    if (node->is_array() && !node->empty()) {
      Json copy = (*node)[random() % node->size()];
      node->push_back(std::move(copy));
    }
    break;
  case 4:
    if (node->is_number())
      *node = node->get<double>() + int(random() % 5) - 2;
    else if (node->is_number_integer())
      *node = node->get<int64_t>() * 2;
    break;
  default:
    if (node->is_string() && random() % 4 == 0) {
      std::string text = node->get<std::string>();
      text.resize(text.size() + 16);
      text.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t *>(text.data()),
                                   text.size() - 16, text.size()));
      if (fact::runtime::isUtf8(text))
        *node = text;
    }
  }
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t limit, unsigned seed) {
  std::minstd_rand random(seed);
  Json root = Json::parse(data, data + size, nullptr, false);
  if (root.is_discarded() || random() % 16 == 0)
    return LLVMFuzzerMutate(data, size, limit);
  for (unsigned i = 0; i <= random() % 3; ++i)
    mutate(root, random);
  std::string text = root.dump();
  if (text.size() > limit)
    return LLVMFuzzerMutate(data, size, limit);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// A bundle's files, without its bundle.json.
class Folder {
public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "fact.XXXXXX").string();
    path = mkdtemp(pattern.data());
    for (const char *folder : {"kernels", "constants"})
      createFolder(path / folder);
    writeFile(path / "kernels/a.cpp", "a");
    writeFile(path / "kernels/b.o", "b");
    writeFile(path / "constants/0.bin", "12345678");
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  fs::path path;
};
} // namespace

static size_t count(const std::string &text, const std::string &part) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at)
    ++found;
  return found;
}

/// Writes the library's sources as though each first candidate had won.
static void write(const Bundle &bundle) {
  TuningResult result;
  for (const Kernel &kernel : bundle.kernels) {
    if (!kernel.used)
      continue;
    KernelResult &each = result.kernels.emplace_back();
    each.kernel = &kernel;
    each.attempts.resize(kernel.candidates.size());
    each.attempts[0].emplace();
    each.winner = 0;
  }
  std::string source = writeLibrarySource(bundle, result);
  std::string header = writeLibraryHeader(bundle);
  Bundle plain;
  plain.name = "plain";
  // A name that ends a comment would show.
  if (source.empty() ||
      count(header, "*/") != count(writeLibraryHeader(plain), "*/") ||
      header.find("\\\n") != std::string::npos)
    std::abort();
  for (const Constant &constant : bundle.constants)
    if (fs::canonical(constant.data).string().rfind(bundle.folder.string(), 0))
      std::abort();
}

/// Writes the bundle itself, which is then read as the same.
static void rewrite(const Bundle &bundle) {
  std::string text = printBundle(bundle);
  writeFile(bundle.folder / "bundle.json", text);
  try {
    if (printBundle(readBundle(bundle.folder)) == text)
      return;
  } catch (const Failure &) {
  }
  std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static Folder folder;
  writeFile(folder.path / "bundle.json",
            std::string(reinterpret_cast<const char *>(data), size));
  try {
    Bundle bundle = readBundle(folder.path);
    write(bundle);
    rewrite(bundle);
  } catch (const Failure &problem) {
    // Whatever is quoted moves no cursor.
    if (!fact::runtime::isOneLine(problem.what()))
      std::abort();
  }
  return 0;
}
