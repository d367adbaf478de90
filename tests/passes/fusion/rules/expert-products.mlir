// RUN: tenon dump %s --as=fused --target=h200 --plan=fused | FileCheck %s
// RUN: tenon explain %s --target=h200 --plan=fused | FileCheck %s --check-prefix=WHY
// RUN: tenon explain %s --target=x86-64-v4 --plan=fused | FileCheck %s --check-prefix=CPU

// Gate and up with their GLU in one kernel, down with the weighted sum and the residual in another.
// CHECK-LABEL: func.func @mixture
// CHECK-NEXT: %[[G:.*]] = tenon.kernel
// CHECK-NEXT:   tenon.expert_matmul
// CHECK-NEXT:   tenon.expert_matmul
// CHECK-NEXT:   tenon.glu
// CHECK:      %[[Y:.*]] = tenon.kernel
// CHECK-SAME:   %[[G]]
// CHECK-NEXT:   tenon.expert_matmul
// CHECK-NEXT:   tenon.weighted_sum
// CHECK-NEXT:   tenon.add
// CHECK-NOT:  tenon.kernel
// CHECK:      return %[[Y]]
// WHY-DAG: yes {{.*}} expert-products: expert_matmul expert_matmul glu
// WHY-DAG: yes {{.*}} expert-products: expert_matmul weighted_sum add
// CPU-LABEL: @mixture
// CPU-DAG: yes {{.*}} expert-products: expert_matmul expert_matmul glu
// CPU-DAG: yes {{.*}} expert-products: expert_matmul weighted_sum add
func.func @mixture(%x: tensor<1x2048xf16>, %ids: tensor<1x8xi32>, %weights: tensor<1x8xf32>, %g: tensor<64x768x2048xf16>, %u: tensor<64x768x2048xf16>, %d: tensor<64x2048x768xf16>) -> tensor<1x2048xf16> {
  %0 = tenon.expert_matmul %x, %g, %ids : (tensor<1x2048xf16>, tensor<64x768x2048xf16>, tensor<1x8xi32>) -> tensor<1x8x768xf16>
  %1 = tenon.expert_matmul %x, %u, %ids : (tensor<1x2048xf16>, tensor<64x768x2048xf16>, tensor<1x8xi32>) -> tensor<1x8x768xf16>
  %2 = tenon.glu silu %0, %1 : (tensor<1x8x768xf16>, tensor<1x8x768xf16>) -> tensor<1x8x768xf16>
  %3 = tenon.expert_matmul %2, %d, %ids : (tensor<1x8x768xf16>, tensor<64x2048x768xf16>, tensor<1x8xi32>) -> tensor<1x8x2048xf16>
  %4 = tenon.weighted_sum %3, %weights : (tensor<1x8x2048xf16>, tensor<1x8xf32>) -> tensor<1x2048xf16>
  %5 = tenon.add %4, %x : (tensor<1x2048xf16>, tensor<1x2048xf16>) -> tensor<1x2048xf16>
  return %5 : tensor<1x2048xf16>
}

// Rows that share experts read them once, in tiles of an expert, which have not all of a row's.
// WHY-LABEL: @many_rows
// WHY: no {{.*}} expert-products: expert_matmul weighted_sum {{.*}}too often for 40 rows
// CPU-LABEL: @many_rows
// CPU: no {{.*}} expert-products: expert_matmul weighted_sum {{.*}}rows choose 80 matrices, and of more than 64 a tile takes those of one expert
func.func @many_rows(%x: tensor<40x2x256xf16>, %ids: tensor<40x2xi32>, %weights: tensor<40x2xf32>, %d: tensor<8x128x256xf16>) -> tensor<40x128xf16> {
  %0 = tenon.expert_matmul %x, %d, %ids : (tensor<40x2x256xf16>, tensor<8x128x256xf16>, tensor<40x2xi32>) -> tensor<40x2x128xf16>
  %1 = tenon.weighted_sum %0, %weights : (tensor<40x2x128xf16>, tensor<40x2xf32>) -> tensor<40x128xf16>
  return %1 : tensor<40x128xf16>
}

