//===- Trials.cpp - Operands that candidates are verified on --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Trials.h"
#include <algorithm>
#include <cmath>
#include <optional>

namespace fact {
namespace runtime {

/// The last attempt of a normal trial: operands whose values are never equal.
constexpr int oddDomain = 4;

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

/// Where a region subtracts means, a kernel may lose the digits of a large
/// mean. Results that are rounded to 16 bits do not show this, and where
/// exponentials amplify rounding errors, correct kernels lose them too.
static bool showsLostDigits(const Job &job) {
  return std::all_of(job.operands.begin(), job.operands.end(),
                     [](const Operand &each) {
                       return !isFloat(each.type) ||
                              (each.avoided.equal && each.large >= largeMean);
                     }) &&
         std::all_of(
             job.results.begin(), job.results.end(), [](const Result &each) {
               return each.tolerance.element < 0x1p-10 && each.large == 0;
             });
}

std::vector<Trial> planTrials(const Job &job) {
  std::vector<Trial> trials;
  auto add = [&](TrialKind kind, double scale = 1) {
    int number = static_cast<int>(trials.size());
    uint64_t seed = detail::mixBits(job.seed + 7919u * (number + 1));
    trials.push_back({kind, number, seed, scale, /*plantsNan=*/false});
  };
  auto any = [&](auto predicate) {
    return std::any_of(job.operands.begin(), job.operands.end(), predicate);
  };
  for (double scale : {1.0, 2.0, 0.5})
    add(TrialKind::Normal, scale);
  if (job.operands.empty())
    return trials;
  add(TrialKind::Special);
  if (any([](const Operand &each) {
        return isFloat(each.type) && !each.avoided.nan;
      })) {
    add(TrialKind::Special);
    trials.back().plantsNan = true;
  }
  if (any([](const Operand &each) { return each.large > 0; }))
    add(TrialKind::Large);
  add(TrialKind::Ties);
  if (any([](const Operand &each) { return each.avoided.equal; }) &&
      showsLostDigits(job))
    add(TrialKind::Means);
  if (any([](const Operand &each) { return each.negative > 0; }))
    add(TrialKind::Negative);
  return trials;
}

static const char *nameOf(TrialKind kind) {
  switch (kind) {
  case TrialKind::Normal:
    return "normal values";
  case TrialKind::Special:
    return "special values";
  case TrialKind::Large:
    return "large values";
  case TrialKind::Ties:
    return "equal values";
  case TrialKind::Means:
    return "large means";
  case TrialKind::Negative:
    return "negative scores";
  }
  return "?";
}

/// Elements of the largest operand that has floating-point values.
static uint64_t mostElements(const Job &job) {
  uint64_t most = 0;
  for (const Operand &each : job.operands)
    if (isFloat(each.type))
      most = std::max(most, each.elements());
  return most;
}

std::string describeTrial(const Trial &trial, const Job &job) {
  return "trial " + std::to_string(trial.number + 1) + " (" +
         (trial.plantsNan ? "NaN" : nameOf(trial.kind)) + ", seed " +
         std::to_string(job.seed) + ")";
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Operands for functions that are NaN for most values, such as the logarithm
/// of a sum: positive, negative or small ones.
static Fill restrictDomain(Fill fill, int domain) {
  if (fill.values == Fill::Values::Factors && (domain == 1 || domain == 2))
    fill.sign = domain == 1 ? Fill::Sign::Positive : Fill::Sign::Negative;
  if (fill.values != Fill::Values::Normal || domain == 0 || domain == oddDomain)
    return fill;
  if (domain == 3) {
    fill.scale *= 0.0625;
    return fill;
  }
  bool positive = domain == 1;
  fill.values = Fill::Values::Uniform;
  fill.low = fill.scale * (positive ? 0.125 : -2);
  fill.high = fill.scale * (positive ? 2 : -0.125);
  return fill;
}

static Fill fillOf(const Operand &operand, const Trial &trial, int domain,
                   bool broadcast) {
  Fill fill = operand.fill;
  bool isNormal = fill.values == Fill::Values::Normal;
  switch (trial.kind) {
  case TrialKind::Normal:
    fill.scale *= trial.scale;
    return restrictDomain(fill, domain);
  case TrialKind::Special:
    fill.trueShare = 0.0625;
    if (!isFloat(operand.type)) {
      fill.values = operand.wide ? Fill::Values::AllBits : Fill::Values::Bounds;
      fill.outside = operand.outside;
    }
    return restrictDomain(fill, domain);
  case TrialKind::Large:
    fill.trueShare = 1;
    fill.scale *= operand.large > 0 ? operand.large : 1;
    return restrictDomain(fill, domain);
  case TrialKind::Ties:
    fill.trueShare = 0;
    if (!isFloat(operand.type)) {
      // The last index, repeated.
      fill.low = std::ceil(fill.high) - 1;
    } else if (operand.mask) {
      fill.values = Fill::Values::HiddenRows;
    } else if (isNormal) {
      fill.values = Fill::Values::Ties;
      fill.sign = domain == 1   ? Fill::Sign::Positive
                  : domain == 2 ? Fill::Sign::Negative
                                : Fill::Sign::Any;
      fill.equalRows = !operand.avoided.equal;
    }
    return fill;
  case TrialKind::Means:
    if (isNormal && !broadcast) {
      fill.values = Fill::Values::Uniform;
      fill.low = fill.scale * (largeMean - 2);
      fill.high = fill.scale * (largeMean + 2);
    }
    return fill;
  case TrialKind::Negative:
    fill.trueShare = 0.9375;
    if (isNormal && operand.negative > 0 && !operand.middle) {
      fill.values = Fill::Values::Uniform;
      fill.low = -3 * operand.negative;
      fill.high = -operand.negative;
    } else if (isNormal) {
      fill.scale *= operand.middle ? operand.negative : 2;
      fill.sign =
          operand.middle ? Fill::Sign::NegativeMiddle : Fill::Sign::Positive;
    }
    return fill;
  }
  return fill;
}

/// Rounds an operand to odd multiples of a power of two, and its neighbors to
/// those of another power. Sums and products of two operands are then exact and
/// never equal to a third or to an integer, so rounding decides nothing.
static void roundToOdd(const Operand &operand, size_t index, double scale,
                       char *data) {
  double unit = std::exp2(std::floor(std::log2(scale)) - 3 -
                          static_cast<double>(index % 3));
  std::vector<char> bytes(operand.bytes());
  bool good = device::copyToHost(bytes.data(), data, bytes.size());
  for (uint64_t i = 0; i < operand.elements(); ++i) {
    double value = loadElement(bytes.data(), operand.type, i);
    storeElement(bytes.data(), operand.type, i,
                 (2 * std::floor(value / (2 * unit)) + 1) * unit);
  }
  if (!good || !device::copyToDevice(data, bytes.data(), bytes.size()))
    deviceFailed("worker_error");
}

//===----------------------------------------------------------------------===//
// Special values
//===----------------------------------------------------------------------===//

/// The maximum number of special elements per operand: each is a copy.
constexpr size_t mostPlants = 512;

/// One index in `share`. The first, the last, and those where vector tails
/// begin come first. Operands that are `broadcast` use other indices, since a
/// NaN in a bias hides the content of its column.
static std::vector<uint64_t> chooseIndices(uint64_t extent, uint64_t share,
                                           uint64_t most, bool broadcast,
                                           uint64_t seed) {
  uint64_t count = std::min(most, std::max<uint64_t>(1, extent / share));
  std::vector<uint64_t> candidates;
  if (count > 1 && !broadcast) {
    candidates = {extent - 1, 0};
    for (uint64_t vector : {4, 8, 16, 32})
      candidates.push_back(extent / vector * vector);
    std::rotate(candidates.begin() + 2,
                candidates.begin() + 2 + static_cast<ptrdiff_t>(seed % 4),
                candidates.end());
  }
  std::vector<uint64_t> chosen;
  for (uint64_t i = 0; chosen.size() < count; ++i) {
    uint64_t index = i < candidates.size() ? candidates[i]
                                           : detail::mixBits(seed + i) % extent;
    if (index < extent &&
        std::find(chosen.begin(), chosen.end(), index) == chosen.end())
      chosen.push_back(index);
  }
  return chosen;
}

/// The positions of special values: a grid of few indices per dimension, so
/// that reductions over any dimension leave most results finite. One row in
/// four has a single special value.
static std::vector<uint64_t> choosePositions(const Operand &operand,
                                             bool broadcast, uint64_t seed) {
  std::vector<uint64_t> positions = {0};
  size_t rank = operand.shape.size();
  for (size_t i = 0; i < rank; ++i) {
    uint64_t extent = static_cast<uint64_t>(operand.shape[i]);
    bool isLast = i + 1 == rank;
    uint64_t share = broadcast ? 16 : isLast ? 4 : 8;
    uint64_t most = isLast ? 32 : i + 2 == rank ? 16 : 4;
    std::vector<uint64_t> indices = chooseIndices(
        extent, share, most, broadcast, detail::mixBits(seed ^ (i << 56)));
    bool isRow = isLast && positions.size() > 1;
    std::vector<uint64_t> extended;
    for (size_t row = 0; row < positions.size(); ++row) {
      uint64_t base = positions[row] * extent;
      if (isRow && row % 4 == 0)
        extended.push_back(base + indices[row / 4 % indices.size()]);
      else
        for (uint64_t index : indices)
          extended.push_back(base + index);
    }
    positions = std::move(extended);
  }
  if (positions.size() > mostPlants)
    positions.resize(mostPlants);
  return positions;
}

/// None: the element keeps its normal value.
using SpecialValue = std::optional<double>;

static double largestPlanted(ElementType type) {
  // The comparison squares doubles, which must stay finite.
  return std::min(largestFinite(type), 1e150);
}

/// What an operand holds where another operand has a NaN; NaN included.
static std::vector<SpecialValue> companionsOf(const Operand &operand) {
  const Avoided &avoid = operand.avoided;
  double scale = operand.fill.scale;
  std::vector<SpecialValue> values = {-1.5 * scale, 1.5 * scale, 0.0, -0.0};
  if (!avoid.nan)
    values.push_back(std::nan(""));
  if (!avoid.positiveInfinity)
    values.push_back(HUGE_VAL);
  if (!avoid.negativeInfinity)
    values.push_back(-HUGE_VAL);
  return values;
}

static std::vector<SpecialValue> extremesOf(const Operand &operand,
                                            bool finite) {
  const Avoided &avoid = operand.avoided;
  double smallest = smallestPositive(operand.type);
  double largest = largestPlanted(operand.type);
  std::vector<SpecialValue> values = {-0.0, 0.0};
  if (!avoid.denormal)
    values.insert(values.end(), {smallest, -100 * smallest});
  if (finite)
    return values;
  if (!avoid.positiveInfinity)
    values.push_back(HUGE_VAL);
  if (!avoid.negativeInfinity)
    values.push_back(-HUGE_VAL);
  // Large values that a region can hold have a separate trial.
  if (!avoid.largest)
    values.insert(values.end(), {largest, -largest});
  return values;
}

namespace {
/// Operands of one shape have their special values at the same positions, so
/// that all pairs meet. `rank` distinguishes the operands of a group.
struct PlantGroup {
  size_t rank = 0, size = 0;
};
} // namespace

/// The value at the `number`-th position of an operand.
static SpecialValue specialValue(const Operand &operand, const Trial &trial,
                                 int attempt, PlantGroup group,
                                 uint64_t number) {
  bool finite = attempt > 2;
  if (trial.plantsNan && !finite) {
    if (number % group.size == group.rank)
      return operand.avoided.nan ? std::nullopt : SpecialValue(std::nan(""));
    std::vector<SpecialValue> values = companionsOf(operand);
    return values[number / group.size % values.size()];
  }
  std::vector<SpecialValue> values = extremesOf(operand, finite);
  if (group.size == 1)
    return values[number % values.size()];
  // At one position in three, only one operand is special: an infinity hides
  // the others.
  uint64_t alone = number / 3;
  if (number % 3 == 0)
    return alone % group.size == group.rank
               ? values[alone / group.size % values.size()]
               : std::nullopt;
  uint64_t pair = 2 * alone + number % 3 - 1;
  uint64_t shift = group.rank * (1 + pair / values.size());
  return values[(pair + shift) % values.size()];
}

static void plant(const Operand &operand, uint64_t position, double value,
                  char *data) {
  uint64_t element = 0, size = bytesOf(operand.type);
  storeElement(&element, operand.type, 0, value);
  if (!device::copyToDevice(data + position * size, &element, size))
    deviceFailed("worker_error");
}

/// Plants special values among normal ones. Later attempts plant them in the
/// first operand only, then at one position, then only those that cannot make a
/// sum infinite or NaN.
static void plantSpecialValues(const Job &job, size_t index, const Trial &trial,
                               int attempt, char *data) {
  const Operand &operand = job.operands[index];
  bool isFirst = true;
  PlantGroup group;
  for (size_t i = 0; i < job.operands.size(); ++i) {
    const Operand &other = job.operands[i];
    if (!isFloat(other.type))
      continue;
    isFirst &= i >= index;
    if (other.shape != operand.shape)
      continue;
    group.rank += i < index;
    ++group.size;
  }
  bool isOnly = attempt == 1 || attempt == 2;
  if (trial.kind != TrialKind::Special || !isFloat(operand.type) ||
      operand.elements() == 0 || (isOnly && !isFirst))
    return;
  // A NaN among so few values would reach most results.
  bool broadcast = operand.elements() < mostElements(job);
  if (broadcast && operand.elements() < 8)
    return;
  if (isOnly)
    group = {0, 1};

  // The same for all operands of this shape.
  uint64_t seed = detail::mixBits(trial.seed + 257u * attempt + 1);
  for (int64_t extent : operand.shape)
    seed = detail::mixBits(seed ^ static_cast<uint64_t>(extent));
  std::vector<uint64_t> positions = choosePositions(operand, broadcast, seed);
  if (attempt == 2)
    positions.resize(1);
  auto valueAt = [&](size_t i) {
    return specialValue(operand, trial, attempt, group, seed % 1024 + i);
  };
  // The element next to a NaN is larger than most, or smaller, since a
  // comparison meets it next.
  for (size_t i = 0; trial.plantsNan && i < positions.size(); ++i) {
    SpecialValue value = valueAt(i);
    bool endsRow = (positions[i] + 1) % operand.fill.row == 0;
    if (value && std::isnan(*value) && !endsRow)
      plant(operand, positions[i] + 1, (i % 2 ? 4 : -4) * operand.fill.scale,
            data);
  }
  for (size_t i = 0; i < positions.size(); ++i)
    if (SpecialValue value = valueAt(i))
      plant(operand, positions[i], *value, data);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

static uint64_t offsetOf(ElementType type, const Trial &trial, uint64_t salt) {
  if (trial.kind == TrialKind::Normal)
    return 0;
  // An odd multiple has exactly the required alignment.
  uint64_t alignment = device::requiredAlignment(bytesOf(type));
  uint64_t random = detail::mixBits(trial.seed ^ (salt << 32));
  return alignment * (2 * (random % (128 / alignment)) + 1);
}

void placeResults(const std::vector<Tensor> &tensors, const Trial &trial,
                  uint64_t salt, Buffers &buffers) {
  for (size_t i = 0; i < tensors.size(); ++i)
    buffers[i]->place(offsetOf(tensors[i].type, trial, salt + i));
}

/// Makes a filled operand what the compiler proved of it.
static void applyBand(const Operand &operand, char *data) {
  std::vector<char> bytes(operand.bytes());
  bool good = device::copyToHost(bytes.data(), data, bytes.size());
  int64_t columns = operand.shape.back();
  int64_t rows = operand.shape[operand.shape.size() - 2];
  for (uint64_t i = 0; i < operand.elements(); ++i) {
    int64_t column = static_cast<int64_t>(i) % columns;
    int64_t row = static_cast<int64_t>(i) / columns % rows;
    bool isInside = operand.band->lower <= column - row &&
                    column - row <= operand.band->upper;
    if (!isInside || isBoolean(operand.type))
      storeElement(bytes.data(), operand.type, i, isInside);
  }
  if (!good || !device::copyToDevice(data, bytes.data(), bytes.size()))
    deviceFailed("worker_error");
}

void fillOperands(const Job &job, const Trial &trial, int domain, int attempt,
                  Buffers &operands) {
  if (trial.kind == TrialKind::Normal)
    domain = attempt;
  for (size_t i = 0; i < job.operands.size(); ++i) {
    const Operand &operand = job.operands[i];
    uint64_t seed =
        detail::mixBits(detail::mixBits(trial.seed + 257u * attempt) ^ i);
    Fill fill =
        fillOf(operand, trial, domain, operand.elements() < mostElements(job));
    operands[i]->place(offsetOf(operand.type, trial, i));
    if (!measure::fill(operands[i]->data(), operand.type, operand.elements(),
                       fill, seed))
      deviceFailed("worker_error");
    if (domain == oddDomain && isFloat(operand.type) &&
        fill.values == Fill::Values::Normal)
      roundToOdd(operand, i, fill.scale, operands[i]->data());
    plantSpecialValues(job, i, trial, attempt, operands[i]->data());
    if (operand.band)
      applyBand(operand, operands[i]->data());
  }
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Buffers allocateBuffers(const std::vector<Tensor> &tensors, int guard) {
  Buffers buffers;
  for (const Tensor &tensor : tensors)
    buffers.push_back(std::make_unique<GuardedBuffer>(tensor.bytes(), guard));
  return buffers;
}

uint64_t footprintOf(const std::vector<Tensor> &tensors) {
  uint64_t bytes = 0;
  for (const Tensor &tensor : tensors)
    bytes += GuardedBuffer::footprint(tensor.bytes());
  return bytes;
}

std::vector<uint64_t> checksums(const std::vector<Tensor> &tensors,
                                const Buffers &buffers) {
  std::vector<uint64_t> sums(tensors.size());
  uint64_t bytes = sums.size() * sizeof(uint64_t);
  DeviceMemory memory(bytes);
  uint64_t *device = reinterpret_cast<uint64_t *>(memory.get());
  bool good = device::fillBytes(device, 0, bytes, nullptr);
  for (size_t i = 0; good && i < tensors.size(); ++i)
    good = measure::addChecksum(buffers[i]->data(), tensors[i].type,
                                tensors[i].elements(), tensors[i].spare,
                                device + i, nullptr);
  if (!good || !device::copyToHost(sums.data(), device, bytes))
    deviceFailed("crash");
  return sums;
}

template <typename T>
static std::vector<Tensor> sliced(const std::vector<T> &tensors) {
  return std::vector<Tensor>(tensors.begin(), tensors.end());
}
std::vector<Tensor> tensorsOf(const std::vector<Operand> &operands) {
  return sliced(operands);
}
std::vector<Tensor> tensorsOf(const std::vector<Result> &results) {
  return sliced(results);
}

} // namespace runtime
} // namespace fact
