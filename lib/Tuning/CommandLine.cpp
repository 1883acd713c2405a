//===- CommandLine.cpp - Words of a command, one after the other ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/CommandLine.h"
#include "fact/Tuning/Files.h"
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace fact {
namespace tuning {

bool CommandLine::next() {
  if (position == words.size())
    return false;
  current = words[position++];
  hasInline = false;
  size_t equals = current.find('=');
  if (current.compare(0, 2, "--") == 0 && equals != std::string::npos) {
    inlineValue = current.substr(equals + 1);
    current.resize(equals);
    hasInline = true;
  }
  bool helps = current == "--help" || current == "-h";
  if (helps || current == "--version") {
    std::string text = helps ? usage : tool + " " + version + "\n";
    std::fputs(text.c_str(), stdout);
    std::exit(0);
  }
  return true;
}

std::string CommandLine::value() {
  std::string text;
  if (hasInline)
    text = inlineValue;
  else if (position < words.size())
    text = words[position++];
  if (text.empty())
    throw Failure(current + " expects a value; see " + tool + " --help");
  return text;
}

void CommandLine::expectNumber(const std::string &text) const {
  throw Failure(current + " expects a number above 0, found '" + text + "'");
}

double CommandLine::number() {
  std::string text = value();
  char *end = nullptr;
  double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || !(number > 0) ||
      !std::isfinite(number))
    expectNumber(text);
  return number;
}

size_t CommandLine::count() {
  std::string text = value();
  char *end = nullptr;
  unsigned long number = std::strtoul(text.c_str(), &end, 10);
  if (*end != '\0' || number == 0 || text[0] == '-' || number > 1000000)
    expectNumber(text);
  return number;
}

uint64_t CommandLine::whole() { return readWhole(current, value()); }

uint64_t CommandLine::readWhole(const std::string &name,
                                const std::string &text) {
  char *end = nullptr;
  errno = 0;
  unsigned long long number = std::strtoull(text.c_str(), &end, 10);
  if (*end != '\0' || text[0] < '0' || text[0] > '9' || errno != 0)
    throw Failure(name + " expects a whole number, found '" + text + "'");
  return number;
}

void CommandLine::refuse() const {
  throw Failure("unknown option '" + current + "'; see " + tool + " --help");
}

} // namespace tuning
} // namespace fact
