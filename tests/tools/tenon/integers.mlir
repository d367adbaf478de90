// Tensors of i64 and bools: as arrays of NumPy, constants, masks and indices; every plan computes what
// the reference does, and a chain of them is one kernel.
//
// RUN: tenon verify %s --device=cpu --plans=unfused,split,fused,auto --points=none
//
// RUN: tenon dump %s --target=x86-64-v3 --plan=fused --as=scheduled | FileCheck %s
// RUN: tenon dump %s --target=h200 --plan=fused --as=scheduled | FileCheck %s
// CHECK-LABEL: func.func @padded
// CHECK: tenon.kernel
// CHECK: tenon.compare ne
// CHECK: tenon.select
// CHECK: tenon.cast
// CHECK: tenon.yield
//
// RUN: %python %S/npz.py write %t.npz 'ids:<i8:2x4=5,1,4294967297,1,1,7,-9223372036854775808,9' 'keep:|b1:4=1,1,1,0' 'x:<f4:2x4=0,1,2,3,4,5,6,7'
// RUN: tenon run %s --function=padded -f %t.npz -o %t.out.npz --device=cpu
// RUN: %python %S/npz.py show %t.out.npz | FileCheck %s --check-prefix=ARRAYS
// ARRAYS: count <i8 (2, 4) 1 0 1 0 0 1 1 0
// ARRAYS-NEXT: hidden <f4 (2, 4) 0 -1 2 -1 -1 5 6 -1
// ARRAYS-NEXT: mask |b1 (2, 4) 1 0 1 0 0 1 1 0
//
// An array of another type is refused.
// RUN: %python %S/npz.py write %t.npz 'ids:<i4:2x4=5,1,3,1,1,7,8,9' 'keep:|b1:4=1,1,1,0' 'x:<f4:2x4=0,1,2,3,4,5,6,7'
// RUN: not tenon run %s --function=padded -f %t.npz -o %t.out.npz --device=cpu 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: array 'ids' expects <i8 [2, 4] for i64, but got <i4 [2, 4]
// RUN: %python %S/npz.py write %t.npz 'ids:<i8:2x4=5,1,3,1,1,7,8,9' 'keep:|u1:4=1,1,1,0' 'x:<f4:2x4=0,1,2,3,4,5,6,7'
// RUN: not tenon run %s --function=padded -f %t.npz -o %t.out.npz --device=cpu 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: array 'keep' expects |b1 [4] for bool, but got |u1 [4]

// Padding, id 1, and what a caller leaves out is hidden.
func.func @padded(%ids: tensor<2x4xi64> {tenon.name = "ids"}, %keep: tensor<4xi1> {tenon.name = "keep"},
                  %x: tensor<2x4xf32> {tenon.name = "x"})
    -> (tensor<2x4xi1> {tenon.name = "mask"}, tensor<2x4xf32> {tenon.name = "hidden"},
        tensor<2x4xi64> {tenon.name = "count"}) {
  %pad = tenon.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %low = tenon.constant dense<-1.0> : tensor<1xf32> : tensor<1xf32>
  %0 = tenon.compare ne %ids, %pad : (tensor<2x4xi64>, tensor<1xi64>) -> tensor<2x4xi1>
  %1 = tenon.min %0, %keep : (tensor<2x4xi1>, tensor<4xi1>) -> tensor<2x4xi1>
  %2 = tenon.select %1, %x, %low : (tensor<2x4xi1>, tensor<2x4xf32>, tensor<1xf32>) -> tensor<2x4xf32>
  %3 = tenon.cast %1 : (tensor<2x4xi1>) -> tensor<2x4xi64>
  return %1, %2, %3 : tensor<2x4xi1>, tensor<2x4xf32>, tensor<2x4xi64>
}

// Positions of what is kept, and the rows of a table there, between operations that rules fuse.
func.func @counted(%x: tensor<6x40xf32>, %keep: tensor<6x9xi1>, %t: tensor<16x40xf32>, %w: tensor<40x40xf32>,
                   %x2: tensor<40xf32>) -> (tensor<6x40xf32>, tensor<6x9x40xf32>) {
  %one = tenon.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %0 = tenon.cast %keep : (tensor<6x9xi1>) -> tensor<6x9xi64>
  %1 = tenon.cumulative_sum %0 : (tensor<6x9xi64>) -> tensor<6x9xi64>
  %2 = tenon.sub %1, %one : (tensor<6x9xi64>, tensor<1xi64>) -> tensor<6x9xi64>
  %3 = tenon.mul %2, %0 : (tensor<6x9xi64>, tensor<6x9xi64>) -> tensor<6x9xi64>
  %4 = tenon.embedding %t, %3 : (tensor<16x40xf32>, tensor<6x9xi64>) -> tensor<6x9x40xf32>
  %n = tenon.rms_norm %x eps 1.0e-5 : (tensor<6x40xf32>) -> tensor<6x40xf32>
  %p = tenon.matmul %n, %w : (tensor<6x40xf32>, tensor<40x40xf32>) -> tensor<6x40xf32>
  %c = tenon.compare gt %x, %x2 : (tensor<6x40xf32>, tensor<40xf32>) -> tensor<6x40xi1>
  %s = tenon.select %c, %p, %x : (tensor<6x40xi1>, tensor<6x40xf32>, tensor<6x40xf32>) -> tensor<6x40xf32>
  return %s, %4 : tensor<6x40xf32>, tensor<6x9x40xf32>
}
