// RUN: tenon-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tenon-schedule-kernels)'

// Regions that no rule schedules: what each says.

// Heads: norm, rope, Hadamard transform and cache write, each once and in that order.
module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x8x64xf16>, %xb: tensor<1xi32>, %xc: tensor<32xf32>, %xd: tensor<32xf32>) -> (tensor<1x8x64xf16>) {
    // expected-error @+1 {{the emitter of heads cannot hold add}}
    %0 = tenon.kernel (%a = %xa : tensor<1x8x64xf16>, %b = %xb : tensor<1xi32>, %c = %xc : tensor<32xf32>, %d = %xd : tensor<32xf32>)
        -> tensor<1x8x64xf16> {
      %i = tenon.add %c, %d : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
      %r = tenon.rope halves %a, %b, %i : (tensor<1x8x64xf16>, tensor<1xi32>, tensor<32xf32>) -> tensor<1x8x64xf16>
      tenon.yield %r : tensor<1x8x64xf16>
    }
    return %0 : tensor<1x8x64xf16>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x8x64xf16>, %xb: tensor<1xi32>, %xc: tensor<32xf32>) -> (tensor<1x8x64xf16>) {
    // expected-error @+1 {{the emitter of heads rotates a head once, before it is written}}
    %0 = tenon.kernel (%a = %xa : tensor<1x8x64xf16>, %b = %xb : tensor<1xi32>, %c = %xc : tensor<32xf32>)
        -> tensor<1x8x64xf16> {
      %r = tenon.rope halves %a, %b, %c : (tensor<1x8x64xf16>, tensor<1xi32>, tensor<32xf32>) -> tensor<1x8x64xf16>
      %n = tenon.rope halves %r, %b, %c : (tensor<1x8x64xf16>, tensor<1xi32>, tensor<32xf32>) -> tensor<1x8x64xf16>
      tenon.yield %n : tensor<1x8x64xf16>
    }
    return %0 : tensor<1x8x64xf16>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x8x64xf16>) -> (tensor<1x8x64xf16>) {
    // expected-error @+1 {{the emitter of heads transforms a head once, before it is written}}
    %0 = tenon.kernel (%a = %xa : tensor<1x8x64xf16>) -> tensor<1x8x64xf16> {
      %r = tenon.hadamard %a : (tensor<1x8x64xf16>) -> tensor<1x8x64xf16>
      %n = tenon.hadamard %r : (tensor<1x8x64xf16>) -> tensor<1x8x64xf16>
      tenon.yield %n : tensor<1x8x64xf16>
    }
    return %0 : tensor<1x8x64xf16>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x8x64xf16>, %xb: tensor<1xi32>, %xc: tensor<32xf32>, %xd: tensor<64xf16>) -> (tensor<1x8x64xf16>) {
    // expected-error @+1 {{the emitter of heads normalises a head once, first of all}}
    %0 = tenon.kernel (%a = %xa : tensor<1x8x64xf16>, %b = %xb : tensor<1xi32>, %c = %xc : tensor<32xf32>, %d = %xd : tensor<64xf16>)
        -> tensor<1x8x64xf16> {
      %r = tenon.rope halves %a, %b, %c : (tensor<1x8x64xf16>, tensor<1xi32>, tensor<32xf32>) -> tensor<1x8x64xf16>
      %n = tenon.rms_norm %r, %d eps 1.0e-5 : (tensor<1x8x64xf16>, tensor<64xf16>) -> tensor<1x8x64xf16>
      tenon.yield %n : tensor<1x8x64xf16>
    }
    return %0 : tensor<1x8x64xf16>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x8x64xf16>, %xb: tensor<1xi32>, %xc: tensor<32xf32>, %xd: tensor<1xi32>, %xe: !tenon.state<1x16x8x64xf16>, %xf: !tenon.state<1x16x8x64xf16>) -> () {
    // expected-error @+1 {{the emitter of heads writes a head once}}
    %0:2 = tenon.kernel (%a = %xa : tensor<1x8x64xf16>, %b = %xb : tensor<1xi32>, %c = %xc : tensor<32xf32>, %d = %xd : tensor<1xi32>, %e = %xe : !tenon.state<1x16x8x64xf16>, %f = %xf : !tenon.state<1x16x8x64xf16>)
        -> (!tenon.state<1x16x8x64xf16>, !tenon.state<1x16x8x64xf16>) {
      %r = tenon.rope halves %a, %b, %c : (tensor<1x8x64xf16>, tensor<1xi32>, tensor<32xf32>) -> tensor<1x8x64xf16>
      %k = tenon.kv_write %r, %d, %b into %e : (tensor<1x8x64xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x16x8x64xf16>) -> !tenon.state<1x16x8x64xf16>
      %v = tenon.kv_write %r, %d, %b into %f : (tensor<1x8x64xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x16x8x64xf16>) -> !tenon.state<1x16x8x64xf16>
      tenon.yield %k, %v : !tenon.state<1x16x8x64xf16>, !tenon.state<1x16x8x64xf16>
    }
    return 
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x8x64xf16>, %xb: tensor<1xi32>, %xc: tensor<32xf32>, %xd: tensor<1xi32>, %xe: !tenon.state<1x16x8x64xf16, ring<4>>) -> () {
    // expected-error @+1 {{the emitter of heads writes to caches in the layout dense or paged}}
    %0 = tenon.kernel (%a = %xa : tensor<1x8x64xf16>, %b = %xb : tensor<1xi32>, %c = %xc : tensor<32xf32>, %d = %xd : tensor<1xi32>, %e = %xe : !tenon.state<1x16x8x64xf16, ring<4>>)
        -> !tenon.state<1x16x8x64xf16, ring<4>> {
      %r = tenon.rope halves %a, %b, %c : (tensor<1x8x64xf16>, tensor<1xi32>, tensor<32xf32>) -> tensor<1x8x64xf16>
      %k = tenon.kv_write %r, %d, %b into %e : (tensor<1x8x64xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x16x8x64xf16, ring<4>>) -> !tenon.state<1x16x8x64xf16, ring<4>>
      tenon.yield %k : !tenon.state<1x16x8x64xf16, ring<4>>
    }
    return 
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x512xf16>, %xb: tensor<1xi32>, %xc: tensor<32xf32>) -> (tensor<1x8x64xf16>) {
    // expected-error @+1 {{the emitter of heads cannot hold reshape}}
    %0 = tenon.kernel (%a = %xa : tensor<1x512xf16>, %b = %xb : tensor<1xi32>, %c = %xc : tensor<32xf32>)
        -> tensor<1x8x64xf16> {
      %v = tenon.reshape %a to [1, 8, 64] : (tensor<1x512xf16>) -> tensor<1x8x64xf16>
      %r = tenon.rope halves %v, %b, %c : (tensor<1x8x64xf16>, tensor<1xi32>, tensor<32xf32>) -> tensor<1x8x64xf16>
      tenon.yield %r : tensor<1x8x64xf16>
    }
    return %0 : tensor<1x8x64xf16>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x8x64xf16>, %xb: tensor<1xi32>, %xc: tensor<32xf32>) -> (tensor<1x8x64xf16>, tensor<1x8x64xf16>) {
    // expected-error @+1 {{the emitter of heads rotates a head once, before it is written}}
    %0:2 = tenon.kernel (%a = %xa : tensor<1x8x64xf16>, %b = %xb : tensor<1xi32>, %c = %xc : tensor<32xf32>)
        -> (tensor<1x8x64xf16>, tensor<1x8x64xf16>) {
      %r = tenon.rope halves %a, %b, %c : (tensor<1x8x64xf16>, tensor<1xi32>, tensor<32xf32>) -> tensor<1x8x64xf16>
      %n = tenon.rope halves %r, %b, %c : (tensor<1x8x64xf16>, tensor<1xi32>, tensor<32xf32>) -> tensor<1x8x64xf16>
      tenon.yield %r, %n : tensor<1x8x64xf16>, tensor<1x8x64xf16>
    }
    return %0#0, %0#1 : tensor<1x8x64xf16>, tensor<1x8x64xf16>
  }
}

