// Names that are no UTF-8 are replaced in JSON, which stays valid, and escaped in text.
//
// RUN: tenon explain %s --json > %t.explain
// RUN: tenon verify %s --plan=fused --json > %t.verify
// RUN: %python -c 'import json, sys; texts = [open(f, "rb").read().decode("utf-8", "strict") for f in sys.argv[1:]]; assert all(json.loads(t) and "\ufffd" in t for t in texts), texts' %t.explain %t.verify
// RUN: tenon dump %s | FileCheck %s --check-prefix=DUMP
// DUMP: loc("b\FF")

func.func @f(%x: tensor<2x64xf32> {tenon.name = "x"}, %w: tensor<64x64xf32> {tenon.name = "w"},
             %g: tensor<64xf32> {tenon.name = "g"})
    -> (tensor<2x64xf32> {tenon.name = "y\FF\1B[31m"}) {
  %0 = tenon.rms_norm %x, %g eps 1.0e-5 : (tensor<2x64xf32>, tensor<64xf32>) -> tensor<2x64xf32> loc("a\FF\FE")
  %1 = tenon.matmul %0, %w : (tensor<2x64xf32>, tensor<64x64xf32>) -> tensor<2x64xf32> loc("b\FF")
  return %1 : tensor<2x64xf32>
}
