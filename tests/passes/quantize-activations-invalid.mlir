// RUN: tenon-opt %s --split-input-file --verify-diagnostics --tenon-quantize-activations

// expected-error @+1 {{expects a CPU target for quantised activations, 'tenon.target'}}
module attributes {tenon.quantize_activations} {
}

// -----

// expected-error @+1 {{expects a unit attribute as 'tenon.quantize_activations', but got 1 : i64}}
module attributes {tenon.quantize_activations = 1} {
}