// -----

// Attention with what makes its queries, keys and values.
module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x8x64xf16>, %xb: !tenon.state<1x16x8x64xf16>, %xc: !tenon.state<1x16x8x64xf16>, %xd: tensor<1xi32>, %xe: tensor<1xi32>) -> (tensor<1x8x64xf16>) {
    // expected-error @+1 {{the emitter of attention holds nothing after attention, but add}}
    %0 = tenon.kernel (%a = %xa : tensor<1x8x64xf16>, %b = %xb : !tenon.state<1x16x8x64xf16>, %c = %xc : !tenon.state<1x16x8x64xf16>, %d = %xd : tensor<1xi32>, %e = %xe : tensor<1xi32>)
        -> tensor<1x8x64xf16> {
      %r = tenon.attention %a, %b, %c, %d, %e scale 0.125 : (tensor<1x8x64xf16>, !tenon.state<1x16x8x64xf16>, !tenon.state<1x16x8x64xf16>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x8x64xf16>
      %n = tenon.add %r, %a : (tensor<1x8x64xf16>, tensor<1x8x64xf16>) -> tensor<1x8x64xf16>
      tenon.yield %n : tensor<1x8x64xf16>
    }
    return %0 : tensor<1x8x64xf16>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x8x64xf16>, %xb: !tenon.state<1x16x8x64xf16>, %xc: !tenon.state<1x16x8x64xf16>, %xd: tensor<1xi32>, %xe: tensor<1xi32>, %xf: tensor<32xf32>, %xg: tensor<1x8x64xf16>) -> (tensor<1x8x64xf16>) {
    // expected-error @+1 {{the emitter of attention reads the end of each chain once, as queries, keys or values}}
    %0 = tenon.kernel (%a = %xa : tensor<1x8x64xf16>, %b = %xb : !tenon.state<1x16x8x64xf16>, %c = %xc : !tenon.state<1x16x8x64xf16>, %d = %xd : tensor<1xi32>, %e = %xe : tensor<1xi32>, %f = %xf : tensor<32xf32>, %g = %xg : tensor<1x8x64xf16>)
        -> tensor<1x8x64xf16> {
      %q = tenon.rope halves %g, %e, %f : (tensor<1x8x64xf16>, tensor<1xi32>, tensor<32xf32>) -> tensor<1x8x64xf16>
      %r = tenon.attention %a, %b, %c, %d, %e scale 0.125 : (tensor<1x8x64xf16>, !tenon.state<1x16x8x64xf16>, !tenon.state<1x16x8x64xf16>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x8x64xf16>
      tenon.yield %r : tensor<1x8x64xf16>
    }
    return %0 : tensor<1x8x64xf16>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x8x64xf16>, %xb: !tenon.state<1x16x8x64xf16>, %xc: !tenon.state<1x16x8x64xf16>, %xd: tensor<1xi32>, %xe: tensor<1xi32>) -> (tensor<1x8x64xf16>) {
    // expected-error @+1 {{the emitter of attention takes no head through a Hadamard transform}}
    %0 = tenon.kernel (%a = %xa : tensor<1x8x64xf16>, %b = %xb : !tenon.state<1x16x8x64xf16>, %c = %xc : !tenon.state<1x16x8x64xf16>, %d = %xd : tensor<1xi32>, %e = %xe : tensor<1xi32>)
        -> tensor<1x8x64xf16> {
      %q = tenon.hadamard %a : (tensor<1x8x64xf16>) -> tensor<1x8x64xf16>
      %r = tenon.attention %q, %b, %c, %d, %e scale 0.125 : (tensor<1x8x64xf16>, !tenon.state<1x16x8x64xf16>, !tenon.state<1x16x8x64xf16>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x8x64xf16>
      tenon.yield %r : tensor<1x8x64xf16>
    }
    return %0 : tensor<1x8x64xf16>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x8x64xf16>, %xb: !tenon.state<1x16x8x64xf16>, %xc: !tenon.state<1x16x8x64xf16>, %xd: tensor<1xi32>, %xe: tensor<1xi32>, %xf: tensor<32xf32>) -> (tensor<1x8x64xf16>, tensor<1x8x64xf16>) {
    // expected-error @+1 {{the emitter of attention stores what attention makes, and no other tensor}}
    %0:2 = tenon.kernel (%a = %xa : tensor<1x8x64xf16>, %b = %xb : !tenon.state<1x16x8x64xf16>, %c = %xc : !tenon.state<1x16x8x64xf16>, %d = %xd : tensor<1xi32>, %e = %xe : tensor<1xi32>, %f = %xf : tensor<32xf32>)
        -> (tensor<1x8x64xf16>, tensor<1x8x64xf16>) {
      %q = tenon.rope halves %a, %e, %f : (tensor<1x8x64xf16>, tensor<1xi32>, tensor<32xf32>) -> tensor<1x8x64xf16>
      %r = tenon.attention %q, %b, %c, %d, %e scale 0.125 : (tensor<1x8x64xf16>, !tenon.state<1x16x8x64xf16>, !tenon.state<1x16x8x64xf16>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x8x64xf16>
      tenon.yield %r, %q : tensor<1x8x64xf16>, tensor<1x8x64xf16>
    }
    return %0#0, %0#1 : tensor<1x8x64xf16>, tensor<1x8x64xf16>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x8x64xf16>, %xb: !tenon.state<1x16x8x64xf16>, %xc: tensor<1xi32>, %xd: tensor<1xi32>) -> (tensor<1x8x64xf16>) {
    // expected-error @+1 {{the emitter of attention writes both keys and values, or neither}}
    %0:2 = tenon.kernel (%a = %xa : tensor<1x8x64xf16>, %b = %xb : !tenon.state<1x16x8x64xf16>, %c = %xc : tensor<1xi32>, %d = %xd : tensor<1xi32>)
        -> (tensor<1x8x64xf16>, !tenon.state<1x16x8x64xf16>) {
      %k = tenon.kv_write %a, %c, %d into %b : (tensor<1x8x64xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x16x8x64xf16>) -> !tenon.state<1x16x8x64xf16>
      %r = tenon.attention %a, %k, %k, %c, %d scale 0.125 : (tensor<1x8x64xf16>, !tenon.state<1x16x8x64xf16>, !tenon.state<1x16x8x64xf16>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x8x64xf16>
      tenon.yield %r, %k : tensor<1x8x64xf16>, !tenon.state<1x16x8x64xf16>
    }
    return %0#0 : tensor<1x8x64xf16>
  }
}

// -----

// Groups of products.
module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x512xf16>, %xb: tensor<1024x512xf16>, %xc: tensor<1x512xf32>, %xd: tensor<1024x512xf32>) -> (tensor<1x1024xf16>, tensor<1x1024xf32>) {
    // expected-error @+1 {{the emitter of several products takes inputs of one element type and weights of one}}
    %0:2 = tenon.kernel (%a = %xa : tensor<1x512xf16>, %b = %xb : tensor<1024x512xf16>, %c = %xc : tensor<1x512xf32>, %d = %xd : tensor<1024x512xf32>)
        -> (tensor<1x1024xf16>, tensor<1x1024xf32>) {
      %r = tenon.matmul %a, %b : (tensor<1x512xf16>, tensor<1024x512xf16>) -> tensor<1x1024xf16>
      %n = tenon.matmul %c, %d : (tensor<1x512xf32>, tensor<1024x512xf32>) -> tensor<1x1024xf32>
      tenon.yield %r, %n : tensor<1x1024xf16>, tensor<1x1024xf32>
    }
    return %0#0, %0#1 : tensor<1x1024xf16>, tensor<1x1024xf32>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x512xf16>, %xb: tensor<1024x512xf16>, %xc: tensor<1024x512xf16>) -> (tensor<1x1024xf16>, tensor<1x1024xf16>) {
    // expected-error @+1 {{the emitter of several products reads each weight [N, K] from memory}}
    %0:2 = tenon.kernel (%a = %xa : tensor<1x512xf16>, %b = %xb : tensor<1024x512xf16>, %c = %xc : tensor<1024x512xf16>)
        -> (tensor<1x1024xf16>, tensor<1x1024xf16>) {
      %w = tenon.add %b, %c : (tensor<1024x512xf16>, tensor<1024x512xf16>) -> tensor<1024x512xf16>
      %r = tenon.matmul %a, %w : (tensor<1x512xf16>, tensor<1024x512xf16>) -> tensor<1x1024xf16>
      %n = tenon.matmul %a, %b : (tensor<1x512xf16>, tensor<1024x512xf16>) -> tensor<1x1024xf16>
      tenon.yield %r, %n : tensor<1x1024xf16>, tensor<1x1024xf16>
    }
    return %0#0, %0#1 : tensor<1x1024xf16>, tensor<1x1024xf16>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_80"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x512xf16>, %xb: tensor<1024x512xf16>, %xc: tensor<1024x512xf16>) -> (tensor<1x1024xf16>, tensor<1x1024xf16>) {
    // expected-error @+1 {{bulk copies begin with sm_90}}
    %0:2 = tenon.kernel (%a = %xa : tensor<1x512xf16>, %b = %xb : tensor<1024x512xf16>, %c = %xc : tensor<1024x512xf16>)
        -> (tensor<1x1024xf16>, tensor<1x1024xf16>) {
      %r = tenon.matmul %a, %b : (tensor<1x512xf16>, tensor<1024x512xf16>) -> tensor<1x1024xf16>
      %n = tenon.matmul %a, %c : (tensor<1x512xf16>, tensor<1024x512xf16>) -> tensor<1x1024xf16>
      tenon.yield %r, %n : tensor<1x1024xf16>, tensor<1x1024xf16>
    }
    return %0#0, %0#1 : tensor<1x1024xf16>, tensor<1x1024xf16>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x508xf16>, %xb: tensor<1024x508xf16>, %xc: tensor<1024x508xf16>) -> (tensor<1x1024xf16>, tensor<1x1024xf16>) {
    // expected-error @+1 {{bulk copies take rows of weights of multiples of 16 bytes}}
    %0:2 = tenon.kernel (%a = %xa : tensor<1x508xf16>, %b = %xb : tensor<1024x508xf16>, %c = %xc : tensor<1024x508xf16>)
        -> (tensor<1x1024xf16>, tensor<1x1024xf16>) {
      %r = tenon.matmul %a, %b : (tensor<1x508xf16>, tensor<1024x508xf16>) -> tensor<1x1024xf16>
      %n = tenon.matmul %a, %c : (tensor<1x508xf16>, tensor<1024x508xf16>) -> tensor<1x1024xf16>
      tenon.yield %r, %n : tensor<1x1024xf16>, tensor<1x1024xf16>
    }
    return %0#0, %0#1 : tensor<1x1024xf16>, tensor<1x1024xf16>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<32x512xf16>, %xb: tensor<1024x512xf16>, %xc: tensor<1024x512xf16>) -> (tensor<32x1024xf16>, tensor<32x1024xf16>) {
    // expected-error @+1 {{narrow_gemm takes 2 to 16 rows, but the region has 32}}
    %0:2 = tenon.kernel (%a = %xa : tensor<32x512xf16>, %b = %xb : tensor<1024x512xf16>, %c = %xc : tensor<1024x512xf16>)
        -> (tensor<32x1024xf16>, tensor<32x1024xf16>) {
      %r = tenon.matmul %a, %b : (tensor<32x512xf16>, tensor<1024x512xf16>) -> tensor<32x1024xf16>
      %n = tenon.matmul %a, %c : (tensor<32x512xf16>, tensor<1024x512xf16>) -> tensor<32x1024xf16>
      tenon.yield %r, %n : tensor<32x1024xf16>, tensor<32x1024xf16>
    }
    return %0#0, %0#1 : tensor<32x1024xf16>, tensor<32x1024xf16>
  }
}

// -----

// Elementwise chains.
module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<4x64xf32>, %xb: tensor<64xf32>) -> (tensor<4x64xf32>, tensor<64xf32>) {
    // expected-error @+1 {{the emitter of elementwise chains stores results of shape [4, 64], not [64]}}
    %0:2 = tenon.kernel (%a = %xa : tensor<4x64xf32>, %b = %xb : tensor<64xf32>)
        -> (tensor<4x64xf32>, tensor<64xf32>) {
      %r = tenon.add %a, %b : (tensor<4x64xf32>, tensor<64xf32>) -> tensor<4x64xf32>
      %n = tenon.mul %b, %b : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
      tenon.yield %r, %n : tensor<4x64xf32>, tensor<64xf32>
    }
    return %0#0, %0#1 : tensor<4x64xf32>, tensor<64xf32>
  }
}

