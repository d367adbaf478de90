// Results that the machine has no memory for are refused before they are allocated, whatever computes
// them; so are constants of a few bytes of text.
// RUN: not tenon run %s -o %t.npz 2>&1 | FileCheck %s
// RUN: not tenon run %s --device reference -o %t.npz 2>&1 | FileCheck %s
// RUN: echo 'func.func @f() -> tensor<100000000000xf32> { %%c = tenon.constant dense<1.0> : tensor<100000000000xf32> : tensor<100000000000xf32> return %%c : tensor<100000000000xf32> }' > %t.mlir
// RUN: not tenon run %t.mlir -o %t.npz 2>&1 | FileCheck %s --check-prefix=CONSTANT

// CHECK: function 'f': expects results that fit the machine's {{[0-9]+}} bytes of memory, but they have 1000000000000
// CONSTANT: 'tenon.constant' op expects a constant of at most 67108864 bytes, but got 'tensor<100000000000xf32>'
func.func @f() -> (tensor<500000x500000xf32> {tenon.name = "y"}) {
  %a = tenon.constant dense<1.0> : tensor<500000x1xf32> : tensor<500000x1xf32>
  %b = tenon.constant dense<2.0> : tensor<1x500000xf32> : tensor<1x500000xf32>
  %0 = tenon.add %a, %b : (tensor<500000x1xf32>, tensor<1x500000xf32>) -> tensor<500000x500000xf32>
  return %0 : tensor<500000x500000xf32>
}
