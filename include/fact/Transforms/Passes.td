//===- Passes.td - FACT's own passes ------------------------*- tablegen -*-===//

#ifndef FACT_TRANSFORMS_PASSES_TD
#define FACT_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

#endif // FACT_TRANSFORMS_PASSES_TD
