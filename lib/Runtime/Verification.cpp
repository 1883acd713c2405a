//===- Verification.cpp - A candidate against its reference ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Verification.h"
#include <algorithm>
#include <cmath>
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

/// The first element that differs.
static std::string exampleOf(const Comparison &comparison, const Result &result,
                             const void *found, const void *expected,
                             ElementType expectedType) {
  if (comparison.firstBad < 0)
    return "";
  uint64_t index = static_cast<uint64_t>(comparison.firstBad);
  return "; the first at " + positionOf(index, result.shape) + ": found " +
         shown(elementAt(found, result.type, index)) + ", expected " +
         shown(elementAt(expected, expectedType, index));
}

/// Describes what is wrong with one result, or returns "".
static std::string difference(const Comparison &comparison,
                              const Result &result, const Tolerance &tolerance,
                              const void *found, const void *expected) {
  std::string example =
      exampleOf(comparison, result, found, expected, result.referenceType);
  std::string of = " of " + std::to_string(comparison.elements) + " elements ";
  if (comparison.otherClass)
    return std::to_string(comparison.otherClass) + of +
           "are NaN, infinite or unwritten where the reference is not, or vice "
           "versa" +
           example;
  if (comparison.beyond && !isFloat(result.type))
    return std::to_string(comparison.beyond) + of + "differ" + example;
  if (comparison.beyond)
    return std::to_string(comparison.beyond) + of +
           "are beyond the element tolerance " + number(tolerance.element) +
           " (worst " + number(comparison.worstElement) + ")" + example;
  if (isFloat(result.type) && !(comparison.normError() <= tolerance.norm))
    return "the error's norm is " + number(comparison.normError()) +
           " of the reference's; the tolerance is " + number(tolerance.norm);
  return "";
}

const float *Verifier::doubtOf(size_t i) const {
  if (!job.results[i].undecided)
    return nullptr;
  return reinterpret_cast<const float *>(
      expected[job.doubtPosition(i)]->data());
}

/// Normal and large operands have one scale per result, or one per row if the
/// compiler says that rows differ: of a row of a triangle, all elements may be
/// sums that cancel. Few elements have at least the scale of several draws. In
/// other trials, rows may differ by orders of magnitude or consist of rounding
/// errors, so each row has its own scale, which is at least that of normal
/// operands, and of several draws.
Tolerance Verifier::toleranceOf(size_t i) const {
  const Result &result = job.results[i];
  Tolerance tolerance = result.tolerance;
  bool rowsDiffer = tolerance.row != 0;
  if (trial().kind == TrialKind::Large || trial().kind == TrialKind::Negative) {
    tolerance.norm += result.large;
    tolerance.element += result.large;
  }
  // The mean of so many deviations is itself rounded.
  if (trial().kind == TrialKind::Means) {
    tolerance.norm += 4 * largeMean * 0x1p-24;
    tolerance.element += 16 * largeMean * 0x1p-24;
  }
  // Errors of equal values are equal, and do not average out.
  if (trial().kind == TrialKind::Ties)
    tolerance.norm = std::max(tolerance.norm, tolerance.element);
  bool isNormal = trial().kind == TrialKind::Normal;
  if (!isNormal && trial().kind != TrialKind::Large && !rowsDiffer)
    tolerance.row = result.row();
  double leastScale =
      isNormal ? drawnRms[i] : std::max(normalRms[i], drawnRms[i]);
  tolerance.leastScale = leastScale * (rowsDiffer ? 0x1p-6 : 1);
  return tolerance;
}

void Verifier::rejectWrong(const std::string &what) const {
  reject("wrong", describeTrial(trial(), job) + ", " + what);
}

void Verifier::expectSame(const std::string &run, size_t i, const void *found) {
  const Result &result = job.results[i];
  const void *wanted = expected[i]->data();
  Tolerance tolerance = toleranceOf(i);
  Comparison comparison;
  if (!measure::compare(found, result.type, wanted, result.referenceType,
                        doubtOf(i), result.elements(), tolerance, comparison))
    deviceFailed("crash");
  std::string wrong = difference(comparison, result, tolerance, found, wanted);
  if (!wrong.empty())
    rejectWrong(run + "result " + std::to_string(i) + ": " + wrong);
  errors.norm = std::max(errors.norm, comparison.normError());
  errors.element = std::max(errors.element, comparison.worstElement);
}

//===----------------------------------------------------------------------===//
// What is expected
//===----------------------------------------------------------------------===//

