// As the importer writes a small module: two kernels on the host.
module @mlp {
  func.func @main(%x: !torch.vtensor<[2,8,32],f32> {fact.name = "x"}) -> (!torch.vtensor<[2,8,16],f32> {fact.name = "output0"}) {
    %w = "torch.fact.weight"() {name = "up.weight"} : () -> !torch.vtensor<[16,32],f32>
    %b = "torch.fact.weight"() {name = "up.bias"} : () -> !torch.vtensor<[16],f32>
    %int-1 = torch.constant.int -1
    %none = torch.constant.none
    %0 = torch.aten.linear %x, %w, %b : !torch.vtensor<[2,8,32],f32>, !torch.vtensor<[16,32],f32>, !torch.vtensor<[16],f32> -> !torch.vtensor<[2,8,16],f32>
    %1 = torch.aten.silu %0 : !torch.vtensor<[2,8,16],f32> -> !torch.vtensor<[2,8,16],f32>
    %2 = torch.aten.softmax.int %1, %int-1, %none : !torch.vtensor<[2,8,16],f32>, !torch.int, !torch.none -> !torch.vtensor<[2,8,16],f32>
    return %2 : !torch.vtensor<[2,8,16],f32>
  }
}
