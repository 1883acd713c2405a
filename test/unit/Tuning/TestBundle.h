//===- TestBundle.h - Makes host bundles for tests --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TEST_UNIT_TUNING_TESTBUNDLE_H
#define FACT_TEST_UNIT_TUNING_TESTBUNDLE_H

#include "fact/Tuning/Files.h"
#include "fact/Tuning/Process.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <unistd.h>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// A folder that goes away with its owner.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "fact.XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  fs::path path;
};

/// Whether a process ends within seconds; a zombie has ended.
inline bool isGone(pid_t process) {
  fs::path stat = "/proc/" + std::to_string(process) + "/stat";
  for (int i = 0; i < 500; ++i, usleep(10000)) {
    // The process may end while it is read.
    std::ifstream stream(stat);
    std::string text(std::istreambuf_iterator<char>(stream), {});
    if (text.empty() || text.find(") Z ") != std::string::npos)
      return true;
  }
  return false;
}

/// Whether a file has this text in it within ten minutes, in which a busy
/// machine compiles the worker.
inline bool waitForText(const fs::path &file, const std::string &text) {
  for (int i = 0; i < 60000; ++i, usleep(10000)) {
    std::ifstream stream(file);
    if (std::string(std::istreambuf_iterator<char>(stream), {}).find(text) !=
        std::string::npos)
      return true;
  }
  return false;
}

/// A model of one kernel, y = 2 x + w over f32 [64, 33], with any number of
/// candidates. `body` computes element i of `y` from `x` and `w`.
class TestBundle {
public:
  static constexpr int64_t rows = 64, columns = 33;

  /// `mark` is a part of all sources. Without it they are like no others, and
  /// are compiled in each test.
  explicit TestBundle(const std::string &mark = "")
      : mark(mark.empty() ? temporary.path.string() : mark) {
    createFolder(folder() / "kernels/axpy");
    fs::create_symlink(source() / "lib/Runtime", folder() / "runtime");
    createFolder(folder() / "include/fact");
    fs::create_symlink(source() / "include/fact/Runtime",
                       folder() / "include/fact/Runtime");
    Json tensor = {{"type", "f32"}, {"shape", {rows, columns}}};
    auto named = [&](const char *name) {
      Json result = {{"name", name}};
      result.update(tensor);
      return result;
    };
    json = {{"format", 2},
            {"name", "sample"},
            {"target", {{"kind", "host"}, {"arch", "native"}}},
            {"versions", {{"fact", "test"}}},
            {"inputs", {named("x")}},
            {"outputs", {named("y")}},
            {"weights", {named("w")}},
            {"constants", Json::array()},
            {"workspace_bytes", 0},
            {"prepared_bytes", 0},
            {"values",
             {{{"kind", "input"}, {"index", 0}},
              {{"kind", "weight"}, {"index", 0}},
              {{"kind", "output"}, {"index", 0}}}},
            {"kernels", Json::array()},
            {"prepare", Json::array()},
            {"program",
             {{{"kernel", "axpy"}, {"operands", {0, 1}}, {"results", {2}}}}},
            {"alternatives", Json::array()},
            {"commands",
             {{"compile",
               {FACT_TEST_COMPILER, "-std=c++17", "-O1", "-ffp-contract=off",
                "{flags}", "-c", "{source}", "-o", "{output}"}},
              {"link",
               {FACT_TEST_COMPILER, "-shared", "{inputs}", "{link}", "-o",
                "{output}"}},
              {"link_program",
               {FACT_TEST_COMPILER, "{inputs}", "{link}", "-o", "{output}"}}}}};
#ifdef FACT_TEST_SANITIZE
    for (Json &command : json["commands"])
      for (const char *word :
           {"-fsanitize=" FACT_TEST_SANITIZE, "-fno-sanitize-recover=all",
            "-fsanitize-ignorelist=" FACT_SOURCE_DIR
            "/test/unit/Tuning/kernels.ignorelist"})
        command.push_back(word);
    // A library finds the sanitizer in the program that loads it.
    json["commands"]["link"].push_back("-Wl,-z,undefs");
#endif
    Json result = tensor;
    result["tolerance"] = {{"norm", 1e-6}, {"element", 1e-6}};
    // The product in f32 is exact, or infinite as that of a kernel.
    write("kernels/axpy/reference.cpp",
          kernelSource("axpy_reference", "double",
                       "float product = 2 * x[i]; "
                       "y[i] = double(product) + w[i];"));
    json["kernels"].push_back({{"name", "axpy"},
                               {"rule", "pointwise"},
                               {"ops", {"mul", "add"}},
                               {"operands", {tensor, tensor}},
                               {"results", {result}},
                               {"flops", 2.0 * rows * columns},
                               {"bytes", 12.0 * rows * columns},
                               {"sol_us", 0.0001},
                               {"reference",
                                {{"source", "kernels/axpy/reference.cpp"},
                                 {"symbol", "axpy_reference"}}},
                               {"candidates", Json::array()}});
    // The runtime is the same for every bundle: only the first compiles it.
    setenv("FACT_CACHE_DIR", FACT_TEST_CACHE, 1);
  }

