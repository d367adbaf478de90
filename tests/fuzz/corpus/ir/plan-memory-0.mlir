func.func @reuses(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = tenon.kernel (%0 = %x : tensor<4xf32>) -> tensor<4xf32> schedule #tenon.schedule<"elementwise", tiles = 1> {
    %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  %b = tenon.kernel (%0 = %a : tensor<4xf32>) -> tensor<4xf32> schedule #tenon.schedule<"elementwise", tiles = 1> {
    %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  %c = tenon.kernel (%0 = %b : tensor<4xf32>) -> tensor<4xf32> schedule #tenon.schedule<"elementwise", tiles = 1> {
    %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  %d = tenon.kernel (%0 = %c : tensor<4xf32>) -> tensor<4xf32> schedule #tenon.schedule<"elementwise", tiles = 1> {
    %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  return %d : tensor<4xf32>
}
func.func @views(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  %a = tenon.kernel (%0 = %x : tensor<4xf32>) -> tensor<4xf32> schedule #tenon.schedule<"elementwise", tiles = 1> {
    %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  %v = tenon.reshape %a to [2, 2] : (tensor<4xf32>) -> tensor<2x2xf32>
  %b = tenon.kernel (%0 = %x : tensor<4xf32>) -> tensor<4xf32> schedule #tenon.schedule<"elementwise", tiles = 1> {
    %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  %w = tenon.reshape %b to [2, 2] : (tensor<4xf32>) -> tensor<2x2xf32>
  %c = tenon.kernel (%0 = %v : tensor<2x2xf32>, %1 = %w : tensor<2x2xf32>) -> tensor<2x2xf32> schedule #tenon.schedule<"elementwise", tiles = 1> {
    %2 = tenon.add %0, %1 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    tenon.yield %2 : tensor<2x2xf32>
  }
  return %c : tensor<2x2xf32>
}
