func.func @no_workspace(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = tenon.kernel (%0 = %x : tensor<4xf32>) -> tensor<4xf32> schedule #tenon.schedule<"elementwise", tiles = 1> buffers [unit] {
    %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  return %a : tensor<4xf32>
}
