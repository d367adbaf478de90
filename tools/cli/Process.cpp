#include "tools/cli/Process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <stdexcept>
#include <streambuf>
#include <string_view>
#include <unistd.h>

#include "support/MappedFile.h"
#include "support/OutputFile.h"
#include "tools/cli/TerminalText.h"
#include "llvm/Support/ErrorHandling.h"

namespace tenon::tools {

namespace {

const char* processName = "tenon";

/// The exit code of a request that failed.
constexpr int failed = 1;

/// What `std::cout` writes to: standard output, of whose errors the first is kept.
class StandardOutput final : public std::streambuf {
public:
  StandardOutput() { setp(buffer.data(), buffer.data() + buffer.size()); }

  /// The number of the first error; 0 where all was written.
  int error() const { return firstError; }

protected:
  int_type overflow(int_type next) override {
    if (sync() != 0)
      return traits_type::eof();
    return traits_type::eq_int_type(next, traits_type::eof()) ? traits_type::not_eof(next)
                                                              : sputc(static_cast<char>(next));
  }

  int sync() override {
    const char* from = pbase();
    while (firstError == 0 && from < pptr()) {
      ssize_t count = ::write(STDOUT_FILENO, from, static_cast<size_t>(pptr() - from));
      if (count < 0 && errno != EINTR)
        firstError = errno;
      from += std::max<ssize_t>(count, 0);
    }
    setp(buffer.data(), buffer.data() + buffer.size());
    return firstError == 0 ? 0 : -1;
  }

private:
  std::array<char, 65536> buffer;
  int firstError = 0;
};

/// Never freed: the stream is flushed after the last destructor.
StandardOutput* standardOutput = nullptr;

/// Ends the process with `NAME: error: …` and exit code 1. Calls nothing that allocates or is not
/// safe in a handler of signals.
[[noreturn]] void endWith(std::initializer_list<std::string_view> message) {
  auto print = [](std::string_view text) {
    return ::write(STDERR_FILENO, text.data(), text.size()) >= 0;
  };
  bool printed = print(processName) && print(": error: ");
  for (std::string_view part : message)
    printed = printed && print(part);
  printed = printed && print("\n");
  removeTemporaryFiles();
  ::_exit(failed); // a message that cannot be printed is lost
}

[[noreturn]] void endWithoutMemory() { endWith({"not enough memory"}); }

/// For exceptions that nothing catches: a container that would exceed the address space.
[[noreturn]] void endWithoutHandler() {
  if (std::exception_ptr exception = std::current_exception())
    try {
      std::rethrow_exception(exception);
    } catch (const std::bad_alloc&) {
      endWithoutMemory();
    } catch (const std::length_error&) {
      endWithoutMemory();
    } catch (const std::exception& other) {
      endWith({"internal error: ", other.what()});
    } catch (...) {
      std::abort();
    }
  std::abort();
}

void endBySignal(int signal) {
  removeTemporaryFiles();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void endByBusError(int signal, siginfo_t* info, void*) {
  if (const char* path = findMappedPath(info->si_addr))
    endWith({path, " became shorter while it was in use"});
  endBySignal(signal);
}

void handleSignals() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction before;
    if (::sigaction(signal, nullptr, &before) != 0 || before.sa_handler == SIG_IGN)
      continue; // as nohup asks for
    struct sigaction action = {};
    action.sa_handler = endBySignal;
    ::sigaction(signal, &action, nullptr);
  }
  struct sigaction action = {};
  action.sa_sigaction = endByBusError;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, nullptr);
  std::signal(SIGXFSZ, SIG_IGN);
}

} // namespace

void beginProcess(const char* name) {
  processName = name;
  handleSignals();
  std::set_new_handler(endWithoutMemory);
  std::set_terminate(endWithoutHandler);
  llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { endWithoutMemory(); });
  llvm::install_fatal_error_handler(
      [](void*, const char* reason, bool) { endWith({"LLVM: ", reason}); });
  standardOutput = new StandardOutput;
  std::cout.rdbuf(standardOutput);
  filterTerminals();
}

int endProcess(int code) {
  std::cout.flush();
  if (standardOutput->error() == 0)
    return code;
  std::cerr << processName << ": error: cannot write to standard output: "
            << std::strerror(standardOutput->error()) << std::endl;
  return failed;
}

} // namespace tenon::tools

// MLIR's allocations of operations do not look at what malloc returns; the linker directs every
// call in the binary to these (`--wrap`), which have the names that it asks for.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
extern "C" {
void* __real_malloc(size_t bytes);
void* __real_calloc(size_t count, size_t bytes);
void* __real_realloc(void* memory, size_t bytes);

void* __wrap_malloc(size_t bytes) {
  void* memory = __real_malloc(bytes);
  if (!memory && bytes > 0)
    tenon::tools::endWithoutMemory();
  return memory;
}

void* __wrap_calloc(size_t count, size_t bytes) {
  void* memory = __real_calloc(count, bytes);
  if (!memory && count > 0 && bytes > 0)
    tenon::tools::endWithoutMemory();
  return memory;
}

void* __wrap_realloc(void* old, size_t bytes) {
  void* memory = __real_realloc(old, bytes);
  if (!memory && bytes > 0)
    tenon::tools::endWithoutMemory();
  return memory;
}
}
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)
