//===- Schedules.h - Schedules of host kernels ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_HOST_SCHEDULES_H
#define FACT_LIB_TARGET_HOST_SCHEDULES_H

#include "fact/Kernel/ScheduleOf.h"

namespace fact {
/// A GEMM on packed panels.
template <typename Derived>
class PanelsSchedule : public ScheduleOf<Derived, Extents, int64_t, int64_t> {
public:
  using ScheduleOf<Derived, Extents, int64_t, int64_t>::ScheduleOf;

  Extents getMicro() const { return this->getValues()[0]; }
  int64_t getRows() const { return this->getSize(1); }
  int64_t getColumns() const { return this->getSize(2); }
};

/// Panels of the rhs are packed before the launch.
class HostGemmAttr : public PanelsSchedule<HostGemmAttr> {
public:
  using PanelsSchedule::PanelsSchedule;
  static const ScheduleKind kind;
};

/// Tiles pack blocks of the rhs when they come to them.
class HostBlockedAttr : public PanelsSchedule<HostBlockedAttr> {
public:
  using PanelsSchedule::PanelsSchedule;
  static const ScheduleKind kind;
};

/// Windows are read in place, from what a tile copies of their images.
class HostWindowsAttr : public PanelsSchedule<HostWindowsAttr> {
public:
  using PanelsSchedule::PanelsSchedule;
  static const ScheduleKind kind;
};

/// A GEMM of few rows, whose rhs is read in place.
class HostStreamAttr : public ScheduleOf<HostStreamAttr, int64_t> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;

  int64_t getColumns() const { return getSize(0); }
};

/// Loops over rows of the result.
class HostRowsAttr : public ScheduleOf<HostRowsAttr, int64_t> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;

  int64_t getGrain() const { return getSize(0); }
};
} // namespace fact

#endif // FACT_LIB_TARGET_HOST_SCHEDULES_H
