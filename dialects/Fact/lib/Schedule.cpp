//===- Schedule.cpp - Parameters of schedules, declared once --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Dialect/Fact/Schedule.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

Sizes Sizes::oneOf(std::initializer_list<int64_t> values) {
  Sizes sizes;
  sizes.values = values;
  return sizes;
}

Sizes Sizes::between(int64_t first, int64_t last) {
  Sizes sizes;
  sizes.first = first;
  sizes.last = last;
  return sizes;
}

Sizes Sizes::multiplesOf(int64_t step, int64_t last) {
  Sizes sizes = between(step, last);
  sizes.step = step;
  return sizes;
}

bool Sizes::contains(int64_t size) const {
  if (!values.empty())
    return llvm::is_contained(values, size);
  return size >= first && size <= last && size % step == 0;
}

/// "1", "1 or 2", "1, 2 or 4".
template <typename Range>
static std::string joinAlternatives(const Range &all) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (auto [i, one] : llvm::enumerate(all))
    os << (i == 0 ? "" : i + 1 == all.size() ? " or " : ", ") << one;
  return text;
}

std::string Sizes::describe() const {
  if (!values.empty())
    return joinAlternatives(values);
  std::string text;
  llvm::raw_string_ostream os(text);
  if (step > 1)
    os << "a multiple of " << step;
  else
    os << first;
  if (last < maxScheduleSize)
    os << (step > 1 ? " up to " : " to ") << last;
  else if (step == 1)
    os << " or more";
  return text;
}

//===----------------------------------------------------------------------===//
// Parameter
//===----------------------------------------------------------------------===//

Parameter Parameter::number(std::string name, std::string meaning,
                            Sizes sizes) {
  return {std::move(name), std::move(meaning), {{"", std::move(sizes)}}, {}};
}

Parameter Parameter::extents(std::string name, std::string meaning,
                             std::vector<Axis> axes) {
  return {std::move(name), std::move(meaning), std::move(axes), {}};
}

Parameter Parameter::word(std::string name, std::string meaning,
                          std::vector<std::string> words) {
  return {std::move(name), std::move(meaning), {}, std::move(words)};
}

std::string Parameter::describe() const {
  if (isWord())
    return joinAlternatives(words);
  return llvm::join(
      llvm::map_range(axes,
                      [](const Axis &axis) {
                        return (axis.name.empty() ? "" : axis.name + " ") +
                               axis.sizes.describe();
                      }),
      ", ");
}

std::optional<Extents> Parameter::parse(StringRef text,
                                        std::string &error) const {
  if (isWord()) {
    auto word = llvm::find(words, text);
    if (word != words.end())
      return Extents{word - words.begin()};
  } else {
    SmallVector<StringRef> parts;
    text.split(parts, 'x');
    SmallVector<int64_t> sizes;
    for (StringRef part : parts) {
      int64_t size;
      if (parts.size() != axes.size() || part.getAsInteger(10, size) ||
          size < 0 || !llvm::all_of(part, llvm::isDigit))
        break;
      sizes.push_back(size);
    }
    if (sizes.size() == axes.size())
      return Extents(sizes);
  }
  error = "'" + name + "' is " + describe() + ", not '" + text.str() + "'";
  return std::nullopt;
}

std::optional<Extents> Parameter::parse(AsmParser &parser) const {
  SMLoc loc = parser.getCurrentLocation();
  if (isWord()) {
    StringRef text;
    if (parser.parseKeyword(&text))
      return std::nullopt;
    std::string error;
    std::optional<Extents> value = parse(text, error);
    if (!value)
      parser.emitError(loc, error);
    return value;
  }
  if (axes.size() == 1) {
    int64_t size;
    if (parser.parseInteger(size))
      return std::nullopt;
    return Extents{size};
  }
  FailureOr<Extents> value = FieldParser<Extents>::parse(parser);
  if (failed(value) ||
      failed(verify(*value, [&] { return parser.emitError(loc); })))
    return std::nullopt;
  return *value;
}

std::string Parameter::format(const Extents &value) const {
  if (isWord())
    return words[value[0]];
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

LogicalResult Parameter::verify(const Extents &value,
                                EmitError emitError) const {
  if (isWord())
    return success(value.rank == 1 && value[0] >= 0 &&
                   value[0] < int64_t(words.size()));
  if (value.rank == axes.size())
    return success();
  return emitError() << "'" << name << "' has " << axes.size() << " sizes, not "
                     << format(value);
}

LogicalResult Parameter::check(const Extents &value,
                               EmitError emitError) const {
  for (auto [axis, size] : llvm::zip(axes, value.sizes()))
    if (!axis.sizes.contains(size))
      return emitError() << name << (axis.name.empty() ? "" : " ") << axis.name
                         << " is " << axis.sizes.describe() << ", not " << size;
  return success();
}

std::vector<Extents> Parameter::getSteps(const Extents &value) const {
  std::vector<Extents> steps;
  if (isWord() || llvm::any_of(value.sizes(), [](int64_t size) {
        return size < 0 || size > (1 << 20);
      }))
    return steps;
  for (unsigned i = 0; i < value.rank; ++i)
    for (int64_t step : {value[i] / 2, value[i] * 2}) {
      if (step == 0)
        continue;
      steps.push_back(value);
      steps.back().values[i] = step;
    }
  return steps;
}

std::optional<size_t> ScheduleKind::find(StringRef parameter) const {
  for (auto [i, known] : llvm::enumerate(parameters))
    if (known.name == parameter)
      return i;
  return std::nullopt;
}

std::string ScheduleKind::describe() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << summary << ".\n";
  if (!parameters.empty())
    os << '\n';
  for (const Parameter &parameter : parameters)
    os << "- `" << parameter.name << "`: " << parameter.meaning << " ("
       << parameter.describe() << ").\n";
  if (!limits.empty())
    os << '\n' << limits << '\n';
  return text;
}

std::string ScheduleKind::listParameters() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(parameters, os, [&](const Parameter &parameter) {
    os << "'" << parameter.name << "'";
  });
  return text;
}
