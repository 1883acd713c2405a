//===- Registry.cpp - C interface of the registry -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact-c/Registry.h"
#include "fact/Registry/EntryFile.h"

using namespace fact::registry;

namespace {
/// A registry, and the ids that callers point to.
struct OpenRegistry {
  Registry registry;
  std::vector<std::string> ids;
};
} // namespace

static OpenRegistry &unwrap(FactRegistry registry) {
  return *static_cast<OpenRegistry *>(registry.ptr);
}

static std::string unwrap(MlirStringRef text) {
  return std::string(text.data, text.length);
}

static MlirStringRef wrap(const std::string &text) {
  return mlirStringRefCreate(text.data(), text.size());
}

FactRegistry factRegistryOpen(const MlirStringRef *layers, intptr_t count,
                              MlirStringCallback warn, void *userData) {
  std::vector<std::filesystem::path> folders;
  for (intptr_t i = 0; i < count; ++i)
    folders.push_back(unwrap(layers[i]));
  if (count == 0)
    folders = getDefaultLayers();
  auto report = [&](const std::string &line) { warn(wrap(line), userData); };
  auto *opened = new OpenRegistry{Registry::load(folders, report), {}};
  for (const Entry &entry : opened->registry.getEntries())
    opened->ids.push_back(entry.getId());
  return FactRegistry{opened};
}

void factRegistryDestroy(FactRegistry registry) { delete &unwrap(registry); }

intptr_t factRegistryGetNumEntries(FactRegistry registry) {
  return unwrap(registry).ids.size();
}

MlirStringRef factRegistryGetId(FactRegistry registry, intptr_t index) {
  return wrap(unwrap(registry).ids[index]);
}

bool factRegistryPrintEntry(FactRegistry registry, MlirStringRef id,
                            MlirStringCallback text, void *userData) {
  const Entry *entry = unwrap(registry).registry.lookup(unwrap(id));
  if (entry)
    text(wrap(writeText({*entry})), userData);
  return entry != nullptr;
}
