#include "ir/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tests/frontends/gguf/ImportFixture.h"

namespace tenon::frontends {
namespace {

using ::tenon::tests::IsOk;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Parts = std::vector<std::string>;

class GgufImportTest : public ImportFixture {};

TEST_F(GgufImportTest, Stories260KHasTheLlamaBlock) {
  auto module =
      importFile(TENON_TEST_DATA "/stories260K/stories260K.gguf",
                 {.entries = {{Role::Decode, 1}}, .contextLength = 128, .blockOutputs = true});
  ASSERT_THAT(module, IsOk());
  EXPECT_THAT(
      text(module),
      ContainsInOrder(Parts{
          ("tenon.model = #tenon.model<architecture = \"llama\", name = \"llama\", file = @model, "
           "vocabulary = 512, contextLength = 128, sequences = 1>"),
          "tenon.phase = #tenon.phase<input>",
          "tenon.file @model \"",
          "stories260K.gguf\" bytes 1185376 fingerprint",
          "tenon.state @kv.0.k : !tenon.state<1x128x4x8xf32>",
          ("tenon.weight @blk.0.attn_q.weight : tensor<64x64xf32> from [#tenon.range<@model, "
           "offset = 276576, bytes = 16384>]"),
          ("func.func @decode_1(%arg0: tensor<1xi32> {tenon.name = \"ids\", tenon.role = "
           "#tenon.port<ids>}, %arg1: tensor<1xi32> {tenon.name = \"sequences\", tenon.role = "
           "#tenon.port<sequences>}, %arg2: tensor<1xi32> {tenon.name = \"positions\", tenon.role "
           "= #tenon.port<positions>}) -> (tensor<1x512xf32> {tenon.name = \"logits\", tenon.role "
           "= #tenon.port<logits>}, tensor<1x64xf32> {tenon.name = \"blk.0.output\"}"),
          "tenon.entry = #tenon.entry<decode, rows = 1>",
          "%cst = tenon.constant dense<[1.000000e+00, 1.000000e-01, 0.00999999977, 1.000000e-03]>",
          "%0 = tenon.embedding %token_embd.weight, %arg0",
          "%1 = tenon.rms_norm %0, %blk.0.attn_norm.weight eps 9.99",
          "%2 = tenon.matmul %1, %blk.0.attn_q.weight",
          "%3 = tenon.matmul %1, %blk.0.attn_k.weight",
          "%4 = tenon.matmul %1, %blk.0.attn_v.weight",
          "%5 = tenon.reshape %2 to [1, 8, 8]",
          "%6 = tenon.reshape %3 to [1, 4, 8]",
          "%7 = tenon.reshape %4 to [1, 4, 8]",
          "%8 = tenon.rope  adjacent %5, %arg2, %cst",
          "%9 = tenon.rope  adjacent %6, %arg2, %cst",
          "tenon.kv_write %9, %arg1, %arg2 into %kv.0.k",
          "tenon.kv_write %7, %arg1, %arg2 into %kv.0.v",
          "tenon.attention %8, %10, %11, %arg1, %arg2 scale 0.3535533905932737",
          "%13 = tenon.reshape %12 to [1, 64]",
          "%14 = tenon.matmul %13, %blk.0.attn_output.weight",
          "%15 = tenon.add %0, %14",
          "%16 = tenon.rms_norm %15, %blk.0.ffn_norm.weight",
          "%17 = tenon.matmul %16, %blk.0.ffn_gate.weight",
          "%18 = tenon.matmul %16, %blk.0.ffn_up.weight",
          "silu %17, %18",
          "%20 = tenon.matmul %19, %blk.0.ffn_down.weight",
          "%21 = tenon.add %15, %20",
          "tenon.rms_norm %21, %blk.1.attn_norm.weight",
          "tenon.kv_write",
          "into %kv.4.v",
          "tenon.rms_norm %105, %output_norm.weight",
          ("tenon.matmul %106, %output.weight : (tensor<1x64xf32>, tensor<512x64xf32>) -> "
           "tensor<1x512xf32>"),
          "return %107, %21,",
      }));
}

TEST_F(GgufImportTest, TinyNeoxHasTheParallelBlock) {
  auto module = importFile(TENON_TEST_DATA "/tiny-neox/tiny-neox-262k-f32.gguf",
                           {.entries = {{Role::Prefill, 7}}});
  ASSERT_THAT(module, IsOk());
  EXPECT_THAT(
      text(module),
      ContainsInOrder(Parts{
          "tenon.weight @blk.0.attn_q.weight : tensor<64x64xf32>",
          "tenon.weight @blk.0.attn_q.bias : tensor<64xf32>",
          ("func.func @prefill_7(%arg0: tensor<7xi32> {tenon.name = \"ids\", tenon.role = "
           "#tenon.port<ids>}, %arg1: tensor<1xi32> {tenon.name = \"sequences\", tenon.role = "
           "#tenon.port<sequences>}, %arg2: tensor<7xi32> {tenon.name = \"positions\", tenon.role "
           "= #tenon.port<positions>}, %arg3: tensor<1xi32> {tenon.name = \"output_rows\", "
           "tenon.role = #tenon.port<output_rows>}) -> (tensor<1x512xf32> {tenon.name = "
           "\"logits\", "
           "tenon.role = #tenon.port<logits>})"),
          "tenon.constant dense<[1.000000e+00, 0.00999999977]> : tensor<2xf32>",
          "%0 = tenon.embedding",
          "%1 = tenon.layer_norm %0 weight %blk.0.attn_norm.weight bias %blk.0.attn_norm.bias",
          "%2 = tenon.matmul %1, %blk.0.attn_q.weight",
          "%3 = tenon.add %2, %blk.0.attn_q.bias",
          "halves %8, %arg2, %cst",
          "%18 = tenon.add %17, %blk.0.attn_output.bias",
          "%19 = tenon.layer_norm %0 weight %blk.0.ffn_norm.weight bias %blk.0.ffn_norm.bias",
          "%22 = tenon.gelu %21",
          "%24 = tenon.add %23, %blk.0.ffn_down.bias",
          "%25 = tenon.add %24, %18",
          "%26 = tenon.add %25, %0",
          "tenon.layer_norm %26 weight %blk.1.attn_norm.weight",
          ("%105 = tenon.embedding %104, %arg3 : (tensor<7x64xf32>, tensor<1xi32>) -> "
           "tensor<1x64xf32>"),
          "tenon.layer_norm %105 weight %output_norm.weight",
      }));
}

/// Tokens of any sequences, as of decode, and logits of one row of each, as of prefill. The caches hold as
/// many sequences as decode has rows.
TEST_F(GgufImportTest, MixedHasLogitsOfOneRowOfEachSequence) {
  const std::string module = importText(
      ModelFile::llama(),
      {.entries = {{Role::Decode, 3}, {Role::Mixed, 5}}, .contextLength = 12, .nextIds = true});
  EXPECT_THAT(module,
              ContainsInOrder(
                  Parts{"tenon.state @kv.0.k : !tenon.state<3x12x", "@mixed_5(%arg0: tensor<5xi32>",
                        "%arg1: tensor<5xi32> {tenon.name = \"sequences\"", "%arg2: tensor<5xi32>",
                        "%arg3: tensor<3xi32> {tenon.name = \"output_rows\"", "-> (tensor<3x",
                        "tensor<3xi32> {tenon.name = \"next_ids\"", "#tenon.entry<mixed, rows = 5>",
                        "tenon.kv_write"}));
  // Of fewer rows than sequences all may have logits.
  EXPECT_THAT(importText(ModelFile::llama(), {.entries = {{Role::Decode, 3}, {Role::Mixed, 2}}}),
              HasSubstr("%arg3: tensor<2xi32> {tenon.name = \"output_rows\""));
  const size_t mixed = module.find("@mixed_5");
  EXPECT_THAT(module.substr(mixed), HasSubstr("{chunks}"));
  EXPECT_THAT(module.substr(0, mixed), Not(HasSubstr("{chunks}")));
}

/// The parts of a fused tensor are ranges of its rows, one after the other.
TEST_F(GgufImportTest, FusedTensorsAreSplitByRows) {
  auto module = import(ModelFile::gptNeox());
  ASSERT_THAT(module, IsOk());
  auto range = [&](const char* name) {
    auto weight = (*module)->lookupSymbol<WeightOp>(name);
    return weight ? llvm::cast<RangeAttr>(weight.getRanges()[0]) : RangeAttr();
  };
  RangeAttr q = range("blk.1.attn_q.weight"), k = range("blk.1.attn_k.weight"),
            v = range("blk.1.attn_v.weight");
  ASSERT_TRUE(q && k && v);
  EXPECT_EQ(q.getBytes(), int64_t{256});
  EXPECT_EQ(k.getOffset(), q.getOffset() + q.getBytes());
  EXPECT_EQ(v.getOffset(), k.getOffset() + k.getBytes());
  RangeAttr qBias = range("blk.1.attn_q.bias"), vBias = range("blk.1.attn_v.bias");
  EXPECT_EQ(qBias.getBytes(), 8 * 4);
  EXPECT_EQ(vBias.getOffset(), qBias.getOffset() + 64);
}

TEST_F(GgufImportTest, SerialResidual) {
  ModelFile model = ModelFile::gptNeox();
  model.keys["gptneox.use_parallel_residual"] = false;
  EXPECT_THAT(importText(model), ContainsInOrder(Parts{
                                     "%18 = tenon.add %17, %blk.0.attn_output.bias",
                                     "%19 = tenon.add %18, %0",
                                     "%20 = tenon.layer_norm %19 weight %blk.0.ffn_norm.weight",
                                     "%25 = tenon.add %24, %blk.0.ffn_down.bias",
                                     "%26 = tenon.add %25, %19",
                                 }));
}

TEST_F(GgufImportTest, FunctionsShareStatesAndWeights) {
  std::string module =
      importText(ModelFile::llama(), {.activations = ActivationType::F16,
                                      .entries = {{Role::Decode, 3}, {Role::Prefill, 4}},
                                      .contextLength = 12});
  EXPECT_THAT(module, ContainsInOrder(Parts{"tenon.state @kv.0.k : !tenon.state<3x12x2x2xf16>",
                                            "@decode_3", "%kv.0.k = tenon.get_state", "@prefill_4",
                                            "%kv.0.k = tenon.get_state"}));
  size_t first = module.find("tenon.weight @blk.0.attn_q.weight");
  EXPECT_EQ(module.find("tenon.weight @blk.0.attn_q.weight", first + 1), std::string::npos);
  // Logits are f32 whatever the activations are.
  EXPECT_THAT(
      module,
      HasSubstr(
          "-> (tensor<3x5xf32> {tenon.name = \"logits\", tenon.role = #tenon.port<logits>})"));
}

TEST_F(GgufImportTest, ActivationTypes) {
  EXPECT_THAT(importText(ModelFile::llama(), {.activations = ActivationType::BF16}),
              AllOf(HasSubstr("-> tensor<1x8xbf16>"), HasSubstr("!tenon.state<1x16x2x2xbf16>")));
}

TEST_F(GgufImportTest, SequencesMayBeMoreThanRows) {
  EXPECT_THAT(importText(ModelFile::llama(), {.sequences = 5}),
              HasSubstr("!tenon.state<5x16x2x2xf32>"));
}

/// A module's text does not depend on the size of the weights.
TEST_F(GgufImportTest, ModulesDoNotGrowWithWeights) {
  ModelFile large = ModelFile::llama();
  large.keys["llama.feed_forward_length"] = 4096u;
  for (std::string block : {"blk.0.", "blk.1."}) {
    large.tensors[block + "ffn_gate.weight"].shape = {4096, 8};
    large.tensors[block + "ffn_up.weight"].shape = {4096, 8};
    large.tensors[block + "ffn_down.weight"].shape = {8, 4096};
  }
  EXPECT_LT(importText(large).size(), importText(ModelFile::llama()).size() + 1000);
}

TEST_F(GgufImportTest, MixedAndQuantisedTypes) {
  ModelFile model = ModelFile::llama();
  model.tensors["blk.0.ffn_down.weight"].encoding = "q8_0";
  model.tensors["blk.1.ffn_down.weight"].encoding = "q4_0";
  model.tensors["blk.0.attn_norm.weight"].encoding = "f16";
  model.tensors["output.weight"].encoding = "bf16";
  EXPECT_THAT(importText(model),
              AllOf(HasSubstr("@blk.0.ffn_down.weight : tensor<8x32x!tenon.block<q8_0>>"),
                    HasSubstr("@blk.1.ffn_down.weight : tensor<8x32x!tenon.block<q4_0>>"),
                    HasSubstr("@blk.0.attn_norm.weight : tensor<8xf16>"),
                    HasSubstr("@output.weight : tensor<5x8xbf16>")));
}

TEST_F(GgufImportTest, TiedOutput) {
  ModelFile model = ModelFile::llama();
  model.tensors.erase("output.weight");
  std::string module = importText(model);
  EXPECT_THAT(module, Not(HasSubstr("@output.weight")));
  EXPECT_THAT(module, ContainsInOrder(Parts{"tenon.rms_norm %43, %output_norm.weight",
                                            "tenon.matmul %44, %token_embd.weight"}));
}

TEST_F(GgufImportTest, OptionalBiases) {
  ModelFile model = ModelFile::llama();
  model.tensors["blk.0.attn_q.bias"] = {{8}};
  model.tensors["blk.0.ffn_up.bias"] = {{32}};
  EXPECT_THAT(importText(model), ContainsInOrder(Parts{"tenon.matmul %1, %blk.0.attn_q.weight",
                                                       "%3 = tenon.add %2, %blk.0.attn_q.bias",
                                                       "tenon.add %19, %blk.0.ffn_up.bias"}));
}

TEST_F(GgufImportTest, HeadSizesOfTheirOwn) {
  ModelFile model = ModelFile::llama();
  model.keys["llama.attention.key_length"] = 6u;
  model.keys["llama.attention.value_length"] = 3u;
  model.keys["llama.attention.head_count"] = 3u; // does not divide the hidden size
  model.keys["llama.attention.head_count_kv"] = 1u;
  model.keys["llama.rope.dimension_count"] = 4u;
  model.keys["llama.attention.scale"] = 0.75f;
  for (std::string block : {"blk.0.", "blk.1."}) {
    model.tensors[block + "attn_q.weight"].shape = {18, 8};
    model.tensors[block + "attn_k.weight"].shape = {6, 8};
    model.tensors[block + "attn_v.weight"].shape = {3, 8};
    model.tensors[block + "attn_output.weight"].shape = {8, 9};
  }
  EXPECT_THAT(importText(model),
              ContainsInOrder(Parts{"@kv.0.k : !tenon.state<1x16x1x6xf32>",
                                    "@kv.0.v : !tenon.state<1x16x1x3xf32>",
                                    "dense<[1.000000e+00, 0.00999999977]>", "scale 7.500000e-01"}));
}

/// What GGUF allows to be absent: KV heads, rotary size, frequency base, tokens, name.
TEST_F(GgufImportTest, Defaults) {
  ModelFile model = ModelFile::llama();
  model.keys.erase("llama.attention.head_count_kv");
  model.keys.erase("tokenizer.ggml.tokens");
  model.keys.erase("general.name");
  for (std::string block : {"blk.0.", "blk.1."}) {
    model.tensors[block + "attn_k.weight"].shape = {8, 8};
    model.tensors[block + "attn_v.weight"].shape = {8, 8};
  }
  EXPECT_THAT(importText(model), AllOf(HasSubstr("name = \"llama\""),
                                       HasSubstr("@kv.0.k : !tenon.state<1x16x4x2xf32>")));
}

TEST_F(GgufImportTest, LocationsNameTensors) {
  auto module = import(ModelFile::llama());
  ASSERT_THAT(module, IsOk());
  std::set<std::string> names;
  (*module)->walk(
      [&](MatmulOp op) { names.insert(llvm::cast<mlir::NameLoc>(op.getLoc()).getName().str()); });
  EXPECT_THAT(names, ::testing::IsSupersetOf({"blk.0.attn_q", "blk.1.ffn_down", "output"}));
  EXPECT_EQ(names.size(), 15u);
}

} // namespace
} // namespace tenon::frontends
