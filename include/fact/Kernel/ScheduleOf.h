//===- ScheduleOf.h - A schedule of one kind --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Typed access to a family's schedules: `dyn_cast` checks the kind, and getters
// name the parameters.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_KERNEL_SCHEDULEOF_H
#define FACT_KERNEL_SCHEDULEOF_H

#include "fact/Dialect/Fact/Fact.h"

namespace fact {
/// Values of a parameter that is one number, or a word by its enumerator.
template <typename T>
llvm::SmallVector<Extents> getExtents(llvm::ArrayRef<T> values) {
  return llvm::map_to_vector(values,
                             [](T value) { return Extents{int64_t(value)}; });
}
inline llvm::SmallVector<Extents> getExtents(llvm::ArrayRef<Extents> values) {
  return llvm::to_vector(values);
}

/// `Derived` has a static member `kind`; `Values` are the types of its
/// parameters: Extents, numbers, or the enumeration of its words.
template <typename Derived, typename... Values>
class ScheduleOf : public ScheduleAttr {
public:
  using ScheduleAttr::ScheduleAttr;
  static bool classof(mlir::Attribute attribute) {
    auto schedule = llvm::dyn_cast<ScheduleAttr>(attribute);
    return schedule && schedule.getKind() == &Derived::kind;
  }

  /// The schedules with each of the given values of each parameter.
  static SpaceAttr getSpace(mlir::MLIRContext *context,
                            llvm::ArrayRef<Values>... values) {
    return SpaceAttr::get(context, Derived::kind, {getExtents(values)...});
  }

protected:
  /// The value of a parameter that is one number or a word.
  int64_t getSize(size_t parameter) const { return getValues()[parameter][0]; }
};

} // namespace fact

#endif // FACT_KERNEL_SCHEDULEOF_H
