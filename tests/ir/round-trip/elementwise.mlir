// RUN: tenon-opt %s | tenon-opt | FileCheck %s
// RUN: tenon-opt %s --mlir-print-op-generic | tenon-opt | FileCheck %s

// CHECK-LABEL: func @unary
func.func @unary(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK: tenon.neg %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %0 = tenon.neg %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: tenon.abs %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tenon.abs %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: tenon.square %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = tenon.square %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: tenon.sqrt %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = tenon.sqrt %2 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: tenon.rsqrt %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = tenon.rsqrt %3 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: tenon.exp %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %5 = tenon.exp %4 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: tenon.log %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %6 = tenon.log %5 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: tenon.sin %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %7 = tenon.sin %6 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: tenon.cos %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %8 = tenon.cos %7 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: tenon.tanh %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %9 = tenon.tanh %8 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: tenon.erf %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %10 = tenon.erf %9 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: tenon.sigmoid %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %11 = tenon.sigmoid %10 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: tenon.silu %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %12 = tenon.silu %11 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: tenon.relu %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %13 = tenon.relu %12 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: tenon.gelu %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %14 = tenon.gelu %13 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: tenon.gelu_tanh %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %15 = tenon.gelu_tanh %14 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: tenon.sign %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %16 = tenon.sign %15 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: tenon.floor %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %17 = tenon.floor %16 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: tenon.ceil %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %18 = tenon.ceil %17 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: tenon.round %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %19 = tenon.round %18 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: tenon.trunc %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %20 = tenon.trunc %19 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %20 : tensor<2x4xf32>
}

// CHECK-LABEL: func @binary
func.func @binary(%x: tensor<2x4xf32>, %b: tensor<4xf16>) -> tensor<2x4xbf16> {
  // CHECK: tenon.add %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf16>) -> tensor<2x4xf32>
  %0 = tenon.add %x, %b : (tensor<2x4xf32>, tensor<4xf16>) -> tensor<2x4xf32>
  // CHECK: tenon.sub %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf16>) -> tensor<2x4xf32>
  %1 = tenon.sub %0, %b : (tensor<2x4xf32>, tensor<4xf16>) -> tensor<2x4xf32>
  // CHECK: tenon.mul %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf16>) -> tensor<2x4xf32>
  %2 = tenon.mul %1, %b : (tensor<2x4xf32>, tensor<4xf16>) -> tensor<2x4xf32>
  // CHECK: tenon.div %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf16>) -> tensor<2x4xf32>
  %3 = tenon.div %2, %b : (tensor<2x4xf32>, tensor<4xf16>) -> tensor<2x4xf32>
  // CHECK: tenon.max %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf16>) -> tensor<2x4xf32>
  %4 = tenon.max %3, %b : (tensor<2x4xf32>, tensor<4xf16>) -> tensor<2x4xf32>
  // CHECK: tenon.min %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf16>) -> tensor<2x4xbf16>
  %5 = tenon.min %4, %b : (tensor<2x4xf32>, tensor<4xf16>) -> tensor<2x4xbf16>
  // CHECK: tenon.pow %{{.*}}, %{{.*}} : (tensor<2x4xbf16>, tensor<4xf16>) -> tensor<2x4xbf16>
  %6 = tenon.pow %5, %b : (tensor<2x4xbf16>, tensor<4xf16>) -> tensor<2x4xbf16>
  // CHECK: tenon.mod %{{.*}}, %{{.*}} : (tensor<2x4xbf16>, tensor<4xf16>) -> tensor<2x4xbf16>
  %7 = tenon.mod %6, %b : (tensor<2x4xbf16>, tensor<4xf16>) -> tensor<2x4xbf16>
  return %7 : tensor<2x4xbf16>
}