Verifier::Verifier(const Job &job)
    : job(job), trials(planTrials(job)),
      operandTensors(tensorsOf(job.operands)),
      resultTensors(tensorsOf(job.results)),
      referenceTensors(job.referenceResults()) {
  uint64_t available = 0;
  if (!measure::availableBytes(available))
    deviceFailed("worker_error");
  operands = allocateBuffers(operandTensors, poison);
  first = allocateBuffers(resultTensors, guardByte);
  expected = allocateBuffers(referenceTensors, guardByte);
  // Half of the memory is left to other processes and to the scratch memory of
  // kernels.
  if (footprintOf(operandTensors) + 2 * footprintOf(resultTensors) +
          footprintOf(referenceTensors) <=
      available / 2)
    second = allocateBuffers(resultTensors, guardByte);
}

void Verifier::fill(const Trial &drawn, int which) {
  attempt = which;
  fillOperands(job, drawn, domain, attempt, operands);
  sums = checksums(operandTensors, operands);
}

void Verifier::runReference(TestedKernel &reference) {
  for (auto &buffer : expected)
    buffer->fillAll(poison);
  reference.bind(operands, expected);
  reference.runOnce();
}

/// One number, or a few, may be a sum whose terms cancel, and errors are as
/// large as the terms. Other draws of the same operands tell how large such
/// results are.
void Verifier::drawScales(TestedKernel &reference) {
  constexpr uint64_t few = 64;
  constexpr unsigned draws = 8;
  drawnRms.assign(job.results.size(), 0);
  auto isFew = [](const Result &result) {
    return isFloat(result.type) && result.elements() < few;
  };
  // Others have the scale of normal operands.
  bool isDrawn =
      trial().kind == TrialKind::Normal || trial().kind == TrialKind::Large ||
      trial().kind == TrialKind::Negative || trial().kind == TrialKind::Means;
  if (!isDrawn || job.operands.empty() ||
      std::none_of(job.results.begin(), job.results.end(), isFew))
    return;
  Trial drawn = trial();
  for (unsigned draw = 1; draw <= draws; ++draw) {
    drawn.seed = detail::mixBits(trial().seed + draw);
    fill(drawn, attempt);
    runReference(reference);
    referenceTells();
    for (size_t i = 0; i < drawnRms.size(); ++i)
      if (isFew(job.results[i]))
        drawnRms[i] = std::hypot(drawnRms[i], rms[i] / std::sqrt(draws));
  }
  fill(trial(), attempt);
  runReference(reference);
  referenceTells();
}

void Verifier::prepareTrial(size_t index, TestedKernel &reference) {
  current = index;
  if (!readExpected()) {
    int next = 0;
    do {
      fill(trial(), next);
      runReference(reference);
    } while (!referenceTells() && ++next < attempts);
    drawScales(reference);
    writeExpected();
  }
  if (index > 0)
    return;
  domain = attempt;
  normalRms = rms;
  for (size_t i = 0; i < rms.size(); ++i)
    normalRms[i] = std::max(rms[i], drawnRms[i]);
  if (tooUndecided)
    reject("reference_error",
           describeTrial(trial(), job) +
               ": rounding decides more than a tenth of a result");
}

bool Verifier::referenceTells() {
  rms.clear();
  tooUndecided = false;
  bool tells = true;
  for (size_t i = 0; i < job.results.size(); ++i) {
    const Result &result = job.results[i];
    // Comparing the reference with itself counts its NaNs and infinities.
    Comparison comparison;
    if (!measure::compare(expected[i]->data(), result.referenceType,
                          expected[i]->data(), result.referenceType, doubtOf(i),
                          result.elements(), result.tolerance, comparison))
      deviceFailed("reference_error");
    rms.push_back(comparison.referenceRms());
    if (comparison.undecided * 10 > comparison.elements)
      tooUndecided = true;
    // A tenth of a normal trial's results must be finite, which functions that
    // are NaN for most values still allow, and a quarter of a special trial's.
    uint64_t elements = comparison.elements - result.unwritten();
    uint64_t notFinite =
        std::max(comparison.referenceNotFinite, result.unwritten()) -
        result.unwritten();
    if (trial().kind == TrialKind::Normal)
      tells = tells && notFinite * 10 <= elements * 9;
    if (trial().kind == TrialKind::Special)
      tells = tells && notFinite * 4 <= elements * 3;
  }
  return tells && !tooUndecided;
}

static std::string expectedPath(const Job &job, const Trial &trial) {
  return job.expected + "." + std::to_string(trial.number);
}

