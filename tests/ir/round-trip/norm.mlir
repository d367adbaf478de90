// RUN: tenon-opt %s | tenon-opt | FileCheck %s
// RUN: tenon-opt %s --mlir-print-op-generic | tenon-opt | FileCheck %s

// CHECK-LABEL: func @rms_norm
func.func @rms_norm(%x: tensor<2x8xf32>, %w: tensor<8xf32>) -> tensor<2x8xf16> {
  // CHECK: tenon.rms_norm %{{.*}}, %{{.*}} eps 1.000000e-05 : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  %0 = tenon.rms_norm %x, %w eps 1.0e-5 : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  // CHECK: tenon.rms_norm %{{[^,]*}} eps 0.000000e+00 order <chunk = 4, lanes = 2, tree = ascending> : (tensor<2x8xf32>) -> tensor<2x8xf16>
  %1 = tenon.rms_norm %0 eps 0.0 order <chunk = 4, lanes = 2, tree = ascending> : (tensor<2x8xf32>) -> tensor<2x8xf16>
  return %1 : tensor<2x8xf16>
}

// CHECK-LABEL: func @layer_norm
func.func @layer_norm(%x: tensor<2x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<2x8xf32> {
  // CHECK: tenon.layer_norm %{{.*}} weight %{{.*}} bias %{{.*}} eps 1.000000e-05 :
  %0 = tenon.layer_norm %x weight %w bias %b eps 1.0e-5 : (tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  // CHECK: tenon.layer_norm %{{.*}} weight %{{[^ ]*}} eps 1.000000e-05 order <chunk = 0, lanes = 1, tree = ascending> :
  %1 = tenon.layer_norm %0 weight %w eps 1.0e-5 order <chunk = 0, lanes = 1, tree = ascending> : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  // CHECK: tenon.layer_norm %{{[^ ]*}} bias %{{.*}} eps 1.000000e-05 :
  %2 = tenon.layer_norm %1 bias %b eps 1.0e-5 : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  // CHECK: tenon.layer_norm %{{[^ ]*}} eps 1.000000e-05 :
  %3 = tenon.layer_norm %2 eps 1.0e-5 : (tensor<2x8xf32>) -> tensor<2x8xf32>
  return %3 : tensor<2x8xf32>
}

// CHECK-LABEL: func @softmax
func.func @softmax(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK: tenon.softmax %{{[^ ]*}} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %0 = tenon.softmax %x : (tensor<2x8xf32>) -> tensor<2x8xf32>
  // CHECK: tenon.softmax %{{.*}} order <chunk = 0, lanes = 8, tree = halving> :
  %1 = tenon.softmax %0 order <chunk = 0, lanes = 8, tree = halving> : (tensor<2x8xf32>) -> tensor<2x8xf32>
  return %1 : tensor<2x8xf32>
}
