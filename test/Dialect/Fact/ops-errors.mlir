// RUN: fact-opt %s -verify-diagnostics -split-input-file

// expected-error @+1 {{(C2) a baked weight needs its value}}
"fact.weight"() {sym_name = "w", type = tensor<2xf32>, baked} : () -> ()

// -----

func.func @f() {
  // expected-error @+1 {{(C1) no 'fact.weight' is named @nowhere}}
  %0 = fact.get_weight @nowhere : tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<4x5xf32>) {
  // expected-error @+1 {{(C2) contracted sizes differ: 3 and 4}}
  %0 = fact.matmul %x, %y : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<3x5xf32>) {
  // expected-error @+1 {{(C4) result is 'tensor<5x2xf32>', but should be 'tensor<2x5xf32>'}}
  %0 = fact.matmul %x, %y : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<5x2xf32>
  return
}

// -----

func.func @f(%x: tensor<7x2x3xf32>, %y: tensor<4x3x5xf32>) {
  // expected-error @+1 {{(C3) batch dimensions}}
  %0 = fact.matmul %x, %y : (tensor<7x2x3xf32>, tensor<4x3x5xf32>) -> tensor<7x2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{operand shapes do not broadcast}}
  %0 = fact.add %x, %y : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{result is 'tensor<2x1xf32>', but should be 'tensor<2x3xf32>'}}
  %0 = fact.add %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xbf16>, %y: tensor<3xf32>) {
  // expected-error @+1 {{operands need one element type, not 'tensor<2x3xbf16>', 'tensor<3xf32>'; only a float of rank 0 may be wider}}
  %0 = fact.add %x, %y : (tensor<2x3xbf16>, tensor<3xf32>) -> tensor<2x3xbf16>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{(C1) needs 'min', 'max' or both}}
  %0 = fact.clamp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%q: tensor<1x3x4x8xf32>, %k: tensor<1x2x4x8xf32>) {
  // expected-error @+1 {{(C3) 3 query heads are not a multiple of 2 key heads}}
  %0 = fact.attention %q, %k, %k scale 1.0 : (tensor<1x3x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x3x4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %w: tensor<4xf32>) {
  // expected-error @+1 {{(C2) weight and bias need shape [8]}}
  %0 = fact.norm rms %x weight %w eps 1.0e-5 : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{(C1) dim 2 is not in [0, 2)}}
  %0 = fact.softmax %x dim 2 : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{(C3) result is 'tensor<8xf32>', but should be 'tensor<4xf32>'}}
  %0 = fact.reduce sum %x dims [1] : (tensor<4x8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{(C1) reshapes 32 elements into 33}}
  %0 = fact.reshape %x : (tensor<4x8xf32>) -> tensor<33xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{(C1) [0, 0] is not a permutation of 2 dimensions}}
  %0 = fact.permute %x [0, 0] : (tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{(C2) 4 elements from 5 in steps of 1 exceed dim 1, whose size is 8}}
  %0 = fact.slice %x dim 1 start 5 : (tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{(C3) result is 'tensor<4x15xf32>', but should be 'tensor<4x16xf32>'}}
  %0 = fact.concat %x, %x dim 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x15xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{(C2) yields}}
  %0 = fact.fused "pointwise" ins(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    fact.yield %a : tensor<4xf32>
  } : tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{(C3) "fast" is not a schedule}}
  %0 = fact.fused "pointwise" ins(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    fact.yield %a : tensor<4xf32>
  } schedule("fast") : tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{unknown machine 'z9'; known are 'a100', 'a10', 'rtx3090', 'l4', 'l40s', 'rtx4090', 'h100', 'h200', 'b200', 'rtx5090', 'rtx-pro-6000', 'host', architectures (sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_120)}}
