//===- FactAttributes.td - Machines, schedules and spaces --*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECT_FACT_FACTATTRIBUTES_TD
#define FACT_DIALECT_FACT_FACTATTRIBUTES_TD

include "fact/Dialect/Fact/FactDialect.td"
include "fact/Dialect/Fact/FactInterfaces.td"
include "mlir/IR/EnumAttr.td"

class Fact_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Fact_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

class Fact_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::fact";
  let genSpecializedAttr = 0;
}

def Fact_NormKind : Fact_Enum<"NormKind", "kind of normalization", [
  I32EnumAttrCase<"layer", 0>, I32EnumAttrCase<"rms", 1>]>;
def Fact_NormKindAttr : EnumAttr<Fact_Dialect, Fact_NormKind, "norm_kind"> {
  let assemblyFormat = "$value";
}

def Fact_ReduceKind : Fact_Enum<"ReduceKind", "kind of reduction", [
  I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"mean", 1>,
  I32EnumAttrCase<"max", 2>, I32EnumAttrCase<"min", 3>, I32EnumAttrCase<"prod", 4>,
  I32EnumAttrCase<"argmax", 5>, I32EnumAttrCase<"argmin", 6>]>;
def Fact_ReduceKindAttr : EnumAttr<Fact_Dialect, Fact_ReduceKind, "reduce_kind"> {
  let assemblyFormat = "$value";
}

def Fact_ScanKind : Fact_Enum<"ScanKind", "kind of scan", [
  I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"prod", 1>, I32EnumAttrCase<"max", 2>,
  I32EnumAttrCase<"min", 3>, I32EnumAttrCase<"logsumexp", 4>]>;
def Fact_ScanKindAttr : EnumAttr<Fact_Dialect, Fact_ScanKind, "scan_kind"> {
  let assemblyFormat = "$value";
}

def Fact_ScatterKind : Fact_Enum<"ScatterKind", "how a scatter combines elements", [
  I32EnumAttrCase<"set", 0>, I32EnumAttrCase<"sum", 1>, I32EnumAttrCase<"prod", 2>,
  I32EnumAttrCase<"max", 3>, I32EnumAttrCase<"min", 4>]>;
def Fact_ScatterKindAttr : EnumAttr<Fact_Dialect, Fact_ScatterKind, "scatter_kind"> {
  let assemblyFormat = "$value";
}

def Fact_Predicate : Fact_Enum<"Predicate", "comparison predicate", [
  I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>,
  I32EnumAttrCase<"le", 3>, I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]>;
def Fact_PredicateAttr : EnumAttr<Fact_Dialect, Fact_Predicate, "predicate"> {
  let assemblyFormat = "$value";
}

def Fact_GeluKind : Fact_Enum<"GeluKind", "form of GELU: exact, or the tanh approximation", [
  I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"tanh", 1>]>;
def Fact_GeluKindAttr : EnumAttr<Fact_Dialect, Fact_GeluKind, "gelu_kind"> {
  let assemblyFormat = "$value";
}

def Fact_StrategyKind : Fact_Enum<"StrategyKind",
    "how a kernel relates to the registry", [
  I32EnumAttrCase<"reuse", 0>, I32EnumAttrCase<"adapt", 1>,
  I32EnumAttrCase<"create", 2, "new">]>;

//===----------------------------------------------------------------------===//
// Machine and strategy
//===----------------------------------------------------------------------===//

def Fact_MachineAttr : Fact_Attr<"Machine", "machine"> {
  let summary = "machine to compile for";
  let description = [{
    The architecture, sizes and peaks of a machine, which legality checks and
    speed-of-light bounds read. A module names its target in the attribute
    `fact.target`:

    ```mlir
    module attributes {fact.target = #fact.machine<"h200">} {
    }
    ```

    Built in: GPUs such as `a100`, `rtx4090`, `h200` and `b200`, `host`, and
    every x86-64 and AArch64 processor by its name in LLVM (`x86-64-v3`,
    `neoverse-v1`), with the figures of the host. The attribute of any other
    machine lists its figures, such as bytes and floating-point operations per
    second. Passes and tools read it from a JSON file (`target=machine.json`),
    which may extend a built-in one:

    ```json
    {"name": "h100_pcie", "base": "h100", "multiprocessors": 114,
     "bandwidth": 2.0e12, "matrix_flops_16": 756e12}
    ```
  }];
  let parameters = (ins StringRefParameter<"name">:$name,
                        OptionalParameter<"::mlir::DictionaryAttr">:$figures);
  let assemblyFormat = "`<` $name (`,` $figures^)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The figures of this machine.
    ::fact::MachineDescription getDescription() const;

    /// The machine that `text` names: a built-in one by name or architecture,
    /// the one described in a file whose name ends in `.json`, or for `auto`
    /// the one that runs this program.
    static ::mlir::FailureOr<MachineAttr>
    resolve(::mlir::MLIRContext *context, ::llvm::StringRef text,
            ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError);
  }];
}

