// RUN: not tenon dump %s --as=simplified 2>&1 | FileCheck %s
// CHECK: foreign-operation.mlir:[[# @LINE + 6]]:8: 'func.call' op expects operations of the tenon dialect in a function

func.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
