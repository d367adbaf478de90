#include "runtime/program/ValidateProgram.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/program/ModelPorts.h"
#include "tests/runtime/program/TestPrograms.h"

namespace tenon::runtime {
namespace {

using test::richCudaProgram;
using test::richProgram;
using testing::HasSubstr;

struct Refusal {
  const char* name;
  std::function<void(Program&)> damage;
  const char* message;
};

void PrintTo(const Refusal& refusal, std::ostream* stream) { *stream << refusal.name; }

class ValidateProgramRefusal : public testing::TestWithParam<Refusal> {};

TEST(ValidateProgram, AcceptsTheRichProgram) {
  EXPECT_EQ(validateProgram(richProgram()), absl::OkStatus());
}

TEST(ValidateProgram, AcceptsTheEmptyProgram) {
  Program program;
  program.device = "cuda";
  EXPECT_EQ(validateProgram(program), absl::OkStatus());
}

TEST(ValidateProgram, AcceptsTheRichCudaProgram) {
  EXPECT_EQ(validateProgram(richCudaProgram()), absl::OkStatus());
}

TEST_P(ValidateProgramRefusal, SaysWhat) {
  Program program = richProgram();
  GetParam().damage(program);
  absl::Status status = validateProgram(program);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().message));
}

std::vector<FileRange>& ranges(Program& program, size_t constant) {
  return std::get<std::vector<FileRange>>(program.constants[constant].source);
}

BufferRef& argument(Program& program, size_t index) {
  return program.functions[0].steps[1].args[index];
}

