#ifndef TENON_IR_OPS_ELEMENTWISEOPS_TD
#define TENON_IR_OPS_ELEMENTWISEOPS_TD

include "ir/ops/OpBase.td"

def Tenon_AddOp : Tenon_NumberOp<"add", "lhs + rhs", Tenon_NumberTensor, [Commutative]>;
def Tenon_SubOp : Tenon_NumberOp<"sub", "lhs − rhs", Tenon_NumberTensor>;
def Tenon_MulOp
    : Tenon_NumberOp<"mul", "lhs · rhs, of bools both", Tenon_PlainTensor, [Commutative]>;
def Tenon_DivOp : Tenon_BinaryOp<"div", "lhs / rhs">;
def Tenon_MaxOp
    : Tenon_NumberOp<"max", "the larger of lhs and rhs, of bools either; NaN if either is",
                     Tenon_PlainTensor, [Commutative]>;
def Tenon_MinOp
    : Tenon_NumberOp<"min", "the smaller of lhs and rhs, of bools both; NaN if either is",
                     Tenon_PlainTensor, [Commutative]>;

def Tenon_ModOp
    : Tenon_NumberOp<"mod", "lhs − ⌊lhs / rhs⌋ · rhs, of rhs's sign; of integers 0 where rhs is 0",
                     Tenon_NumberTensor>;
def Tenon_PowOp : Tenon_BinaryOp<"pow", "lhs to the power of rhs, as C's pow">;

def Tenon_NegOp : Tenon_UnaryOp<"neg", "−x">;
def Tenon_AbsOp : Tenon_UnaryOp<"abs", "|x|">;
def Tenon_SignOp : Tenon_UnaryOp<"sign", "1, −1, or where x is zero or NaN x">;
def Tenon_FloorOp : Tenon_UnaryOp<"floor", "the largest integer that is not above x">;
def Tenon_CeilOp : Tenon_UnaryOp<"ceil", "the smallest integer that is not below x">;
def Tenon_RoundOp : Tenon_UnaryOp<"round", "the integer nearest to x, of two the even one">;
def Tenon_TruncOp : Tenon_UnaryOp<"trunc", "x without its fraction">;
def Tenon_SquareOp : Tenon_UnaryOp<"square", "x²">;
def Tenon_SqrtOp : Tenon_UnaryOp<"sqrt", "√x">;
def Tenon_RsqrtOp : Tenon_UnaryOp<"rsqrt", "1 / √x">;
def Tenon_ExpOp : Tenon_UnaryOp<"exp", "eˣ">;
def Tenon_LogOp : Tenon_UnaryOp<"log", "ln x">;
def Tenon_SinOp : Tenon_UnaryOp<"sin", "sin x">;
def Tenon_CosOp : Tenon_UnaryOp<"cos", "cos x">;
def Tenon_TanhOp : Tenon_UnaryOp<"tanh", "tanh x">;
def Tenon_ErfOp : Tenon_UnaryOp<"erf", "erf x">;
def Tenon_SigmoidOp : Tenon_UnaryOp<"sigmoid", "1 / (1 + e⁻ˣ)">;
def Tenon_SiluOp : Tenon_UnaryOp<"silu", "x / (1 + e⁻ˣ)">;
def Tenon_ReluOp : Tenon_UnaryOp<"relu", "max(x, 0)">;
def Tenon_GeluOp : Tenon_UnaryOp<"gelu", "x · ½(1 + erf(x / √2))">;
def Tenon_GeluTanhOp
    : Tenon_UnaryOp<"gelu_tanh", "x · ½(1 + tanh(√(2/π) · (x + 0.044715 x³)))">;

def Tenon_CastOp : Tenon_ElementwiseOp<"cast"> {
  let summary = "x as a value of the result's element type";
  let description = [{
    To floats: rounded. Of a float to i32 and i64: without its fraction, the nearest end of the range
    where it lies outside, NaN 0. Of an integer to a narrower one: its lower bits. To bool: whether it
    is not 0, NaN too. A bool is 0 or 1.
    ```mlir
    %i = tenon.cast %x : (tensor<4x8xf32>) -> tensor<4x8xi64>
    ```
  }];
  let arguments = (ins Tenon_PlainTensor:$input);
  let results = (outs Tenon_PlainTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Tenon_ScaleOp : Tenon_ElementwiseOp<"scale"> {
  let summary = "x · factor, element by element";
  let description = [{
    `factor` is rounded to f32 before it multiplies.
  }];
  let arguments = (ins Tenon_FloatTensor:$input, F64Attr:$factor);
  let results = (outs Tenon_FloatTensor:$result);
  let assemblyFormat = "$input `by` $factor attr-dict `:` functional-type(operands, results)";
}

def Tenon_ClampOp : Tenon_ElementwiseOp<"clamp"> {
  let summary = "min(max(x, low), high), element by element; NaN stays";
  let description = [{
    `low` and `high` are rounded to f32 first; they may be infinite. `low` is at most `high`.
  }];
  let arguments = (ins Tenon_FloatTensor:$input, F64Attr:$low, F64Attr:$high);
  let results = (outs Tenon_FloatTensor:$result);
  let assemblyFormat = [{
    $input `from` $low `to` $high attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Tenon_CompareOp : Tenon_ElementwiseOp<"compare"> {
  let summary = "1 where lhs compares to rhs as the predicate says, else 0, with broadcasting";
  let description = [{
    Of floats, or of integers of one type. The result is of floats, or of bools.
    NaN compares to nothing: with it `ne` is 1 and all others are 0.
    ```mlir
    %m = tenon.compare lt %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
    ```
  }];
  let arguments = (ins Tenon_Predicate:$predicate, Tenon_PlainTensor:$lhs, Tenon_PlainTensor:$rhs);
  let results = (outs Tenon_TruthTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $predicate $lhs `,` $rhs attr-dict `:` functional-type(operands, results)
  }];
}

def Tenon_SelectOp : Tenon_ElementwiseOp<"select"> {
  let summary = "lhs where the condition is not 0, else rhs, with broadcasting";
  let description = [{
    The condition is of floats or of bools; what it chooses from is of floats, or of one integer
    type, the result's. The element that is not taken may be anything, NaN, too. A condition of NaN
    is not 0.
    ```mlir
    %y = tenon.select %m, %x, %low
        : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Tenon_TruthTensor:$condition, Tenon_PlainTensor:$lhs,
                       Tenon_PlainTensor:$rhs);
  let results = (outs Tenon_PlainTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $condition `,` $lhs `,` $rhs attr-dict `:` functional-type(operands, results)
  }];
}

def Tenon_GluOp : Tenon_ElementwiseOp<"glu"> {
  let summary = "activation(gate) · up, element by element";
  let description = [{
    The gated linear unit (Shazeer 2020, arXiv 2002.05202): SwiGLU with `silu`, GeGLU with `gelu`.
    The activation is not rounded before the product.
    ```mlir
    %h = tenon.glu silu %gate, %up : (tensor<1x172xf32>, tensor<1x172xf32>) -> tensor<1x172xf32>
    ```
  }];
  let arguments = (ins Tenon_Activation:$activation, Tenon_FloatTensor:$gate, Tenon_FloatTensor:$up);
  let results = (outs Tenon_FloatTensor:$result);
  let assemblyFormat = [{
    $activation $gate `,` $up attr-dict `:` functional-type(operands, results)
  }];
}

#endif // TENON_IR_OPS_ELEMENTWISEOPS_TD