  static fs::path source() { return FACT_SOURCE_DIR; }
  fs::path folder() const { return temporary.path; }
  Json &kernel() { return json["kernels"][0]; }
  Json &candidates() { return kernel()["candidates"]; }

  void write(const std::string &path, const std::string &content) {
    bool isSource = fs::path(path).extension() == ".cpp";
    writeFile(folder() / path,
              isSource ? content + "\n// " + mark + "\n" : content);
  }

  static std::string kernelSource(const std::string &symbol,
                                  const std::string &resultType,
                                  const std::string &body) {
    return R"(#include "fact/Runtime/Kernel.h"
#include <unistd.h>
static void tile(int64_t row, void *const *buffers, void *) {
  const float *x = static_cast<const float *>(buffers[0]);
  const float *w = static_cast<const float *>(buffers[1]);
  )" + resultType +
           " *y = static_cast<" + resultType + R"( *>(buffers[2]);
  for (int64_t i = row * 33; i < (row + 1) * 33; ++i) { )" +
           body + R"( }
}
extern "C" const FactKernel )" +
           symbol + R"( = {
    FACT_KERNEL_ABI, 3, 0, 0, nullptr, nullptr, 64, tile, -1, 0, 0, 0, nullptr};
)";
  }

  /// Returns the candidate's position.
  size_t addCandidate(const std::string &key, const std::string &body) {
    size_t index = candidates().size();
    std::string symbol = "axpy_" + std::to_string(index);
    return addSource(key, kernelSource(symbol, "float", body));
  }

  size_t addSource(const std::string &key, const std::string &text) {
    size_t index = candidates().size();
    std::string path = "kernels/axpy/" + std::to_string(index) + ".cpp";
    write(path, text);
    candidates().push_back({{"key", key},
                            {"source", path},
                            {"symbol", "axpy_" + std::to_string(index)},
                            {"predicted_us", 1.0 + double(index)}});
    return index;
  }

  void save() { write("bundle.json", json.dump(1)); }

  Command tuneCommand(const std::vector<std::string> &options) {
    Command command;
    command.words = {FACT_TUNE_PATH, folder().string()};
    command.words.insert(command.words.end(), options.begin(), options.end());
    command.log = folder() / "fact-tune.log";
    command.timeoutSeconds = 900;
    return command;
  }

  /// Runs fact-tune; its output is then in `log`.
  Outcome tune(const std::vector<std::string> &options = {}) {
    save();
    writeFile(folder() / "fact-tune.log", "");
    Outcome outcome = runCommand(tuneCommand(options));
    log = readFile(folder() / "fact-tune.log");
    return outcome;
  }

  /// Writes another program of the model inside of this bundle.
  void addBeside(TestBundle &other, const char *name) {
    other.save();
    fs::copy(other.folder(), folder() / name,
             fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  }

  /// Whether the library's description of itself names a schedule.
  bool ships(const std::string &schedule) const {
    std::string text = readFile(folder() / "sample.so");
    return text.find("\"" + schedule + "\"") != std::string::npos;
  }

  Json report() const {
    return Json::parse(readFile(folder() / "tuning.json"));
  }

  /// The status of each candidate, by position; "" when it was not tried.
  std::vector<std::string> statuses() const {
    std::vector<std::string> result;
    Json tuned = report()["kernels"][0];
    result.resize(tuned["candidates"].get<size_t>());
    for (const Json &attempt : tuned["attempts"])
      result[attempt["candidate"].get<size_t>()] = attempt["status"];
    return result;
  }

  Json json;
  std::string log;

private:
  TemporaryFolder temporary;

public:
  const std::string mark;
};

} // namespace tuning
} // namespace fact

#endif // FACT_TEST_UNIT_TUNING_TESTBUNDLE_H
