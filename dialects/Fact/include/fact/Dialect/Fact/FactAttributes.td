//===- FactAttributes.td - Machines, schedules and spaces ---*- tablegen -*-===//
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

def Fact_NormKind : Fact_Enum<"NormKind", "what a norm divides by", [
  I32EnumAttrCase<"layer", 0>, I32EnumAttrCase<"rms", 1>]>;
def Fact_NormKindAttr : EnumAttr<Fact_Dialect, Fact_NormKind, "norm_kind"> {
  let assemblyFormat = "$value";
}

def Fact_ReduceKind : Fact_Enum<"ReduceKind", "how a reduction combines", [
  I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"mean", 1>,
  I32EnumAttrCase<"max", 2>, I32EnumAttrCase<"min", 3>, I32EnumAttrCase<"prod", 4>,
  I32EnumAttrCase<"argmax", 5>, I32EnumAttrCase<"argmin", 6>]>;
def Fact_ReduceKindAttr : EnumAttr<Fact_Dialect, Fact_ReduceKind, "reduce_kind"> {
  let assemblyFormat = "$value";
}

def Fact_Predicate : Fact_Enum<"Predicate", "a comparison", [
  I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>,
  I32EnumAttrCase<"le", 3>, I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]>;
def Fact_PredicateAttr : EnumAttr<Fact_Dialect, Fact_Predicate, "predicate"> {
  let assemblyFormat = "$value";
}

def Fact_GeluKind : Fact_Enum<"GeluKind", "which GELU", [
  I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"tanh", 1>]>;
def Fact_GeluKindAttr : EnumAttr<Fact_Dialect, Fact_GeluKind, "gelu_kind"> {
  let assemblyFormat = "$value";
}

def Fact_StrategyKind : Fact_Enum<"StrategyKind",
    "how a fusion relates to what the registry knows", [
  I32EnumAttrCase<"reuse", 0>, I32EnumAttrCase<"adapt", 1>,
  I32EnumAttrCase<"create", 2, "new">]>;

//===----------------------------------------------------------------------===//
// Machine and strategy
//===----------------------------------------------------------------------===//

def Fact_MachineAttr : Fact_Attr<"Machine", "machine"> {
  let summary = "the machine to compile for";
  let description = [{
    What legality checks and speed-of-light figures need to know of a machine.
    A module names its target in the attribute `fact.target`:

    ```mlir
    module attributes {fact.target = #fact.machine<"h200">} { ... }
    ```

    Built in: `a100`, `h100`, `h200`, `b200`, `host`, and every x86-64 and
    AArch64 processor as LLVM names it (`x86-64-v3`, `neoverse-v1`), with the
    figures of the host. Any other machine brings its figures: bytes and
    floating-point operations a second. Passes and tools take such a machine
    from a JSON file (`target=machine.json`), which may start from a built-in
    one:

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

    /// The machine that `text` names: built in by name or architecture, or
    /// described by a file that ends in `.json`.
    static ::mlir::FailureOr<MachineAttr>
    resolve(::mlir::MLIRContext *context, ::llvm::StringRef text,
            ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError);
  }];
}

def Fact_StrategyAttr : Fact_Attr<"Strategy", "strategy"> {
  let summary = "reuse, adapt or new, with the registry entry it builds on";
  let parameters = (ins EnumParameter<Fact_StrategyKind>:$kind,
                        StringRefParameter<"registry entry", [{""}]>:$entry);
  let assemblyFormat = "`<` $kind (`,` $entry^)? `>`";
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

def Fact_ScheduleAttr : AttrDef<Fact_Dialect, "Schedule"> {
  let attrName = "fact.schedule";
  let summary = "how one kernel is laid out on a machine";
  let description = [{
    A schedule has a kind, whose parameters are declared once (`ScheduleKind`),
    and a value for each of them. It is written by the name of its kind:

    ```mlir
    #fact.sm90_gemm<tile = 128x128x64, cluster = 2x1, kernel = pingpong, swizzle = 1>
    ```

    A schedule cannot express a wrong kernel: one that is legal for a region
    computes the region's function. Kinds are registered with the dialect by
    families of kernels; [schedules](../schedules.md) lists those there are.
  }];
  let parameters = (ins "const ::fact::ScheduleKind *":$kind,
                        ArrayRefParameter<"::fact::Extents">:$values);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether each value is legal; the diagnostic says what would be. Whether
    /// all of them are for a region is known to the region's plan.
    ::mlir::LogicalResult checkValues(::fact::EmitError emitError) const;

    /// The stable name under which measurements are kept: its text without the
    /// dialect.
    std::string getKey() const;

    /// This schedule with another value of one parameter.
    ScheduleAttr with(size_t parameter, const ::fact::Extents &value) const;

    /// This schedule with values that depend on others adjusted to them, as the
    /// points of a space are.
    ScheduleAttr adjusted() const;
  }];
}

def Fact_SpaceAttr : AttrDef<Fact_Dialect, "Space",
    [DeclareAttrInterfaceMethods<SpaceAttrInterface>]> {
  let attrName = "fact.space";
  let summary = "schedules to search, as the product of a few lists";
  let description = [{
    A list of values for each parameter of a kind of schedule.

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
    /// How many points it has, without making them.
    size_t countPoints() const;
  }];
}

def Fact_SchedulesAttr : Fact_Attr<"Schedules", "schedules",
    [DeclareAttrInterfaceMethods<SpaceAttrInterface>]> {
  let summary = "schedules to search, one by one";
  let description = [{
    For what is no product of lists: the best few of another search, and the
    neighbours of the best. They are tried in this order.

    ```mlir
    #fact.schedules<#fact.host_rows<grain = 8>, #fact.host_rows<grain = 32>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::fact::ScheduleAttr">:$schedules);
  let assemblyFormat = "`<` $schedules `>`";
}

#endif // FACT_DIALECT_FACT_FACTATTRIBUTES_TD
