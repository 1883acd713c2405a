//===- WorkerJob.cpp - What a worker is asked to do -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WorkerJob.h"
#include "WorkerReport.h"
#include <dlfcn.h>
#include <fstream>
#include <sstream>

namespace fact {
namespace runtime {

std::vector<Tensor> Job::referenceResults() const {
  std::vector<Tensor> tensors;
  for (const Result &result : results)
    tensors.push_back({result.referenceType, result.shape});
  for (const Result &result : results)
    if (result.undecided)
      tensors.push_back({ElementType::F32, result.shape});
  return tensors;
}

size_t Job::doubtPosition(size_t result) const {
  size_t position = results.size();
  for (size_t i = 0; i < result; ++i)
    position += results[i].undecided;
  return position;
}

static bool readShape(std::istringstream &words, std::vector<int64_t> &shape) {
  int64_t extent;
  while (words >> extent)
    shape.push_back(extent);
  return words.eof();
}

static bool readType(std::istringstream &words, ElementType &type) {
  std::string word;
  return (words >> word) && parseElementType(word.c_str(), type);
}

static bool readAvoided(std::istringstream &words, Avoided &avoided) {
  const std::pair<const char *, bool Avoided::*> classes[] = {
      {"nan", &Avoided::nan},
      {"+inf", &Avoided::positiveInfinity},
      {"-inf", &Avoided::negativeInfinity},
      {"denormal", &Avoided::denormal},
      {"largest", &Avoided::largest},
      {"equal", &Avoided::equal}};
  std::string word;
  words >> word;
  for (const auto &[name, member] : classes)
    if (word == name) {
      avoided.*member = true;
      return true;
    }
  return false;
}

static bool readOperand(std::istringstream &words, Operand &operand) {
  if (!readType(words, operand.type))
    return false;
  std::string word;
  while (words >> word && word != "shape") {
    bool good = true;
    if (word == "fixed")
      operand.fixed = true;
    else if (word == "normal")
      words >> operand.fill.scale;
    else if (word == "uniform") {
      operand.fill.values = Fill::Values::Uniform;
      words >> operand.fill.low >> operand.fill.high;
    } else if (word == "factors") {
      operand.fill.values = Fill::Values::Factors;
      words >> operand.fill.high;
    } else if (word == "large")
      words >> operand.large;
    else if (word == "negative" || word == "middle") {
      operand.middle = word == "middle";
      words >> operand.negative;
    } else if (word == "mask")
      operand.mask = true;
    else if (word == "wide")
      operand.wide = true;
    else if (word == "outside")
      operand.outside = true;
    else if (word == "read")
      words >> operand.fill.begin >> operand.fill.end >> operand.fill.pitch;
    else if (word == "avoid")
      good = readAvoided(words, operand.avoided);
    else if (word == "band") {
      operand.band.emplace();
      words >> operand.band->lower >> operand.band->upper;
    } else
      good = false;
    if (!good || !words)
      return false;
  }
  if (!readShape(words, operand.shape))
    return false;
  operand.fill.row = operand.shape.empty() || operand.shape.back() == 0
                         ? 1
                         : static_cast<uint64_t>(operand.shape.back());
  return true;
}

static bool readResult(std::istringstream &words, Result &result) {
  if (!readType(words, result.type) || !readType(words, result.referenceType))
    return false;
  std::string word;
  while (words >> word && word != "shape") {
    if (word == "norm")
      words >> result.tolerance.norm;
    else if (word == "element")
      words >> result.tolerance.element;
    else if (word == "large")
      words >> result.large;
    else if (word == "rows")
      words >> result.tolerance.row;
    else if (word == "undecided")
      result.undecided = true;
    else if (word == "written")
      words >> result.written;
    else if (word == "spare")
      words >> result.spare.begin >> result.spare.end >> result.spare.pitch;
    else
      return false;
    if (!words)
      return false;
  }
  result.tolerance.spare = result.spare;
  return readShape(words, result.shape);
}

static bool readChoice(std::istringstream &words,
                       std::vector<unsigned char> &choice) {
  std::string digits;
  words >> digits;
  if (digits.empty() || digits.size() % 2 ||
      digits.find_first_not_of("0123456789abcdef") != std::string::npos)
    return false;
  for (size_t i = 0; i < digits.size(); i += 2)
    choice.push_back(static_cast<unsigned char>(
        std::stoul(digits.substr(i, 2), nullptr, 16)));
  return true;
}

static bool readLine(const std::string &line, Job &job) {
  std::istringstream words(line);
  std::string keyword;
  if (!(words >> keyword))
    return true;
  if (keyword == "reference" || keyword == "candidate") {
    KernelPath &kernel = keyword == "reference" ? job.reference : job.candidate;
    words >> kernel.symbol >> std::ws;
    return static_cast<bool>(std::getline(words, kernel.path));
  }
  if (keyword == "sizes") {
    for (int64_t size; words >> size;)
      job.sizes.push_back(size);
    return words.eof();
  }
  if (keyword == "choice")
    return readChoice(words, job.choice);
  if (keyword == "expected") {
    words >> std::ws;
    return static_cast<bool>(std::getline(words, job.expected));
  }
  if (keyword == "operand") {
    job.operands.emplace_back();
    return readOperand(words, job.operands.back());
  }
  if (keyword == "result") {
    job.results.emplace_back();
    return readResult(words, job.results.back());
  }
  if (keyword == "unrepeatable") {
    job.repeatable = false;
    return true;
  }
  if (keyword == "seed")
    return static_cast<bool>(words >> job.seed);
  if (keyword == "sustained")
    return job.sustained = true;
  if (keyword == "seconds")
    return static_cast<bool>(words >> job.seconds);
  return false;
}

Job readJob(const char *path) {
  std::ifstream file(path);
  Job job;
  std::string line;
  if (!file)
    reject("worker_error", std::string("cannot read ") + path);
  while (std::getline(file, line))
    if (!readLine(line, job))
      reject("worker_error",
             std::string(path) + ": cannot read '" + line + "'");
  return job;
}

const FactKernel &loadKernel(const KernelPath &kernel, const char *status) {
  void *library = dlopen(kernel.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    reject(status, dlerror());
  void *symbol = dlsym(library, kernel.symbol.c_str());
  if (!symbol)
    reject(status, kernel.path + " does not export '" + kernel.symbol + "'");
  return *static_cast<const FactKernel *>(symbol);
}

} // namespace runtime
} // namespace fact
