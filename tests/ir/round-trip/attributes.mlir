// RUN: tenon-opt %s | tenon-opt | FileCheck %s
// RUN: tenon-opt %s --mlir-print-op-generic | tenon-opt | FileCheck %s

// CHECK: module attributes {
// CHECK-SAME: tenon.model = #tenon.model<architecture = "llama", name = "tiny", file = @model, vocabulary = 512, contextLength = 128, sequences = 1>
// CHECK-SAME: tenon.phase = #tenon.phase<planned>
// CHECK-SAME: tenon.target = #tenon.target<"c", cpu, features = ["avx2"], {vector_bits = 256 : i64}>
module attributes {
  tenon.phase = #tenon.phase<planned>,
  tenon.target = #tenon.target<"c", cpu, features = ["avx2"], {vector_bits = 256 : i64}>,
  tenon.model = #tenon.model<architecture = "llama", name = "tiny", file = @model, vocabulary = 512, contextLength = 128, sequences = 1>
} {
  // CHECK: func @decode(%{{.*}}: tensor<1xi32> {tenon.name = "token", tenon.role = #tenon.port<ids>}) -> (tensor<1xi32> {tenon.name = "next", tenon.role = #tenon.port<next_ids>}) attributes {tenon.entry = #tenon.entry<decode, rows = 1>, tenon.workspace = 4096 : i64}
  func.func @decode(%x: tensor<1xi32> {tenon.name = "token", tenon.role = #tenon.port<ids>}) -> (tensor<1xi32> {tenon.name = "next", tenon.role = #tenon.port<next_ids>}) attributes {tenon.entry = #tenon.entry<decode, rows = 1>, tenon.workspace = 4096 : i64} {
    return %x : tensor<1xi32>
  }
  // CHECK: func @mixed() attributes {tenon.entry = #tenon.entry<mixed, rows = 64>}
  func.func @mixed() attributes {tenon.entry = #tenon.entry<mixed, rows = 64>} {
    return
  }
  // CHECK: func @any() attributes {tenon.entry = #tenon.entry<other, rows = 0>}
  func.func @any() attributes {tenon.entry = #tenon.entry<other, rows = 0>} {
    return
  }
}
