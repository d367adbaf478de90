#ifndef TENON_PASSES_PASSES_TD
#define TENON_PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"

def SimplifyPass : Pass<"tenon-simplify", "mlir::ModuleOp"> {
  let summary = "Canonicalise, fold constants, raise decomposed chains, drop unused symbols";
  let description = [{
    Runs the canonicalisation patterns of the operations, the algebra of `Simplify.td`, common
    subexpression elimination, and removes weights and states that no function names.

    Raises operations from their primitives (`passes/simplify/raise`): RMS and layer norm (centred,
    and by mean(x²) − mean(x)²) with weight and bias, GELU by erf and by tanh, SiLU, sigmoid, ReLU,
    gated units, attention from softmax(scale · q · kᵀ + masks) · v where its heads stand behind
    rows, with up to three masks, constant or not, of which those that are not causal become its
    bias; and rope of [M, H, D], or of a transpose [H, M, D] of that, from x · cos + concat(−x₂, x₁)
    · sin, and from x₁ · cos − x₂ · sin and x₂ · cos + x₁ · sin joined again, of halves or of
    adjacent pairs (slices of stride 2), where cosines and sines follow from constants, for rows 0,
    1, 2 and so on, or are rows of such a table that `tenon.embedding` chooses by positions. What is
    raised is computed in f32 without a rounding between its primitives, and so lies outside the
    promise that fused equals split: it differs by those roundings, and where var(x) is little
    beside mean(x)² by what mean(x²) − mean(x)² loses.

    A weight whose transpose products alone read, in every function, becomes a weight of that layout:
    `transposed` in its files, or no longer so, and laid out anew once, when it is loaded. The
    permutation may leave axes in front as they are and exchanges two groups of those after them.

    One remark of the category `raise` an operation or transpose; `disable-raises` leaves some out.

    ```mlir
    %s = tenon.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
    %y = tenon.mul %x, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
    becomes
    ```mlir
    %y = tenon.silu %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let options = [
    ListOption<"disabledRaises", "disable-raises", "std::string", "operations that are not raised">
  ];
  let dependentDialects = ["::tenon::TenonDialect"];
}

def PageCachesPass : Pass<"tenon-page-caches", "mlir::ModuleOp"> {
  let summary = "Lay dense caches out in pages that sequences share";
  let description = [{
    Every cache [S, C, H, D] becomes a pool of N pages of P = `positions`, [N, H, P, D] in the layout
    `paged`, and every function that reads or writes caches takes one more argument, of the role
    `block_table`: i32 [S, ⌈C / P⌉], in row s the pages of sequence s. N is `pages`, at least the pages
    of one sequence of C positions; 0: those of all S. Which page holds what is run-time data, so that
    sequences may share pages, and need have none for positions that they have not reached. Runs on
    modules of the phase `input`, and refuses rings.

    ```mlir
    tenon.state @k : !tenon.state<4x256x2x64xf16>
    func.func @f(%v: tensor<1x2x64xf16>, %s: tensor<1xi32>, %p: tensor<1xi32>) {
      %0 = tenon.get_state @k : !tenon.state<4x256x2x64xf16>
      %1 = tenon.kv_write %v, %s, %p into %0
          : (tensor<1x2x64xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<4x256x2x64xf16>)
          -> !tenon.state<4x256x2x64xf16>
      return
    }
    ```
    becomes, with `positions=128 pages=6`,
    ```mlir
    tenon.state @k : !tenon.state<6x2x128x64xf16, paged<128>>
    func.func @f(%v: tensor<1x2x64xf16>, %s: tensor<1xi32>, %p: tensor<1xi32>,
                 %t: tensor<4x2xi32> {tenon.name = "block_table", tenon.role = #tenon.port<block_table>}) {
      %0 = tenon.get_state @k : !tenon.state<6x2x128x64xf16, paged<128>>
      %1 = tenon.kv_write %v, %s, %p into %0 block_table %t
          : (tensor<1x2x64xf16>, tensor<1xi32>, tensor<1xi32>,
             !tenon.state<6x2x128x64xf16, paged<128>>, tensor<4x2xi32>)
          -> !tenon.state<6x2x128x64xf16, paged<128>>
      return
    }
    ```
  }];
  let options = [
    Option<"positions", "positions", "int64_t", "128", "of a page: 16, 32, 64 or 128">,
    Option<"pages", "pages", "int64_t", "0", "of the pool; 0: as many as all sequences take">
  ];
  let dependentDialects = ["::tenon::TenonDialect"];
}

def DecomposePass : Pass<"tenon-decompose", "mlir::func::FuncOp"> {
  let summary = "Take attention and gated units apart, into what the first systems ran";
  let description = [{
    The plan `vanilla`, what others measure themselves against. An attention becomes GEMM, scale
    (and soft cap), mask, softmax and GEMM, with the scores in memory; `tenon.glu` an activation and
    a product. The results are rounded to the type of the activations between them, and so lie outside
    the promise that fused equals split.

    An attention stays one operation where it has sinks, or slopes without a causal mask, or where
    its keys are no tensor of one sequence: over a cache, but for a prompt, whose keys are those
    that the call writes. Such a function is then right from position 0 on alone, where a prompt
    starts and `bench` measures it. So does a causal attention over tensors, whose rows may stand
    anywhere.

    ```mlir
    %y = tenon.attention %q, %k, %v, %s, %p scale 0.125 {causal = false}
        : (tensor<8x2x64xf32>, tensor<1x8x2x64xf32>, tensor<1x8x2x64xf32>, tensor<1xi32>,
           tensor<8xi32>) -> tensor<8x2x64xf32>
    ```
    becomes, beside what puts heads first,
    ```mlir
    %0 = tenon.matmul %q1, %k1
        : (tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x8x8xf32>
    %1 = tenon.scale %0 by 0.125 : (tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
    %2 = tenon.softmax %1 : (tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
    %3 = tenon.matmul %2, %v1
        : (tensor<2x8x8xf32>, tensor<2x64x8xf32>) -> tensor<2x8x64xf32>
    ```
  }];
  let dependentDialects = ["::tenon::TenonDialect"];
}

def QuantizeActivationsPass : Pass<"tenon-quantize-activations", "mlir::ModuleOp"> {
  let summary = "Quantise inputs of products where the module allows it and it is faster";
  let description = [{
    Does nothing without `tenon.quantize_activations` on the module: quantising rounds activations
    to 8 bits. Products of one input whose weights go with one encoding of activations share its
    quants. They are quantised where the cost model predicts that `tenon.quantize` and the products
    of quants, each in its own kernel, take less time than the products of floats; so the choice
    depends on shapes and target, not on the plan. One remark of the category `quantize` an input.

    ```mlir
    %y = tenon.matmul %x, %w
        : (tensor<8x256xf32>, tensor<512x256x!tenon.block<q4_k>>) -> tensor<8x512xf32>
    ```
    becomes
    ```mlir
    %q = tenon.quantize %x : (tensor<8x256xf32>) -> tensor<8x256x!tenon.block<q8_k>>
    %y = tenon.matmul %q, %w : (tensor<8x256x!tenon.block<q8_k>>,
                                tensor<512x256x!tenon.block<q4_k>>) -> tensor<8x512xf32>
    ```
  }];
  let dependentDialects = ["::tenon::TenonDialect"];
}

def ExpandWeightsPass : Pass<"tenon-expand-weights", "mlir::ModuleOp"> {
  let summary = "Expand block-quantised weights to 16 bits where that is faster";
  let description = [{
    On a GPU, a block-quantised weight is read once for few rows, which is what its GEMM costs; for
    many rows tensor cores want 16 bits. Where the cost model predicts that `tenon.dequantize` into
    the type of the inputs and a GEMM of 16-bit factors take less time than the GEMM that decodes
    blocks, the weight is expanded, once for all GEMMs of the function that read it. It is rounded to
    16 bits then. The choice depends on shapes and target, not on the plan. One remark of the
    category `quantize` a weight.

    ```mlir
    %y = tenon.matmul %x, %w
        : (tensor<512x4096xf16>, tensor<4096x4096x!tenon.block<q4_k>>) -> tensor<512x4096xf16>
    ```
    becomes
    ```mlir
    %p = tenon.dequantize %w : (tensor<4096x4096x!tenon.block<q4_k>>) -> tensor<4096x4096xf16>
    %y = tenon.matmul %x, %p
        : (tensor<512x4096xf16>, tensor<4096x4096xf16>) -> tensor<512x4096xf16>
    ```
  }];
  let dependentDialects = ["::tenon::TenonDialect"];
}

def FuseKernelsPass : Pass<"tenon-fuse-kernels", "mlir::ModuleOp"> {
  let summary = "Wrap operations in kernel regions, one launch each";
  let description = [{
    The only pass that creates `tenon.kernel`; `tenon-split-kernels` cuts them. Under the plan
    `unfused` every computation has a kernel of its own. Under `fused`, `split` and `auto` rules
    (`passes/fusion/rules`) propose groups of operations, one legality analysis for all refuses
    some, and of the others `fused` and `split` take the cover with fewest kernels, `auto` the one
    that the cost model says is fastest on `tenon.target`. Each candidate gives one remark of the
    category `fusion`, passed, missed (legal, not taken) or failed (refused), with its reason.
    `tenon.reshape` stays outside: it is another view of the same bytes.

    Afterwards every result of a function is (a view of) the result of a kernel, and of a different
    one each, so that kernels write outputs directly; where that does not hold by itself a copy is
    added.

    ```mlir
    %y = tenon.rms_norm %x, %w eps 1.0e-5 : (tensor<1x64xf32>, tensor<64xf32>) -> tensor<1x64xf32>
    ```
    becomes
    ```mlir
    %y = tenon.kernel (%a = %x : tensor<1x64xf32>, %b = %w : tensor<64xf32>) -> tensor<1x64xf32> {
      %0 = tenon.rms_norm %a, %b eps 1.0e-5
          : (tensor<1x64xf32>, tensor<64xf32>) -> tensor<1x64xf32>
      tenon.yield %0 : tensor<1x64xf32>
    }
    ```
  }];
  let options = [
    Option<"plan", "plan", "std::string", /*default=*/"\"unfused\"",
           "unfused, split, fused or auto">,
    Option<"maxFusions", "max-fusions", "int64_t", /*default=*/"-1",
           "kernels of several operations that a function may have; -1: any number">,
    ListOption<"disabledRules", "disable-rules", "std::string", "rules that propose nothing">
  ];
  let dependentDialects = ["::tenon::TenonDialect"];
}

def SplitKernelsPass : Pass<"tenon-split-kernels", "mlir::ModuleOp"> {
  let summary = "Cut scheduled kernels into one an operation, each keeping its order";
  let description = [{
    The plan `split`, the reference that `fused` equals bit for bit: every reduction adds in the
    order that scheduling chose for the whole region. A call of a library is left whole: its order is
    its own.

    ```mlir
    %y = tenon.kernel (%a = %x : tensor<1x64xf32>, %b = %w : tensor<64xf32>) -> tensor<1x64xf32>
        schedule #tenon.schedule<"rms_norm", tiles = 1> {
      %0 = tenon.square %a : (tensor<1x64xf32>) -> tensor<1x64xf32>
      %1 = tenon.rms_norm %0, %b eps 1.0e-5 order <chunk = 0, lanes = 128, tree = halving>
          : (tensor<1x64xf32>, tensor<64xf32>) -> tensor<1x64xf32>
      tenon.yield %1 : tensor<1x64xf32>
    }
    ```
    becomes, for x86-64-v4,
    ```mlir
    %s = tenon.kernel (%a = %x : tensor<1x64xf32>) -> tensor<1x64xf32>
        schedule #tenon.schedule<"elementwise", tiles = 1, {columns_per_tile = 64 : i64,
                                 row_elements = 64 : i64, rows_per_tile = 1 : i64}> {
      %0 = tenon.square %a : (tensor<1x64xf32>) -> tensor<1x64xf32>
      tenon.yield %0 : tensor<1x64xf32>
    }
    %y = tenon.kernel (%a = %s : tensor<1x64xf32>, %b = %w : tensor<64xf32>) -> tensor<1x64xf32>
        schedule #tenon.schedule<"rms_norm", tiles = 1> {
      %0 = tenon.rms_norm %a, %b eps 1.0e-5 order <chunk = 0, lanes = 128, tree = halving>
          : (tensor<1x64xf32>, tensor<64xf32>) -> tensor<1x64xf32>
      tenon.yield %0 : tensor<1x64xf32>
    }
    ```
  }];
  let dependentDialects = ["::tenon::TenonDialect"];
}

def PlanMemoryPass : Pass<"tenon-plan-memory", "mlir::func::FuncOp"> {
  let summary = "Give every kernel result its place in the workspace";
  let description = [{
    Results that live at the same time get disjoint byte ranges of one workspace; see
    `memory/PlanMemory.cpp` for the algorithm. States are written in place and results of the
    function go to its outputs: neither takes workspace. Sets `buffers` on each `tenon.kernel` and
    `tenon.workspace` on the function.

    A function of one row also gets `tenon.shared_percent`, where the fit of the target has
    `one_row_shared_percent`: the most of a multiprocessor's memory that its kernels prefer as shared.

    ```mlir
    func.func @f(%x: tensor<1x64xf32>) -> tensor<1x64xf32> {
      %s = tenon.kernel (%a = %x : tensor<1x64xf32>) -> tensor<1x64xf32> schedule #square {…}
      %y = tenon.kernel (%a = %s : tensor<1x64xf32>) -> tensor<1x64xf32> schedule #norm {…}
      return %y : tensor<1x64xf32>
    }
    ```
    becomes
    ```mlir
    func.func @f(%x: tensor<1x64xf32>) -> tensor<1x64xf32>
        attributes {tenon.workspace = 256 : i64} {
      %s = tenon.kernel (%a = %x : tensor<1x64xf32>) -> tensor<1x64xf32> schedule #square
          buffers [#tenon.buffer<offset = 0, bytes = 256>] {…}
      %y = tenon.kernel (%a = %s : tensor<1x64xf32>) -> tensor<1x64xf32> schedule #norm
          buffers [unit] {…}
      return %y : tensor<1x64xf32>
    }
    ```
  }];
  let dependentDialects = ["::tenon::TenonDialect"];
}

def VerifyPlanPass : Pass<"tenon-verify-plan", "mlir::func::FuncOp"> {
  let summary = "Check a planned function, made by a pass or edited by hand";
  let description = [{
    Every kernel has a schedule and buffers; a result has a buffer exactly where it needs workspace;
    every buffer lies inside the workspace; no two buffers in use at the same time share a byte.
    Changes nothing. The functions of `tests/passes/verify-plan-invalid.mlir` are refused.
  }];
}

#endif // TENON_PASSES_PASSES_TD