module attributes {fact.target = #fact.machine<"z9">} {}

// -----

func.func @argmax_type(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{(C3) result is 'tensor<4xf32>', but should be 'tensor<4xi64>'}}
  %0 = fact.reduce argmax %x dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @mean_of_integers(%x: tensor<4x8xi64>) -> tensor<4xi64> {
  // expected-error @+1 {{(C2) mean needs floats, not 'i64'}}
  %0 = fact.reduce mean %x dims [1] : (tensor<4x8xi64>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

func.func @max_of_nothing(%x: tensor<4x0xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{(C2) max has no value over dimension 1, whose size is 0}}
  %0 = fact.reduce max %x dims [1] : (tensor<4x0xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @gather_dim(%x: tensor<4x8xf32>, %i: tensor<3xi64>) -> tensor<3x8xf32> {
  // expected-error @+1 {{(C1) dim 2 is not in [0, 2)}}
  %0 = fact.gather %x, %i dim 2 : (tensor<4x8xf32>, tensor<3xi64>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// -----

func.func @gather_indices(%x: tensor<4x8xf32>, %i: tensor<3xf32>) -> tensor<3x8xf32> {
  // expected-error @+1 {{(C2) indices need elements of i32 or i64, not 'f32'}}
  %0 = fact.gather %x, %i dim 0 : (tensor<4x8xf32>, tensor<3xf32>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// -----

func.func @gather_shape(%x: tensor<4x8xf32>, %i: tensor<3xi64>) -> tensor<8x3xf32> {
  // expected-error @+1 {{(C3) result is 'tensor<8x3xf32>', but should be 'tensor<3x8xf32>'}}
  %0 = fact.gather %x, %i dim 0 : (tensor<4x8xf32>, tensor<3xi64>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}

// -----

func.func @rotary_odd(%x: tensor<4x7xf32>) -> tensor<4x7xf32> {
  // expected-error @+1 {{(C1) operand needs rank 1 or more and an even last size, not 'tensor<4x7xf32>'}}
  %0 = fact.rotary %x, %x, %x : (tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
  return %0 : tensor<4x7xf32>
}

// -----

func.func @rotary_angles(%x: tensor<4x8xf32>, %c: tensor<4xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{(C2) cos and sin need the operand's element type and a shape that broadcasts: 'tensor<4xf32>' does not broadcast to 'tensor<4x8xf32>'}}
  %0 = fact.rotary %x, %c, %x : (tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @dynamic(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // expected-error @+1 {{operand #0 must be tensor of static sizes with at most 2^48 elements of}}
  %0 = fact.exp %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// Counts of elements and bytes stay numbers.
func.func @large(%x: tensor<281474976710657xf32>) -> tensor<281474976710657xf32> {
  // expected-error @+1 {{operand #0 must be tensor of static sizes with at most 2^48 elements of}}
  %0 = fact.exp %x : (tensor<281474976710657xf32>) -> tensor<281474976710657xf32>
  return %0 : tensor<281474976710657xf32>
}

// -----

// expected-error @+1 {{attribute 'type' failed to satisfy constraint: type attribute of tensor of static sizes}}
fact.weight @w : tensor<?x4xf32>

// -----

// expected-error @+1 {{(C1) value has type 'tensor<3xf32>', but the weight is declared 'tensor<2xf32>'}}
"fact.weight"() {sym_name = "w", type = tensor<2xf32>, value = dense<0.0> : tensor<3xf32>} : () -> ()

// -----

func.func @f() {
  // expected-error @+1 {{(C1) yields 'tensor<2xf32>', but the op's results are 'tensor<3xf32>'}}
  %0 = fact.prepare {
    %1 = fact.constant dense<0.0> : tensor<2xf32>
    fact.yield %1 : tensor<2xf32>
  } : tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{(C1) block arguments are 'tensor<5xf32>', but the operands are 'tensor<4xf32>'}}
  %0 = fact.fused "pointwise" ins(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<5xf32>):
    %1 = fact.relu %a : (tensor<5xf32>) -> tensor<5xf32>
    fact.yield %1 : tensor<5xf32>
  } : tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xi64>) {
  // expected-error @+1 {{(C1) compares 'tensor<4xf32>' with 'tensor<4xi64>'; operands need one element type}}
  %0 = fact.compare lt %x, %y : (tensor<4xf32>, tensor<4xi64>) -> tensor<4xi1>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{(C2) result is 'tensor<4xf32>', but should be 'tensor<4xi1>'}}
  %0 = fact.compare lt %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error @+1 {{(C1) selects between 'tensor<4xf32>' and 'tensor<4xf16>'; both need one element type}}
  %0 = fact.select %c, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>, %y: tensor<8x4xf32>) {
  // expected-error @+1 {{(C1) operands need rank 2 or more, not 'tensor<8xf32>' and 'tensor<8x4xf32>'}}
  %0 = fact.matmul %x, %y : (tensor<8xf32>, tensor<8x4xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x8xf32>, %y: tensor<8x4xf16>) {
  // expected-error @+1 {{(C1) operands need one element type, not 'tensor<2x8xf32>' and 'tensor<8x4xf16>'}}
  %0 = fact.matmul %x, %y : (tensor<2x8xf32>, tensor<8x4xf16>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x8x16xf16>) {
  // expected-error @+1 {{(C1) query, key and value need rank 4 and one element type, not 'tensor<2x4x8x16xf32>', 'tensor<2x4x8x16xf16>' and 'tensor<2x4x8x16xf32>'}}
  %0 = fact.attention %q, %k, %q scale 1.0 : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x8x32xf32>) {
  // expected-error @+1 {{(C2) sizes of query, key and value do not match}}
  %0 = fact.attention %q, %k, %q scale 1.0 : (tensor<2x4x8x16xf32>, tensor<2x4x8x32xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x8x16xf32>, %k: tensor<2x0x8x16xf32>) {
  // expected-error @+1 {{(C3) 4 query heads are not a multiple of 0 key heads}}
  %0 = fact.attention %q, %k, %k scale 1.0 : (tensor<2x4x8x16xf32>, tensor<2x0x8x16xf32>, tensor<2x0x8x16xf32>) -> tensor<2x4x8x16xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x8x16xf32>) {
  // expected-error @+1 {{(C5) result is 'tensor<2x4x8x8xf32>', but should be 'tensor<2x4x8x16xf32>'}}
  %0 = fact.attention %q, %q, %q scale 1.0 : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x8x16xf32>, %mask: tensor<8x7xf32>) {
  // expected-error @+1 {{(C4) mask 'tensor<8x7xf32>' does not broadcast to the scores, [2, 4, 8, 8]}}
  %0 = fact.attention %q, %q, %q mask %mask scale 1.0 : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<8x7xf32>) -> tensor<2x4x8x16xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x8x16xf32>, %mask: tensor<3x2x4x8x8xf32>) {
  // expected-error @+1 {{(C4) mask 'tensor<3x2x4x8x8xf32>' does not broadcast to the scores}}
  %0 = fact.attention %q, %q, %q mask %mask scale 1.0 : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<3x2x4x8x8xf32>) -> tensor<2x4x8x16xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{(C1) dims 3 is not in [1, 2]}}
  %0 = fact.norm rms %x eps 1.0e-5 dims 3 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{(C3) result is 'tensor<4x8xf16>', but should be 'tensor<4x8xf32>'}}
  %0 = fact.norm rms %x eps 1.0e-5 : (tensor<4x8xf32>) -> tensor<4x8xf16>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{(C1) dims [1, 0] are not ascending in [0, 2)}}
  %0 = fact.reduce sum %x dims [1, 0] : (tensor<4x8xf32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{(C1) dims [-1] are not ascending in [0, 2)}}
  %0 = fact.reduce sum %x dims [-1] : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{(C2) result is 'tensor<4x8xf32>', but should be 'tensor<8x4xf32>'}}
  %0 = fact.permute %x [1, 0] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{(C1) dim 1, start 0 and step 0 are not a slice of 'tensor<4x8xf32>': dim must be in [0, 2), start 0 or more, step 1 or more}}
  %0 = fact.slice %x dim 1 start 0 step 0 : (tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

// Sums and products that overflow are no way in.

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{(C2) 3 elements from 0 in steps of 4611686018427387904 exceed dim 1, whose size is 8}}
  %0 = fact.slice %x dim 1 start 0 step 4611686018427387904 : (tensor<4x8xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{(C2) 2 elements from 9223372036854775807 in steps of 1 exceed dim 1, whose size is 8}}
  %0 = fact.slice %x dim 1 start 9223372036854775807 : (tensor<4x8xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{(C1) 'tensor<4x8xf32>' does not broadcast to 'tensor<4x9xf32>'}}
  %0 = fact.expand %x : (tensor<4x8xf32>) -> tensor<4x9xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{(C1) dim 2 is not in [0, 2)}}
  %0 = fact.concat %x, %x dim 2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<3x8xf32>) {
  // expected-error @+1 {{(C2) cannot concatenate 'tensor<4x8xf32>' and 'tensor<3x8xf32>' along dim 1; all else but the size of this dim must be equal}}
  %0 = fact.concat %x, %y dim 1 : (tensor<4x8xf32>, tensor<3x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf16>) {
  // expected-error @+1 {{(C2) cannot concatenate 'tensor<4x8xf32>' and 'tensor<4x8xf16>' along dim 1}}
  %0 = fact.concat %x, %y dim 1 : (tensor<4x8xf32>, tensor<4x8xf16>) -> tensor<4x16xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{(C1) needs an operand}}
  %0 = "fact.concat"() {dim = 0} : () -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%c: tensor<4xi1>, %x: tensor<4xf32>) {
  // expected-error @+1 {{(C2) result is 'tensor<4xf16>', but should be 'tensor<4xf32>'}}
  %0 = fact.select %c, %x, %x : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf16>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{(C3) result is 'tensor<8x4xf32>', but should be 'tensor<4x8xf32>'}}
  %0 = fact.rotary %x, %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'fact.relu' op result is 'tensor<4xf16>', but should be 'tensor<4xf32>'}}
  %0 = fact.relu %x : (tensor<4xf32>) -> tensor<4xf16>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'fact.cast' op requires the same shape for all operands and results}}
  %0 = fact.cast %x : (tensor<4xf32>) -> tensor<5xf16>
  return
}

// -----

// Sizes of an empty tensor are bounded too, so that their sums do not overflow.
func.func @f(%x: tensor<0x9223372036854775807xf32>) {
  // expected-error @+1 {{operand #0 must be variadic of tensor of static sizes with at most 2^48 elements of}}
  %0 = fact.concat %x, %x dim 1 : (tensor<0x9223372036854775807xf32>, tensor<0x9223372036854775807xf32>) -> tensor<0x1xf32>
  return
}

// -----

// Functions of real numbers have float operands.

func.func @f(%x: tensor<4xi64>) {
  // expected-error @+1 {{'fact.exp' op operand #0 must be tensor of static sizes with at most 2^48 elements of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi64>'}}
  %0 = fact.exp %x : (tensor<4xi64>) -> tensor<4xi64>
  return
}

// -----

func.func @f(%x: tensor<4xi1>) {
  // expected-error @+1 {{'fact.log' op operand #0 must be tensor of static sizes with at most 2^48 elements of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi1>'}}
  %0 = fact.log %x : (tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error @+1 {{'fact.pow' op operand #0 must be tensor of static sizes with at most 2^48 elements of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %0 = fact.pow %x, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

// Names of a region end with it: no op outside keeps a value of a region that fails to parse.
func.func @name_of_a_region(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{use of undeclared SSA value name}}
  %0 = fact.neg %inner : (tensor<4xf32>) -> tensor<4xf32>
  %1 = fact.fused "pointwise" ins(%x : tensor<4xf32>) {
  ^bb0(%inner: tensor<4xf32>):
    fact.yield %inner : tensor<4xf32>
  } : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{(C1) dim 2 is not in [0, 2)}}
  %0 = fact.scan sum %x dim 2 : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xi64>) {
  // expected-error @+1 {{(C2) logsumexp needs floats, not 'i64'}}
  %0 = fact.scan logsumexp %x dim 1 : tensor<4x8xi64>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{(C1) dim -1 is not in [0, 2)}}
  %0 = fact.argsort %x dim -1 : (tensor<4x8xf32>) -> tensor<4x8xi64>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{(C2) count 9 is not in [0, 8]}}
  %0 = fact.argsort %x dim 1 count 9 : (tensor<4x8xf32>) -> tensor<4x9xi64>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{(C3) result is 'tensor<4x8xi64>', but should be 'tensor<4x3xi64>'}}
  %0 = fact.argsort %x dim 1 count 3 : (tensor<4x8xf32>) -> tensor<4x8xi64>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<3xi64>, %u: tensor<4x3xf32>) {
  // expected-error @+1 {{(C1) dim 2 is not in [0, 2)}}
  %0 = fact.scatter set %x, %i, %u dim 2 : (tensor<4x8xf32>, tensor<3xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<3xi8>, %u: tensor<4x3xf32>) {
  // expected-error @+1 {{(C2) indices need elements of i32 or i64, not 'i8'}}
  %0 = fact.scatter set %x, %i, %u dim 1 : (tensor<4x8xf32>, tensor<3xi8>, tensor<4x3xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<3xi64>, %u: tensor<3x8xf32>) {
  // expected-error @+1 {{(C3) updates are 'tensor<3x8xf32>', but should be 'tensor<4x3xf32>'}}
  %0 = fact.scatter set %x, %i, %u dim 1 : (tensor<4x8xf32>, tensor<3xi64>, tensor<3x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<3xi64>, %u: tensor<4x3xf32>) {
  // expected-error @+1 {{(C4) result is 'tensor<4x3xf32>', but should be 'tensor<4x8xf32>'}}
  %0 = fact.scatter set %x, %i, %u dim 1 : (tensor<4x8xf32>, tensor<3xi64>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xbf16>, %y: tensor<8x4xbf16>) {
  // expected-error @+1 {{(C5) tf32 needs f32 operands, not 'tensor<4x8xbf16>'}}
  %0 = fact.matmul %x, %y tf32 : (tensor<4x8xbf16>, tensor<8x4xbf16>) -> tensor<4x4xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x2x4x8xf16>) {
  // expected-error @+1 {{(C6) tf32 needs f32 operands, not 'tensor<1x2x4x8xf16>'}}
  %0 = fact.attention %x, %x, %x scale 1.0 tf32 : (tensor<1x2x4x8xf16>, tensor<1x2x4x8xf16>, tensor<1x2x4x8xf16>) -> tensor<1x2x4x8xf16>
  return
}

// -----

func.func @f(%x: tensor<2x9x8xf32>) {
  // expected-error @+1 {{(C1) kernel, strides and dilations need a positive number for each dimension of a window}}
  %0 = fact.windows %x dim 1 kernel [3] strides [0] dilations [1] : (tensor<2x9x8xf32>) -> tensor<2x4x3x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2x9x8xf32>) {
  // expected-error @+1 {{(C1) kernel, strides and dilations need a positive number for each dimension of a window}}
  %0 = fact.windows %x dim 1 kernel [3] strides [1, 1] dilations [1] : (tensor<2x9x8xf32>) -> tensor<2x7x3x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2x9x8xf32>) {
  // expected-error @+1 {{(C1) 'tensor<2x9x8xf32>' has no 2 dimensions from dim 2}}
  %0 = fact.windows %x dim 2 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x9x8xf32>) -> tensor<2x9x6x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x9x8xf32>) {
  // expected-error @+1 {{(C2) a window reaches over 11 elements of dim 1, which has 9}}
  %0 = fact.windows %x dim 1 kernel [3] strides [1] dilations [5] : (tensor<2x9x8xf32>) -> tensor<2x1x3x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2x9x8xf32>) {
  // expected-error @+1 {{(C3) result is 'tensor<2x5x3x8xf32>', but should be 'tensor<2x4x3x8xf32>'}}
  %0 = fact.windows %x dim 1 kernel [3] strides [2] dilations [1] : (tensor<2x9x8xf32>) -> tensor<2x5x3x8xf32>
  return
}
