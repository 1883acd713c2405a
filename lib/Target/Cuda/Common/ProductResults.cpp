//===- ProductResults.cpp - What follows a thin product -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProductResults.h"

using namespace mlir;
using namespace fact;

FailureOr<ProductResults> ProductResults::get(FusedOp fused, MatmulOp matmul,
                                              ArrayRef<int64_t> space,
                                              EmitError emitError) {
  ProductResults read;
  SmallVector<Value> values;
  for (Value yielded : fused.getYield()->getOperands()) {
    FailureOr<Destination> destination = getDestination(yielded, emitError);
    if (failed(destination))
      return failure();
    FailureOr<StridedView> view = destination->view.reshape(space);
    if (getTensorType(destination->value).getNumElements() !=
            llvm::product_of(space) ||
        failed(view))
      return emitError() << "a result of type " << yielded.getType()
                         << " must have the elements of the product, in an "
                            "order that strides describe";
    values.push_back(destination->value);
    read.results.push_back(*view);
  }
  ScalarFunction::Options options;
  options.fast = hasOnly16BitResults(fused);
  options.leading = {matmul.getResult()};
  FailureOr<ScalarFunction> epilogue =
      ScalarFunction::get(values, space, options, emitError);
  if (failed(epilogue))
    return failure();
  for (const ScalarFunction::Argument &argument :
       epilogue->getArguments().drop_front())
    read.operands.push_back(argument.view);
  read.epilogue = std::move(*epilogue);
  return std::move(read);
}

LogicalResult fact::requireThin(int64_t rows, int64_t columns, int64_t k,
                                EmitError emitError) {
  if (std::min({rows, columns, k}) <= thinLimit)
    return success();
  return emitError() << "rows, columns or terms of the product must be at most "
                     << thinLimit << ", and it is " << rows << " x " << columns
                     << " x " << k;
}
