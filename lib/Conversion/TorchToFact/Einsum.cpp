//===- Einsum.cpp - Products and sums by named dimensions -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands are combined from left to right. Each step sums over the labels that
// neither the output nor a later operand has: inside the matrix product if both
// operands have the label, before it otherwise.
//
//===----------------------------------------------------------------------===//

#include "TorchCall.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace fact;
using namespace fact::torchtofact;

namespace {
/// One character per dimension. Dimensions of an ellipsis are digits, '0' is
/// the last.
using Labels = std::string;

struct Term {
  Value tensor;
  Labels labels;
};

class Einsum {
public:
  explicit Einsum(TorchCall &call) : call(call) {}
  LogicalResult convert();

private:
  LogicalResult readTerm(StringRef text, Value tensor, Term &term);
  LogicalResult readOutput(StringRef equation, ArrayRef<Term> terms,
                           Labels &output);
  Value takeDiagonal(Value tensor, int64_t first, int64_t second);
  void dropBroadcasts(Term &term, ArrayRef<Term> all);
  Term sumOver(Term term, const Labels &kept);
  Value arrange(const Term &term, const Labels &order);
  Term multiply(Term left, Term right, const Labels &kept);
  int64_t sizeOf(const Term &term, char label) {
    return typeOf(term.tensor).getDimSize(term.labels.find(label));
  }

  TorchCall &call;
};
} // namespace

static bool has(const Labels &labels, char label) {
  return labels.find(label) != Labels::npos;
}

/// Reads the labels of one operand; a repeated label is the diagonal.
LogicalResult Einsum::readTerm(StringRef text, Value tensor, Term &term) {
  size_t dots = text.find("...");
  Labels before = text.take_front(dots).str();
  Labels after = dots == StringRef::npos ? "" : text.drop_front(dots + 3).str();
  int64_t covered = rankOf(tensor) - (before.size() + after.size());
  if (covered < 0 || (dots == StringRef::npos && covered) || covered > 9 ||
      !llvm::all_of(before + after, llvm::isAlpha))
    return call.emitArgumentError("equation")
           << "has labels '" << text
           << "', which do not name the dimensions of " << tensor.getType();
  Labels ellipsis;
  for (int64_t i = covered; i > 0; --i)
    ellipsis.push_back('0' + (i - 1));
  term = {tensor, before + ellipsis + after};
  for (size_t i = 0; i < term.labels.size(); ++i)
    for (size_t other = term.labels.find(term.labels[i], i + 1);
         other != Labels::npos;
         other = term.labels.find(term.labels[i], i + 1)) {
      term.tensor = takeDiagonal(term.tensor, i, other);
      term.labels.erase(other, 1);
    }
  return success();
}

/// Removes dimension `second`; `first` then runs along the diagonal of both.
Value Einsum::takeDiagonal(Value tensor, int64_t first, int64_t second) {
  SmallVector<int64_t> order{first, second}, back;
  for (int64_t dim = 0; dim < rankOf(tensor); ++dim)
    if (dim != first && dim != second)
      order.push_back(dim);
  SmallVector<int64_t> shape(typeOf(tensor).getShape());
  int64_t size = shape[first];
  Value front = call.permute(tensor, order);
  SmallVector<int64_t> rest(typeOf(front).getShape().drop_front(2));
  SmallVector<int64_t> flat{size * size};
  llvm::append_range(flat, rest);
  Value diagonal = call.slice(call.reshape(front, flat), 0, 0, size, size + 1);
  for (int64_t dim = 0, next = 1; dim < rankOf(tensor) - 1; ++dim)
    back.push_back(dim == first ? 0 : next++);
  return call.permute(diagonal, back);
}

/// Reads the labels after the arrow. Without an arrow, the output has the
/// labels of the ellipsis, then those that occur once, in alphabetical order.
LogicalResult Einsum::readOutput(StringRef equation, ArrayRef<Term> terms,
                                 Labels &output) {
  Labels all, ellipsis;
  for (const Term &term : terms)
    for (char label : term.labels)
      if (!has(all, label))
        all.push_back(label);
  llvm::copy_if(all, std::back_inserter(ellipsis), llvm::isDigit);
  llvm::sort(ellipsis, std::greater<char>());
  auto [inputs, text] = equation.split("->");
  if (!equation.contains("->")) {
    output = ellipsis;
    llvm::sort(all);
    for (char label : all)
      if (llvm::isAlpha(label) && inputs.count(label) == 1)
        output.push_back(label);
    return success();
  }
  size_t dots = text.find("...");
  output = text.take_front(dots).str();
  if (dots != StringRef::npos)
    output += ellipsis + text.drop_front(dots + 3).str();
  for (char label : output)
    if (!has(all, label) || llvm::count(output, label) != 1)
      return call.emitArgumentError("equation")
             << "has label '" << StringRef(&label, 1)
             << "' in its output, which must occur there once and in an "
                "operand";
  return success();
}

