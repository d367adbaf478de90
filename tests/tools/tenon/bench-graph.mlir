// Graphs of primitives are programs like models: measured, verified, tuned, compiled and called by name.
//
// RUN: tenon bench %s --function=swiglu --plans=unfused,auto --measure=3 --threads=1 -o %t.json > %t.txt
// RUN: FileCheck %s --check-prefix=BENCH < %t.txt
// BENCH: plan unfused, swiglu
// BENCH: calls a second
// BENCH: commit
// BENCH: target
// BENCH: counters {{.*}}none
// BENCH: Plans
// BENCH: plan {{.*}} speed-up {{.*}} calls/s {{.*}} workspace {{.*}} saved % differs
// BENCH: unfused {{.*}} 1.00 {{.*}} 0.0 -
// BENCH: auto
// RUN: %python -c 'import json, sys; d = json.load(open(sys.argv[1])); u, a = d["plans"]; assert d["format"] == "tenon-bench-1" and d["unit"] == "calls/s"; assert u["launches"] == len(u["steps"]) == 6 and u["fused_launches"] == 0; assert a["fused_launches"] > 0 and a["memory"]["workspace_bytes"] < u["memory"]["workspace_bytes"]; assert 0 <= a["difference"] < 1e-5 and u["difference"] is None; assert all("define" in k["code"]["llvm"] and "tenon.kernel" in k["ir"] for k in a["kernels"]); assert u["steps"][3]["reads"] == [1, 2], u["steps"]' %t.json
//
// A function is named where there are several; what means a language model is refused.
// RUN: not tenon bench %s 2>&1 | FileCheck %s --check-prefix=WHICH
// WHICH: tenon: error: --function: expects one of attention, swiglu, layer_norm, classifier, sum, but got none
// RUN: not tenon bench %s --function=swiglu --shapes=decode:2 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: tenon: error: --shapes: applies to a GGUF file, a Hugging Face folder or a named shape, but {{.*}}bench-graph.mlir is textual IR
// RUN: not tenon bench %data/stories260K/stories260K.gguf --function=decode_1 2>&1 | FileCheck %s --check-prefix=MODEL
// MODEL: tenon: error: --function: applies to graphs in textual IR, but {{.*}}stories260K.gguf is a model
// RUN: not tenon bench %s --function=swiglu -o %t.pdf 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: tenon: error: -o: expects a file that ends in .md, .html, .json or .trace.json, but got
//
// Two results, of which the second are the scores.
// RUN: not tenon bench %s --function=attention --position=3,4 2>&1 | FileCheck %s --check-prefix=POSITIONS
// POSITIONS: --position: expects one position of a graph's function, but got several
// RUN: tenon bench %s --function=attention --plans=unfused,fused --measure=2,time --threads=1 -o %t.md -o %t.trace.json > %t.txt
// RUN: %python -c 'import json, sys; assert json.load(open(sys.argv[1]))["traceEvents"]' %t.trace.json
// RUN: FileCheck %s --check-prefix=MARKDOWN < %t.md
// MARKDOWN: # {{.*}}bench-graph.mlir, attention at position
// MARKDOWN: * device: {{.+}}
// MARKDOWN: * counters: none: --measure has time alone; bytes are those that the plan's operations state
// MARKDOWN: | plan | ms | speed-up |
// MARKDOWN-NEXT: | --- | ---: |
// MARKDOWN: | unfused | {{.*}} | 1.00 |
// MARKDOWN: | attention | unfused |
//
// RUN: tenon verify %s --plan=fused --threads=1 | FileCheck %s --check-prefix=VERIFY
// VERIFY: attention at position
// VERIFY: classifier at position
// RUN: tenon tune %s --threads=1 --measure=2 --points=%t.points | FileCheck %s --check-prefix=TUNE
// TUNE: kernels tuned
//
// Compiled, it says where it comes from and is called by the runtime alone.
// RUN: tenon compile %s --plan=fused --target=x86-64-v3 -o %t.tnn
// RUN: tenon inspect %t.tnn | FileCheck %s --check-prefix=INSPECT
// INSPECT: made by Tenon {{.*}}, commit {{.*}}, plan fused
// INSPECT: classifier: other
// INSPECT: input w1 f32 [256, 768]
// INSPECT: output probabilities f32 [8, 10]
// INSPECT: {{[1-9][0-9]*}} steps, {{[1-9][0-9]*}} tiles
// INSPECT: decisions of fusion
// INSPECT: swiglu: fused, 1 times:
// RUN: %python %S/npz.py write %t.in.npz x:"<f4":2x4=1,2,3,4,5,6,7,8 y:"<f4":4=10,20,30,40
// RUN: tenon-run %t.tnn --function sum -f %t.in.npz -o %t.run.npz
// RUN: tenon run %s --function sum -f %t.in.npz -o %t.fused.npz --plan=fused --target=x86-64-v3
// RUN: %python %S/npz.py show %t.run.npz | FileCheck %s --check-prefix=SUM
// RUN: %python %S/npz.py show %t.fused.npz | FileCheck %s --check-prefix=SUM
// SUM: doubled <f4 (2, 4) 22 44 66 88 30 52 74 96
// RUN: not tenon-run %t.tnn --function sum -f %t.in.npz 2>&1 | FileCheck %s --check-prefix=OUTPUTS
// OUTPUTS: tenon-run: error: --function: expects -o, too
// RUN: not tenon-run %t.tnn --function sum 2>&1 | FileCheck %s --check-prefix=CALL
// CALL: tenon-run: error: --function: expects -o, too, a file for the results

