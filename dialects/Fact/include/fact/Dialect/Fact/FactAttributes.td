//===- FactAttributes.td - Machines, schedules and spaces ---*- tablegen -*-===//

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

def Fact_KernelSchedule : Fact_Enum<"KernelSchedule",
    "how consumer warpgroups share a tile", [
  I32EnumAttrCase<"cooperative", 0>, I32EnumAttrCase<"pingpong", 1>,
  I32EnumAttrCase<"stream_k", 2>]>;

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

    Built in: `a100`, `h100`, `h200`, `b200`, `host`. Any other machine brings
    its figures: bytes and floating-point operations a second. Passes and tools
    take such a machine from a JSON file (`target=machine.json`), which may start
    from a built-in one:

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

class Fact_Schedule<string name, string mnemonic>
    : Fact_Attr<name, mnemonic,
                [DeclareAttrInterfaceMethods<ScheduleAttrInterface>]>;
class Fact_Space<string name, string mnemonic>
    : Fact_Attr<name, mnemonic, [DeclareAttrInterfaceMethods<SpaceAttrInterface>]>;

def ExtentsParameter : AttrOrTypeParameter<"::fact::Extents", "extents, as 128x64"> {}

def Fact_Sm90GemmAttr : Fact_Attr<"Sm90Gemm", "sm90_gemm",
    [DeclareAttrInterfaceMethods<ScheduleAttrInterface, ["getSharedMemoryBytes"]>]> {
  let summary = "a warp-specialised Hopper GEMM";
  let description = [{
    `tile` is the block's M x N x K, `cluster` the blocks that share operands by
    multicast (M x N), `kernel` how the consumer warpgroups work, `swizzle` the
    number of tile columns visited together.

    ```mlir
    #fact.sm90_gemm<tile = 128x128x64, cluster = 2x1, kernel = pingpong, swizzle = 1>
    ```
  }];
  let parameters = (ins ExtentsParameter:$tile, ExtentsParameter:$cluster,
                        EnumParameter<Fact_KernelSchedule>:$kernel, "int64_t":$swizzle);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Fact_Sm90GemmSpaceAttr : Fact_Space<"Sm90GemmSpace", "sm90_gemm_space"> {
  let summary = "Hopper GEMM schedules to search";
  let parameters = (ins ArrayRefParameter<"::fact::Extents">:$tile,
                        ArrayRefParameter<"::fact::Extents">:$cluster,
                        ArrayRefParameter<"::fact::KernelSchedule">:$kernel,
                        ArrayRefParameter<"int64_t">:$swizzle);
  let assemblyFormat = [{ `<` `tile` `=` `[` $tile `]` `,` `cluster` `=` `[` $cluster `]` `,`
                          `kernel` `=` `[` $kernel `]` `,` `swizzle` `=` `[` $swizzle `]` `>` }];
}

def Fact_CublasGemmAttr : Fact_Schedule<"CublasGemm", "cublas_gemm"> {
  let summary = "the vendor's GEMM, for plain contractions";
}

def Fact_Sm90AttentionAttr : Fact_Attr<"Sm90Attention", "sm90_attention",
    [DeclareAttrInterfaceMethods<ScheduleAttrInterface, ["getSharedMemoryBytes"]>]> {
  let summary = "a warp-specialised Hopper attention";
  let description = [{
    `tile` is queries x keys of one block, `stages` the depth of the key and
    value pipeline.
  }];
  let parameters = (ins ExtentsParameter:$tile,
                        EnumParameter<Fact_KernelSchedule>:$kernel, "int64_t":$stages);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Fact_Sm90AttentionSpaceAttr : Fact_Space<"Sm90AttentionSpace", "sm90_attention_space"> {
  let summary = "Hopper attention schedules to search";
  let parameters = (ins ArrayRefParameter<"::fact::Extents">:$tile,
                        ArrayRefParameter<"::fact::KernelSchedule">:$kernel,
                        ArrayRefParameter<"int64_t">:$stages);
  let assemblyFormat = [{ `<` `tile` `=` `[` $tile `]` `,` `kernel` `=` `[` $kernel `]` `,`
                          `stages` `=` `[` $stages `]` `>` }];
}

def Fact_CudaRowAttr : Fact_Schedule<"CudaRow", "cuda_row"> {
  let summary = "one pass over rows that stay in registers";
  let description = "`threads` work on each row, `rows` rows on each block.";
  let parameters = (ins "int64_t":$threads, "int64_t":$rows);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Fact_CudaRowSpaceAttr : Fact_Space<"CudaRowSpace", "cuda_row_space"> {
  let summary = "row schedules to search";
  let parameters = (ins ArrayRefParameter<"int64_t">:$threads,
                        ArrayRefParameter<"int64_t">:$rows);
  let assemblyFormat = [{ `<` `threads` `=` `[` $threads `]` `,` `rows` `=` `[` $rows `]` `>` }];
}

def Fact_CudaPointwiseAttr : Fact_Schedule<"CudaPointwise", "cuda_pointwise"> {
  let summary = "one pass over elements";
  let description = "`vector` elements a load, `threads` a block.";
  let parameters = (ins "int64_t":$threads, "int64_t":$vector);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Fact_CudaPointwiseSpaceAttr : Fact_Space<"CudaPointwiseSpace", "cuda_pointwise_space"> {
  let summary = "pointwise schedules to search";
  let parameters = (ins ArrayRefParameter<"int64_t">:$threads,
                        ArrayRefParameter<"int64_t">:$vector);
  let assemblyFormat = [{ `<` `threads` `=` `[` $threads `]` `,` `vector` `=` `[` $vector `]` `>` }];
}

def Fact_HostGemmAttr : Fact_Schedule<"HostGemm", "host_gemm"> {
  let summary = "a GEMM on packed panels";
  let description = [{
    `micro` is the register tile (rows x columns), `rows` the rows of one
    parallel tile, `columns` its columns.
  }];
  let parameters = (ins ExtentsParameter:$micro, "int64_t":$rows, "int64_t":$columns);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Fact_HostGemmSpaceAttr : Fact_Space<"HostGemmSpace", "host_gemm_space"> {
  let summary = "host GEMM schedules to search";
  let parameters = (ins ArrayRefParameter<"::fact::Extents">:$micro,
                        ArrayRefParameter<"int64_t">:$rows,
                        ArrayRefParameter<"int64_t">:$columns);
  let assemblyFormat = [{ `<` `micro` `=` `[` $micro `]` `,` `rows` `=` `[` $rows `]` `,`
                          `columns` `=` `[` $columns `]` `>` }];
}

def Fact_HostRowsAttr : Fact_Schedule<"HostRows", "host_rows"> {
  let summary = "host loops over rows of the result";
  let description = [{
    `grain` rows (rows of queries for attention, rows of the result elsewhere)
    are one parallel tile.
  }];
  let parameters = (ins "int64_t":$grain);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Fact_HostRowsSpaceAttr : Fact_Space<"HostRowsSpace", "host_rows_space"> {
  let summary = "host row schedules to search";
  let parameters = (ins ArrayRefParameter<"int64_t">:$grain);
  let assemblyFormat = "`<` `grain` `=` `[` $grain `]` `>`";
}

def Fact_SchedulesAttr : Fact_Space<"Schedules", "schedules"> {
  let summary = "schedules to search, one by one";
  let description = [{
    For what is no product of lists: the best few of another search, and the
    neighbours of the best. They are tried in this order.

    ```mlir
    #fact.schedules<#fact.host_rows<grain = 8>, #fact.host_rows<grain = 32>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::fact::ScheduleAttrInterface">:$schedules);
  let assemblyFormat = "`<` $schedules `>`";
}

#endif // FACT_DIALECT_FACT_FACTATTRIBUTES_TD
