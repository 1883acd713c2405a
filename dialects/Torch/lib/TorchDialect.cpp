//===- TorchDialect.cpp - Registration and types --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Dialect/Torch/Torch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "fact/Dialect/Torch/TorchDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "fact/Dialect/Torch/TorchTypes.cpp.inc"

void fact::torch::TorchDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "fact/Dialect/Torch/TorchTypes.cpp.inc"
      >();
  allowUnknownOperations();
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Type fact::torch::VTensorType::parse(AsmParser &parser) {
  MLIRContext *context = parser.getContext();
  if (failed(parser.parseOptionalLess()))
    return get(context, /*ranked=*/false, {}, Type());

  SmallVector<int64_t> sizes;
  auto parseSize = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalQuestion())) {
      sizes.push_back(ShapedType::kDynamic);
      return success();
    }
    return parser.parseInteger(sizes.emplace_back());
  };
  bool ranked = failed(parser.parseOptionalStar());
  if (ranked &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseSize))
    return {};

  Type elementType;
  if (parser.parseComma())
    return {};
  if (failed(parser.parseOptionalKeyword("unk")) &&
      parser.parseType(elementType))
    return {};
  if (parser.parseGreater())
    return {};
  return get(context, ranked, sizes, elementType);
}

void fact::torch::VTensorType::print(AsmPrinter &printer) const {
  if (!getRanked() && !getElementType())
    return;
  printer << '<';
  if (getRanked()) {
    printer << '[';
    llvm::interleave(
        getSizes(), printer,
        [&](int64_t size) {
          if (ShapedType::isDynamic(size))
            printer << '?';
          else
            printer << size;
        },
        ",");
    printer << ']';
  } else {
    printer << '*';
  }
  printer << ',';
  if (getElementType())
    printer << getElementType();
  else
    printer << "unk";
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Types made of others, which are written without `!torch.`
//===----------------------------------------------------------------------===//

static ParseResult parseContained(AsmParser &parser, Type &type) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef mnemonic;
  OptionalParseResult result = generatedTypeParser(parser, &mnemonic, type);
  if (!result.has_value())
    return parser.emitError(loc) << "unknown torch type '" << mnemonic << "'";
  return *result;
}

template <typename WrapperType> static Type parseWrapper(AsmParser &parser) {
  Type contained;
  if (parser.parseLess() || parseContained(parser, contained) ||
      parser.parseGreater())
    return {};
  return WrapperType::get(parser.getContext(), contained);
}

static void printWrapper(AsmPrinter &printer, Type contained) {
  printer << '<';
  (void)generatedTypePrinter(contained, printer);
  printer << '>';
}

Type fact::torch::ListType::parse(AsmParser &parser) {
  return parseWrapper<ListType>(parser);
}
void fact::torch::ListType::print(AsmPrinter &printer) const {
  printWrapper(printer, getContainedType());
}
Type fact::torch::OptionalType::parse(AsmParser &parser) {
  return parseWrapper<OptionalType>(parser);
}
void fact::torch::OptionalType::print(AsmPrinter &printer) const {
  printWrapper(printer, getContainedType());
}

Type fact::torch::TupleType::parse(AsmParser &parser) {
  SmallVector<Type> types;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, [&] {
        return parseContained(parser, types.emplace_back());
      }))
    return {};
  return get(parser.getContext(), types);
}
void fact::torch::TupleType::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getContainedTypes(), printer, [&](Type type) {
    (void)generatedTypePrinter(type, printer);
  });
  printer << '>';
}