func.func @attention(%q: tensor<8x64x64xf32> {tenon.name = "q"}, %k: tensor<8x64x64xf32> {tenon.name = "k"},
                     %v: tensor<8x64x64xf32> {tenon.name = "v"}, %mask: tensor<64x64xf32> {tenon.name = "mask"})
    -> (tensor<8x64x64xf32> {tenon.name = "out"}, tensor<8x64x64xf32> {tenon.name = "weights"}) {
  %s = tenon.matmul %q, %k : (tensor<8x64x64xf32>, tensor<8x64x64xf32>) -> tensor<8x64x64xf32> loc("scores")
  %t = tenon.scale %s by 0.125 : (tensor<8x64x64xf32>) -> tensor<8x64x64xf32> loc("scale")
  %m = tenon.add %t, %mask : (tensor<8x64x64xf32>, tensor<64x64xf32>) -> tensor<8x64x64xf32> loc("masked")
  %p = tenon.softmax %m : (tensor<8x64x64xf32>) -> tensor<8x64x64xf32> loc("weights")
  %vt = tenon.transpose %v by [0, 2, 1] : (tensor<8x64x64xf32>) -> tensor<8x64x64xf32> loc("vt")
  %o = tenon.matmul %p, %vt : (tensor<8x64x64xf32>, tensor<8x64x64xf32>) -> tensor<8x64x64xf32> loc("out")
  return %o, %p : tensor<8x64x64xf32>, tensor<8x64x64xf32>
}

func.func @swiglu(%x: tensor<8x256xf32> {tenon.name = "x"}, %g: tensor<256xf32> {tenon.name = "g"},
                  %wg: tensor<512x256xf32> {tenon.name = "gate"}, %wu: tensor<512x256xf32> {tenon.name = "up"},
                  %wd: tensor<256x512xf32> {tenon.name = "down"}) -> (tensor<8x256xf32> {tenon.name = "y"}) {
  %n = tenon.rms_norm %x, %g eps 1.0e-5 : (tensor<8x256xf32>, tensor<256xf32>) -> tensor<8x256xf32> loc("norm")
  %a = tenon.matmul %n, %wg : (tensor<8x256xf32>, tensor<512x256xf32>) -> tensor<8x512xf32> loc("gate")
  %b = tenon.matmul %n, %wu : (tensor<8x256xf32>, tensor<512x256xf32>) -> tensor<8x512xf32> loc("up")
  %s = tenon.silu %a : (tensor<8x512xf32>) -> tensor<8x512xf32> loc("silu")
  %h = tenon.mul %s, %b : (tensor<8x512xf32>, tensor<8x512xf32>) -> tensor<8x512xf32> loc("glu")
  %d = tenon.matmul %h, %wd : (tensor<8x512xf32>, tensor<256x512xf32>) -> tensor<8x256xf32> loc("down")
  %y = tenon.add %x, %d : (tensor<8x256xf32>, tensor<8x256xf32>) -> tensor<8x256xf32> loc("residual")
  return %y : tensor<8x256xf32>
}

func.func @layer_norm(%x: tensor<64x768xf32> {tenon.name = "x"}, %r: tensor<64x768xf32> {tenon.name = "r"},
                      %g: tensor<768xf32> {tenon.name = "g"}, %b: tensor<768xf32> {tenon.name = "b"})
    -> (tensor<64x768xf32> {tenon.name = "y"}) {
  %n = tenon.layer_norm %x weight %g bias %b eps 1.0e-5 : (tensor<64x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<64x768xf32> loc("norm")
  %y = tenon.add %n, %r : (tensor<64x768xf32>, tensor<64x768xf32>) -> tensor<64x768xf32> loc("residual")
  return %y : tensor<64x768xf32>
}

func.func @classifier(%x: tensor<8x768xf32> {tenon.name = "x"}, %w1: tensor<256x768xf32> {tenon.name = "w1"},
                      %b1: tensor<256xf32> {tenon.name = "b1"}, %w2: tensor<10x256xf32> {tenon.name = "w2"},
                      %b2: tensor<10xf32> {tenon.name = "b2"}) -> (tensor<8x10xf32> {tenon.name = "probabilities"}) {
  %0 = tenon.matmul %x, %w1 : (tensor<8x768xf32>, tensor<256x768xf32>) -> tensor<8x256xf32> loc("linear1")
  %1 = tenon.add %0, %b1 : (tensor<8x256xf32>, tensor<256xf32>) -> tensor<8x256xf32> loc("bias1")
  %2 = tenon.gelu %1 : (tensor<8x256xf32>) -> tensor<8x256xf32> loc("gelu")
  %3 = tenon.matmul %2, %w2 : (tensor<8x256xf32>, tensor<10x256xf32>) -> tensor<8x10xf32> loc("linear2")
  %4 = tenon.add %3, %b2 : (tensor<8x10xf32>, tensor<10xf32>) -> tensor<8x10xf32> loc("bias2")
  %5 = tenon.softmax %4 : (tensor<8x10xf32>) -> tensor<8x10xf32> loc("softmax")
  return %5 : tensor<8x10xf32>
}

func.func @sum(%x: tensor<2x4xf32> {tenon.name = "x"}, %y: tensor<4xf32> {tenon.name = "y"})
    -> (tensor<2x4xf32> {tenon.name = "doubled"}) {
  %0 = tenon.add %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32> loc("sum")
  %1 = tenon.scale %0 by 2.0 : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("doubled")
  return %1 : tensor<2x4xf32>
}
