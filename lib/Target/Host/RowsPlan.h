//===- RowsPlan.h - Plans for the rows of one op ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_HOST_ROWSPLAN_H
#define FACT_LIB_TARGET_HOST_ROWSPLAN_H

#include "HostPlan.h"
#include "fact/Target/RowsOf.h"

namespace fact::host {
/// A plan for `Rows`, a `RowsOf`, in tiles of about `elements` elements.
template <typename Rows, int64_t elements> class RowsPlan : public HostPlan {
public:
  RowsPlan(const Family &family, FusedOp fused,
           const MachineDescription &machine, Rows rows)
      : HostPlan(family, fused, machine), rows(rows) {}

  SpaceAttrInterface getSpace() const override {
    return getRowsSpace(fused, rows.countRows(), rows.length, elements);
  }

protected:
  Rows rows;
};
} // namespace fact::host

#endif // FACT_LIB_TARGET_HOST_ROWSPLAN_H
