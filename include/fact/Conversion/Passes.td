//===- Passes.td - Conversions into and out of FACT --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_CONVERSION_PASSES_TD
#define FACT_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertTorchToFact : Pass<"convert-torch-to-fact", "::mlir::ModuleOp"> {
  let summary = "Convert torch-mlir's whole ops to the FACT dialect";
  let description = [{
    Replaces `torch` ops on value tensors by FACT ops on builtin tensors, and
    `torch.fact.weight` by module-level `fact.weight` symbols. Every op that is
    not supported is named, with its Python line, in one run.

    ```mlir
    func.func @forward(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4,8],f32> {
      %0 = torch.fact.weight {name = "bias"} : -> !torch.vtensor<[8],f32>
      %int1 = torch.constant.int 1
      %1 = torch.aten.add.Tensor %x, %0, %int1 : !torch.vtensor<[4,8],f32>, !torch.vtensor<[8],f32>, !torch.int -> !torch.vtensor<[4,8],f32>
      %2 = torch.aten.relu %1 : !torch.vtensor<[4,8],f32> -> !torch.vtensor<[4,8],f32>
      return %2 : !torch.vtensor<[4,8],f32>
    }
    ```
    becomes
    ```mlir
    fact.weight @bias : tensor<8xf32>
    func.func @forward(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %0 = fact.get_weight @bias : tensor<8xf32>
      %1 = fact.add %x, %0 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
      %2 = fact.relu %1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
      return %2 : tensor<4x8xf32>
    }
    ```
  }];
  let options = [Option<"listSupported", "list-supported", "bool", "false",
                        "Print the names of the supported ops instead">];
  let dependentDialects = ["::fact::FactDialect", "::mlir::func::FuncDialect"];
}

def ConvertFactToLinalg : Pass<"convert-fact-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Convert FACT ops to linalg on tensors";
  let description = [{
    The naive lowering of every op, for other MLIR toolchains and for the
    references that host candidates are verified against. 16-bit floats are
    computed in f32; with `wide`, every float is computed in f64. Scans, sorts
    and scatters become steps in which every element is computed on its own;
    with `sequential`, loops that do less work in all, for a single thread.
  }];
  let options = [Option<"wide", "wide", "bool", "false",
                        "Compute every float in f64">,
                 Option<"sequential", "sequential", "bool", "false",
                        "Lower scans, sorts and scatters to loops for a "
                        "single thread">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

#endif // FACT_CONVERSION_PASSES_TD
