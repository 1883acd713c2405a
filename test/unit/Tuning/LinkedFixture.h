//===- LinkedFixture.h - Links and runs a test bundle -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TEST_UNIT_TUNING_LINKEDFIXTURE_H
#define FACT_TEST_UNIT_TUNING_LINKEDFIXTURE_H

#include "TestBundle.h"
#include "fact/Runtime/Library.h"
#include <dlfcn.h>
#include <sqlite3.h>

namespace fact {
namespace tuning {

inline const char correct[] = "y[i] = 2 * x[i] + w[i];";

class Linked : public testing::Test {
protected:
  void expectLog(const std::string &part) {
    EXPECT_NE(bundle.log.find(part), std::string::npos) << part << "\n"
                                                        << bundle.log;
  }

  void execute(const char *sql) {
    sqlite3 *database = nullptr;
    fs::path path = bundle.folder() / "tuning.sqlite";
    ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    ASSERT_GT(sqlite3_changes(database), 0);
    sqlite3_close(database);
  }

  void writeLauncher(const std::string &script) {
    bundle.write("launcher", "#!/bin/sh\n" + script + "\n");
    fs::permissions(bundle.folder() / "launcher", fs::perms::owner_all);
  }

  /// Runs fact-tune into a file of its own.
  Outcome link(std::vector<std::string> options = {}) {
    library = bundle.folder() / ("model" + std::to_string(++runs) + ".so");
    options.insert(options.end(), {"-o", library.string()});
    return bundle.tune(options);
  }

  /// The library's functions; null when it cannot be loaded.
  const FactLibrary *load() {
    void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    return handle ? reinterpret_cast<const FactLibrary *(*)()>(
                        dlsym(handle, "fact_library"))()
                  : nullptr;
  }

  /// y[0] of 2 x + w at x = 1, w = 0.5; -1, and `problem`, when it cannot run.
  float run() {
    const FactLibrary *table = load();
    if (!table)
      return -1;
    constexpr size_t count = TestBundle::rows * TestBundle::columns;
    std::vector<float> x(count, 1), w(count, 0.5f), y(count, -1);
    int64_t shape[] = {TestBundle::rows, TestBundle::columns};
    DLTensor tensors[3] = {};
    float *data[] = {x.data(), w.data(), y.data()};
    for (int i = 0; i < 3; ++i)
      tensors[i] = {data[i], {kDLCPU, 0}, 2, {kDLFloat, 32, 1},
                    shape,   nullptr,     0};
    FactNamedTensor weights[] = {{"w", &tensors[1]}};
    FactModel *model = table->create(weights, 1);
    if (!model) {
      problem = table->last_error();
      return -1;
    }
    DLTensor *inputs[] = {&tensors[0]}, *outputs[] = {&tensors[2]};
    table->run(model, inputs, 1, outputs, 1, nullptr);
    table->destroy(model);
    return y[0];
  }

  TestBundle bundle;
  fs::path library;
  std::string problem;
  int runs = 0;
};

} // namespace tuning
} // namespace fact

#endif // FACT_TEST_UNIT_TUNING_LINKEDFIXTURE_H
