//===- Extents.h - Tile sizes written as 128x128x64 -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECT_FACT_EXTENTS_H
#define FACT_DIALECT_FACT_EXTENTS_H

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"

namespace fact {
/// Up to four sizes, compared and hashed by value: a parameter of schedules.
struct Extents {
  Extents() = default;
  Extents(std::initializer_list<int64_t> sizes)
      : Extents(llvm::ArrayRef<int64_t>(sizes)) {}
  Extents(llvm::ArrayRef<int64_t> sizes) : rank(sizes.size()) {
    llvm::copy(sizes, values);
  }

  int64_t operator[](unsigned i) const { return values[i]; }
  llvm::ArrayRef<int64_t> sizes() const { return {values, rank}; }
  bool operator==(const Extents &other) const {
    return sizes() == other.sizes();
  }

  static constexpr unsigned maxRank = 4;
  unsigned rank = 0;
  int64_t values[maxRank] = {};
};

inline llvm::hash_code hash_value(const Extents &extents) {
  return llvm::hash_combine_range(extents.sizes().begin(),
                                  extents.sizes().end());
}

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                                     const Extents &extents) {
  llvm::interleave(extents.sizes(), os, "x");
  return os;
}

inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &printer,
                                    const Extents &extents) {
  printer.getStream() << extents;
  return printer;
}
} // namespace fact

template <> struct mlir::FieldParser<::fact::Extents> {
  static FailureOr<::fact::Extents> parse(AsmParser &parser) {
    SMLoc loc = parser.getCurrentLocation();
    SmallVector<int64_t> sizes;
    if (parser.parseDimensionList(sizes, /*allowDynamic=*/false,
                                  /*withTrailingX=*/false))
      return failure();
    if (sizes.empty() || sizes.size() > ::fact::Extents::maxRank)
      return parser.emitError(loc, "expected 1 to 4 sizes such as 128x64"),
             failure();
    return ::fact::Extents(sizes);
  }
};

#endif // FACT_DIALECT_FACT_EXTENTS_H
