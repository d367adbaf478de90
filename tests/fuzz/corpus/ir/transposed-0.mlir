tenon.file @m "m" bytes 4096 fingerprint 7
tenon.weight @w : tensor<6x4xf16> from [#tenon.range<@m, offset = 0, bytes = 48>]

func.func @decode(%x: tensor<1x6xf16>) -> tensor<1x4xf16> {
  %w = tenon.get_weight @w : tensor<6x4xf16>
  %t = tenon.transpose %w by [1, 0] : (tensor<6x4xf16>) -> tensor<4x6xf16>
  %y = tenon.matmul %x, %t : (tensor<1x6xf16>, tensor<4x6xf16>) -> tensor<1x4xf16>
  return %y : tensor<1x4xf16>
}

func.func @prefill(%x: tensor<8x6xf16>) -> (tensor<8x4xf16>, tensor<8x4xf16>) {
  %w = tenon.get_weight @w : tensor<6x4xf16>
  %t = tenon.transpose %w by [1, 0] : (tensor<6x4xf16>) -> tensor<4x6xf16>
  %y = tenon.matmul %x, %t : (tensor<8x6xf16>, tensor<4x6xf16>) -> tensor<8x4xf16>
  %v = tenon.get_weight @w : tensor<6x4xf16>
  %u = tenon.transpose %v by [1, 0] : (tensor<6x4xf16>) -> tensor<4x6xf16>
  %n = tenon.neg %x : (tensor<8x6xf16>) -> tensor<8x6xf16>
  %z = tenon.matmul %n, %u : (tensor<8x6xf16>, tensor<4x6xf16>) -> tensor<8x4xf16>
  return %y, %z : tensor<8x4xf16>, tensor<8x4xf16>
}
