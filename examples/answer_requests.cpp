// Answers several prompts at once with a compiled program, without the compiler:
//
//   tenon compile model.gguf --target=cpu --shapes=decode:1,decode:4,prefill:32 -o model.tnn
//   answer_requests model.tnn 'Once upon a time' 'The dog' 'Lily'

#include <iostream>
#include <memory>
#include <span>
#include <vector>

#include "runtime/batching/BatchScheduler.h"
#include "runtime/program/ProgramFile.h"
#include "runtime/text/StreamingDetokenizer.h"
#include "runtime/text/Tokenizer.h"
#include "support/Status.h"
#include "tools/driver/MakeExecutor.h"

using namespace tenon;

static absl::Status answer(const std::string& path, std::span<char*> prompts) {
  TENON_ASSIGN_OR_RETURN(runtime::Program program, runtime::readProgram(path));
  if (!program.tokenizer)
    return absl::InvalidArgumentError(path + ": expects a program with a tokeniser");
  TENON_ASSIGN_OR_RETURN(auto tokenizer, runtime::Tokenizer::create(*program.tokenizer));
  TENON_ASSIGN_OR_RETURN(auto executor, tools::makeExecutor(std::move(program), {}));
  TENON_ASSIGN_OR_RETURN(auto scheduler, runtime::BatchScheduler::create(*executor));

  std::vector<runtime::RequestResult> results(prompts.size());
  for (size_t i = 0; i < prompts.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(std::vector<int32_t> ids, tokenizer->encode(prompts[i]));
    runtime::Request request = {.prompt = ids, .maxTokens = 24};
    request.onEnd = [&results, i](runtime::RequestResult result) {
      results[i] = std::move(result);
    };
    TENON_RETURN_IF_ERROR(scheduler->submit(std::move(request)).status());
  }
  // One call of the model after the other, until all requests have ended.
  for (bool worked = true; worked;) {
    TENON_ASSIGN_OR_RETURN(worked, scheduler->step());
  }

  for (size_t i = 0; i < prompts.size(); ++i) {
    TENON_RETURN_IF_ERROR(results[i].status);
    std::cout << prompts[i] << " |";
    runtime::StreamingDetokenizer detokenizer(*tokenizer);
    for (int32_t id : results[i].ids) {
      TENON_ASSIGN_OR_RETURN(std::string piece, detokenizer.push(id));
      std::cout << piece;
    }
    std::cout << detokenizer.flush() << "\n";
  }
  const runtime::BatchStatistics counts = scheduler->statistics();
  std::cout << counts.decodeTokens << " tokens in " << counts.decodeCalls << " calls of decode\n";
  return absl::OkStatus();
}

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: answer_requests PROGRAM.tnn PROMPT...\n";
    return 2;
  }
  absl::Status status = answer(argv[1], {argv + 2, argv + argc});
  if (!status.ok())
    std::cerr << "answer_requests: error: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