/// Reads the results that an earlier worker computed, and checks which operands
/// they are for.
bool Verifier::readExpected() {
  if (job.expected.empty())
    return false;
  std::ifstream file(expectedPath(job, trial()), std::ios::binary);
  uint64_t header[2] = {};
  if (!file.read(reinterpret_cast<char *>(header), sizeof(header)) ||
      header[0] != job.seed)
    return false;
  drawnRms.resize(job.results.size());
  file.read(reinterpret_cast<char *>(drawnRms.data()),
            static_cast<std::streamsize>(drawnRms.size() * sizeof(double)));
  std::vector<char> bytes;
  for (size_t i = 0; i < expected.size() && file; ++i) {
    bytes.resize(referenceTensors[i].bytes());
    if (file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) &&
        !device::copyToDevice(expected[i]->data(), bytes.data(), bytes.size()))
      deviceFailed("worker_error");
  }
  if (!file)
    return false;
  fill(trial(), static_cast<int>(header[1]));
  referenceTells();
  return true;
}

/// Written completely or not at all. A failure is not an error: the next worker
/// computes the results again.
void Verifier::writeExpected() {
  if (job.expected.empty())
    return;
  std::string path = expectedPath(job, trial());
  std::string aside = path + ".partial";
  std::ofstream file(aside, std::ios::binary);
  uint64_t header[2] = {job.seed, static_cast<uint64_t>(attempt)};
  file.write(reinterpret_cast<char *>(header), sizeof(header));
  file.write(reinterpret_cast<char *>(drawnRms.data()),
             static_cast<std::streamsize>(drawnRms.size() * sizeof(double)));
  std::vector<char> bytes;
  for (size_t i = 0; i < expected.size() && file; ++i) {
    bytes.resize(referenceTensors[i].bytes());
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

void Verifier::runInto(Buffers &results, TestedKernel &candidate, int byte) {
  placeResults(resultTensors, trial(), 1000u + static_cast<unsigned>(byte),
               results);
  // What a candidate leaves alone stays NaN, as in the reference.
  for (size_t i = 0; i < results.size(); ++i)
    results[i]->fillAll(job.results[i].written ? poison : byte);
  candidate.bind(operands, results);
  candidate.runOnce();
}

void Verifier::expectNoStrayWrites(const Buffers &results,
                                   const TestedKernel &candidate) {
  for (size_t i = 0; i < results.size(); ++i)
    if (!results[i]->intact())
      rejectWrong("wrote outside result " + std::to_string(i));
  if (const char *what = candidate.strayWrite())
    rejectWrong(std::string("wrote outside ") + what);
  std::vector<uint64_t> now = checksums(operandTensors, operands);
  for (size_t i = 0; i < operands.size(); ++i)
    if (now[i] != sums[i] || !operands[i]->intact())
      rejectWrong("wrote to operand " + std::to_string(i));
}

/// Two runs must be bitwise equal.
std::string Verifier::betweenRuns(size_t i) const {
  if (second.empty())
    return "differs";
  const Result &result = job.results[i];
  Tolerance tolerance;
  tolerance.spare = result.spare;
  Comparison comparison;
  if (!measure::compare(second[i]->data(), result.type, first[i]->data(),
                        result.type, nullptr, result.elements(), tolerance,
                        comparison))
    deviceFailed("crash");
  return std::to_string(comparison.beyond + comparison.otherClass) + " of " +
         std::to_string(comparison.elements) + " elements differ" +
         exampleOf(comparison, result, second[i]->data(), first[i]->data(),
                   result.type);
}

void Verifier::check(TestedKernel &candidate) {
  // If rounding decides most of a result, this trial is not compared.
  if (tooUndecided)
    return;
  runInto(first, candidate, poison);
  for (size_t i = 0; i < first.size(); ++i)
    expectSame("", i, first[i]->data());
  expectNoStrayWrites(first, candidate);
  std::vector<uint64_t> resultSums = checksums(resultTensors, first);

  // Starts from other bytes: an element that is never written is NaN in the
  // first run and finite in the second.
  Buffers &again = second.empty() ? first : second;
  runInto(again, candidate, otherPoison);
  std::vector<uint64_t> secondSums = checksums(resultTensors, again);
  for (size_t i = 0; i < again.size(); ++i) {
    if (job.repeatable && secondSums[i] != resultSums[i])
      rejectWrong("second run against the first, result " + std::to_string(i) +
                  ": " + betweenRuns(i));
    if (!job.repeatable)
      expectSame("second run, ", i, again[i]->data());
  }
  expectNoStrayWrites(again, candidate);
  if (trial().kind == TrialKind::Normal)
    verified.push_back({trial(), attempt, resultSums});
}

} // namespace runtime
} // namespace fact