// WHY-LABEL: @many_experts
// WHY: no {{.*}} expert-products: expert_matmul weighted_sum {{.*}}at most 64 experts give, not 65
func.func @many_experts(%x: tensor<1x65x256xf16>, %ids: tensor<1x65xi32>, %weights: tensor<1x65xf32>, %d: tensor<80x128x256xf16>) -> tensor<1x128xf16> {
  %0 = tenon.expert_matmul %x, %d, %ids : (tensor<1x65x256xf16>, tensor<80x128x256xf16>, tensor<1x65xi32>) -> tensor<1x65x128xf16>
  %1 = tenon.weighted_sum %0, %weights : (tensor<1x65x128xf16>, tensor<1x65xf32>) -> tensor<1x128xf16>
  return %1 : tensor<1x128xf16>
}

// Gate and up of other experts, or in another encoding, share no tiles.
// WHY-LABEL: @two_choices
// WHY: no {{.*}} expert-products: expert_matmul expert_matmul glu {{.*}}one choice of experts, one shape and one encoding
func.func @two_choices(%x: tensor<1x256xf16>, %a: tensor<1x2xi32>, %b: tensor<1x2xi32>, %g: tensor<8x128x256xf16>, %u: tensor<8x128x256xf16>) -> tensor<1x2x128xf16> {
  %0 = tenon.expert_matmul %x, %g, %a : (tensor<1x256xf16>, tensor<8x128x256xf16>, tensor<1x2xi32>) -> tensor<1x2x128xf16>
  %1 = tenon.expert_matmul %x, %u, %b : (tensor<1x256xf16>, tensor<8x128x256xf16>, tensor<1x2xi32>) -> tensor<1x2x128xf16>
  %2 = tenon.glu silu %0, %1 : (tensor<1x2x128xf16>, tensor<1x2x128xf16>) -> tensor<1x2x128xf16>
  return %2 : tensor<1x2x128xf16>
}

// Gate and up of other inputs: a warp holds one.
// WHY-LABEL: @two_inputs
// WHY: no {{.*}} expert-products: expert_matmul expert_matmul glu {{.*}}have one input, one choice of experts
func.func @two_inputs(%x: tensor<1x256xf16>, %y: tensor<1x256xf16>, %a: tensor<1x2xi32>, %g: tensor<8x128x256xf16>, %u: tensor<8x128x256xf16>) -> tensor<1x2x128xf16> {
  %0 = tenon.expert_matmul %x, %g, %a : (tensor<1x256xf16>, tensor<8x128x256xf16>, tensor<1x2xi32>) -> tensor<1x2x128xf16>
  %1 = tenon.expert_matmul %y, %u, %a : (tensor<1x256xf16>, tensor<8x128x256xf16>, tensor<1x2xi32>) -> tensor<1x2x128xf16>
  %2 = tenon.glu silu %0, %1 : (tensor<1x2x128xf16>, tensor<1x2x128xf16>) -> tensor<1x2x128xf16>
  return %2 : tensor<1x2x128xf16>
}

// Whose sum asks for more slices of x than a block has warps.
// WHY-LABEL: @wide_sum
// WHY: no {{.*}} expert-products: expert_matmul weighted_sum {{.*}}hold no more than 24 slices
func.func @wide_sum(%x: tensor<1x2048xf16>, %ids: tensor<1x8xi32>, %weights: tensor<1x8xf32>, %d: tensor<64x128x2048x!tenon.block<q4_k>>) -> tensor<1x128xf16> {
  %0 = tenon.expert_matmul %x, %d, %ids : (tensor<1x2048xf16>, tensor<64x128x2048x!tenon.block<q4_k>>, tensor<1x8xi32>) -> tensor<1x8x128xf16>
  %1 = tenon.weighted_sum %0, %weights : (tensor<1x8x128xf16>, tensor<1x8xf32>) -> tensor<1x128xf16>
  return %1 : tensor<1x128xf16>
}

// What the sum reads is wanted elsewhere, too.
// WHY-LABEL: @read_twice
// WHY: no {{.*}} expert-products: expert_matmul weighted_sum {{.*}}which nothing else reads
func.func @read_twice(%x: tensor<1x2x256xf16>, %ids: tensor<1x2xi32>, %weights: tensor<1x2xf32>, %d: tensor<8x128x256xf16>) -> (tensor<1x2x128xf16>, tensor<1x128xf16>) {
  %0 = tenon.expert_matmul %x, %d, %ids : (tensor<1x2x256xf16>, tensor<8x128x256xf16>, tensor<1x2xi32>) -> tensor<1x2x128xf16>
  %1 = tenon.weighted_sum %0, %weights : (tensor<1x2x128xf16>, tensor<1x2xf32>) -> tensor<1x128xf16>
  return %0, %1 : tensor<1x2x128xf16>, tensor<1x128xf16>
}

