//===- Worker.cpp - Verifies and times one candidate ----------------------===//
//
// A process that fact-tune may kill at any time:
//
//   worker JOB         verify and time one candidate
//   worker --machine   say what machine this is
//   worker --check SO  load a finished library and read its description
//
// It prints one JSON object a line: {"phase": ...} as it goes, so that the
// parent knows where a crash or a hang happened, and {"phase": "done",
// "status": ...} last. A job is a file of lines, a keyword and words:
//
//   reference SYMBOL PATH
//   candidate SYMBOL PATH
//   operand TYPE fixed|fresh normal SCALE shape N...
//   operand TYPE fixed|fresh uniform LOW HIGH shape N...
//   result TYPE REFERENCE_TYPE shape N...
//   tolerance NORM ELEMENT MISMATCH
//   trials N
//   seconds S
//
//===----------------------------------------------------------------------===//

#include "fact/Runtime/Device.h"
#include "fact/Runtime/Library.h"
#include "fact/Runtime/Measure.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

using namespace fact::runtime;

namespace {

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

/// What the parent reads. Candidates may print to standard output, which goes
/// to the log.
int reportDescriptor = 1;

std::string quoted(const std::string &text) {
  std::string json = "\"";
  for (unsigned char c : text) {
    char escape[8];
    if (c == '"' || c == '\\')
      (json += '\\') += static_cast<char>(c);
    else if (c >= 0x20)
      json += static_cast<char>(c);
    else {
      std::snprintf(escape, sizeof(escape), "\\u%04x", c);
      json += escape;
    }
  }
  return json + "\"";
}

void report(const std::string &json) {
  std::string line = json + "\n";
  size_t written = 0;
  while (written < line.size()) {
    ssize_t count = write(reportDescriptor, line.data() + written,
                          line.size() - written);
    if (count <= 0)
      return;
    written += static_cast<size_t>(count);
  }
}

void reportPhase(const char *phase) {
  report("{\"phase\": " + quoted(phase) + "}");
}

/// A verdict ends the process at once: destructors of a broken candidate or a
/// broken device context have nothing to add.
[[noreturn]] void finish(const std::string &status, const std::string &rest) {
  report("{\"phase\": \"done\", \"status\": " + quoted(status) + rest + "}");
  _exit(0);
}

[[noreturn]] void reject(const std::string &status, const std::string &detail) {
  finish(status, ", \"detail\": " + quoted(detail));
}

std::string shown(double value) {
  if (!isFinite(value) && !isInfinite(value))
    return "nan"; // Whatever its sign.
  char text[40];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

/// JSON has no infinity and no NaN.
std::string number(double value) {
  return shown(isFinite(value) ? value : 1e300);
}

//===----------------------------------------------------------------------===//
// Jobs
//===----------------------------------------------------------------------===//

struct Tensor {
  ElementType type = ElementType::F32;
  ElementType referenceType = ElementType::F32;
  std::vector<int64_t> shape;
  Fill fill;
  /// The operand is a weight in every use, so packing it is not timed.
  bool fixed = false;

  uint64_t elements() const {
    uint64_t count = 1;
    for (int64_t extent : shape)
      count *= static_cast<uint64_t>(extent);
    return count;
  }
  uint64_t bytes() const { return elements() * bytesOf(type); }
  uint64_t referenceBytes() const {
    return elements() * bytesOf(referenceType);
  }
};

struct KernelPath {
  std::string symbol;
  std::string path;
};

struct Job {
  KernelPath reference, candidate;
  std::vector<Tensor> operands, results;
  Tolerance tolerance;
  int trials = 3;
  double seconds = 0.2;
};

bool readShape(std::istringstream &words, std::vector<int64_t> &shape) {
  std::string word;
  if (!(words >> word) || word != "shape")
    return false;
  int64_t extent;
  while (words >> extent)
    shape.push_back(extent);
  return words.eof();
}

bool readType(std::istringstream &words, ElementType &type) {
  std::string word;
  return (words >> word) && parseElementType(word.c_str(), type);
}

bool readOperand(std::istringstream &words, Tensor &operand) {
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

bool readLine(const std::string &line, Job &job) {
  std::istringstream words(line);
  std::string keyword;
  if (!(words >> keyword))
    return true;
  if (keyword == "reference" || keyword == "candidate") {
    KernelPath &kernel =
        keyword == "reference" ? job.reference : job.candidate;
    words >> kernel.symbol >> std::ws;
    return static_cast<bool>(std::getline(words, kernel.path));
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
      reject("worker_error", std::string(path) + ": cannot read '" + line +
                                 "'");
  return job;
}

//===----------------------------------------------------------------------===//
// Memory with guard bands
//===----------------------------------------------------------------------===//

/// As a float of any width this is NaN: a result that keeps it was not
/// written, and a stray read of it poisons what is computed from it.
constexpr int poison = 0xff;
constexpr int guardByte = 0xa5;
constexpr uint64_t guardBytes = 256 << 10;

[[noreturn]] void deviceFailed(const char *status) {
  reject(status, device::lastError());
}

class GuardedBuffer {
public:
  GuardedBuffer(uint64_t bytes, int guard) : bytes(bytes), guard(guard) {
    memory = static_cast<char *>(device::allocate(bytes + 2 * guardBytes));
    if (!memory || !device::fillBytes(memory, guard, guardBytes, nullptr) ||
        !device::fillBytes(data() + bytes, guard, guardBytes, nullptr))
      deviceFailed("worker_error");
  }
  ~GuardedBuffer() { device::release(memory); }
  GuardedBuffer(const GuardedBuffer &) = delete;
  GuardedBuffer &operator=(const GuardedBuffer &) = delete;

  char *data() const { return memory + guardBytes; }

  void fillAll(int byte) {
    if (!device::fillBytes(data(), byte, bytes, nullptr))
      deviceFailed("crash");
  }

  bool intact() const {
    bool before = false, after = false;
    if (!measure::allBytesAre(memory, guard, guardBytes, before) ||
        !measure::allBytesAre(data() + bytes, guard, guardBytes, after))
      deviceFailed("crash");
    return before && after;
  }

private:
  uint64_t bytes;
  int guard;
  char *memory;
};

using Buffers = std::vector<std::unique_ptr<GuardedBuffer>>;

//===----------------------------------------------------------------------===//
// One kernel under test
//===----------------------------------------------------------------------===//

const FactKernel *load(const KernelPath &kernel, const char *status) {
  void *library = dlopen(kernel.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    reject(status, dlerror());
  void *symbol = dlsym(library, kernel.symbol.c_str());
  if (!symbol)
    reject(status, kernel.path + " does not export '" + kernel.symbol + "'");
  return static_cast<const FactKernel *>(symbol);
}

class TestedKernel {
public:
  TestedKernel(const FactKernel &kernel, const Job &job, const char *status)
      : instance(kernel), status(status) {
    uint32_t count =
        static_cast<uint32_t>(job.operands.size() + job.results.size());
    std::string wrong = instance.validate(count);
    std::vector<uint32_t> packedOperands = instance.packedOperands();
    for (uint32_t operand : packedOperands)
      if (wrong.empty() && operand >= job.operands.size())
        wrong = "packs a result";
    if (!wrong.empty())
      reject(status, "the kernel " + wrong);
    workspace =
        std::make_unique<GuardedBuffer>(kernel.workspace_bytes, guardByte);
    if (packedOperands.empty())
      return;
    packed = std::make_unique<GuardedBuffer>(kernel.packed_bytes, guardByte);
    for (uint32_t operand : packedOperands)
      packedIsFixed = packedIsFixed && job.operands[operand].fixed;
  }

  bool packs() const { return packed != nullptr; }

  void bind(const Buffers &operands, const Buffers &results) {
    pointers.clear();
    for (const auto &buffer : operands)
      pointers.push_back(buffer->data());
    for (const auto &buffer : results)
      pointers.push_back(buffer->data());
    packSources = pointers;
    if (packs())
      pointers[instance.kernel().packed_operand] = packed->data();
    if (!instance.bind(pointers.data(), workspace->data()))
      deviceFailed(status);
  }

  /// One run from scratch memory that holds garbage, as in a model.
  void runOnce() {
    workspace->fillAll(poison);
    if (packs()) {
      packed->fillAll(poison);
      pack(nullptr);
    }
    if (!instance.launch(nullptr) || !device::synchronize())
      deviceFailed(status);
  }

  void pack(void *stream) {
    if (!instance.pack(packSources.data(), packed->data(), stream))
      deviceFailed(status);
  }

  bool launchTimed(void *stream) {
    if (packs() && !packedIsFixed)
      pack(stream);
    return instance.launch(stream);
  }

  const char *strayWrite() const {
    if (!workspace->intact())
      return "its workspace";
    if (packed && !packed->intact())
      return "its packed operand";
    return nullptr;
  }

private:
  KernelInstance instance;
  const char *status;
  std::unique_ptr<GuardedBuffer> workspace, packed;
  bool packedIsFixed = true;
  std::vector<void *> packSources, pointers;
};

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

struct Errors {
  double norm = 0;
  double element = 0;
};

double elementAt(const void *data, ElementType type, uint64_t index) {
  uint64_t element = 0;
  const char *address =
      static_cast<const char *>(data) + index * bytesOf(type);
  if (!device::copyToHost(&element, address, bytesOf(type)))
    deviceFailed("crash");
  return loadElement(&element, type, 0);
}

std::string positionOf(uint64_t index, const std::vector<int64_t> &shape) {
  std::string text;
  for (size_t i = shape.size(); i-- > 0;) {
    text = std::to_string(index % static_cast<uint64_t>(shape[i])) +
           (text.empty() ? "" : ", ") + text;
    index /= static_cast<uint64_t>(shape[i]);
  }
  return "[" + text + "]";
}

/// Compares one result; what is wrong, or "".
std::string difference(const void *found, const void *expected,
                       ElementType expectedType, const Tensor &result,
                       const Tolerance &tolerance, Errors &errors) {
  Comparison comparison;
  if (!measure::compare(found, result.type, expected, expectedType,
                        result.elements(), tolerance, comparison))
    deviceFailed("crash");
  errors.norm = std::max(errors.norm, comparison.normError());
  errors.element = std::max(errors.element, comparison.worstElement);

  std::string example;
  if (comparison.firstBad >= 0) {
    uint64_t index = static_cast<uint64_t>(comparison.firstBad);
    example = "; the first at " + positionOf(index, result.shape) + ": found " +
              shown(elementAt(found, result.type, index)) + ", expected " +
              shown(elementAt(expected, expectedType, index));
  }
  std::string of = " of " + std::to_string(comparison.elements) + " elements ";
  if (comparison.notFinite)
    return std::to_string(comparison.notFinite) + of +
           "are NaN, infinite or unwritten" + example;
  if (!isFloat(result.type)) {
    double share = comparison.elements
                       ? static_cast<double>(comparison.beyond) /
                             static_cast<double>(comparison.elements)
                       : 0;
    if (share > tolerance.mismatch)
      return std::to_string(comparison.beyond) + of + "differ" + example;
    return "";
  }
  if (comparison.beyond)
    return std::to_string(comparison.beyond) + of +
           "are beyond the element tolerance " + number(tolerance.element) +
           " (worst " + number(comparison.worstElement) + ")" + example;
  if (comparison.normError() > tolerance.norm)
    return "the error's norm is " + number(comparison.normError()) +
           " of the reference's; the tolerance is " + number(tolerance.norm);
  return "";
}

class Verifier {
public:
  explicit Verifier(const Job &job) : job(job) {
    for (const Tensor &operand : job.operands)
      operands.push_back(
          std::make_unique<GuardedBuffer>(operand.bytes(), poison));
    for (const Tensor &result : job.results) {
      for (Buffers *buffers : {&first, &second})
        buffers->push_back(
            std::make_unique<GuardedBuffer>(result.bytes(), guardByte));
      expected.push_back(
          std::make_unique<GuardedBuffer>(result.referenceBytes(), guardByte));
    }
  }

  /// Fresh operands, and what the reference makes of them.
  void prepareTrial(int trial, TestedKernel &reference) {
    static const double scales[] = {1, 2, 0.5};
    sums.assign(job.operands.size(), 0);
    for (size_t i = 0; i < job.operands.size(); ++i) {
      const Tensor &operand = job.operands[i];
      Fill fill = operand.fill;
      fill.scale *= scales[trial % 3];
      if (!measure::fill(operands[i]->data(), operand.type, operand.elements(),
                         fill, 1000003ull * (trial + 1) + i) ||
          !measure::checksum(operands[i]->data(), operand.bytes(), sums[i]))
        deviceFailed("worker_error");
    }
    for (auto &buffer : expected)
      buffer->fillAll(poison);
    reference.bind(operands, expected);
    reference.runOnce();
    for (size_t i = 0; i < expected.size(); ++i)
      checkReference(i);
  }

  /// Two runs into different memory: against the reference, then against each
  /// other.
  void check(int trial, TestedKernel &candidate) {
    std::string where = "trial " + std::to_string(trial + 1) + ", ";
    runInto(first, candidate, poison);
    for (size_t i = 0; i < first.size(); ++i)
      expectSame(where, i, first[i]->data(), expected[i]->data(),
                 job.results[i].referenceType);
    expectNoStrayWrites(where, first, candidate);
    // Integers have no NaN, so the second run starts from other bytes: an
    // element that was never written differs between the two.
    runInto(second, candidate, 0x55);
    for (size_t i = 0; i < first.size(); ++i)
      expectSame(where + "second run against the first, ", i,
                 second[i]->data(), first[i]->data(), job.results[i].type);
    expectNoStrayWrites(where, second, candidate);
  }

  /// After the timed runs, which nothing separated: the result still stands.
  void checkAgain() {
    for (size_t i = 0; i < second.size(); ++i)
      expectSame("after the timed runs, ", i, second[i]->data(),
                 expected[i]->data(), job.results[i].referenceType);
  }

  Errors errors;

private:
  void runInto(Buffers &results, TestedKernel &candidate, int integerByte) {
    for (size_t i = 0; i < results.size(); ++i)
      results[i]->fillAll(isFloat(job.results[i].type) ? poison : integerByte);
    candidate.bind(operands, results);
    candidate.runOnce();
  }

  void expectNoStrayWrites(const std::string &where, const Buffers &results,
                           const TestedKernel &candidate) {
    for (size_t i = 0; i < results.size(); ++i)
      if (!results[i]->intact())
        reject("wrong", where + "wrote outside result " + std::to_string(i));
    if (const char *what = candidate.strayWrite())
      reject("wrong", where + "wrote outside " + what);
    for (size_t i = 0; i < operands.size(); ++i) {
      uint64_t sum = 0;
      if (!measure::checksum(operands[i]->data(), job.operands[i].bytes(), sum))
        deviceFailed("crash");
      if (sum != sums[i] || !operands[i]->intact())
        reject("wrong", where + "wrote to operand " + std::to_string(i));
    }
  }

  void checkReference(size_t i) {
    const Tensor &result = job.results[i];
    if (!isFloat(result.referenceType) || result.elements() == 0)
      return;
    // A reference compared with itself counts its own NaN and infinities.
    Comparison comparison;
    if (!measure::compare(expected[i]->data(), result.referenceType,
                          expected[i]->data(), result.referenceType,
                          result.elements(), job.tolerance, comparison))
      deviceFailed("reference_error");
    if (comparison.referenceNotFinite * 10 > comparison.elements * 9)
      reject("reference_error",
             "result " + std::to_string(i) + " of the reference is NaN or "
             "infinite in " +
                 std::to_string(comparison.referenceNotFinite) + " of " +
                 std::to_string(comparison.elements) + " elements");
  }

  void expectSame(const std::string &where, size_t i, const void *found,
                  const void *wanted, ElementType wantedType) {
    std::string wrong = difference(found, wanted, wantedType, job.results[i],
                                   job.tolerance, errors);
    if (!wrong.empty())
      reject("wrong", where + "result " + std::to_string(i) + ": " + wrong);
  }

  const Job &job;
  Buffers operands, first, second, expected;
  std::vector<uint64_t> sums;
};

//===----------------------------------------------------------------------===//
// Timing
//===----------------------------------------------------------------------===//

struct Times {
  double median, low, high;
  size_t runs;
};

/// The median and its 95% interval by order statistics: no assumption about
/// how times are distributed.
Times summarise(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  size_t count = samples.size();
  double half = 0.98 * std::sqrt(static_cast<double>(count));
  double middle = static_cast<double>(count) / 2;
  auto at = [&](double position) {
    double last = static_cast<double>(count - 1);
    return samples[static_cast<size_t>(
        std::min(last, std::max(0.0, std::floor(position))))];
  };
  double median = count % 2 ? samples[count / 2]
                            : 0.5 * (samples[count / 2 - 1] + samples[count / 2]);
  return {median, at(middle - half), at(middle + half), count};
}

Times measureCandidate(TestedKernel &candidate, double seconds) {
  auto launch = [&](void *stream) { return candidate.launchTimed(stream); };
  std::vector<double> warmup;
  if (!measure::time(2, launch, warmup))
    deviceFailed("crash");
  // The flush costs about as much as a long kernel: count it in.
  double each = std::max(*std::min_element(warmup.begin(), warmup.end()), 1.0);
  int runs = static_cast<int>(
      std::min(100.0, std::max(9.0, seconds * 1e6 / (each + 500))));
  std::vector<double> samples;
  if (!measure::time(runs, launch, samples))
    deviceFailed("crash");
  return summarise(samples);
}

//===----------------------------------------------------------------------===//
// Modes
//===----------------------------------------------------------------------===//

[[noreturn]] void runJob(const char *path) {
  Job job = readJob(path);
  Verifier verifier(job);
  TestedKernel reference(*load(job.reference, "reference_error"), job,
                         "reference_error");
  verifier.prepareTrial(0, reference);
  reportPhase("reference");

  TestedKernel candidate(*load(job.candidate, "link_error"), job, "crash");
  reportPhase("loaded");
  for (int trial = 0; trial < job.trials; ++trial) {
    if (trial > 0)
      verifier.prepareTrial(trial, reference);
    verifier.check(trial, candidate);
  }
  reportPhase("verified");

  Times times = measureCandidate(candidate, job.seconds);
  verifier.checkAgain();
  reportPhase("timed");
  finish("ok", ", \"us\": " + number(times.median) +
                   ", \"us_low\": " + number(times.low) +
                   ", \"us_high\": " + number(times.high) +
                   ", \"runs\": " + std::to_string(times.runs) +
                   ", \"norm_error\": " + number(verifier.errors.norm) +
                   ", \"element_error\": " + number(verifier.errors.element));
}

[[noreturn]] void describeMachine() {
  std::string machine = device::fingerprint();
  if (machine.empty())
    deviceFailed("worker_error");
  finish("ok", ", \"machine\": " + quoted(machine));
}

[[noreturn]] void checkLibrary(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    reject("link_error", dlerror());
  using Entry = const FactLibrary *(*)();
  Entry entry = reinterpret_cast<Entry>(dlsym(library, "fact_library"));
  if (!entry)
    reject("link_error", "fact_library is not exported");
  const FactLibrary *table = entry();
  if (table->abi != FACT_LIBRARY_ABI || !table->describe())
    reject("link_error", "the library's table is of another ABI");
  finish("ok", "");
}

} // namespace

int main(int argc, char **argv) {
  rlimit noCore = {0, 0};
  setrlimit(RLIMIT_CORE, &noCore);
  reportDescriptor = dup(1);
  dup2(2, 1);
  try {
    if (argc == 2 && std::strcmp(argv[1], "--machine") == 0)
      describeMachine();
    if (argc == 3 && std::strcmp(argv[1], "--check") == 0)
      checkLibrary(argv[2]);
    if (argc == 2)
      runJob(argv[1]);
    reject("worker_error", "usage: worker JOB | --machine | --check LIBRARY");
  } catch (const std::exception &problem) {
    reject("worker_error", problem.what());
  }
}