/// Drops labels of size 1 that another operand has with a larger size: they
/// broadcast.
void Einsum::dropBroadcasts(Term &term, ArrayRef<Term> all) {
  Labels left;
  SmallVector<int64_t> shape;
  for (char label : term.labels) {
    int64_t size = sizeOf(term, label);
    bool broadcasts =
        size == 1 && llvm::any_of(all, [&](const Term &other) {
          return has(other.labels, label) && sizeOf(other, label) != 1;
        });
    if (broadcasts)
      continue;
    left.push_back(label);
    shape.push_back(size);
  }
  term = {call.reshape(term.tensor, shape), left};
}

/// Sums over the labels that are not in `kept`.
Term Einsum::sumOver(Term term, const Labels &kept) {
  SmallVector<int64_t> dims;
  Labels left;
  for (auto [dim, label] : llvm::enumerate(term.labels)) {
    if (has(kept, label))
      left.push_back(label);
    else
      dims.push_back(dim);
  }
  if (dims.empty())
    return term;
  return {call.reduce(ReduceKind::sum, term.tensor, dims, /*keep=*/false),
          left};
}

/// Permutes the dimensions to `order`, with size 1 for labels that the tensor
/// does not have.
Value Einsum::arrange(const Term &term, const Labels &order) {
  SmallVector<int64_t> dims, shape;
  for (char label : order) {
    size_t dim = term.labels.find(label);
    shape.push_back(dim == Labels::npos ? 1 : sizeOf(term, label));
    if (dim != Labels::npos)
      dims.push_back(dim);
  }
  return call.reshape(call.permute(term.tensor, dims), shape);
}

/// The product of two terms, summed over the labels that are not in `kept`.
Term Einsum::multiply(Term left, Term right, const Labels &kept) {
  left = sumOver(left, kept + right.labels);
  right = sumOver(right, kept + left.labels);
  Labels batch, rows, columns, sums;
  for (char label : left.labels) {
    bool shared = has(right.labels, label);
    if (!shared)
      rows.push_back(label);
    else if (has(kept, label))
      batch.push_back(label);
    else
      sums.push_back(label);
  }
  for (char label : right.labels)
    if (!has(left.labels, label))
      columns.push_back(label);
  if (sums.empty()) {
    Labels order = batch + rows + columns;
    return {call.binary<MulOp>(arrange(left, order), arrange(right, order)),
            order};
  }

  auto product = [&](const Term &term, const Labels &labels) {
    int64_t size = 1;
    for (char label : labels)
      size *= sizeOf(term, label);
    return size;
  };
  // [batch..., rows, sums] and [batch..., sums, columns], the right one
  // transposed if it is so in memory.
  auto matrix = [&](const Term &term, const Labels &first,
                    const Labels &second) {
    Value ordered = arrange(term, batch + first + second);
    SmallVector<int64_t> shape(
        typeOf(ordered).getShape().take_front(batch.size()));
    shape.push_back(product(term, first));
    shape.push_back(product(term, second));
    return call.reshape(ordered, shape);
  };
  bool transposed = !columns.empty() && right.labels.find(columns.front()) <
                                            right.labels.find(sums.front());
  Value lhs = matrix(left, rows, sums);
  Value rhs =
      transposed ? matrix(right, columns, sums) : matrix(right, sums, columns);
  auto sizes = broadcastShapes({typeOf(lhs).getShape().drop_back(2),
                                typeOf(rhs).getShape().drop_back(2)});
  SmallVector<int64_t> shape = sizes ? *sizes : SmallVector<int64_t>();
  for (char label : rows)
    shape.push_back(sizeOf(left, label));
  for (char label : columns)
    shape.push_back(sizeOf(right, label));
  Value result = multiplyMatrices(call, lhs, rhs, transposed);
  return {call.reshape(result, shape), batch + rows + columns};
}

/// `einsum(equation, tensors, path)`
LogicalResult Einsum::convert() {
  StringRef given;
  SmallVector<Value> tensors;
  if (failed(call.string(0, "equation", given)) ||
      failed(call.tensors(1, "tensors", tensors)))
    return failure();
  if (call.getResultElement().isInteger(1))
    return call.emitError() << "is not supported on booleans";
  std::string equation = given.str();
  llvm::erase(equation, ' ');
  SmallVector<StringRef> parts;
  StringRef(equation).split("->").first.split(parts, ',');
  if (parts.size() != tensors.size())
    return call.emitArgumentError("equation")
           << "is '" << given << "', which is not for " << tensors.size()
           << " operand(s)";
  SmallVector<Term> terms(tensors.size());
  for (auto [text, tensor, term] : llvm::zip(parts, tensors, terms))
    if (failed(
            readTerm(text, call.cast(tensor, call.getResultElement()), term)))
      return failure();
  Labels output;
  if (failed(readOutput(equation, terms, output)))
    return failure();
  for (Term &term : terms)
    dropBroadcasts(term, terms);

  Term result = terms.front();
  for (size_t i = 1; i < terms.size(); ++i) {
    Labels kept = output;
    for (const Term &later : ArrayRef(terms).drop_front(i + 1))
      kept += later.labels;
    result = multiply(result, terms[i], kept);
  }
  result = sumOver(result, output);
  return call.replace(arrange(result, output));
}

static LogicalResult convertEinsum(TorchCall &call) {
  return Einsum(call).convert();
}

void torchtofact::populateEinsumConverters(ConverterTable &table) {
  table["aten.einsum"] = convertEinsum;
}
