// RUN: tenon-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expects a chunk of zero or more elements, but got -1}}
func.func private @f() attributes {a = #tenon.order<chunk = -1, lanes = 1, tree = ascending>}

// -----

// expected-error @+1 {{expects 1 to 1024 lanes, but got 0}}
func.func private @f() attributes {a = #tenon.order<chunk = 0, lanes = 0, tree = ascending>}

// -----

// expected-error @+1 {{expects 1 to 1024 lanes, but got 1025}}
func.func private @f() attributes {a = #tenon.order<chunk = 0, lanes = 1025, tree = ascending>}

// -----

// expected-error @+1 {{expects a power of two of lanes for a halving tree, but got 3}}
func.func private @f() attributes {a = #tenon.order<chunk = 0, lanes = 3, tree = halving>}

// -----

// expected-error @+1 {{expects the name of an emitter, but got an empty string}}
func.func private @f() attributes {a = #tenon.schedule<"", tiles = 1>}

// -----

// expected-error @+1 {{expects at least one tile, but got 0}}
func.func private @f() attributes {a = #tenon.schedule<"x", tiles = 0>}

// -----

// expected-error @+1 {{expects an i64 of at least 1 as schedule parameter 'rows', but got 0 : i64}}
func.func private @f() attributes {a = #tenon.schedule<"x", tiles = 1, {rows = 0 : i64}>}

// -----

// expected-error @+1 {{expects an i64 of at least 1 as schedule parameter 'rows', but got 1 : i32}}
func.func private @f() attributes {a = #tenon.schedule<"x", tiles = 1, {rows = 1 : i32}>}

// -----

// expected-error @+1 {{expects a byte range inside 63 bits, but got offset -1 and 4 bytes}}
func.func private @f() attributes {a = #tenon.buffer<offset = -1, bytes = 4>}

// -----

// expected-error @+1 {{expects a byte range inside 63 bits, but got offset 1 and 9223372036854775807 bytes}}
func.func private @f() attributes {a = #tenon.range<@m, offset = 1, bytes = 9223372036854775807>}

// -----

// expected-error @+1 {{expects a positive number of rows, but got 0}}
func.func private @f() attributes {a = #tenon.entry<decode, rows = 0>}

// -----

// expected-error @+1 {{expects a positive number of rows, but got -1}}
func.func private @f() attributes {a = #tenon.entry<other, rows = -1>}

// -----

// expected-error @+1 {{expects positive vocabulary, context and sequences, but got 1, 0 and 1}}
func.func private @f() attributes {a = #tenon.model<architecture = "a", name = "n", file = @m, vocabulary = 1, contextLength = 0, sequences = 1>}

// -----

// expected-error @+1 {{expects strings as features, but got 3 : i64}}
func.func private @f() attributes {a = #tenon.target<"t", cpu, features = [3], {}>}

// -----

// expected-error @+1 {{expects an i64 of at least 0 as target property 'l2_bytes', but got -1 : i64}}
func.func private @f() attributes {a = #tenon.target<"t", cpu, features = [], {l2_bytes = -1 : i64}>}

// -----

// expected-error @+1 {{'func.func' op does not take the attribute 'tenon.phase'}}
func.func private @f() attributes {tenon.phase = #tenon.phase<input>}

// -----

// expected-error @+1 {{'builtin.module' op expects a #tenon.phase as 'tenon.phase', but got "input"}}
module attributes {tenon.phase = "input"} {}

// -----

// expected-error @+1 {{'builtin.module' op expects a #tenon.target as 'tenon.target', but got 3 : i64}}
module attributes {tenon.target = 3} {}

// -----

// expected-error @+1 {{'builtin.module' op expects a #tenon.model as 'tenon.model', but got unit}}
module attributes {tenon.model} {}

// -----

// expected-error @+1 {{'builtin.module' op does not take the attribute 'tenon.entry'}}
module attributes {tenon.entry = #tenon.entry<other, rows = 0>} {}

// -----

// expected-error @+1 {{'func.func' op expects a #tenon.entry as 'tenon.entry', but got unit}}
func.func private @f() attributes {tenon.entry}

// -----

// expected-error @+1 {{'func.func' op expects an integer as 'tenon.workspace', but got unit}}
func.func private @f() attributes {tenon.workspace}

// -----

// expected-error @+1 {{'builtin.module' op does not take the attribute 'tenon.shared_percent'}}
module attributes {tenon.shared_percent = 75 : i64} {}

// -----

// expected-error @+1 {{'func.func' op expects an integer as 'tenon.shared_percent', but got unit}}
func.func private @f() attributes {tenon.shared_percent}

// -----

// expected-error @+1 {{'builtin.module' op has an unknown attribute of the dialect: 'tenon.phases'}}
module attributes {tenon.phases} {}

// -----

// expected-error @+1 {{'func.func' op expects a string as 'tenon.name', but got unit}}
func.func private @f(tensor<1xf32> {tenon.name})

// -----

// expected-error @+1 {{'func.func' op has an argument or result with the attribute 'tenon.names', which is none of the dialect's}}
func.func private @f() -> (tensor<1xf32> {tenon.names = "x"})

// -----

// expected-error @+1 {{'func.func' op expects a #tenon.port as 'tenon.role', but got "ids"}}
func.func private @f(tensor<1xi32> {tenon.role = "ids"})

// -----

// expected-error @+1 {{'func.func' op expects the role logits on a result}}
func.func private @f(tensor<1x4xf32> {tenon.role = #tenon.port<logits>})

// -----

// expected-error @+1 {{'func.func' op expects the role draft_ids on a result}}
func.func private @f(tensor<2xi32> {tenon.role = #tenon.port<draft_ids>})

// -----

// expected-error @+1 {{'func.func' op expects the role positions on an argument}}
func.func private @f() -> (tensor<1xi32> {tenon.role = #tenon.port<positions>})

// -----

// expected-error @+1 {{'func.func' op expects a tensor of i32 with the role ids, but got 'tensor<1xf32>'}}
func.func private @f(tensor<1xf32> {tenon.role = #tenon.port<ids>})

// -----

// expected-error @+1 {{'func.func' op expects a tensor of floats with the role logits, but got 'tensor<1x4xi32>'}}
func.func private @f() -> (tensor<1x4xi32> {tenon.role = #tenon.port<logits>})

// -----

// expected-error @+1 {{expects a chunk of at most 1099511627776 elements, but got 1099511627777}}
func.func private @f() attributes {a = #tenon.order<chunk = 1099511627777, lanes = 1, tree = ascending>}

// -----

// expected-error @+1 {{expects at most 1099511627776 tiles, but got 1099511627777}}
func.func private @f() attributes {a = #tenon.schedule<"x", tiles = 1099511627777>}

// -----

// expected-error @+1 {{expects an i64 of at most 1099511627776 as schedule parameter 'rows', but got 9223372036854775807 : i64}}
func.func private @f() attributes {a = #tenon.schedule<"x", tiles = 1, {rows = 9223372036854775807 : i64}>}
