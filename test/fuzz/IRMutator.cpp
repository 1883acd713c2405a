//===- IRMutator.cpp - Small changes to the text of a module --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IRMutator.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringLiteral;
using llvm::StringRef;

namespace {
/// Where a word stands, and its size; 0 where there is none.
struct Word {
  size_t at = 0, size = 0;
};

class Mutator {
public:
  Mutator(std::string text, std::mt19937 &random)
      : text(std::move(text)), random(random) {}

  std::string run() {
    do
      mutate();
    while (!text.empty() && below(2));
    return std::move(text);
  }

private:
  size_t below(size_t limit) { return limit ? random() % limit : 0; }
  template <size_t size> StringRef oneOf(const StringLiteral (&list)[size]) {
    return list[below(size)];
  }
  /// The next word of these characters from a random place on.
  template <typename Is> Word findWord(Is is) {
    size_t start = below(text.size());
    for (size_t i = 0; i < text.size(); ++i) {
      size_t at = (start + i) % text.size(), end = at;
      if (!is(text[at]) || (at && is(text[at - 1])))
        continue;
      while (end < text.size() && is(text[end]))
        ++end;
      return {at, end - at};
    }
    return {};
  }
  std::string get(Word word) { return text.substr(word.at, word.size); }
  void replace(Word word, StringRef with) {
    text.replace(word.at, word.size, with.str());
  }

  /// Everywhere that `from` stands as it is, so that types still agree.
  void replaceAll(const std::string &from, StringRef with) {
    if (from.empty())
      return;
    for (size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + with.size()))
      text.replace(at, from.size(), with.str());
  }

  void mutate();
  void mutateNumber();
  void mutateElementType();
  void mutateOp();
  void mutateWord();
  void mutateLines();
  void mutateByte();

  std::string text;
  std::mt19937 &random;
};
} // namespace

void Mutator::mutateNumber() {
  static constexpr StringLiteral numbers[] = {
      "0",        "1",   "2",          "3",
      "4",        "7",   "8",          "16",
      "64",       "65",  "-1",         "-2",
      "1000000",  "2.5", "4294967296", "9223372036854775807",
      "1.0e-05",  "0.0", "0x7FC00000", "-9223372036854775808",
      "1.0e+300", "?"};
  Word word = findWord([](char c) { return llvm::isDigit(c); });
  if (below(2))
    return replace(word, oneOf(numbers));
  // A size, in all types of the module.
  std::string ending = below(2) ? "x" : ",";
  replaceAll(get(word) + ending, oneOf(numbers).str() + ending);
}

void Mutator::mutateElementType() {
  static constexpr StringLiteral types[] = {
      "f64", "f32", "f16",  "bf16",  "i64",          "i32",      "i16",  "i8",
      "i1",  "ui8", "si64", "index", "complex<f32>", "f8E4M3FN", "none", "unk"};
  static constexpr StringLiteral endings[] = {"xf32>",  "xbf16>", "xf16>",
                                              "xi64>",  "xi1>",   ",f32>",
                                              ",si64>", ",i1>",   ",bf16>"};
  std::string ending = oneOf(endings).str();
  size_t at = text.find(ending, below(text.size()));
  if (at == std::string::npos)
    at = text.find(ending);
  StringRef type = oneOf(types);
  if (below(2))
    replaceAll(ending, ending.substr(0, 1) + type.str() + ">");
  else if (at != std::string::npos)
    replace({at + 1, ending.size() - 2}, type);
}

/// Another op in its place: one of the text, or one of the dialect.
void Mutator::mutateOp() {
  static constexpr StringLiteral ops[] = {
      "fact.add",     "fact.div",     "fact.pow",      "fact.exp",
      "fact.log",     "fact.and",     "fact.fmod",     "fact.shift_left",
      "fact.clamp",   "fact.compare", "fact.select",   "fact.cast",
      "fact.matmul",  "fact.softmax", "fact.norm",     "fact.reduce",
      "fact.gather",  "fact.rotary",  "fact.reshape",  "fact.permute",
      "fact.slice",   "fact.expand",  "fact.concat",   "fact.attention",
      "fact.maximum", "fact.sign",    "fact.constant", "fact.get_weight"};
  auto isName = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; };
  auto isOp = [&](Word word) {
    StringRef name = StringRef(text).substr(word.at, word.size);
    return name.starts_with("fact.") || name.starts_with("torch.aten.");
  };
  auto findOp = [&] {
    Word word = findWord(isName);
    for (int i = 0; i < 50 && !isOp(word); ++i)
      word = findWord(isName);
    return word;
  };
  Word from = findOp(), to = findOp();
  replace(from, below(2) ? oneOf(ops).str() : get(to));
}

/// Deletes a word, or puts one from elsewhere in its place.
void Mutator::mutateWord() {
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '%'; };
  Word from = findWord(isWord), to = findWord(isWord);
  replace(from, below(4) ? get(to) : "");
}

void Mutator::mutateLines() {
  llvm::SmallVector<StringRef> lines;
  StringRef(text).split(lines, '\n');
  size_t from = below(lines.size()), to = below(lines.size());
  StringRef line = lines[from];
  switch (below(3)) {
  case 0:
    lines.erase(lines.begin() + from);
    break;
  case 1:
    lines.insert(lines.begin() + to, line);
    break;
  default:
    std::swap(lines[from], lines[to]);
  }
  text = llvm::join(lines, "\n");
}

void Mutator::mutateByte() {
  size_t at = below(text.size());
  switch (below(3)) {
  case 0:
    text.erase(at, 1);
    break;
  case 1:
    text.insert(at, 1, static_cast<char>(random()));
    break;
  default:
    text[at] = "()[]{}<>,:#%@!\"-x0 "[below(19)];
  }
}

void Mutator::mutate() {
  if (text.empty())
    return;
  switch (below(20)) {
  default:
    return mutateNumber();
  case 8:
  case 9:
  case 10:
  case 11:
    return mutateElementType();
  case 12:
  case 13:
  case 14:
    return mutateOp();
  case 15:
  case 16:
    return mutateWord();
  case 17:
  case 18:
    return mutateLines();
  case 19:
    return mutateByte();
  }
}

std::string fact::mutateModule(std::string text, std::mt19937 &random) {
  return Mutator(std::move(text), random).run();
}