// Biases and bounds stand between the products and their unit; the parts are no kernel of their own.
// WHY-LABEL: @clamped_unit
// WHY: yes {{.*}} expert-products{{.*}}: expert_matmul add clamp expert_matmul add clamp mul
func.func @clamped_unit(%x: tensor<1x256xf16>, %ids: tensor<1x2xi32>, %g: tensor<8x128x256xf16>, %u: tensor<8x128x256xf16>, %gb: tensor<1x2x128xf16>, %ub: tensor<1x2x128xf16>) -> tensor<1x2x128xf16> {
  %0 = tenon.expert_matmul %x, %g, %ids : (tensor<1x256xf16>, tensor<8x128x256xf16>, tensor<1x2xi32>) -> tensor<1x2x128xf16>
  %1 = tenon.add %0, %gb : (tensor<1x2x128xf16>, tensor<1x2x128xf16>) -> tensor<1x2x128xf16>
  %2 = tenon.clamp %1 from -7.0 to 7.0 : (tensor<1x2x128xf16>) -> tensor<1x2x128xf16>
  %3 = tenon.expert_matmul %x, %u, %ids : (tensor<1x256xf16>, tensor<8x128x256xf16>, tensor<1x2xi32>) -> tensor<1x2x128xf16>
  %4 = tenon.add %3, %ub : (tensor<1x2x128xf16>, tensor<1x2x128xf16>) -> tensor<1x2x128xf16>
  %5 = tenon.clamp %4 from -7.0 to 7.0 : (tensor<1x2x128xf16>) -> tensor<1x2x128xf16>
  %6 = tenon.mul %2, %5 : (tensor<1x2x128xf16>, tensor<1x2x128xf16>) -> tensor<1x2x128xf16>
  return %6 : tensor<1x2x128xf16>
}

// Rows of tables that the experts' numbers choose, their biases, are read where they are added.
// WHY-LABEL: @biased_unit
// WHY: yes {{.*}} expert-products{{.*}}: expert_matmul embedding add expert_matmul embedding add mul
// WHY: yes {{.*}} expert-products{{.*}}: expert_matmul embedding add
func.func @biased_unit(%x: tensor<1x256xf16>, %ids: tensor<1x2xi32>, %g: tensor<8x128x256xf16>, %u: tensor<8x128x256xf16>, %d: tensor<8x256x128xf16>, %gb: tensor<8x128xf32>, %ub: tensor<8x128xf32>, %db: tensor<8x256xf32>) -> tensor<1x2x256xf16> {
  %0 = tenon.expert_matmul %x, %g, %ids : (tensor<1x256xf16>, tensor<8x128x256xf16>, tensor<1x2xi32>) -> tensor<1x2x128xf16>
  %1 = tenon.embedding %gb, %ids : (tensor<8x128xf32>, tensor<1x2xi32>) -> tensor<1x2x128xf16>
  %2 = tenon.add %0, %1 : (tensor<1x2x128xf16>, tensor<1x2x128xf16>) -> tensor<1x2x128xf16>
  %3 = tenon.expert_matmul %x, %u, %ids : (tensor<1x256xf16>, tensor<8x128x256xf16>, tensor<1x2xi32>) -> tensor<1x2x128xf16>
  %4 = tenon.embedding %ub, %ids : (tensor<8x128xf32>, tensor<1x2xi32>) -> tensor<1x2x128xf16>
  %5 = tenon.add %3, %4 : (tensor<1x2x128xf16>, tensor<1x2x128xf16>) -> tensor<1x2x128xf16>
  %6 = tenon.mul %2, %5 : (tensor<1x2x128xf16>, tensor<1x2x128xf16>) -> tensor<1x2x128xf16>
  %7 = tenon.expert_matmul %6, %d, %ids : (tensor<1x2x128xf16>, tensor<8x256x128xf16>, tensor<1x2xi32>) -> tensor<1x2x256xf16>
  %8 = tenon.embedding %db, %ids : (tensor<8x256xf32>, tensor<1x2xi32>) -> tensor<1x2x256xf16>
  %9 = tenon.add %7, %8 : (tensor<1x2x256xf16>, tensor<1x2x256xf16>) -> tensor<1x2x256xf16>
  return %9 : tensor<1x2x256xf16>
}

