// Two layers, as ONNX's Gemm has them: weights lie as [inputs, outputs],
// and what reads them is a transpose.
tenon.file @weights "mlp_classifier.safetensors" bytes 104360 fingerprint 6436835291511296337
tenon.weight @up.weight : tensor<192x128xf32> from [#tenon.range<@weights, offset = 384, bytes = 98304>]
tenon.weight @up.bias : tensor<128xf32> from [#tenon.range<@weights, offset = 98688, bytes = 512>]
tenon.weight @down.weight : tensor<128x10xf32> from [#tenon.range<@weights, offset = 99200, bytes = 5120>]
tenon.weight @down.bias : tensor<10xf32> from [#tenon.range<@weights, offset = 104320, bytes = 40>]

func.func @mlp_classifier(%x: tensor<8x192xf32> {tenon.name = "x"})
    -> (tensor<8x10xf32> {tenon.name = "shares"}, tensor<8xi32> {tenon.name = "best"}) {

  // up
  %up.weight = tenon.get_weight @up.weight : tensor<192x128xf32>
  %turned = tenon.transpose %up.weight by [1, 0] : (tensor<192x128xf32>) -> tensor<128x192xf32>
  %up.bias = tenon.get_weight @up.bias : tensor<128xf32>
  %linear = tenon.matmul %x, %turned : (tensor<8x192xf32>, tensor<128x192xf32>) -> tensor<8x128xf32>
  %linear_biased = tenon.add %linear, %up.bias : (tensor<8x128xf32>, tensor<128xf32>) -> tensor<8x128xf32>
  %c = tenon.constant dense<0.000000000e+00> : tensor<1xf32> : tensor<1xf32>
  %relu = tenon.max %linear_biased, %c : (tensor<8x128xf32>, tensor<1xf32>) -> tensor<8x128xf32>

  // down
  %down.weight = tenon.get_weight @down.weight : tensor<128x10xf32>
  %turned_2 = tenon.transpose %down.weight by [1, 0] : (tensor<128x10xf32>) -> tensor<10x128xf32>
  %down.bias = tenon.get_weight @down.bias : tensor<10xf32>
  %linear_2 = tenon.matmul %relu, %turned_2 : (tensor<8x128xf32>, tensor<10x128xf32>) -> tensor<8x10xf32>
  %linear_biased_2 = tenon.add %linear_2, %down.bias : (tensor<8x10xf32>, tensor<10xf32>) -> tensor<8x10xf32>

  // softmax in its parts, and the best class
  %max = tenon.reduce max %linear_biased_2 : (tensor<8x10xf32>) -> tensor<8x1xf32>
  %sub = tenon.sub %linear_biased_2, %max : (tensor<8x10xf32>, tensor<8x1xf32>) -> tensor<8x10xf32>
  %exp = tenon.exp %sub : (tensor<8x10xf32>) -> tensor<8x10xf32>
  %sum = tenon.reduce sum %exp : (tensor<8x10xf32>) -> tensor<8x1xf32>
  %shares = tenon.div %exp, %sum : (tensor<8x10xf32>, tensor<8x1xf32>) -> tensor<8x10xf32>
  %best = tenon.argmax %linear_biased_2 : (tensor<8x10xf32>) -> tensor<8xi32>
  return %shares, %best : tensor<8x10xf32>, tensor<8xi32>
}
