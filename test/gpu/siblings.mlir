// Several reductions in one kernel, and small steps in one thread block, at odd sizes; test_emulation.py lets
// fact-tune check them against the references on a CPU. Schedules are given where the compiler might choose others.

module attributes {fact.target = #fact.machine<"h200">} {
  func.func @main(%x: tensor<6x1000xf32>, %y: tensor<6x1000xf32>, %z: tensor<90x40xbf16>,
                  %i: tensor<300xi64>)
      -> (tensor<6xf32>, tensor<6xf32>, tensor<6xi64>, tensor<f32>, tensor<f32>, tensor<40xbf16>,
          tensor<40xbf16>, tensor<6xf32>, tensor<6x1000xf32>, tensor<90xbf16>, tensor<6xf32>,
          tensor<f32>) {
    // One pass over rows: a sum, a mean of squares, a place.
    %rows:3 = fact.fused "reduction" ins(%x, %y : tensor<6x1000xf32>, tensor<6x1000xf32>) {
    ^bb0(%a: tensor<6x1000xf32>, %b: tensor<6x1000xf32>):
      %0 = fact.mul %a, %b : (tensor<6x1000xf32>, tensor<6x1000xf32>) -> tensor<6x1000xf32>
      %1 = fact.reduce sum %0 dims [1] : (tensor<6x1000xf32>) -> tensor<6xf32>
      %2 = fact.mul %b, %b : (tensor<6x1000xf32>, tensor<6x1000xf32>) -> tensor<6x1000xf32>
      %3 = fact.reduce mean %2 dims [1] : (tensor<6x1000xf32>) -> tensor<6xf32>
      %4 = fact.reduce argmax %a dims [1] : (tensor<6x1000xf32>) -> tensor<6xi64>
      fact.yield %1, %3, %4 : tensor<6xf32>, tensor<6xf32>, tensor<6xi64>
    } schedule(#fact.cuda_reduction<columns = 2, lanes = 64, splits = 1, operands = read>) : tensor<6xf32>, tensor<6xf32>, tensor<6xi64>

    // The same of whole tensors, shared by blocks.
    %all:2 = fact.fused "reduction" ins(%x, %y : tensor<6x1000xf32>, tensor<6x1000xf32>) {
    ^bb0(%a: tensor<6x1000xf32>, %b: tensor<6x1000xf32>):
      %0 = fact.mul %a, %b : (tensor<6x1000xf32>, tensor<6x1000xf32>) -> tensor<6x1000xf32>
      %1 = fact.reduce sum %0 dims [0, 1] : (tensor<6x1000xf32>) -> tensor<f32>
      %2 = fact.reduce max %b dims [0, 1] : (tensor<6x1000xf32>) -> tensor<f32>
      %3 = fact.reduce sum %b dims [0, 1] : (tensor<6x1000xf32>) -> tensor<f32>
      %4 = fact.add %1, %3 : (tensor<f32>, tensor<f32>) -> tensor<f32>
      fact.yield %4, %2 : tensor<f32>, tensor<f32>
    } schedule(#fact.cuda_reduction<columns = 1, lanes = 128, splits = 5, operands = read>) : tensor<f32>, tensor<f32>

    // Columns in vectors, shared by blocks.
    %columns:2 = fact.fused "reduction" ins(%z : tensor<90x40xbf16>) {
    ^bb0(%a: tensor<90x40xbf16>):
      %0 = fact.reduce min %a dims [0] : (tensor<90x40xbf16>) -> tensor<40xbf16>
      %1 = fact.exp %a : (tensor<90x40xbf16>) -> tensor<90x40xbf16>
      %2 = fact.reduce sum %1 dims [0] : (tensor<90x40xbf16>) -> tensor<40xbf16>
      fact.yield %0, %2 : tensor<40xbf16>, tensor<40xbf16>
    } schedule(#fact.cuda_reduction<columns = 8, lanes = 8, splits = 3, operands = read>) : tensor<40xbf16>, tensor<40xbf16>

    // Two passes, the first with two reductions, and a result of all elements.
    %passes:2 = fact.fused "reduction" ins(%x : tensor<6x1000xf32>) {
    ^bb0(%a: tensor<6x1000xf32>):
      %0 = fact.reduce mean %a dims [1] keep : (tensor<6x1000xf32>) -> tensor<6x1xf32>
      %1 = fact.reduce max %a dims [1] keep : (tensor<6x1000xf32>) -> tensor<6x1xf32>
      %2 = fact.sub %a, %0 : (tensor<6x1000xf32>, tensor<6x1xf32>) -> tensor<6x1000xf32>
      %3 = fact.mul %2, %2 : (tensor<6x1000xf32>, tensor<6x1000xf32>) -> tensor<6x1000xf32>
      %4 = fact.reduce mean %3 dims [1] : (tensor<6x1000xf32>) -> tensor<6xf32>
      %5 = fact.div %2, %1 : (tensor<6x1000xf32>, tensor<6x1xf32>) -> tensor<6x1000xf32>
      fact.yield %4, %5 : tensor<6xf32>, tensor<6x1000xf32>
    } schedule(#fact.cuda_reduction<columns = 2, lanes = 64, splits = 1, operands = held>) : tensor<6xf32>, tensor<6x1000xf32>

    // A softmax beside its logarithm: three passes.
    %entropy = fact.fused "reduction" ins(%z : tensor<90x40xbf16>) {
    ^bb0(%a: tensor<90x40xbf16>):
      %0 = fact.softmax %a dim 1 : tensor<90x40xbf16>
      %1 = fact.reduce max %a dims [1] keep : (tensor<90x40xbf16>) -> tensor<90x1xbf16>
      %2 = fact.sub %a, %1 : (tensor<90x40xbf16>, tensor<90x1xbf16>) -> tensor<90x40xbf16>
      %3 = fact.exp %2 : (tensor<90x40xbf16>) -> tensor<90x40xbf16>
      %4 = fact.reduce sum %3 dims [1] keep : (tensor<90x40xbf16>) -> tensor<90x1xbf16>
      %5 = fact.log %4 : (tensor<90x1xbf16>) -> tensor<90x1xbf16>
      %6 = fact.sub %2, %5 : (tensor<90x40xbf16>, tensor<90x1xbf16>) -> tensor<90x40xbf16>
      %7 = fact.mul %0, %6 : (tensor<90x40xbf16>, tensor<90x40xbf16>) -> tensor<90x40xbf16>
      %8 = fact.reduce sum %7 dims [1] : (tensor<90x40xbf16>) -> tensor<90xbf16>
      fact.yield %8 : tensor<90xbf16>
    } : tensor<90xbf16>

    // Steps of several shapes: reductions of long rows and of few elements, a gather, and
    // pointwise ops between them.
    %steps:2 = fact.fused "small" ins(%x, %i : tensor<6x1000xf32>, tensor<300xi64>) {
    ^bb0(%a: tensor<6x1000xf32>, %b: tensor<300xi64>):
      %0 = fact.reduce sum %a dims [1] : (tensor<6x1000xf32>) -> tensor<6xf32>
      %1 = fact.tanh %0 : (tensor<6xf32>) -> tensor<6xf32>
      %2 = fact.reshape %a : (tensor<6x1000xf32>) -> tensor<6000xf32>
      %3 = fact.gather %2, %b dim 0 : (tensor<6000xf32>, tensor<300xi64>) -> tensor<300xf32>
      %4 = fact.reduce max %3 dims [0] : (tensor<300xf32>) -> tensor<f32>
      %5 = fact.sub %1, %4 : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
      %6 = fact.exp %5 : (tensor<6xf32>) -> tensor<6xf32>
      %7 = fact.reduce mean %6 dims [0] : (tensor<6xf32>) -> tensor<f32>
      fact.yield %5, %7 : tensor<6xf32>, tensor<f32>
    } : tensor<6xf32>, tensor<f32>
    return %rows#0, %rows#1, %rows#2, %all#0, %all#1, %columns#0, %columns#1, %passes#0, %passes#1, %entropy, %steps#0, %steps#1
        : tensor<6xf32>, tensor<6xf32>, tensor<6xi64>, tensor<f32>, tensor<f32>, tensor<40xbf16>, tensor<40xbf16>, tensor<6xf32>, tensor<6x1000xf32>, tensor<90xbf16>, tensor<6xf32>, tensor<f32>
  }
}