def Fact_StrategyAttr : Fact_Attr<"Strategy", "strategy"> {
  let summary = "reuse, adapt or new, and the registry entry to start from";
  let description = [{
    `reuse` takes the schedules of a registry entry, `adapt` searches around
    them, and `new` searches without one.

    ```mlir
    #fact.strategy<reuse, "gemm_epilogue/bf16/sm_90a#d12cb87f6a">
    ```
  }];
  let parameters = (ins EnumParameter<Fact_StrategyKind>:$kind,
                        StringRefParameter<"registry entry", [{""}]>:$entry);
  let assemblyFormat = "`<` $kind (`,` $entry^)? `>`";
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

def Fact_ScheduleAttr : AttrDef<Fact_Dialect, "Schedule"> {
  let attrName = "fact.schedule";
  let summary = "mapping of one kernel to a machine: tile sizes, stages and the like";
  let description = [{
    A schedule has a kind and one value per parameter of the kind
    (`ScheduleKind`). Its mnemonic is the name of the kind:

    ```mlir
    #fact.sm90_gemm<tile = 128x128x64, cluster = 2x1, kernel = pingpong, swizzle = 1>
    ```

    A schedule cannot make a kernel wrong: every schedule that is legal for a
    region computes the region's function. Families of kernels register their
    kinds with the dialect; [schedules](../schedules.md) lists all of them.
  }];
  let parameters = (ins "const ::fact::ScheduleKind *":$kind,
                        ArrayRefParameter<"::fact::Extents">:$values);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether each value by itself is legal; the diagnostic says which values
    /// are. The region's plan checks all of them together.
    ::mlir::LogicalResult checkValues(::fact::EmitError emitError) const;

    /// The stable key of measurements: the text of the attribute without
    /// `#fact.`.
    std::string getKey() const;

    /// This schedule with another value for one parameter.
    ScheduleAttr with(size_t parameter, const ::fact::Extents &value) const;

    /// This schedule with dependent values adjusted to those they depend on, as
    /// in the points of a space.
    ScheduleAttr adjusted() const;
  }];
}

def Fact_SpaceAttr : AttrDef<Fact_Dialect, "Space",
    [DeclareAttrInterfaceMethods<SpaceAttrInterface>]> {
  let attrName = "fact.space";
  let summary = "schedules to search, as a product of lists";
  let description = [{
    One list of values per parameter of a kind of schedule.

    ```mlir
    #fact.host_gemm_space<micro = [8x12, 8x8], rows = [48, 96], columns = [384]>
    ```
  }];
  let parameters = (ins "const ::fact::ScheduleKind *":$kind,
                        ArrayRefParameter<"int64_t">:$counts,
                        ArrayRefParameter<"::fact::Extents">:$values);
  let genVerifyDecl = 1;
  let builders = [AttrBuilder<
      (ins "const ::fact::ScheduleKind &":$kind,
           "::llvm::ArrayRef<::llvm::SmallVector<::fact::Extents>>":$lists)>];
  let extraClassDeclaration = [{
    /// The values of one parameter.
    ::llvm::ArrayRef<::fact::Extents> getList(size_t parameter) const;
    ::llvm::SmallVector<::llvm::SmallVector<::fact::Extents>> getLists() const;
    /// The number of points, without enumerating them.
    size_t countPoints() const;
  }];
}

def Fact_SchedulesAttr : Fact_Attr<"Schedules", "schedules",
    [DeclareAttrInterfaceMethods<SpaceAttrInterface>]> {
  let summary = "schedules to search, as a list";
  let description = [{
    Schedules that are not a product of lists, such as the best ones of an
    earlier search and their neighbors. They are tried in this order.

    ```mlir
    #fact.schedules<#fact.host_rows<grain = 8>, #fact.host_rows<grain = 32>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::fact::ScheduleAttr">:$schedules);
  let assemblyFormat = "`<` $schedules `>`";
}

#endif // FACT_DIALECT_FACT_FACTATTRIBUTES_TD
