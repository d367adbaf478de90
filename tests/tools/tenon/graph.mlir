// A graph in textual IR runs on NumPy arrays, on the CPU as by the interpreter; bf16 comes as
// uint16, block-quantised operands as their bytes.
//
// RUN: %python %S/npz.py write %t.in.npz x:"<f4":2x4=1,2,3,4,5,6,7,8 y:"<u2":4=16256,16384,16448,16512
// RUN: tenon run %s --function add -f %t.in.npz -o %t.cpu.npz
// RUN: %python %S/npz.py show %t.cpu.npz | FileCheck %s --check-prefix=ADD
// RUN: tenon run %s --function add -f %t.in.npz -o %t.ref.npz --device reference
// RUN: %python %S/npz.py show %t.ref.npz | FileCheck %s --check-prefix=ADD
// ADD: sum <f4 (2, 4) 2 4 6 8 6 8 10 12
//
// One q8_0 block: scale 0.5 (f16 0x3800), quants 0, 1, …, 31.
// RUN: %python %S/npz.py write %t.q.npz x:"<f4":1x32=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1 w:"|u1":34=0,56,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
// RUN: tenon run %s --function dot -f %t.q.npz -o %t.dot.npz
// RUN: %python %S/npz.py show %t.dot.npz | FileCheck %s --check-prefix=DOT
// DOT: y <f4 (1, 1) 248
//
// Errors name the file and the array, what was expected and what was found.
// RUN: %python %S/npz.py write %t.shape.npz x:"<f4":1x32=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1
// RUN: not tenon run %s --function add -f %t.shape.npz -o %t.bad.npz 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: tenon: error: {{.*}}shape.npz: array 'x' expects <f4 [2, 4] for f32, but got <f4 [1, 32]
// RUN: %python %S/npz.py write %t.missing.npz x:"<f4":2x4=1,2,3,4,5,6,7,8
// RUN: not tenon run %s --function add -f %t.missing.npz -o %t.bad.npz 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: tenon: error: {{.*}}missing.npz: expects an array 'y', but there is none
// RUN: not tenon run %s --function mul -f %t.in.npz -o %t.bad.npz 2>&1 | FileCheck %s --check-prefix=FUNCTION
// FUNCTION: tenon: error: --function: expects one of add, dot, but got 'mul'
//
// Archives through pipes and redirections.
// RUN: tenon run %s --function add -f - -o %t.stdin.npz < %t.in.npz
// RUN: %python %S/npz.py show %t.stdin.npz | FileCheck %s --check-prefix=ADD

func.func @add(%x: tensor<2x4xf32> {tenon.name = "x"}, %y: tensor<4xbf16> {tenon.name = "y"})
    -> (tensor<2x4xf32> {tenon.name = "sum"}) {
  %0 = tenon.add %x, %y : (tensor<2x4xf32>, tensor<4xbf16>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

func.func @dot(%x: tensor<1x32xf32> {tenon.name = "x"},
               %w: tensor<1x32x!tenon.block<q8_0>> {tenon.name = "w"})
    -> (tensor<1x1xf32> {tenon.name = "y"}) {
  %0 = tenon.matmul %x, %w : (tensor<1x32xf32>, tensor<1x32x!tenon.block<q8_0>>) -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}