// CHECK-LABEL: func @broadcast
func.func @broadcast(%x: tensor<3x1x4xf32>, %y: tensor<5x1xf32>, %s: tensor<f32>) -> tensor<3x5x4xf32> {
  // CHECK: tenon.add {{.*}} : (tensor<3x1x4xf32>, tensor<5x1xf32>) -> tensor<3x5x4xf32>
  %0 = tenon.add %x, %y : (tensor<3x1x4xf32>, tensor<5x1xf32>) -> tensor<3x5x4xf32>
  // CHECK: tenon.mul {{.*}} : (tensor<3x5x4xf32>, tensor<f32>) -> tensor<3x5x4xf32>
  %1 = tenon.mul %0, %s : (tensor<3x5x4xf32>, tensor<f32>) -> tensor<3x5x4xf32>
  return %1 : tensor<3x5x4xf32>
}

// CHECK-LABEL: func @others
func.func @others(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK: tenon.cast %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xf16>
  %0 = tenon.cast %x : (tensor<2x4xf32>) -> tensor<2x4xf16>
  // CHECK: tenon.scale %{{.*}} by 1.250000e-01 : (tensor<2x4xf16>) -> tensor<2x4xf32>
  %1 = tenon.scale %0 by 0.125 : (tensor<2x4xf16>) -> tensor<2x4xf32>
  // CHECK: tenon.glu silu %
  %2 = tenon.glu silu %1, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: tenon.glu gelu %
  %3 = tenon.glu gelu %2, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: tenon.glu gelu_tanh %
  %4 = tenon.glu gelu_tanh %3, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: tenon.glu relu %
  %5 = tenon.glu relu %4, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: tenon.glu sigmoid %
  %6 = tenon.glu sigmoid %5, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: tenon.clamp %{{.*}} from -1.000000e+00 to 6.000000e+00 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %7 = tenon.clamp %6 from -1.0 to 6.0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: tenon.compare lt %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<2x4xf16>) -> tensor<2x4xbf16>
  %8 = tenon.compare lt %7, %0 : (tensor<2x4xf32>, tensor<2x4xf16>) -> tensor<2x4xbf16>
  // CHECK: tenon.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x4xbf16>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %9 = tenon.select %8, %7, %x : (tensor<2x4xbf16>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %9 : tensor<2x4xf32>
}

// CHECK-LABEL: func @integers
func.func @integers(%i: tensor<2x4xi64>, %x: tensor<2x4xf32>) -> (tensor<2x4xi64>, tensor<2x4xi1>) {
  // CHECK: tenon.constant dense<9007199254740993> : tensor<4xi64> : tensor<4xi64>
  %c = tenon.constant dense<9007199254740993> : tensor<4xi64> : tensor<4xi64>
  // CHECK: tenon.constant dense<[true, false, false, true]> : tensor<4xi1> : tensor<4xi1>
  %b = tenon.constant dense<[true, false, false, true]> : tensor<4xi1> : tensor<4xi1>
  // CHECK: tenon.mod %{{.*}}, %{{.*}} : (tensor<2x4xi64>, tensor<4xi64>) -> tensor<2x4xi64>
  %0 = tenon.mod %i, %c : (tensor<2x4xi64>, tensor<4xi64>) -> tensor<2x4xi64>
  // CHECK: tenon.compare lt %{{.*}}, %{{.*}} : (tensor<2x4xi64>, tensor<2x4xi64>) -> tensor<2x4xi1>
  %1 = tenon.compare lt %0, %i : (tensor<2x4xi64>, tensor<2x4xi64>) -> tensor<2x4xi1>
  // CHECK: tenon.min %{{.*}}, %{{.*}} : (tensor<2x4xi1>, tensor<4xi1>) -> tensor<2x4xi1>
  %2 = tenon.min %1, %b : (tensor<2x4xi1>, tensor<4xi1>) -> tensor<2x4xi1>
  // CHECK: tenon.cast %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xi64>
  %3 = tenon.cast %x : (tensor<2x4xf32>) -> tensor<2x4xi64>
  // CHECK: tenon.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x4xi1>, tensor<2x4xi64>, tensor<2x4xi64>) -> tensor<2x4xi64>
  %4 = tenon.select %2, %3, %0 : (tensor<2x4xi1>, tensor<2x4xi64>, tensor<2x4xi64>) -> tensor<2x4xi64>
  return %4, %2 : tensor<2x4xi64>, tensor<2x4xi1>
}
