
func.func @chosen(%x: tensor<6x40xf32>, %i: tensor<9x40xi32>) -> (tensor<6x4xf32>, tensor<9x40xf32>) {
  %a = tenon.gelu %x : (tensor<6x40xf32>) -> tensor<6x40xf32>
  %top, %places = tenon.top_k %a k 4 : (tensor<6x40xf32>) -> (tensor<6x4xf32>, tensor<6x4xi32>)
  %e = tenon.exp %x : (tensor<6x40xf32>) -> tensor<6x40xf32>
  %g = tenon.gather %e, %places along 1 : (tensor<6x40xf32>, tensor<6x4xi32>) -> tensor<6x4xf32>
  %s = tenon.mul %g, %top : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  %h = tenon.gather %e, %i along 0 : (tensor<6x40xf32>, tensor<9x40xi32>) -> tensor<9x40xf32>
  %n = tenon.rms_norm %h eps 1.0e-5 : (tensor<9x40xf32>) -> tensor<9x40xf32>
  return %s, %n : tensor<6x4xf32>, tensor<9x40xf32>
}

func.func @written(%x: tensor<6x40xf32>, %i: tensor<6x5xi32>, %u: tensor<6x5xf32>) -> tensor<6x40xf32> {
  %a = tenon.silu %x : (tensor<6x40xf32>) -> tensor<6x40xf32>
  %b = tenon.scale %u by 0.5 : (tensor<6x5xf32>) -> tensor<6x5xf32>
  %c = tenon.scatter %a, %i, %b along 1 accumulate : (tensor<6x40xf32>, tensor<6x5xi32>, tensor<6x5xf32>) -> tensor<6x40xf32>
  %d = tenon.add %c, %x : (tensor<6x40xf32>, tensor<6x40xf32>) -> tensor<6x40xf32>
  %n = tenon.rms_norm %d eps 1.0e-5 : (tensor<6x40xf32>) -> tensor<6x40xf32>
  return %n : tensor<6x40xf32>
}

func.func @convolved(%x: tensor<1x12x30xf32>, %w: tensor<16x36xf32>, %b: tensor<16xf32>) -> tensor<1x15x16xf32> {
  %a = tenon.relu %x : (tensor<1x12x30xf32>) -> tensor<1x12x30xf32>
  %p = tenon.patches %a window [3] strides [2] low [1] high [1] : (tensor<1x12x30xf32>) -> tensor<1x15x36xf32>
  %m = tenon.matmul %p, %w : (tensor<1x15x36xf32>, tensor<16x36xf32>) -> tensor<1x15x16xf32>
  %c = tenon.add %m, %b : (tensor<1x15x16xf32>, tensor<16xf32>) -> tensor<1x15x16xf32>
  %y = tenon.gelu %c : (tensor<1x15x16xf32>) -> tensor<1x15x16xf32>
  return %y : tensor<1x15x16xf32>
}

func.func @summed(%x: tensor<6x40xf32>, %y: tensor<40xf32>) -> tensor<6x40xf32> {
  %s = tenon.softmax %x : (tensor<6x40xf32>) -> tensor<6x40xf32>
  %c = tenon.cumulative_sum %s : (tensor<6x40xf32>) -> tensor<6x40xf32>
  %d = tenon.scale %c by 7.25 : (tensor<6x40xf32>) -> tensor<6x40xf32>
  %m = tenon.mod %d, %y : (tensor<6x40xf32>, tensor<40xf32>) -> tensor<6x40xf32>
  return %m : tensor<6x40xf32>
}