// -----

// Sequences of tiles on a CPU.
module attributes {tenon.target = #tenon.target<"t", cpu, features = [], {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 1048576 : i64}>} {
  func.func @f(%xa: tensor<4x64xf32>) -> (tensor<4x64xf32>) {
    // expected-error @+1 {{a sequence has two operations or more}}
    %0 = tenon.kernel (%a = %xa : tensor<4x64xf32>)
        -> tensor<4x64xf32> {
      %v = tenon.reshape %a to [4, 64] : (tensor<4x64xf32>) -> tensor<4x64xf32>
      %r = tenon.softmax %v : (tensor<4x64xf32>) -> tensor<4x64xf32>
      tenon.yield %r : tensor<4x64xf32>
    }
    return %0 : tensor<4x64xf32>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cpu, features = [], {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 1048576 : i64}>} {
  func.func @f(%xa: tensor<4x64xf32>, %xb: tensor<64x64xf32>, %xc: tensor<64x64xf32>) -> (tensor<4x64xf32>) {
    // expected-error @+1 {{a matmul needs whole rows of another one, which other tiles compute}}
    %0 = tenon.kernel (%a = %xa : tensor<4x64xf32>, %b = %xb : tensor<64x64xf32>, %c = %xc : tensor<64x64xf32>)
        -> tensor<4x64xf32> {
      %q = tenon.matmul %a, %b : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
      %r = tenon.matmul %q, %c : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
      tenon.yield %r : tensor<4x64xf32>
    }
    return %0 : tensor<4x64xf32>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cpu, features = [], {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 1048576 : i64}>} {
  func.func @f(%xa: tensor<4x64xf32>, %xb: tensor<64x64xf32>) -> (tensor<4x64xf32>) {
    // expected-error @+1 {{softmax needs whole rows of a matmul, which other tiles compute}}
    %0 = tenon.kernel (%a = %xa : tensor<4x64xf32>, %b = %xb : tensor<64x64xf32>)
        -> tensor<4x64xf32> {
      %q = tenon.matmul %a, %b : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
      %r = tenon.softmax %q : (tensor<4x64xf32>) -> tensor<4x64xf32>
      tenon.yield %r : tensor<4x64xf32>
    }
    return %0 : tensor<4x64xf32>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cpu, features = [], {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 1048576 : i64}>} {
  func.func @f(%xa: tensor<4x64xf32>, %xb: tensor<64x64xf32>, %xc: tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>) {
    // expected-error @+1 {{silu has nothing to do with the matmul beside it}}
    %0:2 = tenon.kernel (%a = %xa : tensor<4x64xf32>, %b = %xb : tensor<64x64xf32>, %c = %xc : tensor<4x64xf32>)
        -> (tensor<4x64xf32>, tensor<4x64xf32>) {
      %q = tenon.matmul %a, %b : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
      %r = tenon.silu %c : (tensor<4x64xf32>) -> tensor<4x64xf32>
      tenon.yield %q, %r : tensor<4x64xf32>, tensor<4x64xf32>
    }
    return %0#0, %0#1 : tensor<4x64xf32>, tensor<4x64xf32>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cpu, features = [], {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 1048576 : i64}>} {
  func.func @f(%xa: tensor<4x64xf32>, %xb: tensor<64x64xf32>, %xc: tensor<1x64xf32>) -> (tensor<4x64xf32>) {
    // expected-error @+1 {{add has other columns than matmul}}
    %0 = tenon.kernel (%a = %xa : tensor<4x64xf32>, %b = %xb : tensor<64x64xf32>, %c = %xc : tensor<1x64xf32>)
        -> tensor<4x64xf32> {
      %q = tenon.matmul %c, %b : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
      %r = tenon.add %a, %q : (tensor<4x64xf32>, tensor<1x64xf32>) -> tensor<4x64xf32>
      tenon.yield %r : tensor<4x64xf32>
    }
    return %0 : tensor<4x64xf32>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cpu, features = [], {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 1048576 : i64}>} {
  func.func @f(%xa: tensor<4x64xf32>, %xb: tensor<64xf32>) -> (tensor<4x64xf32>) {
    // expected-error @+1 {{tiles of rows do not fit together}}
    %0 = tenon.kernel (%a = %xa : tensor<4x64xf32>, %b = %xb : tensor<64xf32>)
        -> tensor<4x64xf32> {
      %s = tenon.silu %b : (tensor<64xf32>) -> tensor<64xf32>
      %r = tenon.rms_norm %a, %s eps 1.0e-5 : (tensor<4x64xf32>, tensor<64xf32>) -> tensor<4x64xf32>
      tenon.yield %r : tensor<4x64xf32>
    }
    return %0 : tensor<4x64xf32>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x8x64xf16>, %xb: tensor<1x8x64xf16>, %xc: tensor<1xi32>, %xd: tensor<1xi32>, %xe: !tenon.state<1x16x8x64xf16>) -> () {
    // expected-error @+1 {{the emitter of heads reads all but the heads themselves from memory}}
    %0 = tenon.kernel (%a = %xa : tensor<1x8x64xf16>, %b = %xb : tensor<1x8x64xf16>, %c = %xc : tensor<1xi32>, %d = %xd : tensor<1xi32>, %e = %xe : !tenon.state<1x16x8x64xf16>)
        -> !tenon.state<1x16x8x64xf16> {
      %k = tenon.kv_write %a, %c, %d into %e : (tensor<1x8x64xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x16x8x64xf16>) -> !tenon.state<1x16x8x64xf16>
      %v = tenon.kv_write %b, %c, %d into %k : (tensor<1x8x64xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x16x8x64xf16>) -> !tenon.state<1x16x8x64xf16>
      tenon.yield %v : !tenon.state<1x16x8x64xf16>
    }
    return 
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x8x64xf16>, %xb: tensor<1xi32>, %xc: tensor<32xf32>, %xd: tensor<8x64xf16>, %xe: tensor<64xf16>) -> (tensor<1x8x64xf16>, tensor<8x64xf16>) {
    // expected-error @+1 {{the emitter of heads takes heads [M, H, D] in memory, each through one chain}}
    %0:2 = tenon.kernel (%a = %xa : tensor<1x8x64xf16>, %b = %xb : tensor<1xi32>, %c = %xc : tensor<32xf32>, %d = %xd : tensor<8x64xf16>, %e = %xe : tensor<64xf16>)
        -> (tensor<1x8x64xf16>, tensor<8x64xf16>) {
      %r = tenon.rope halves %a, %b, %c : (tensor<1x8x64xf16>, tensor<1xi32>, tensor<32xf32>) -> tensor<1x8x64xf16>
      %n = tenon.rms_norm %d, %e eps 1.0e-5 : (tensor<8x64xf16>, tensor<64xf16>) -> tensor<8x64xf16>
      tenon.yield %r, %n : tensor<1x8x64xf16>, tensor<8x64xf16>
    }
    return %0#0, %0#1 : tensor<1x8x64xf16>, tensor<8x64xf16>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x512xf16>, %xb: tensor<1024x512xf16>) -> (tensor<1xi32>, tensor<1xi32>) {
    // expected-error @+1 {{tiles search for one argmax, not for several}}
    %0:2 = tenon.kernel (%a = %xa : tensor<1x512xf16>, %b = %xb : tensor<1024x512xf16>)
        -> (tensor<1xi32>, tensor<1xi32>) {
      %r = tenon.matmul %a, %b : (tensor<1x512xf16>, tensor<1024x512xf16>) -> tensor<1x1024xf16>
      %n = tenon.argmax %r : (tensor<1x1024xf16>) -> tensor<1xi32>
      %m = tenon.argmax %r : (tensor<1x1024xf16>) -> tensor<1xi32>
      tenon.yield %n, %m : tensor<1xi32>, tensor<1xi32>
    }
    return %0#0, %0#1 : tensor<1xi32>, tensor<1xi32>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_80"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<16x512xf16>, %xb: tensor<1024x512xf16>, %xc: tensor<1024x512xf16>, %xd: tensor<1024x512xf16>, %xe: tensor<1024x512xf16>, %xf: tensor<1024x512xf16>) -> (tensor<16x1024xf16>) {
    // expected-error @+1 {{narrow_gemm joins at most 4}}
    %0 = tenon.kernel (%a = %xa : tensor<16x512xf16>, %b = %xb : tensor<1024x512xf16>, %c = %xc : tensor<1024x512xf16>, %d = %xd : tensor<1024x512xf16>, %e = %xe : tensor<1024x512xf16>, %f = %xf : tensor<1024x512xf16>)
        -> tensor<16x1024xf16> {
      %p0 = tenon.matmul %a, %b : (tensor<16x512xf16>, tensor<1024x512xf16>) -> tensor<16x1024xf16>
      %p1 = tenon.matmul %a, %c : (tensor<16x512xf16>, tensor<1024x512xf16>) -> tensor<16x1024xf16>
      %p2 = tenon.matmul %a, %d : (tensor<16x512xf16>, tensor<1024x512xf16>) -> tensor<16x1024xf16>
      %p3 = tenon.matmul %a, %e : (tensor<16x512xf16>, tensor<1024x512xf16>) -> tensor<16x1024xf16>
      %p4 = tenon.matmul %a, %f : (tensor<16x512xf16>, tensor<1024x512xf16>) -> tensor<16x1024xf16>
      %s0 = tenon.add %p0, %p1 : (tensor<16x1024xf16>, tensor<16x1024xf16>) -> tensor<16x1024xf16>
      %s1 = tenon.add %s0, %p2 : (tensor<16x1024xf16>, tensor<16x1024xf16>) -> tensor<16x1024xf16>
      %s2 = tenon.add %s1, %p3 : (tensor<16x1024xf16>, tensor<16x1024xf16>) -> tensor<16x1024xf16>
      %s3 = tenon.add %s2, %p4 : (tensor<16x1024xf16>, tensor<16x1024xf16>) -> tensor<16x1024xf16>
      tenon.yield %s3 : tensor<16x1024xf16>
    }
    return %0 : tensor<16x1024xf16>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_80"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<16x512xf32>, %xb: tensor<1024x512xf32>, %xc: tensor<1024x512xf32>) -> (tensor<16x1024xf32>, tensor<16x1024xf32>) {
    // expected-error @+1 {{narrow_gemm takes factors of one 16-bit type and depths of multiples of 8}}
    %0:2 = tenon.kernel (%a = %xa : tensor<16x512xf32>, %b = %xb : tensor<1024x512xf32>, %c = %xc : tensor<1024x512xf32>)
        -> (tensor<16x1024xf32>, tensor<16x1024xf32>) {
      %r = tenon.matmul %a, %b : (tensor<16x512xf32>, tensor<1024x512xf32>) -> tensor<16x1024xf32>
      %n = tenon.matmul %a, %c : (tensor<16x512xf32>, tensor<1024x512xf32>) -> tensor<16x1024xf32>
      tenon.yield %r, %n : tensor<16x1024xf32>, tensor<16x1024xf32>
    }
    return %0#0, %0#1 : tensor<16x1024xf32>, tensor<16x1024xf32>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cpu, features = [], {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 1048576 : i64}>} {
  func.func @f(%xa: tensor<1x64xf32>, %xb: tensor<64xf32>) -> (tensor<1x64xf32>) {
    // expected-error @+1 {{rms_norm reads other rows than its own}}
    %0 = tenon.kernel (%a = %xa : tensor<1x64xf32>, %b = %xb : tensor<64xf32>)
        -> tensor<1x64xf32> {
      %s = tenon.silu %b : (tensor<64xf32>) -> tensor<64xf32>
      %r = tenon.rms_norm %a, %s eps 1.0e-5 : (tensor<1x64xf32>, tensor<64xf32>) -> tensor<1x64xf32>
      tenon.yield %r : tensor<1x64xf32>
    }
    return %0 : tensor<1x64xf32>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x64xf16>, %xi: tensor<1x2xi32>, %xg: tensor<4x8x64xf16>, %xd: tensor<4x64x8xf16>, %xw: tensor<1x2xf16>) -> (tensor<1x2x8xf16>) {
    // expected-error @+1 {{at most two products with experts}}
    %0 = tenon.kernel (%a = %xa : tensor<1x64xf16>, %i = %xi : tensor<1x2xi32>, %g = %xg : tensor<4x8x64xf16>, %d = %xd : tensor<4x64x8xf16>, %w = %xw : tensor<1x2xf16>)
        -> tensor<1x2x8xf16> {
      %1 = tenon.expert_matmul %a, %g, %i : (tensor<1x64xf16>, tensor<4x8x64xf16>, tensor<1x2xi32>) -> tensor<1x2x8xf16>
      %2 = tenon.expert_matmul %a, %g, %i : (tensor<1x64xf16>, tensor<4x8x64xf16>, tensor<1x2xi32>) -> tensor<1x2x8xf16>
      %3 = tenon.expert_matmul %a, %g, %i : (tensor<1x64xf16>, tensor<4x8x64xf16>, tensor<1x2xi32>) -> tensor<1x2x8xf16>
      %4 = tenon.add %1, %2 : (tensor<1x2x8xf16>, tensor<1x2x8xf16>) -> tensor<1x2x8xf16>
      %r = tenon.add %4, %3 : (tensor<1x2x8xf16>, tensor<1x2x8xf16>) -> tensor<1x2x8xf16>
      tenon.yield %r : tensor<1x2x8xf16>
    }
    return %0 : tensor<1x2x8xf16>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x64xf16>, %xi: tensor<1x2xi32>, %xg: tensor<4x8x64xf16>, %xd: tensor<4x64x8xf16>, %xw: tensor<1x2xf16>) -> (tensor<1x2x64xf16>) {
    // expected-error @+1 {{nothing may come before them}}
    %0 = tenon.kernel (%a = %xa : tensor<1x64xf16>, %i = %xi : tensor<1x2xi32>, %g = %xg : tensor<4x8x64xf16>, %d = %xd : tensor<4x64x8xf16>, %w = %xw : tensor<1x2xf16>)
        -> tensor<1x2x64xf16> {
      %1 = tenon.expert_matmul %a, %g, %i : (tensor<1x64xf16>, tensor<4x8x64xf16>, tensor<1x2xi32>) -> tensor<1x2x8xf16>
      %r = tenon.expert_matmul %1, %d, %i : (tensor<1x2x8xf16>, tensor<4x64x8xf16>, tensor<1x2xi32>) -> tensor<1x2x64xf16>
      tenon.yield %r : tensor<1x2x64xf16>
    }
    return %0 : tensor<1x2x64xf16>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x64xf16>, %xi: tensor<1x2xi32>, %xg: tensor<4x8x64xf16>, %xd: tensor<4x64x8xf16>, %xw: tensor<1x2xf16>) -> (tensor<1x2x8xf16>) {
    // expected-error @+1 {{the emitter of experts cannot hold softmax}}
    %0 = tenon.kernel (%a = %xa : tensor<1x64xf16>, %i = %xi : tensor<1x2xi32>, %g = %xg : tensor<4x8x64xf16>, %d = %xd : tensor<4x64x8xf16>, %w = %xw : tensor<1x2xf16>)
        -> tensor<1x2x8xf16> {
      %1 = tenon.expert_matmul %a, %g, %i : (tensor<1x64xf16>, tensor<4x8x64xf16>, tensor<1x2xi32>) -> tensor<1x2x8xf16>
      %r = tenon.softmax %1 : (tensor<1x2x8xf16>) -> tensor<1x2x8xf16>
      tenon.yield %r : tensor<1x2x8xf16>
    }
    return %0 : tensor<1x2x8xf16>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x64xf16>, %xi: tensor<1x2xi32>, %xg: tensor<4x8x64xf16>, %xd: tensor<4x64x8xf16>, %xw: tensor<1x2xf16>) -> (tensor<1x8xf16>) {
    // expected-error @+1 {{a weighted sum reads its weights from memory}}
    %0 = tenon.kernel (%a = %xa : tensor<1x64xf16>, %i = %xi : tensor<1x2xi32>, %g = %xg : tensor<4x8x64xf16>, %d = %xd : tensor<4x64x8xf16>, %w = %xw : tensor<1x2xf16>)
        -> tensor<1x8xf16> {
      %1 = tenon.expert_matmul %a, %g, %i : (tensor<1x64xf16>, tensor<4x8x64xf16>, tensor<1x2xi32>) -> tensor<1x2x8xf16>
      %2 = tenon.silu %w : (tensor<1x2xf16>) -> tensor<1x2xf16>
      %r = tenon.weighted_sum %1, %2 : (tensor<1x2x8xf16>, tensor<1x2xf16>) -> tensor<1x8xf16>
      tenon.yield %r : tensor<1x8xf16>
    }
    return %0 : tensor<1x8xf16>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x64xf16>, %xi: tensor<1x2xi32>, %xg: tensor<4x8x64xf16>, %xd: tensor<4x64x8xf16>, %xw: tensor<1x2xf16>) -> (tensor<1x8xf16>) {
    // expected-error @+1 {{stands in the kernel of the one product that it sums, which nothing else reads}}
    %0 = tenon.kernel (%a = %xa : tensor<1x64xf16>, %i = %xi : tensor<1x2xi32>, %g = %xg : tensor<4x8x64xf16>, %d = %xd : tensor<4x64x8xf16>, %w = %xw : tensor<1x2xf16>)
        -> tensor<1x8xf16> {
      %1 = tenon.expert_matmul %a, %g, %i : (tensor<1x64xf16>, tensor<4x8x64xf16>, tensor<1x2xi32>) -> tensor<1x2x8xf16>
      %2 = tenon.weighted_sum %1, %w : (tensor<1x2x8xf16>, tensor<1x2xf16>) -> tensor<1x8xf16>
      %3 = tenon.weighted_sum %1, %w : (tensor<1x2x8xf16>, tensor<1x2xf16>) -> tensor<1x8xf16>
      %r = tenon.add %2, %3 : (tensor<1x8xf16>, tensor<1x8xf16>) -> tensor<1x8xf16>
      tenon.yield %r : tensor<1x8xf16>
    }
    return %0 : tensor<1x8xf16>
  }
}

// -----

// A weighted sum before a product is a term of its input, of what lies in memory.
module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x2x2048xf16>, %xw: tensor<1x2xf32>, %xy: tensor<1x2048xf16>, %xg: tensor<2048x2048xf16>) -> (tensor<1x2048xf16>) {
    // expected-error @+1 {{the emitter of products computes weighted sums of their inputs alone}}
    %0 = tenon.kernel (%a = %xa : tensor<1x2x2048xf16>, %w = %xw : tensor<1x2xf32>, %y = %xy : tensor<1x2048xf16>, %g = %xg : tensor<2048x2048xf16>)
        -> tensor<1x2048xf16> {
      %1 = tenon.weighted_sum %a, %w : (tensor<1x2x2048xf16>, tensor<1x2xf32>) -> tensor<1x2048xf16>
      %2 = tenon.matmul %y, %g : (tensor<1x2048xf16>, tensor<2048x2048xf16>) -> tensor<1x2048xf16>
      %r = tenon.add %2, %1 : (tensor<1x2048xf16>, tensor<1x2048xf16>) -> tensor<1x2048xf16>
      tenon.yield %r : tensor<1x2048xf16>
    }
    return %0 : tensor<1x2048xf16>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x64x64xf16>, %xw: tensor<1x64xf32>, %xg: tensor<2048x64xf16>) -> (tensor<1x2048xf16>) {
    // expected-error @+1 {{the emitter of products sums vectors by weights that lie in memory}}
    %0 = tenon.kernel (%a = %xa : tensor<1x64x64xf16>, %w = %xw : tensor<1x64xf32>, %g = %xg : tensor<2048x64xf16>)
        -> tensor<1x2048xf16> {
      %1 = tenon.silu %w : (tensor<1x64xf32>) -> tensor<1x64xf32>
      %2 = tenon.weighted_sum %a, %1 : (tensor<1x64x64xf16>, tensor<1x64xf32>) -> tensor<1x64xf16>
      %r = tenon.matmul %2, %g : (tensor<1x64xf16>, tensor<2048x64xf16>) -> tensor<1x2048xf16>
      tenon.yield %r : tensor<1x2048xf16>
    }
    return %0 : tensor<1x2048xf16>
  }
}

// -----

// Experts on CPUs, by columns.
module attributes {tenon.target = #tenon.target<"t", cpu, features = [], {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 1048576 : i64}>} {
  func.func @f(%xa: tensor<1x64xf32>, %xi: tensor<1x2xi32>, %xg: tensor<4x8x64xf32>, %xw: tensor<1x2xf32>, %xy: tensor<1x2x8xf32>) -> (tensor<1x8xf32>) {
    // expected-error @+1 {{weighted_sum reads its weights from memory}}
    %0 = tenon.kernel (%a = %xa : tensor<1x64xf32>, %i = %xi : tensor<1x2xi32>, %g = %xg : tensor<4x8x64xf32>, %w = %xw : tensor<1x2xf32>, %y = %xy : tensor<1x2x8xf32>)
        -> tensor<1x8xf32> {
      %1 = tenon.expert_matmul %a, %g, %i : (tensor<1x64xf32>, tensor<4x8x64xf32>, tensor<1x2xi32>) -> tensor<1x2x8xf32>
      %2 = tenon.silu %w : (tensor<1x2xf32>) -> tensor<1x2xf32>
      %r = tenon.weighted_sum %1, %2 : (tensor<1x2x8xf32>, tensor<1x2xf32>) -> tensor<1x8xf32>
      tenon.yield %r : tensor<1x8xf32>
    }
    return %0 : tensor<1x8xf32>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cpu, features = [], {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 1048576 : i64}>} {
  func.func @f(%xa: tensor<40x64xf32>, %xi: tensor<40x2xi32>, %xg: tensor<4x8x64xf32>, %xw: tensor<40x2xf32>, %xy: tensor<40x2x8xf32>) -> (tensor<40x8xf32>) {
    // expected-error @+1 {{rows choose 80 matrices, and of more than 64 a tile takes those of one expert}}
    %0 = tenon.kernel (%a = %xa : tensor<40x64xf32>, %i = %xi : tensor<40x2xi32>, %g = %xg : tensor<4x8x64xf32>, %w = %xw : tensor<40x2xf32>, %y = %xy : tensor<40x2x8xf32>)
        -> tensor<40x8xf32> {
      %1 = tenon.expert_matmul %a, %g, %i : (tensor<40x64xf32>, tensor<4x8x64xf32>, tensor<40x2xi32>) -> tensor<40x2x8xf32>
      %r = tenon.weighted_sum %1, %w : (tensor<40x2x8xf32>, tensor<40x2xf32>) -> tensor<40x8xf32>
      tenon.yield %r : tensor<40x8xf32>
    }
    return %0 : tensor<40x8xf32>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cpu, features = [], {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 1048576 : i64}>} {
  func.func @f(%xa: tensor<1x64xf32>, %xi: tensor<1x2xi32>, %xg: tensor<4x8x64xf32>, %xw: tensor<1x2xf32>, %xy: tensor<1x2x8xf32>) -> (tensor<1x8xf32>) {
    // expected-error @+1 {{weighted_sum reads other rows than its own}}
    %0 = tenon.kernel (%a = %xa : tensor<1x64xf32>, %i = %xi : tensor<1x2xi32>, %g = %xg : tensor<4x8x64xf32>, %w = %xw : tensor<1x2xf32>, %y = %xy : tensor<1x2x8xf32>)
        -> tensor<1x8xf32> {
      %1 = tenon.silu %y : (tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
      %r = tenon.weighted_sum %1, %w : (tensor<1x2x8xf32>, tensor<1x2xf32>) -> tensor<1x8xf32>
      tenon.yield %r : tensor<1x8xf32>
    }
    return %0 : tensor<1x8xf32>
  }
}

// -----

// Inputs are reordered, once.
module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x1024xf16>, %xo: tensor<1x1024xi32>, %xw: tensor<64x1024x!tenon.block<q8_0>>) -> (tensor<1x64xf16>) {
    // expected-error @+1 {{the emitter of products reorders inputs for products alone, not for gather}}
    %0 = tenon.kernel (%a = %xa : tensor<1x1024xf16>, %o = %xo : tensor<1x1024xi32>, %w = %xw : tensor<64x1024x!tenon.block<q8_0>>)
        -> tensor<1x64xf16> {
      %1 = tenon.gather %a, %o along 1 : (tensor<1x1024xf16>, tensor<1x1024xi32>) -> tensor<1x1024xf16>
      %2 = tenon.gather %1, %o along 1 : (tensor<1x1024xf16>, tensor<1x1024xi32>) -> tensor<1x1024xf16>
      %r = tenon.matmul %2, %w : (tensor<1x1024xf16>, tensor<64x1024x!tenon.block<q8_0>>) -> tensor<1x64xf16>
      tenon.yield %r : tensor<1x64xf16>
    }
    return %0 : tensor<1x64xf16>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  func.func @f(%xa: tensor<1x1024xf16>, %xo: tensor<1x64xi32>, %xw: tensor<64x1024x!tenon.block<q8_0>>) -> (tensor<1x64xf16>) {
    // expected-error @+1 {{the emitter of products reorders their inputs, and no results}}
    %0 = tenon.kernel (%a = %xa : tensor<1x1024xf16>, %o = %xo : tensor<1x64xi32>, %w = %xw : tensor<64x1024x!tenon.block<q8_0>>)
        -> tensor<1x64xf16> {
      %1 = tenon.matmul %a, %w : (tensor<1x1024xf16>, tensor<64x1024x!tenon.block<q8_0>>) -> tensor<1x64xf16>
      %r = tenon.gather %1, %o along 1 : (tensor<1x64xf16>, tensor<1x64xi32>) -> tensor<1x64xf16>
      tenon.yield %r : tensor<1x64xf16>
    }
    return %0 : tensor<1x64xf16>
  }
}
