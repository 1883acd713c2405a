/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * FACT from C (docs/mlir.md): capi.test checks what this prints.
 */

#include "fact-c/Dialects.h"
#include "fact-c/Passes.h"
#include "fact-c/Registry.h"
#include "mlir-c/Diagnostics.h"
#include <stdio.h>
#include <stdlib.h>

static void print(MlirStringRef text, void *stream) {
  fwrite(text.data, 1, text.length, (FILE *)stream);
}

static MlirLogicalResult report(MlirDiagnostic diagnostic, void *stream) {
  fputs("diagnostic: ", (FILE *)stream);
  mlirDiagnosticPrint(diagnostic, print, stream);
  fputc('\n', (FILE *)stream);
  return mlirLogicalResultSuccess();
}

static MlirContext
createContext(void (*registerDialects)(MlirDialectRegistry)) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  registerDialects(registry);
  MlirContext context =
      mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/false);
  mlirDialectRegistryDestroy(registry);
  mlirContextAttachDiagnosticHandler(context, report, stdout, NULL);
  return context;
}

static void runPipeline(MlirModule module, const char *pipeline) {
  MlirLogicalResult result = factRunPipeline(
      module, mlirStringRefCreateFromCString(pipeline), print, stdout);
  printf("%s: %s\n", pipeline,
         mlirLogicalResultIsSuccess(result) ? "succeeded" : "failed");
}

static MlirModule parse(MlirContext context) {
  static const char text[] =
      "func.func @f(%x: tensor<16x8xf32>, %w: tensor<8x8xf32>) ->"
      "    tensor<16x8xf32> {\n"
      "  %0 = fact.matmul %x, %w : (tensor<16x8xf32>, tensor<8x8xf32>) ->"
      "    tensor<16x8xf32>\n"
      "  %1 = fact.relu %0 : (tensor<16x8xf32>) -> tensor<16x8xf32>\n"
      "  return %1 : tensor<16x8xf32>\n"
      "}\n";
  MlirModule module =
      mlirModuleCreateParse(context, mlirStringRefCreateFromCString(text));
  if (mlirModuleIsNull(module))
    exit(1);
  return module;
}

static void usePipelines(void) {
  MlirContext context = createContext(factRegisterAllDialects);
  MlirModule module = parse(context);
  runPipeline(module, "no-such-pass");
  runPipeline(module, "fact-discover{target=h2000}");
  runPipeline(module,
              "cse,fact-raise,fact-discover{target=h200 patterns=none}");
  mlirOperationPrint(mlirModuleGetOperation(module), print, stdout);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
}

static void registerByHandle(MlirDialectRegistry registry) {
  MlirDialectHandle handle = mlirGetDialectHandle__fact__();
  printf("handle: ");
  print(mlirDialectHandleGetNamespace(handle), stdout);
  printf(", ");
  print(mlirDialectHandleGetNamespace(mlirGetDialectHandle__program__()),
        stdout);
  printf("\n");
  mlirDialectHandleInsertDialect(handle, registry);
  factRegisterAllTargets(registry);
}

static void useHandles(void) {
  MlirContext context = createContext(registerByHandle);
  MlirDialect dialect =
      mlirDialectHandleLoadDialect(mlirGetDialectHandle__fact__(), context);
  printf("loaded: ");
  print(mlirDialectGetNamespace(dialect), stdout);
  printf("\n");
  mlirContextDestroy(context);
}

static void useRegistry(const char *upper, const char *lower) {
  MlirStringRef layers[] = {mlirStringRefCreateFromCString(upper),
                            mlirStringRefCreateFromCString(lower)};
  FactRegistry registry = factRegistryOpen(layers, 2, print, stdout);
  intptr_t count = factRegistryGetNumEntries(registry);
  printf("\nentries: %d\n", (int)count);
  for (intptr_t i = 0; i < count; ++i) {
    printf("entry ");
    print(factRegistryGetId(registry, i), stdout);
    printf(": ");
    factRegistryPrintEntry(registry, factRegistryGetId(registry, i), print,
                           stdout);
  }
  bool found = factRegistryPrintEntry(
      registry, mlirStringRefCreateFromCString("gemm_epilogue/bf16/none#0"),
      print, stdout);
  printf("unknown entry: %s\n", found ? "found" : "not found");
  factRegistryDestroy(registry);

  registry = factRegistryOpen(NULL, 0, print, stdout);
  printf("built-in entries: %s\n",
         factRegistryGetNumEntries(registry) > 0 ? "some" : "none");
  factRegistryDestroy(registry);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s UPPER-LAYER LOWER-LAYER\n", argv[0]);
    return 1;
  }
  useHandles();
  usePipelines();
  useRegistry(argv[1], argv[2]);
  return 0;
}
