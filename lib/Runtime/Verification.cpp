//===- Verification.cpp - A candidate against its reference ---------------===//

#include "Verification.h"
#include <algorithm>
#include <cstdio>
#include <fstream>

namespace fact {
namespace runtime {

//===----------------------------------------------------------------------===//
// One result
//===----------------------------------------------------------------------===//

static double elementAt(const void *data, ElementType type, uint64_t index) {
  uint64_t element = 0;
  const char *address = static_cast<const char *>(data) + index * bytesOf(type);
  if (!device::copyToHost(&element, address, bytesOf(type)))
    deviceFailed("crash");
  return loadElement(&element, type, 0);
}

static std::string positionOf(uint64_t index,
                              const std::vector<int64_t> &shape) {
  std::string text;
  for (size_t i = shape.size(); i-- > 0;) {
    text = std::to_string(index % static_cast<uint64_t>(shape[i])) +
           (text.empty() ? "" : ", ") + text;
    index /= static_cast<uint64_t>(shape[i]);
  }
  return "[" + text + "]";
}

/// Compares one result; what is wrong, or "".
static std::string difference(const void *found, const void *expected,
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

/// Where a reference has nothing to compare with, its candidate has nothing
/// finite either; what is wrong, or "".
static std::string somethingFinite(const void *found, const void *expected,
                                   ElementType expectedType,
                                   const Tensor &result) {
  Comparison comparison;
  if (!measure::compare(expected, expectedType, found, result.type,
                        result.elements(), Tolerance(), comparison))
    deviceFailed("crash");
  if (!comparison.notFinite)
    return "";
  uint64_t index = static_cast<uint64_t>(comparison.firstBad);
  return std::to_string(comparison.notFinite) + " of " +
         std::to_string(comparison.elements) +
         " elements are finite or unwritten, and not finite in the reference; "
         "the first at " +
         positionOf(index, result.shape) + ": found " +
         shown(elementAt(found, result.type, index));
}

void Verifier::expectSame(const std::string &where, size_t i, const void *found,
                          const void *wanted, ElementType wantedType) {
  std::string wrong = difference(found, wanted, wantedType, job.results[i],
                                 job.tolerance, errors);
  if (wrong.empty() && !tells[i])
    wrong = somethingFinite(found, wanted, wantedType, job.results[i]);
  if (!wrong.empty())
    reject("wrong", where + "result " + std::to_string(i) + ": " + wrong);
}

//===----------------------------------------------------------------------===//
// What is expected
//===----------------------------------------------------------------------===//

Verifier::Verifier(const Job &job) : job(job) {
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

/// Operands for functions that have no value at most numbers, as the logarithm
/// of a sum: positive ones, negative ones, small ones.
static Fill otherFill(Fill fill, int attempt) {
  if (fill.uniform || attempt == 0)
    return fill;
  if (attempt == 3) {
    fill.scale *= 0.0625;
    return fill;
  }
  fill.uniform = true;
  fill.low = 0.125 * fill.scale;
  fill.high = 2 * fill.scale;
  if (attempt == 2) {
    fill.low = -fill.high;
    fill.high = -0.125 * fill.scale;
  }
  return fill;
}
static constexpr int attempts = 4;

void Verifier::fillOperands(int trial, int attempt) {
  static const double scales[] = {1, 2, 0.5};
  sums.assign(job.operands.size(), 0);
  for (size_t i = 0; i < job.operands.size(); ++i) {
    const Tensor &operand = job.operands[i];
    Fill fill = operand.fill;
    fill.scale *= scales[trial % 3];
    fill = otherFill(fill, attempt);
    if (!measure::fill(operands[i]->data(), operand.type, operand.elements(),
                       fill, 1000003ull * (trial + 1) + i) ||
        !measure::checksum(operands[i]->data(), operand.bytes(), sums[i]))
      deviceFailed("worker_error");
  }
}

void Verifier::prepareTrial(int trial, TestedKernel &reference) {
  if (readExpected(trial))
    return;
  int attempt = -1;
  do {
    fillOperands(trial, ++attempt);
    for (auto &buffer : expected)
      buffer->fillAll(poison);
    reference.bind(operands, expected);
    reference.runOnce();
  } while (!findWhatTells() && attempt + 1 < attempts);
  writeExpected(trial, attempt);
}

bool Verifier::findWhatTells() {
  tells.clear();
  for (size_t i = 0; i < expected.size(); ++i)
    tells.push_back(referenceTells(i));
  return std::find(tells.begin(), tells.end(), false) == tells.end();
}

bool Verifier::referenceTells(size_t i) {
  const Tensor &result = job.results[i];
  if (!isFloat(result.referenceType) || result.elements() == 0)
    return true;
  // A reference compared with itself counts its own NaN and infinities.
  Comparison comparison;
  if (!measure::compare(expected[i]->data(), result.referenceType,
                        expected[i]->data(), result.referenceType,
                        result.elements(), job.tolerance, comparison))
    deviceFailed("reference_error");
  return comparison.referenceNotFinite * 10 <= comparison.elements * 9;
}

/// What an earlier worker computed, and from which operands.
bool Verifier::readExpected(int trial) {
  if (job.expected.empty())
    return false;
  std::ifstream file(job.expected + "." + std::to_string(trial),
                     std::ios::binary);
  int attempt = file.get();
  std::vector<char> bytes;
  for (size_t i = 0; i < expected.size() && file; ++i) {
    bytes.resize(job.results[i].referenceBytes());
    if (file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) &&
        !device::copyToDevice(expected[i]->data(), bytes.data(), bytes.size()))
      deviceFailed("worker_error");
  }
  if (!file)
    return false;
  fillOperands(trial, attempt);
  findWhatTells();
  return true;
}

/// Whole or not at all, and no error: the next worker computes it again.
void Verifier::writeExpected(int trial, int attempt) {
  if (job.expected.empty())
    return;
  std::string path = job.expected + "." + std::to_string(trial);
  std::string aside = path + ".partial";
  std::ofstream file(aside, std::ios::binary);
  file.put(static_cast<char>(attempt));
  std::vector<char> bytes;
  for (size_t i = 0; i < expected.size() && file; ++i) {
    bytes.resize(job.results[i].referenceBytes());
    if (!device::copyToHost(bytes.data(), expected[i]->data(), bytes.size()))
      deviceFailed("worker_error");
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  file.close();
  if (!file || std::rename(aside.c_str(), path.c_str()) != 0)
    std::remove(aside.c_str());
}

//===----------------------------------------------------------------------===//
// What the candidate does
//===----------------------------------------------------------------------===//

void Verifier::runInto(Buffers &results, TestedKernel &candidate,
                       int otherByte) {
  for (size_t i = 0; i < results.size(); ++i)
    results[i]->fillAll(isFloat(job.results[i].type) && tells[i] ? poison
                                                                 : otherByte);
  candidate.bind(operands, results);
  candidate.runOnce();
}

void Verifier::expectNoStrayWrites(const std::string &where,
                                   const Buffers &results,
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

void Verifier::check(int trial, TestedKernel &candidate) {
  std::string where = "trial " + std::to_string(trial + 1) + ", ";
  runInto(first, candidate, poison);
  for (size_t i = 0; i < first.size(); ++i)
    expectSame(where, i, first[i]->data(), expected[i]->data(),
               job.results[i].referenceType);
  expectNoStrayWrites(where, first, candidate);
  // Integers have no NaN, and some results nothing else, so the second run
  // starts from other bytes: an element that was never written differs between
  // the two.
  runInto(second, candidate, 0x55);
  for (size_t i = 0; i < first.size(); ++i)
    expectSame(where + "second run against the first, ", i, second[i]->data(),
               first[i]->data(), job.results[i].type);
  expectNoStrayWrites(where, second, candidate);
}

void Verifier::checkAgain() {
  for (size_t i = 0; i < second.size(); ++i)
    expectSame("after the timed runs, ", i, second[i]->data(),
               expected[i]->data(), job.results[i].referenceType);
}

} // namespace runtime
} // namespace fact
