// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-plan-memory))' -split-input-file | FileCheck %s

// Functions of one row get the share of shared memory that the target's fit gives them, others none.
module attributes {tenon.target = #tenon.target<"g", cuda, features = ["sm_90a"], {one_row_shared_percent = 75 : i64}>} {
  // CHECK-LABEL: func @decode_1
  // CHECK-SAME: tenon.shared_percent = 75 : i64
  func.func @decode_1(%x: tensor<1xi32>) -> tensor<1xi32> attributes {tenon.entry = #tenon.entry<decode, rows = 1>} {
    return %x : tensor<1xi32>
  }
  // CHECK-LABEL: func @decode_4
  // CHECK-NOT: tenon.shared_percent
  func.func @decode_4(%x: tensor<4xi32>) -> tensor<4xi32> attributes {tenon.entry = #tenon.entry<decode, rows = 4>} {
    return %x : tensor<4xi32>
  }
  func.func @graph(%x: tensor<1xi32>) -> tensor<1xi32> {
    return %x : tensor<1xi32>
  }
}

// -----

// A fit that says nothing leaves the choice to the driver.
module attributes {tenon.target = #tenon.target<"g", cuda, features = ["sm_80"], {}>} {
  // CHECK-LABEL: func @decode_1
  // CHECK-NOT: tenon.shared_percent
  func.func @decode_1(%x: tensor<1xi32>) -> tensor<1xi32> attributes {tenon.entry = #tenon.entry<decode, rows = 1>} {
    return %x : tensor<1xi32>
  }
}
