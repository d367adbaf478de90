#ifndef TENON_PASSES_SIMPLIFY_SIMPLIFY_TD
#define TENON_PASSES_SIMPLIFY_SIMPLIFY_TD

include "ir/TenonOps.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/PatternBase.td"

def SameType : Constraint<CPred<"$0.getType() == $1.getType()">, "the same type">;

// reshape(reshape(x)) = reshape(x)
def ReshapeOfReshape : Pat<(Tenon_ReshapeOp (Tenon_ReshapeOp $x, $inner), $outer),
                           (Tenon_ReshapeOp $x, $outer)>;

// x · sigmoid(x) = silu(x), whichever side
def RaiseSiluRight : Pat<(Tenon_MulOp:$result $x, (Tenon_SigmoidOp:$gate $x)),
                         (Tenon_SiluOp $x), [(SameType $x, $result), (SameType $gate, $result)]>;
def RaiseSiluLeft : Pat<(Tenon_MulOp:$result (Tenon_SigmoidOp:$gate $x), $x),
                        (Tenon_SiluOp $x), [(SameType $x, $result), (SameType $gate, $result)]>;

def HasOneUse : Constraint<CPred<"$0.hasOneUse()">, "one use">;

// activation(gate) · up = glu, where no shape broadcasts
class RaiseGlu<Op activation, string name>
    : Pat<(Tenon_MulOp:$result (activation:$gate $x), $up),
          (Tenon_GluOp ConstantEnumCase<Tenon_Activation, name>, $x, $up),
          [(SameType $gate, $result), (SameType $up, $result), (SameType $x, $result),
           (HasOneUse $gate)]>;
def RaiseSwiGlu : RaiseGlu<Tenon_SiluOp, "silu">;
def RaiseGeGlu : RaiseGlu<Tenon_GeluOp, "gelu">;
def RaiseGeGluTanh : RaiseGlu<Tenon_GeluTanhOp, "gelu_tanh">;
def RaiseReGlu : RaiseGlu<Tenon_ReluOp, "relu">;

#endif // TENON_PASSES_SIMPLIFY_SIMPLIFY_TD
