// Runs the binary tenon-run on a program whose model is one C function.
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/wait.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"
#include "runtime/program/DescribeKernels.h"
#include "runtime/program/ModelPorts.h"
#include "runtime/program/ProgramFile.h"

namespace tenon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t letters = 26;

std::vector<std::byte> readObject() {
  std::ifstream stream(TENON_TEST_OBJECT, std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
  auto view = std::as_bytes(std::span(bytes));
  return {view.begin(), view.end()};
}

runtime::Program makeAlphabet() {
  using runtime::Space;
  runtime::Program program;
  program.device = "cpu";
  program.encodings = {{"f32", 1, 4}, {"i32", 1, 4}};
  program.code = {readObject()};
  program.kernels = {{"nextLetter", 0}};
  program.model = runtime::ModelInfo{"alphabet", "alphabet", letters, 20, 1};
  program.tokenizer.emplace();
  program.tokenizer->model = runtime::TokenizerModel::ByteLevelBpe;
  program.tokenizer->preTokenizer = "gpt-2";
  for (char letter = 'a'; letter <= 'z'; ++letter)
    program.tokenizer->tokens.emplace_back(1, letter);
  program.tokenizer->eosId = letters - 1;
  runtime::ModelPorts ports = runtime::modelPorts(runtime::Role::Decode, 1, *program.model);
  program.functions = {{"decode_1",
                        runtime::Role::Decode,
                        1,
                        std::move(ports.inputs),
                        {std::move(ports.logits)},
                        {{0,
                          letters,
                          {{Space::Input, 0, 0, 4},
                           {Space::Input, 1, 0, 4},
                           {Space::Input, 2, 0, 4},
                           {Space::Output, 0, 0, 4 * letters}},
                          "next"}}}};
  runtime::describeKernelsBySteps(program);
  return program;
}

struct Outcome {
  int exitCode;
  std::string output; ///< standard output, or both where asked
};

class TenonRunTest : public testing::Test {
protected:
  TenonRunTest() {
    std::string pattern = testing::TempDir() + "tenon-XXXXXX";
    folder = ::mkdtemp(pattern.data());
    path = (folder / "alphabet.tnn").string();
  }
  ~TenonRunTest() override { std::filesystem::remove_all(folder); }

  void write(const runtime::Program& program) const {
    ASSERT_EQ(runtime::writeProgram(program, path), absl::OkStatus());
  }

  Outcome run(const std::string& arguments) const {
    std::string command = std::string(TENON_RUN) + " " + arguments;
    FILE* pipe = ::popen(command.c_str(), "r");
    std::string output;
    std::array<char, 4096> buffer;
    while (size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
      output.append(buffer.data(), count);
    return {WEXITSTATUS(::pclose(pipe)), output};
  }

  std::filesystem::path folder;
  std::string path;
};

TEST_F(TenonRunTest, PrintsTheText) {
  write(makeAlphabet());
  Outcome outcome = run(path + " -p abc -n 4 2>/dev/null");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.output, "abcdefg\n");
}

TEST_F(TenonRunTest, ReportsTimesOnStandardError) {
  write(makeAlphabet());
  EXPECT_THAT(run(path + " -p abc -n 4 2>&1 >/dev/null").output,
              testing::AllOf(testing::StartsWith("loaded in "), HasSubstr("; 3 prompt tokens"),
                             HasSubstr("; 3 further tokens, median ")));
}

TEST_F(TenonRunTest, PrintsOneObject) {
  write(makeAlphabet());
  Outcome outcome = run(path + " -p xab -n 3 --temperature 0 --json");
  EXPECT_EQ(outcome.exitCode, 0);
  auto object = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(object["prompt_ids"], nlohmann::json({23, 0, 1}));
  EXPECT_EQ(object["ids"], nlohmann::json({2, 3, 4}));
  EXPECT_EQ(object["text"], "xabcde");
  EXPECT_EQ(object["stop"], "token limit");
  EXPECT_GT(object["load_ns"], 0);
  EXPECT_GT(object["prompt_ns"], 0);
  EXPECT_EQ(object["token_ns"].size(), 2u);
}

TEST_F(TenonRunTest, StopsAtTheEndOfTheSequence) {
  write(makeAlphabet());
  auto object = nlohmann::json::parse(run(path + " -p w -n 10 --json --threads 2").output);
  EXPECT_EQ(object["text"], "wxy");
  EXPECT_EQ(object["stop"], "end of sequence");
}

TEST_F(TenonRunTest, DrawsWithASeed) {
  write(makeAlphabet());
  std::string flags =
      path + " -p abc -n 8 --temperature 2 --sampling=top-k=20,top-p=0.99 --json --seed ";
  auto first = nlohmann::json::parse(run(flags + "1").output);
  EXPECT_EQ(first["ids"], nlohmann::json::parse(run(flags + "1").output)["ids"]);
  EXPECT_NE(first["ids"], nlohmann::json::parse(run(flags + "2").output)["ids"]);
}

TEST_F(TenonRunTest, ExplainsItself) {
  Outcome outcome = run("--help");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_THAT(outcome.output, HasSubstr("--temperature"));
}

TEST_F(TenonRunTest, RefusesWrongUsage) {
  EXPECT_EQ(run("2>&1").exitCode, 2);
  EXPECT_EQ(run(path + " --colour 2>&1").exitCode, 2);
  EXPECT_EQ(run(path + " -n many 2>&1").exitCode, 2);
}

TEST_F(TenonRunTest, RefusesAFileThatIsNoProgram) {
  std::ofstream(path) << "GGUF, say";
  Outcome outcome = run(path + " -p a 2>&1");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.output, HasSubstr("tenon-run: error: " + path + ": expects a Tenon program"));
}

TEST_F(TenonRunTest, RefusesAProgramThatCannotBeLoaded) {
  runtime::Program program = makeAlphabet();
  program.kernels[0].symbol = "lastLetter";
  write(program);
  Outcome outcome = run(path + " -p a 2>&1");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.output, HasSubstr(path + ": object 0: expects a function named"));
}

TEST_F(TenonRunTest, RefusesAProgramWithoutTokenizer) {
  runtime::Program program = makeAlphabet();
  program.tokenizer.reset();
  write(program);
  Outcome outcome = run(path + " -p a 2>&1");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.output, HasSubstr("expects the program of a language model with its "
                                        "tokeniser, but it has none"));
}

TEST_F(TenonRunTest, RefusesAnImpossibleTemperature) {
  write(makeAlphabet());
  Outcome outcome = run(path + " -p a --temperature -1 2>&1");
  EXPECT_EQ(outcome.exitCode, 2);
  EXPECT_THAT(outcome.output, HasSubstr("temperature"));
}

TEST_F(TenonRunTest, RefusesAPromptLongerThanTheContext) {
  write(makeAlphabet());
  Outcome outcome = run(path + " -p aaaaaaaaaaaaaaaaaaaaa 2>&1");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.output, HasSubstr("the prompt has 21 tokens, but the context holds 20"));
}

} // namespace
} // namespace tenon
