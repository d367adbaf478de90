// Products on tensor cores by warpgroups: wgmma with 16-bit factors in shared memory and f32 sums
// (sm_90a).
#pragma once
#include "types.cuh"

namespace tenon {

/// A matrix of rows of 64 elements, 128 bytes, in shared memory, swizzled as a tensor map of 128
/// bytes does: 16-byte piece c of row r lies at piece c ^ r % 8. `address`: of row 0, a multiple of
/// 1,024. Sixteen elements further along the rows is 2 more.
__device__ __forceinline__ unsigned long long swizzledMatrix(unsigned address) {
  return (1ull << 62) | (64ull << 32) | (1ull << 16) | ((address & 0x3FFFFu) >> 4);
}

/// `matrix`, of which `by` runs of 16 bytes are passed over: a sum of its lower half alone.
__device__ __forceinline__ unsigned long long movedMatrix(unsigned long long matrix, unsigned by) {
  return (matrix & 0xFFFFFFFF00000000ull) | (static_cast<unsigned>(matrix) + by);
}

/// The same with K down the columns: rows are elements of K, and columns those of B, 64 in a
/// matrix. The next 64 columns are `next` bytes further. Sixteen elements further along K is 128
/// more.
__device__ __forceinline__ unsigned long long swizzledColumns(unsigned address, unsigned next) {
  return (1ull << 62) | (64ull << 32) | (static_cast<unsigned long long>(next >> 4) << 16) |
         ((address & 0x3FFFFu) >> 4);
}

/// Before the first product, and where registers of sums were touched.
__device__ __forceinline__ void beginWgmmas() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void commitWgmmas() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Until at most `pending` groups of products are on their way.
template <int pending> __device__ __forceinline__ void waitForWgmmas() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}
/// Keeps the compiler from moving accesses to sums across products.
template <int count> __device__ __forceinline__ void holdSums(float (&sums)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i)
    asm volatile("" : "+f"(sums[i])::"memory");
}

/// sums (+)= A * B^T over 16 elements of K, for A of 64 rows and B of `columns` rows, multiples of
/// 16; `add`: to what the sums hold, else to zeros. Warp w of the warpgroup has rows 16 w ... + 15:
/// element 8 i + j of thread 4 g + t is row g + j / 2 % 2 * 8, column 16 i + j / 4 * 8 + 2 t + j %
/// 2. Or, of A in registers, whose pairs of elements lie as those of sums of 16 columns, sums += A
///    *
/// B for B with K down its columns, and `issueRows`
/// sums (+)= A * B^T.
template <typename T, int columns> struct Wgmma;

#define TENON_SUMS(i)                                                                              \
  "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3]), "+f"(sums[i + 4]),       \
      "+f"(sums[i + 5]), "+f"(sums[i + 6]), "+f"(sums[i + 7])
#define TENON_SUMS_16 TENON_SUMS(0)
#define TENON_SUMS_32 TENON_SUMS_16, TENON_SUMS(8)
#define TENON_SUMS_48 TENON_SUMS_32, TENON_SUMS(16)
#define TENON_SUMS_64 TENON_SUMS_48, TENON_SUMS(24)
#define TENON_SUMS_80 TENON_SUMS_64, TENON_SUMS(32)
#define TENON_SUMS_96 TENON_SUMS_80, TENON_SUMS(40)
#define TENON_SUMS_112 TENON_SUMS_96, TENON_SUMS(48)
#define TENON_SUMS_128 TENON_SUMS_112, TENON_SUMS(56)
#define TENON_SUMS_144 TENON_SUMS_128, TENON_SUMS(64)
#define TENON_SUMS_160 TENON_SUMS_144, TENON_SUMS(72)
#define TENON_SUMS_176 TENON_SUMS_160, TENON_SUMS(80)
#define TENON_SUMS_192 TENON_SUMS_176, TENON_SUMS(88)
#define TENON_SUMS_208 TENON_SUMS_192, TENON_SUMS(96)
#define TENON_SUMS_224 TENON_SUMS_208, TENON_SUMS(104)
#define TENON_SUMS_240 TENON_SUMS_224, TENON_SUMS(112)
#define TENON_SUMS_256 TENON_SUMS_240, TENON_SUMS(120)

#define TENON_NAMES_16 "%0,%1,%2,%3,%4,%5,%6,%7"
#define TENON_NAMES_32 TENON_NAMES_16 ",%8,%9,%10,%11,%12,%13,%14,%15"
#define TENON_NAMES_48 TENON_NAMES_32 ",%16,%17,%18,%19,%20,%21,%22,%23"
#define TENON_NAMES_64 TENON_NAMES_48 ",%24,%25,%26,%27,%28,%29,%30,%31"
#define TENON_NAMES_80 TENON_NAMES_64 ",%32,%33,%34,%35,%36,%37,%38,%39"
#define TENON_NAMES_96 TENON_NAMES_80 ",%40,%41,%42,%43,%44,%45,%46,%47"
#define TENON_NAMES_112 TENON_NAMES_96 ",%48,%49,%50,%51,%52,%53,%54,%55"
#define TENON_NAMES_128 TENON_NAMES_112 ",%56,%57,%58,%59,%60,%61,%62,%63"
#define TENON_NAMES_144 TENON_NAMES_128 ",%64,%65,%66,%67,%68,%69,%70,%71"
#define TENON_NAMES_160 TENON_NAMES_144 ",%72,%73,%74,%75,%76,%77,%78,%79"
#define TENON_NAMES_176 TENON_NAMES_160 ",%80,%81,%82,%83,%84,%85,%86,%87"
#define TENON_NAMES_192 TENON_NAMES_176 ",%88,%89,%90,%91,%92,%93,%94,%95"
#define TENON_NAMES_208 TENON_NAMES_192 ",%96,%97,%98,%99,%100,%101,%102,%103"
#define TENON_NAMES_224 TENON_NAMES_208 ",%104,%105,%106,%107,%108,%109,%110,%111"
#define TENON_NAMES_240 TENON_NAMES_224 ",%112,%113,%114,%115,%116,%117,%118,%119"
#define TENON_NAMES_256 TENON_NAMES_240 ",%120,%121,%122,%123,%124,%125,%126,%127"