// Few rows choose their experts in the kernel that multiplies them first.
// WHY-LABEL: @choosing
// WHY: yes {{.*}} expert-products{{.*}}: softmax top_k reduce div expert_matmul expert_matmul glu
func.func @choosing(%x: tensor<1x256xf16>, %scores: tensor<1x8xf32>, %g: tensor<8x128x256xf16>, %u: tensor<8x128x256xf16>) -> (tensor<1x2x128xf16>, tensor<1x2xi32>, tensor<1x2xf32>) {
  %0 = tenon.softmax %scores : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %values, %ids = tenon.top_k %0 k 2 : (tensor<1x8xf32>) -> (tensor<1x2xf32>, tensor<1x2xi32>)
  %1 = tenon.reduce sum %values : (tensor<1x2xf32>) -> tensor<1x1xf32>
  %2 = tenon.div %values, %1 : (tensor<1x2xf32>, tensor<1x1xf32>) -> tensor<1x2xf32>
  %3 = tenon.expert_matmul %x, %g, %ids : (tensor<1x256xf16>, tensor<8x128x256xf16>, tensor<1x2xi32>) -> tensor<1x2x128xf16>
  %4 = tenon.expert_matmul %x, %u, %ids : (tensor<1x256xf16>, tensor<8x128x256xf16>, tensor<1x2xi32>) -> tensor<1x2x128xf16>
  %5 = tenon.glu silu %3, %4 : (tensor<1x2x128xf16>, tensor<1x2x128xf16>) -> tensor<1x2x128xf16>
  return %5, %ids, %2 : tensor<1x2x128xf16>, tensor<1x2xi32>, tensor<1x2xf32>
}

// Many rows: a tile is of an expert, whatever row chose it.
// WHY-LABEL: @choosing_for_many
// WHY: no {{.*}} expert-products: softmax top_k expert_matmul expert_matmul glu {{.*}}too often for 40 rows
func.func @choosing_for_many(%x: tensor<40x256xf16>, %scores: tensor<40x8xf32>, %g: tensor<8x128x256xf16>, %u: tensor<8x128x256xf16>) -> tensor<40x2x128xf16> {
  %0 = tenon.softmax %scores : (tensor<40x8xf32>) -> tensor<40x8xf32>
  %values, %ids = tenon.top_k %0 k 2 : (tensor<40x8xf32>) -> (tensor<40x2xf32>, tensor<40x2xi32>)
  %1 = tenon.expert_matmul %x, %g, %ids : (tensor<40x256xf16>, tensor<8x128x256xf16>, tensor<40x2xi32>) -> tensor<40x2x128xf16>
  %2 = tenon.expert_matmul %x, %u, %ids : (tensor<40x256xf16>, tensor<8x128x256xf16>, tensor<40x2xi32>) -> tensor<40x2x128xf16>
  %3 = tenon.glu silu %1, %2 : (tensor<40x2x128xf16>, tensor<40x2x128xf16>) -> tensor<40x2x128xf16>
  return %3 : tensor<40x2x128xf16>
}

// A CPU adds the biases of what a row's experts give before it sums that.
// CPU-LABEL: @biased_sum
// CPU: yes {{.*}} expert-products: expert_matmul embedding add weighted_sum add
// WHY-LABEL: @biased_sum
// WHY: no {{.*}} expert-products: expert_matmul embedding add weighted_sum {{.*}}a weighted sum stands in the kernel of the one product that it sums
func.func @biased_sum(%x: tensor<1x2x256xf32>, %ids: tensor<1x2xi32>, %weights: tensor<1x2xf32>, %d: tensor<8x128x256xf32>, %b: tensor<8x128xf32>, %r: tensor<1x128xf32>) -> tensor<1x128xf32> {
  %0 = tenon.expert_matmul %x, %d, %ids : (tensor<1x2x256xf32>, tensor<8x128x256xf32>, tensor<1x2xi32>) -> tensor<1x2x128xf32>
  %1 = tenon.embedding %b, %ids : (tensor<8x128xf32>, tensor<1x2xi32>) -> tensor<1x2x128xf32>
  %2 = tenon.add %0, %1 : (tensor<1x2x128xf32>, tensor<1x2x128xf32>) -> tensor<1x2x128xf32>
  %3 = tenon.weighted_sum %2, %weights : (tensor<1x2x128xf32>, tensor<1x2xf32>) -> tensor<1x128xf32>
  %4 = tenon.add %3, %r : (tensor<1x128xf32>, tensor<1x128xf32>) -> tensor<1x128xf32>
  return %4 : tensor<1x128xf32>
}
