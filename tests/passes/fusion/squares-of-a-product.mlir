// RUN: tenon dump %s --target=h200 --as=planned --points=none | FileCheck %s

// Each square doubles the ways from a value to the product: what a tile's epilogue loads is counted once.
// CHECK: "hopper_gemm"

func.func @squares(%x: tensor<512x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<512x4096xf16> {
  %v0 = tenon.matmul %x, %w : (tensor<512x4096xf16>, tensor<4096x4096xf16>) -> tensor<512x4096xf16>
  %v1 = tenon.mul %v0, %v0 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v2 = tenon.mul %v1, %v1 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v3 = tenon.mul %v2, %v2 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v4 = tenon.mul %v3, %v3 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v5 = tenon.mul %v4, %v4 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v6 = tenon.mul %v5, %v5 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v7 = tenon.mul %v6, %v6 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v8 = tenon.mul %v7, %v7 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v9 = tenon.mul %v8, %v8 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v10 = tenon.mul %v9, %v9 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v11 = tenon.mul %v10, %v10 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v12 = tenon.mul %v11, %v11 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v13 = tenon.mul %v12, %v12 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v14 = tenon.mul %v13, %v13 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v15 = tenon.mul %v14, %v14 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v16 = tenon.mul %v15, %v15 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v17 = tenon.mul %v16, %v16 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v18 = tenon.mul %v17, %v17 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v19 = tenon.mul %v18, %v18 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v20 = tenon.mul %v19, %v19 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v21 = tenon.mul %v20, %v20 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v22 = tenon.mul %v21, %v21 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v23 = tenon.mul %v22, %v22 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v24 = tenon.mul %v23, %v23 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v25 = tenon.mul %v24, %v24 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v26 = tenon.mul %v25, %v25 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v27 = tenon.mul %v26, %v26 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v28 = tenon.mul %v27, %v27 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v29 = tenon.mul %v28, %v28 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v30 = tenon.mul %v29, %v29 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v31 = tenon.mul %v30, %v30 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %v32 = tenon.mul %v31, %v31 : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  return %v32 : tensor<512x4096xf16>
}
