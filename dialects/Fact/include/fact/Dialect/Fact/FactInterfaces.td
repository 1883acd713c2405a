//===- FactInterfaces.td - Interfaces of ops and schedules --*- tablegen -*-===//

#ifndef FACT_DIALECT_FACT_FACTINTERFACES_TD
#define FACT_DIALECT_FACT_FACTINTERFACES_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def PointwiseOpInterface : OpInterface<"PointwiseOpInterface"> {
  let cppNamespace = "::fact";
  let description = [{
    An op that computes each element of its result from one element of each
    operand. Its meaning is one scalar definition in `arith` and `math`, which
    every target prints or lowers. Arguments are f32 (f64 for f64 tensors, the
    integer type for integers and booleans), or vectors of those.
  }];
  let methods = [
    InterfaceMethod<"Builds the exact scalar definition.",
      "::mlir::Value", "buildScalar",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::ValueRange":$arguments)>,
    InterfaceMethod<[{
        Builds a definition whose error is far below the rounding of a 16-bit
        result, and that is cheap on a GPU. `fastmath<afn>` on a `math` op and
        `fastmath<arcp>` on a division allow the machine's approximation.
      }],
      "::mlir::Value", "buildFastScalar",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::ValueRange":$arguments), "",
      [{ return $_op.buildScalar(builder, loc, arguments); }]>
  ];
}

def ScheduleAttrInterface : AttrInterface<"ScheduleAttrInterface"> {
  let cppNamespace = "::fact";
  let description = [{
    How one kernel is laid out on a machine. A schedule cannot express a wrong
    kernel: what `verifySchedule` accepts computes the region's function.
  }];
  let methods = [
    InterfaceMethod<[{
        Whether the `fact.fused` op `fused` can run with this schedule on `machine`; the
        diagnostic says what would be legal.
      }],
      "::mlir::LogicalResult", "verifySchedule",
      (ins "::mlir::Operation *":$fused, "const ::fact::MachineDescription &":$machine,
           "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError)>,
    InterfaceMethod<"Shared memory of one block in bytes (0 on the host).",
      "int64_t", "getSharedMemoryBytes", (ins "::mlir::Operation *":$fused), "",
      [{ return 0; }]>,
    InterfaceMethod<"The stable name under which measurements are kept.",
      "std::string", "getKey", (ins), "", [{
        return ::fact::scheduleKey($_attr);
      }]>
  ];
}

def SpaceAttrInterface : AttrInterface<"SpaceAttrInterface"> {
  let cppNamespace = "::fact";
  let description = "A set of schedules to search, as the product of a few lists.";
  let methods = [
    InterfaceMethod<"All points of the space, legal or not, in a fixed order.",
      "::llvm::SmallVector<::fact::ScheduleAttrInterface>", "enumerate", (ins)>
  ];
}

#endif // FACT_DIALECT_FACT_FACTINTERFACES_TD