const Refusal refusals[] = {
    {"EncodingTwice", [](Program& p) { p.encodings[1].name = "f32"; },
     "encoding \"f32\" expects a unique name"},
    {"EncodingWithoutName", [](Program& p) { p.encodings[2].name = ""; },
     "encoding \"\" expects a unique name"},
    {"EmptyBlock", [](Program& p) { p.encodings[2].blockElements = 0; },
     "encoding \"q8_0\" expects positive block sizes, but found 0 elements in 34 bytes"},
    {"BlockOfNoBytes", [](Program& p) { p.encodings[2].blockBytes = 0; },
     "expects positive block sizes, but found 32 elements in 0 bytes"},
    {"UnknownEncoding", [](Program& p) { p.states[0].encoding = "f\n"; },
     R"(state "k" expects one of the program's encodings, but found "f\n")"},
    {"NegativeExtent", [](Program& p) { p.states[0].shape[1] = -4; },
     "state \"k\" expects positive extents whose product fits 64 bits, but has shape [2, -4, 8]"},
    {"ZeroExtent", [](Program& p) { p.constants[0].shape[0] = 0; },
     "constant \"q\" expects positive extents"},
    {"ProductOverflow", [](Program& p) { p.states[0].shape = {1L << 40, 1L << 40}; },
     "state \"k\" expects positive extents whose product fits"},
    {"PartialBlock", [](Program& p) { p.constants[0].shape = {64, 1}; },
     "constant \"q\" of encoding q8_0 expects an innermost extent divisible by 32, but has shape "
     "[64, 1]"},
    {"BytesOverflow", [](Program& p) { p.states[0].shape = {1L << 62}; },
     "state \"k\" expects at most 1099511627776 bytes"},
    {"HugeState",
     [](Program& p) {
       p.states[1].shape = {1L << 38};
       p.states[1].bytes = 1UL << 40;
     },
     "workspace and states expect at most 1099511627776 bytes together, exceeded by state \"v\""},
    {"HugeWorkspace", [](Program& p) { p.workspaceBytes = (1UL << 40) + 1; },
     "the workspace expects at most 1099511627776 bytes, but found 1099511627777"},
    {"HugePorts",
     [](Program& p) {
       p.functions[0].outputs[0].shape = {1L << 38};
       p.functions[0].outputs[0].bytes = 1UL << 40;
     },
     "expects at most 1099511627776 bytes of arguments and what is loaded together, exceeded by "
     "output"},
    {"HugeEmbeddedConstants",
     [](Program& p) {
       p.constants[2].shape = {1L << 38};
       p.constants[2].bytes = 1UL << 40;
       p.constants[2].source = std::vector<runtime::RandomRange>{{.bytes = 1UL << 40}};
     },
     "workspace, states and constants expect at most 1099511627776 bytes together, exceeded by "
     "constant \"scale\""},
    {"WrongBytes", [](Program& p) { p.states[0].bytes = 255; },
     "state \"k\" expects 256 bytes for shape [2, 4, 8] of f32, but found 255"},
    {"UnknownFile", [](Program& p) { ranges(p, 1)[1].file = 2; },
     "constant \"qkv\" expects one of the 2 files, but names file 2"},
    {"RangePastFile", [](Program& p) { ranges(p, 1)[1].offset = 4089; },
     "constant \"qkv\" expects a range within the 4096 bytes of \"/models/b.gguf\", but found 8 "
     "bytes at offset 4089"},
    {"RangeStartPastFile", [](Program& p) { ranges(p, 1)[1].offset = ~0UL; },
     "expects a range within the 4096 bytes"},
    {"RangesOverflow",
     [](Program& p) {
       p.files[0].bytes = ~0UL;
       ranges(p, 1)[0].bytes = ~0UL - 16;
     },
     "constant \"qkv\" expects at most 1099511627776 bytes of source, exceeded by a range of "
     "18446744073709551599 bytes"},
    {"RangesTooShort", [](Program& p) { ranges(p, 1).pop_back(); },
     "constant \"qkv\" expects 24 bytes of source, but found 16"},
    {"EmbeddedTooShort", [](Program& p) { p.constants[2].source = SharedBytes(); },
     "constant \"scale\" expects 4 bytes of source, but found 0"},
    {"TransposedBytes", [](Program& p) { p.constants[2].transposed = true; },
     "constant \"scale\" expects ranges of files to be transposed, but found another source"},
    {"TransposedBlocks", [](Program& p) { p.constants[0].transposed = true; },
     "constant \"q\" expects at least two axes of plain elements to be transposed, but found shape "
     "[2, 32] of q8_0"},
    {"TransposedVector",
     [](Program& p) {
       p.constants[1].shape = {6};
       p.constants[1].transposed = true;
     },
     "constant \"qkv\" expects at least two axes of plain elements to be transposed, but found "
     "shape [6] of f32"},
    {"FileWithoutPath", [](Program& p) { p.files[1].path = ""; }, "file 1 expects a path"},
    {"UnknownDevice", [](Program& p) { p.device = "tpu"; },
     "expects device \"cpu\" or \"cuda\", but found \"tpu\""},
    {"EmptyFeature", [](Program& p) { p.features.push_back(""); },
     "expects names of CPU features, but found an empty one"},
    {"KernelWithoutSymbol", [](Program& p) { p.kernels[1].symbol = ""; },
     "kernel 1 expects a symbol"},
    {"UnknownObject", [](Program& p) { p.kernels[1].code = 2; },
     "kernel \"matmul\" expects one of the 2 objects, but names object 2"},
    {"UnknownTokenizer", [](Program& p) { p.tokenizer->model = TokenizerModel{5}; },
     "the tokeniser expects a model from 0 to 4, but found 5"},
    {"UnknownTokenKind", [](Program& p) { p.tokenizer->kinds[2] = TokenKind{7}; },
     "the tokeniser expects token kinds from 1 to 6, but found 7"},
    {"ZeroTokenKind", [](Program& p) { p.tokenizer->kinds[2] = TokenKind{0}; },
     "token kinds from 1 to 6, but found 0"},
    {"NoVocabulary", [](Program& p) { p.model->vocabulary = 0; },
     "the model expects vocabulary, context and sequences between 1 and 2^31 - 1, but found 0"},
    {"LongContext", [](Program& p) { p.model->context = 1L << 31; }, "but found 2147483648"},
    {"NoSequences", [](Program& p) { p.model->sequences = -1; }, "but found -1"},
    {"PagesOfNothing", [](Program& p) { p.model->pages = 4; },
     "the model expects pages for a context of 4 positions, but found 4 pages of 0"},
    {"PageOfNoPool", [](Program& p) { p.model->pagePositions = 16; }, "but found 0 pages of 16"},
    {"FewPages",
     [](Program& p) { p.model->context = 1000, p.model->pages = 62, p.model->pagePositions = 16; },
     "the model expects pages for a context of 1000 positions, but found 62 pages of 16"},
    {"NoBlockTable", [](Program& p) { p.model->pages = 2, p.model->pagePositions = 2; },
     "function \"decode\" expects \"block_table\": [2, 2] of i32, but it is missing"},
    {"FunctionTwice", [](Program& p) { p.functions[1].name = "decode"; },
     "function \"decode\" expects a unique name"},
    {"FunctionWithoutName", [](Program& p) { p.functions[1].name = ""; },
     "function \"\" expects a unique name"},
    {"WrongInputBytes", [](Program& p) { p.functions[2].inputs[0].bytes = 33; },
     "function \"graph\": input \"x\" expects 34 bytes for shape [32] of q8_0, but found 33"},
    {"WrongOutputBytes", [](Program& p) { p.functions[0].outputs[1].bytes = 5; },
     "function \"decode\": output \"probe\" expects 4 bytes"},
    {"UnknownKernel", [](Program& p) { p.functions[0].steps[1].kernel = 2; },
     "function \"decode\": step 1 \"matmul, bias\" expects one of the 2 kernels, but names kernel "
     "2"},
    {"NoTiles", [](Program& p) { p.functions[0].steps[0].tiles = 0; },
     "step 0 \"embedding\" expects between 1 and 1099511627776 tiles, but found 0"},
    {"TooManyTiles", [](Program& p) { p.functions[0].steps[0].tiles = INT64_MAX; },
     "tiles, but found 9223372036854775807"},
    {"UnknownConstant", [](Program& p) { argument(p, 0).index = 4; },
     "step 1 \"matmul, bias\": argument 0 expects one of the 4 constants, but names number 4"},
    {"UnknownState", [](Program& p) { argument(p, 1).index = 2; },
     "argument 1 expects one of the 2 states, but names number 2"},
    {"SecondWorkspace", [](Program& p) { argument(p, 2).index = 1; },
     "argument 2 expects index 0 for the workspace, but found 1"},
    {"UnknownOutput", [](Program& p) { argument(p, 3).index = 2; },
     "argument 3 expects one of the 2 outputs, but names number 2"},
    {"UnknownInput", [](Program& p) { argument(p, 3) = {Space::Input, 3, 0, 4}; },
     "argument 3 expects one of the 3 inputs, but names number 3"},
    {"UnknownSpace", [](Program& p) { argument(p, 2).space = Space{5}; },
     "argument 2 expects a space from 0 to 4, but found 5"},
    {"ArgumentTooLong", [](Program& p) { argument(p, 1).bytes = 129; },
     "argument 1 expects a range within 256 bytes, but found 129 bytes at offset 128"},
    {"ArgumentOverflow",
     [](Program& p) {
       argument(p, 1).offset = ~0UL - 63;
       argument(p, 1).bytes = 128;
     },
     "argument 1 expects a range within 256 bytes, but found 128 bytes at offset "
     "18446744073709551552"},
    {"WorkspaceTooSmall", [](Program& p) { p.workspaceBytes = 127; },
     "expects a range within 127 bytes"},
    {"OtherTiles", [](Program& p) { p.functions[0].steps[0].tiles = 4; },
     "step 0 \"embedding\" expects the 3 tiles of kernel \"embed\", but found 4"},
    {"FewerArguments", [](Program& p) { p.functions[0].steps[1].args.pop_back(); },
     "expects the 4 arguments of kernel \"matmul\", but found 3"},
    {"ShorterArgument", [](Program& p) { argument(p, 2).bytes = 64; },
     "expects 128 bytes as argument 2 of kernel \"matmul\", but found 64"},
    {"WritesToAConstant", [](Program& p) { p.kernels[1].args[0].access = Access::Write; },
     "expects argument 0 of kernel \"matmul\", which it writes to, outside constants and inputs"},
    {"WritesToAnInput", [](Program& p) { p.kernels[0].args[0].access = Access::ReadWrite; },
     "expects argument 0 of kernel \"embed\", which it writes to, outside constants and inputs"},
    {"UnknownAccess", [](Program& p) { p.kernels[0].args[1].access = Access{3}; },
     "kernel \"embed\" expects an access from 0 to 2, but found 3"},
    {"UnknownRole", [](Program& p) { p.functions[2].role = Role{4}; },
     "function \"graph\" expects a role from 0 to 3, but found 4"},
    {"OtherSequences", [](Program& p) { p.functions[1].role = Role::Mixed; },
     "function \"prefill\" expects \"sequences\": [4] of i32, but found \"sequences\": [1] of i32"},
    {"RoleWithoutModel", [](Program& p) { p.model.reset(); },
     "function \"decode\" expects a model, which its role needs"},
    {"MissingInput", [](Program& p) { p.functions[1].inputs.pop_back(); },
     "function \"prefill\" expects \"output_rows\": [1] of i32, but it is missing"},
    {"MoreInputs",
     [](Program& p) { p.functions[0].inputs.push_back({"output_rows", "i32", {1}, 4}); },
     "function \"decode\" expects 3 inputs, but found 4"},
    {"NegativePrediction", [](Program& p) { p.functions[2].predictedNs = -1; },
     "function \"graph\" expects a predicted time of at least 0 ns, but found -1"},
    {"MoreThanAllSharedMemory", [](Program& p) { p.functions[2].sharedPercent = 101; },
     "function \"graph\" expects 0 to 100 percent of shared memory, but found 101"},
    {"NoInputOfARole", [](Program& p) { p.functions[0].inputs[0].role = PortRole::Other; },
     "function \"decode\" expects \"ids\": [2] of i32, but it is missing"},
    {"UnknownPortRole", [](Program& p) { p.functions[2].inputs[0].role = PortRole{12}; },
     "function \"graph\": input \"x\" expects a role from 0 to 11, but found 12"},
    {"WrongNextIds", [](Program& p) { p.functions[0].outputs[1].role = PortRole::NextIds; },
     "function \"decode\" expects \"next_ids\": [2] of i32, but found \"probe\": [1] of f32"},
    {"WrongInputShape", [](Program& p) { p.functions[0].rows = 3; },
     "function \"decode\" expects \"ids\": [3] of i32, but found \"ids\": [2] of i32"},
    {"WrongLogits", [](Program& p) { p.model->vocabulary = 6; },
     "expects \"logits\": [2, 6] of f32, but found \"logits\": [2, 5] of f32"},
    {"ForeignF32",
     [](Program& p) {
       p.encodings[1].blockBytes = 2;
       for (Function& function : p.functions)
         for (Port& port : function.inputs)
           if (port.encoding == "i32")
             port.bytes /= 2;
     },
     "function \"decode\" expects 4 bytes an element in \"ids\": [2] of i32, but found 4 bytes"},
};

