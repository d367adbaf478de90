// What needs no GPU: the kernels of a graph for one, their resources, and what is refused.
//
// RUN: tenon dump %s --plan=unfused --target=h200 --as=cuda:k0 | FileCheck %s --check-prefix=SOURCE
// SOURCE: // k0_elementwise: 64 threads, {{[0-9]+}} registers, 0 bytes spilled
// SOURCE: __device__ {{.*}}elementwise_tile(const long long tile, const float* a0, const float* a1, float* r0)
// SOURCE: __global__
// SOURCE-NOT: // k1
// RUN: tenon dump %s --plan=unfused --target=h200 --as=source:k1 | FileCheck %s --check-prefix=STATED
// STATED: // k1_softmax: stated {{[0-9]+}} threads, {{[0-9]+}} registers, {{[0-9]+}} + 0 bytes of static and dynamic shared memory
// STATED: __global__
// RUN: tenon dump %s --plan=unfused --target=a100 --as=ptx:k1 | FileCheck %s --check-prefix=PTX
// PTX: // k1_softmax:
// PTX: .target sm_80
// PTX: .entry
// RUN: not tenon dump %s --plan=unfused --target=h200 --as=cuda:k7 2>&1 | FileCheck %s --check-prefix=KERNEL
// KERNEL: tenon: error: --as=cuda: expects words of one of k0_elementwise, k1_softmax, but got 'k7'
// RUN: not tenon dump %s --plan=unfused --as=cuda 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: tenon: error: --as=cuda: expects a target for cuda, but got x86-64
// RUN: not tenon dump %s --plan=unfused --target=h200 --as=llvm 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: tenon: error: --as=llvm: expects a target for cpu, but got h200
// RUN: not tenon dump %s --plan=unfused --as=asm:k0 2>&1 | FileCheck %s --check-prefix=ASM
// ASM: tenon: error: dump: --as: expects words of kernels' names after cuda, ptx, sass and source alone, but got 'asm:k0'
// RUN: tenon dump %s --plan=unfused --target=h200 --as=cuda:softmax | FileCheck %s --check-prefix=WORD
// WORD: // k1_softmax:
//
// Machine code by a disassembler on PATH, of the cubin of each kernel; one that fails is heard.
// RUN: rm -rf %t.tools && mkdir %t.tools
// RUN: printf '#!/bin/sh\nprintf "disassembled "; head -c 4 "$1" | tail -c 3; echo\n' > %t.tools/nvdisasm
// RUN: chmod +x %t.tools/nvdisasm
// RUN: sh -c 'PATH=%t.tools:$PATH tenon dump %s --plan=unfused --target=h200 --as=sass:k1' | FileCheck %s --check-prefix=SASS
// SASS-NOT: k0
// SASS: // k1_softmax: {{[0-9]+}} threads
// SASS-NEXT: disassembled ELF
// RUN: printf '#!/bin/sh\necho no such architecture; exit 3\n' > %t.tools/nvdisasm
// RUN: not sh -c 'PATH=%t.tools:$PATH tenon dump %s --plan=unfused --target=h200 --as=sass' 2>&1 | FileCheck %s --check-prefix=BADSASS
// BADSASS: tenon: error: {{.*}}nvdisasm: exit code 3: no such architecture
// RUN: not sh -c 'PATH=%t.tools:$PATH TMPDIR=%t.none tenon dump %s --plan=unfused --target=h200 --as=sass' 2>&1 | FileCheck %s --check-prefix=NOTMP
// NOTMP: tenon: error: cannot make a temporary file: No such file or directory
//
// RUN: not tenon run %s --device=cpu --target=h200 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: tenon: error: --target: expects a target for --device=cpu, but h200 is one for cuda
//
// A program for another machine's GPU, from a shape without a file.
// RUN: tenon compile llama-3.2-1b --random-weights=1 --type=bf16 --target=h200 --shapes=decode:1,prefill:512 -o %t.tnn 2>&1 | FileCheck %s --check-prefix=COMPILE
// COMPILE: 2 functions, {{[0-9]+}} steps, {{[0-9]+}} kernels for h200
// Kernels of one row share one division of shared memory and cache.
// RUN: tenon inspect %t.tnn --json | %python -c 'import json, sys; p = json.load(sys.stdin); assert [f["shared_percent"] for f in p["functions"]] == [75, 0]'
// RUN: not tenon compile llama-3.2-1b --target=h200 -o %t.tnn 2>&1 | FileCheck %s --check-prefix=NOSEED
// NOSEED: tenon: error: llama-3.2-1b: {{.*}}No such file
// RUN: not tenon compile llama-9 --random-weights=1 --target=h200 -o %t.tnn 2>&1 | FileCheck %s --check-prefix=NOSHAPE
// NOSHAPE: tenon: error: {{.*}}llama-3.2-1b
// RUN: not tenon run %s --random-weights=1 --device=reference 2>&1 | FileCheck %s --check-prefix=REFERENCE
// REFERENCE: tenon: error: --random-weights: applies to code that is still to be compiled, but --device=reference interprets the IR
//
// Activations: f32 on a CPU, on a GPU the 16-bit type of the weights or, without one, f16.
// RUN: tenon dump llama-3.2-1b --random-weights=1 --type=bf16 --target=h200 --as=input --shapes=decode:1 | FileCheck %s --check-prefix=BF16
// BF16: tenon.state @kv.0.k : !tenon.state<1x4096x8x64xbf16>
// RUN: tenon dump llama-3.2-1b --random-weights=1 --type=f32 --target=h200 --as=input --shapes=decode:1 | FileCheck %s --check-prefix=F16
// F16: tenon.state @kv.0.k : !tenon.state<1x4096x8x64xf16>
// RUN: tenon dump llama-3.2-1b --random-weights=1 --type=bf16 --as=input --shapes=decode:1 | FileCheck %s --check-prefix=F32
// F32: tenon.state @kv.0.k : !tenon.state<1x4096x8x64xf32>
//
// Without a GPU, bench gives the table and the same figures as JSON.
// RUN: tenon bench %data/stories260K/stories260K.gguf --steps=3 --position=4 --plans=unfused --json=%t.json -o %t.trace.json | FileCheck %s --check-prefix=BENCH
// BENCH: plan unfused, decode_1 at position 4 on x86-64-{{.*}}, activations f32: 3 calls
// BENCH: steps  min {{.*}} median
// BENCH: launches, weights
// BENCH: k{{[0-9]+}}_{{.*}}: matmul
// RUN: %python -c 'import json, sys; r, = json.load(open(sys.argv[1])); assert r["weight_bytes"] > 900000 and r["launches"] == sum(k["steps"] for k in r["kernels"]); json.load(open(sys.argv[2]))' %t.json %t.trace.json
// RUN: tenon bench %data/stories260K/stories260K.gguf --steps=2 --position=4 --generate=8 --plans=unfused,auto --json=%t.json | FileCheck %s --check-prefix=GENERATE
// GENERATE: plan unfused
// GENERATE: token  min {{.*}} median
// GENERATE: attention     alone: median
// GENERATE: ffn           alone: median
// GENERATE: plan auto
// GENERATE: tokens a second
// GENERATE: Plans:
// GENERATE-NEXT: plan {{.*}} speed-up {{.*}} tokens/s
// GENERATE-NEXT: unfused {{[0-9.]+}} 1.00
// GENERATE-NEXT: auto {{[0-9.]+}}
// RUN: %python -c 'import json, sys; r = json.load(open(sys.argv[1])); assert all(p["token_ns"]["median"] > 0 and sum(g["steps"] for g in p["groups"]) == p["launches"] and p["launch"] == "none" for p in r) and r[0]["planned_bytes"] > r[0]["weight_bytes"]' %t.json
// RUN: not tenon bench %data/stories260K/stories260K.gguf --shapes=prefill:16 --generate=8 2>&1 | FileCheck %s --check-prefix=FED
// FED: tenon: error: --generate: applies to decode, but --shapes is prefill:16
// RUN: tenon bench %data/stories260K/stories260K.gguf --steps=2 --shapes=prefill:16 | FileCheck %s --check-prefix=PREFILL
// PREFILL: prefill_16 at position 0
// RUN: not tenon bench %data/stories260K/stories260K.gguf --steps=2 --position=99999 2>&1 | FileCheck %s --check-prefix=POSITION
// POSITION: tenon: error: --position: expects positions from 0 up to {{[0-9]+}}, the last
// RUN: not tenon bench %data/stories260K/stories260K.gguf --measure=0 2>&1 | FileCheck %s --check-prefix=STEPS
// STEPS: tenon: error: --measure: expects an integer at least 1, or that and time, such as 200,time, but got '0'

func.func @f(%x: tensor<2x40xf32>, %y: tensor<2x40xf32>) -> tensor<2x40xf32> {
  %0 = tenon.add %x, %y : (tensor<2x40xf32>, tensor<2x40xf32>) -> tensor<2x40xf32>
  %1 = tenon.softmax %0 : (tensor<2x40xf32>) -> tensor<2x40xf32>
  return %1 : tensor<2x40xf32>
}
