module {
  func.func @binar(%arg0: tensor<2147483647x2147483647xbf16>, %arg1: tensor<2147483647xbf16>) -> tensor<2147483647x2147483647xbf16> {
    %0 = tenon.add %arg0, %arg1 : (tensor<2147483647x2147483647xbf16>, tensor<2147483647xbf16>) -> tensor<2147483647x2147483647xf16>
    %1 = tenon.sub %0, %arg1 : (tensor<2147483647x2147483647xf16>, tensor<2147483647xbf16>) -> tensor<2147483647x2147483647xbf16>
    %2 = tenon.mul %1, %arg1 : (tensor<2147483647x2147483647xbf16>, tensor<2147483647xbf16>) -> tensor<2147483647x2147483647xbf16>
    %3 = tenon.div %2, %arg1 : (tensor<2147483647x2147483647xbf16>, tensor<2147483647xbf16>) -> tensor<2147483647x2147483647xbf16>
    %4 = tenon.max %3, %arg1 : (tensor<2147483647x2147483647xbf16>, tensor<2147483647xbf16>) -> tensor<2147483647x2147483647xbf16>
    %5 = tenon.min %3, %arg1 : (tensor<2147483647x2147483647xbf16>, tensor<2147483647xbf16>) -> tensor<2147483647x2147483647xbf16>
    return %5 : tensor<2147483647x2147483647xbf16>
  }
  func.func @others(%arg0: tensor<2147483647x2147483647xbf16>) -> tensor<2147483647x2147483647xbf16> {
    %0 = tenon.cast %arg0 : (tensor<2147483647x2147483647xbf16>) -> tensor<2147483647x2147483647xbf16>
    %1 = tenon.scale %0 by 1.250000e-01 : (tensor<2147483647x2147483647xbf16>) -> tensor<2147483647x2147483647xbf16>
    %2 = tenon.glu  silu %1, %arg0 : (tensor<2147483647x2147483647xbf16>, tensor<2147483647x2147483647xbf16>) -> tensor<2147483647x2147483647xbf16>
    %3 = tenon.glu  gelu %2, %arg0 : (tensor<2147483647x2147483647xbf16>, tensor<2147483647x2147483647xbf16>) -> tensor<2147483647x2147483647xbf16>
    %4 = tenon.glu  gelu %0, %arg0 : (tensor<2147483647x2147483647xbf16>, tensor<2147483647x2147483647xbf16>) -> tensor<2147483647x2147483647xbf16>
    return %arg0 : tensor<2147483647x2147483647xbf16>
  }
}