/// Of mixed rows one of each sequence has logits, as far as there are rows.
TEST(ValidateProgram, TakesMixedFunctions) {
  for (int64_t rows : {1, 4}) {
    Program program = richProgram();
    ModelPorts ports = modelPorts(Role::Mixed, rows, *program.model);
    const int64_t outputRows = std::min<int64_t>(rows, 2);
    EXPECT_EQ(ports.logits.shape, std::vector<int64_t>({outputRows, 5}));
    EXPECT_EQ(ports.inputs.back().shape, std::vector<int64_t>({outputRows}));
    program.functions.push_back(
        {"mixed", Role::Mixed, rows, std::move(ports.inputs), {std::move(ports.logits)}, {}});
    EXPECT_EQ(validateProgram(program), absl::OkStatus());
  }
}

class ValidateCudaRefusal : public testing::TestWithParam<Refusal> {};

TEST_P(ValidateCudaRefusal, SaysWhat) {
  Program program = richCudaProgram();
  GetParam().damage(program);
  absl::Status status = validateProgram(program);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().message));
}

CudaLaunch& launch(Program& program) { return std::get<CudaLaunch>(program.kernels[0].launch); }
LibraryMatmul& matmul(Program& program) {
  return std::get<LibraryMatmul>(program.kernels[1].launch);
}
Step& step(Program& program, size_t index) { return program.functions[0].steps[index]; }
RandomRange& random(Program& program) {
  return std::get<std::vector<RandomRange>>(program.constants[0].source)[0];
}

