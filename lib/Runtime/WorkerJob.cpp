//===- WorkerJob.cpp - What a worker is asked to do -----------------------===//

#include "WorkerJob.h"
#include "WorkerReport.h"
#include <fstream>
#include <sstream>

namespace fact {
namespace runtime {

static bool readShape(std::istringstream &words, std::vector<int64_t> &shape) {
  std::string word;
  if (!(words >> word) || word != "shape")
    return false;
  int64_t extent;
  while (words >> extent)
    shape.push_back(extent);
  return words.eof();
}

static bool readType(std::istringstream &words, ElementType &type) {
  std::string word;
  return (words >> word) && parseElementType(word.c_str(), type);
}

static bool readOperand(std::istringstream &words, Tensor &operand) {
  std::string use, distribution;
  if (!readType(words, operand.type) || !(words >> use >> distribution))
    return false;
  operand.fixed = use == "fixed";
  operand.fill.uniform = distribution == "uniform";
  if (operand.fill.uniform)
    words >> operand.fill.low >> operand.fill.high;
  else
    words >> operand.fill.scale;
  return words && readShape(words, operand.shape);
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
    Tensor &result = job.results.back();
    return readType(words, result.type) &&
           readType(words, result.referenceType) &&
           readShape(words, result.shape);
  }
  if (keyword == "tolerance")
    return static_cast<bool>(words >> job.tolerance.norm >>
                             job.tolerance.element >> job.tolerance.mismatch);
  if (keyword == "trials")
    return static_cast<bool>(words >> job.trials);
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

} // namespace runtime
} // namespace fact