/// `a` to `f`: numbers of the operands after the sums, half of `columns` and on.
#define TENON_PRODUCT_OF(T, type, columns, a, b, c, d, e, f)                                       \
  template <> struct Wgmma<T, columns> {                                                           \
    static __device__ __forceinline__ void issue(float (&sums)[columns / 2],                       \
                                                 unsigned long long matrixA,                       \
                                                 unsigned long long matrixB, int add) {            \
      asm volatile("{\n"                                                                           \
                   ".reg .pred add;\n"                                                             \
                   "setp.ne.b32 add, %" #c ", 0;\n"                                                \
                   "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." type "." type           \
                   " {" TENON_NAMES_##columns "}, %" #a ", %" #b ", add, 1, 1, 0, 0;\n"            \
                                              "}"                                                  \
                   : TENON_SUMS_##columns                                                          \
                   : "l"(matrixA), "l"(matrixB), "r"(add));                                        \
    }                                                                                              \
    static __device__ __forceinline__ void issue(float (&sums)[columns / 2], const unsigned* a4,   \
                                                 unsigned long long matrixB) {                     \
      asm volatile("{\n"                                                                           \
                   ".reg .pred add;\n"                                                             \
                   "setp.eq.u32 add, 0, 0;\n"                                                      \
                   "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." type "." type           \
                   " {" TENON_NAMES_##columns "}, {%" #a ", %" #b ", %" #c ", %" #d "}, %" #e      \
                                              ", add, 1, 1, 1;\n"                                  \
                                              "}"                                                  \
                   : TENON_SUMS_##columns                                                          \
                   : "r"(a4[0]), "r"(a4[1]), "r"(a4[2]), "r"(a4[3]), "l"(matrixB));                \
    }                                                                                              \
    static __device__ __forceinline__ void issueRows(float (&sums)[columns / 2],                   \
                                                     const unsigned (&a4)[4],                      \
                                                     unsigned long long matrixB, int add) {        \
      asm volatile("{\n"                                                                           \
                   ".reg .pred add;\n"                                                             \
                   "setp.ne.b32 add, %" #f ", 0;\n"                                                \
                   "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." type "." type           \
                   " {" TENON_NAMES_##columns "}, {%" #a ", %" #b ", %" #c ", %" #d "}, %" #e      \
                                              ", add, 1, 1, 0;\n"                                  \
                                              "}"                                                  \
                   : TENON_SUMS_##columns                                                          \
                   : "r"(a4[0]), "r"(a4[1]), "r"(a4[2]), "r"(a4[3]), "l"(matrixB), "r"(add));      \
    }                                                                                              \
  };
#define TENON_PRODUCT(columns, a, b, c, d, e, f)                                                   \
  TENON_PRODUCT_OF(F16, "f16", columns, a, b, c, d, e, f)                                          \
  TENON_PRODUCT_OF(BF16, "bf16", columns, a, b, c, d, e, f)

TENON_PRODUCT(16, 8, 9, 10, 11, 12, 13)
TENON_PRODUCT(32, 16, 17, 18, 19, 20, 21)
TENON_PRODUCT(48, 24, 25, 26, 27, 28, 29)
TENON_PRODUCT(64, 32, 33, 34, 35, 36, 37)
TENON_PRODUCT(80, 40, 41, 42, 43, 44, 45)
TENON_PRODUCT(96, 48, 49, 50, 51, 52, 53)
TENON_PRODUCT(112, 56, 57, 58, 59, 60, 61)
TENON_PRODUCT(128, 64, 65, 66, 67, 68, 69)
TENON_PRODUCT(144, 72, 73, 74, 75, 76, 77)
TENON_PRODUCT(160, 80, 81, 82, 83, 84, 85)
TENON_PRODUCT(176, 88, 89, 90, 91, 92, 93)
TENON_PRODUCT(192, 96, 97, 98, 99, 100, 101)
TENON_PRODUCT(208, 104, 105, 106, 107, 108, 109)
TENON_PRODUCT(224, 112, 113, 114, 115, 116, 117)
TENON_PRODUCT(240, 120, 121, 122, 123, 124, 125)
TENON_PRODUCT(256, 128, 129, 130, 131, 132, 133)

#undef TENON_PRODUCT
#undef TENON_PRODUCT_OF
#undef TENON_SUMS

} // namespace tenon
