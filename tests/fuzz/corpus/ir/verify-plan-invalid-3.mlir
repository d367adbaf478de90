func.func @no_buffer(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tenon.workspace = 512 : i64} {
  %a = tenon.kernel (%0 = %x : tensor<4xf32>) -> tensor<4xf32> schedule #tenon.schedule<"elementwise", tiles = 1> buffers [unit] {
    %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  %b = tenon.kernel (%0 = %a : tensor<4xf32>) -> tensor<4xf32> schedule #tenon.schedule<"elementwise", tiles = 1> buffers [unit] {
    %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  return %b : tensor<4xf32>
}