const Refusal cudaRefusals[] = {
    {"KernelWithoutLaunch", [](Program& p) { p.kernels[0].launch = std::monostate(); },
     "kernel \"cast\" expects a launch for device cuda"},
    {"LaunchOnTheCpu", [](Program& p) { p.device = "cpu"; },
     "kernel \"cast\" expects no launch for device cpu"},
    {"NoThreads", [](Program& p) { launch(p).threads = 0; },
     "kernel \"cast\" expects between 1 and 1024 threads in a block, but found 0"},
    {"TooManyThreads", [](Program& p) { launch(p).threads = 1025; }, "but found 1025"},
    {"TooMuchSharedMemory", [](Program& p) { launch(p).sharedBytes = (1 << 20) + 1; },
     "kernel \"cast\" expects at most 1048576 bytes of shared memory, but found 1048577"},
    {"TooManyTensorMaps",
     [](Program& p) { launch(p).tensorMaps.resize(9, launch(p).tensorMaps[0]); },
     "kernel \"cast\" expects at most 8 tensor maps, but found 9"},
    {"TensorMapOfF32", [](Program& p) { launch(p).tensorMaps[0].type = MatmulType::F32; },
     "kernel \"cast\" expects element type 1 or 2 in a tensor map, but found 0"},
    {"TensorMapWithoutRows", [](Program& p) { launch(p).tensorMaps[0].rows = 0; },
     "expects extents between 1 and 2^31 - 1 in a tensor map, but found 0 x 8"},
    {"TensorMapOfHugeRows", [](Program& p) { launch(p).tensorMaps[0].columns = 1L << 31; },
     "but found 4 x 2147483648"},
    {"TensorMapOfOddRows", [](Program& p) { launch(p).tensorMaps[0].columns = 12; },
     "expects rows of a multiple of 16 bytes in a tensor map, but found 12 columns"},
    {"TensorMapWithoutBox", [](Program& p) { launch(p).tensorMaps[0].boxRows = 0; },
     "expects boxes of 1 to 256 rows in a tensor map, but found 0"},
    {"TensorMapOfHugeBox", [](Program& p) { launch(p).tensorMaps[0].boxRows = 257; },
     "but found 257"},
    {"TensorMapOfNoArgument", [](Program& p) { launch(p).tensorMaps[0].argument = 2; },
     "step 0 \"cast\" expects tensor maps of its 2 arguments, but found one of argument 2"},
    {"TensorMapPastItsArgument", [](Program& p) { launch(p).tensorMaps[0].rows = 5; },
     "step 0 \"cast\" expects 80 bytes in argument 1, a matrix of 5 x 8, but found 64"},
    {"TooManyArgumentsBesideTensorMaps",
     [](Program& p) { step(p, 0).args.resize(257, {Space::Workspace, 0, 0, 64}); },
     "step 0 \"cast\" expects at most 256 arguments beside tensor maps, but found 257"},
    {"MisalignedArgument",
     [](Program& p) {
       p.workspaceBytes = 128;
       step(p, 0).args[1].offset = 24;
     },
     "step 0 \"cast\" expects argument 1 of kernel \"cast\" at a multiple of 16 bytes, but found "
     "offset 24"},
    {"UnknownCubin", [](Program& p) { p.kernels[0].code = 1; },
     "kernel \"cast\" expects one of the 1 objects, but names object 1"},
    {"MatmulWithCode", [](Program& p) { p.kernels[1].code = 1; },
     "kernel \"matmul\" expects no object, but names object 1"},
    {"NoRows", [](Program& p) { matmul(p).m = 0; },
     "kernel \"matmul\" expects m, n and k between 1 and 2^31 - 1, but found 0"},
    {"HugeColumns", [](Program& p) { matmul(p).n = 1L << 31; }, "but found 2147483648"},
    {"NegativeDepth", [](Program& p) { matmul(p).k = -8; }, "but found -8"},
    {"UnknownInputType", [](Program& p) { matmul(p).input = MatmulType{3}; },
     "expects element types from 0 to 2, but found 3 and 0"},
    {"UnknownOutputType", [](Program& p) { matmul(p).output = MatmulType{4}; },
     "but found 2 and 4"},
    {"ForeignOutputType", [](Program& p) { matmul(p).output = MatmulType::F16; },
     "kernel \"matmul\" expects an output of the input's type or f32"},
    {"Tf32Of16Bits", [](Program& p) { matmul(p).tf32 = true; },
     "kernel \"matmul\" expects f32 input where TF32 is allowed"},
    {"EpilogueOf16Bits", [](Program& p) { matmul(p).output = MatmulType::Bf16; },
     "kernel \"matmul\" expects an output of f32 with a residual, a bias or GELU"},
    {"HugeLibraryWorkspace", [](Program& p) { matmul(p).workspaceBytes = (1 << 30) + 1; },
     "kernel \"matmul\" expects at most 1073741824 bytes of workspace, but found 1073741825"},
    {"TooManyTiles", [](Program& p) { step(p, 0).tiles = 1L << 31; },
     "step 0 \"cast\" expects at most 2147483647 tiles on a CUDA device, but found 2147483648"},
    {"TooManyArguments",
     [](Program& p) { step(p, 0).args.resize(513, {Space::Workspace, 0, 0, 64}); },
     "step 0 \"cast\" expects at most 512 arguments on a CUDA device, but found 513"},
    {"MatmulOfTwoTiles", [](Program& p) { step(p, 1).tiles = 2; },
     "step 1 \"matmul\" expects one tile of a library's matmul, but found 2"},
    {"MatmulWithoutResult", [](Program& p) { step(p, 1).args.pop_back(); },
     "step 1 \"matmul\" expects x, W, a residual, y as arguments, but found 3"},
    {"MatmulWithoutBias", [](Program& p) { matmul(p).bias = true; },
     "step 1 \"matmul\" expects x, W, a residual, a bias, y as arguments, but found 4"},
    {"MatmulWithoutResidual", [](Program& p) { matmul(p).residual = false; },
     "step 1 \"matmul\" expects x, W, y as arguments, but found 4"},
    {"MatmulWithShortResidual", [](Program& p) { step(p, 1).args[2].bytes = 48; },
     "step 1 \"matmul\" expects 96 bytes in argument 2 of a matmul of 4 x 6 x 8, but found 48"},
    {"MatmulWithLongBias",
     [](Program& p) {
       matmul(p).bias = true;
       step(p, 1).args.insert(step(p, 1).args.begin() + 3, {Space::Input, 0, 96, 32});
     },
     "step 1 \"matmul\" expects 24 bytes in argument 3 of a matmul of 4 x 6 x 8, but found 32"},
    {"MatmulOfOtherSize", [](Program& p) { step(p, 1).args[1].bytes = 94; },
     "step 1 \"matmul\" expects 96 bytes in argument 1 of a matmul of 4 x 6 x 8, but found 94"},
    {"RandomBlocks", [](Program& p) { p.encodings[1].name = p.constants[0].encoding = "q8_0"; },
     "constant \"w\" expects an encoding that random values have, but found q8_0"},
    {"ForeignBf16",
     [](Program& p) {
       p.encodings[1].blockElements = 2;
       p.encodings[1].blockBytes = 4;
     },
     "expects an encoding that random values have, but found bf16"},
    {"HalfARandomValue", [](Program& p) { random(p).bytes = 63; },
     "constant \"w\" expects random ranges of whole bf16 values, but found 63 bytes"},
    {"InfiniteScale", [](Program& p) { random(p).scale = INFINITY; },
     "constant \"w\" expects a finite mean and scale of random values, but found 0 and inf"},
    {"MeanNotANumber", [](Program& p) { random(p).mean = NAN; }, "but found nan and 0.25"},
    {"RandomRangesTooShort", [](Program& p) { random(p).bytes = 62; },
     "constant \"w\" expects 96 bytes of source, but found 94"},
};

INSTANTIATE_TEST_SUITE_P(All, ValidateCudaRefusal, testing::ValuesIn(cudaRefusals),
                         [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(All, ValidateProgramRefusal, testing::ValuesIn(refusals),
                         [](const auto& info) { return std::string(info.param.name); });

} // namespace
} // namespace tenon::runtime
