#include "runtime/cpu/ObjectLinker.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/cpu/ExternalSymbols.h"
#include "support/Status.h"
#include "llvm/ADT/BitmaskEnum.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ExecutionEngine/JITLink/ELF.h"
#include "llvm/ExecutionEngine/JITLink/JITLink.h"
#include "llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h"
#include "llvm/ExecutionEngine/Orc/SymbolStringPool.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

namespace tenon::runtime {

namespace jitlink = llvm::jitlink;
namespace orc = llvm::orc;

LLVM_ENABLE_BITMASK_ENUMS_IN_NAMESPACE(); // for orc::MemProt

namespace {

/// An object in memory.
struct LinkedObject {
  jitlink::JITLinkMemoryManager::FinalizedAlloc memory;
  llvm::StringMap<void*> functions;
};

/// What one link reports; JITLink calls back before `link_ELF` returns.
struct LinkOutcome {
  std::string error;
  LinkedObject object;
};

class LinkContext final : public jitlink::JITLinkContext {
public:
  LinkContext(jitlink::JITLinkMemoryManager& memory, LinkOutcome& outcome)
      : JITLinkContext(nullptr), memory(memory), outcome(outcome) {}

  jitlink::JITLinkMemoryManager& getMemoryManager() override { return memory; }
  void notifyFailed(llvm::Error error) override {
    outcome.error = llvm::toString(std::move(error));
  }
  void lookup(const LookupMap& symbols,
              std::unique_ptr<jitlink::JITLinkAsyncLookupContinuation> done) override;
  llvm::Error notifyResolved(jitlink::LinkGraph& graph) override;
  void notifyFinalized(jitlink::JITLinkMemoryManager::FinalizedAlloc memory) override {
    outcome.object.memory = std::move(memory);
  }

private:
  jitlink::JITLinkMemoryManager& memory;
  LinkOutcome& outcome;
};

} // namespace

void LinkContext::lookup(const LookupMap& symbols,
                         std::unique_ptr<jitlink::JITLinkAsyncLookupContinuation> done) {
  jitlink::AsyncLookupResult found;
  std::vector<std::string> missing;
  for (const auto& [name, flags] : symbols) {
    void* address = findExternalSymbol((*name).str());
    if (!address && flags == jitlink::SymbolLookupFlags::RequiredSymbol)
      missing.push_back((*name).str());
    else
      found[name] = {orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
  }
  if (missing.empty())
    return done->run(std::move(found));
  std::ranges::sort(missing);
  done->run(llvm::createStringError("it uses symbols that kernels may not call: " +
                                    absl::StrJoin(missing, ", ")));
}

llvm::Error LinkContext::notifyResolved(jitlink::LinkGraph& graph) {
  for (const jitlink::Symbol* symbol : graph.defined_symbols()) {
    bool isCode = (symbol->getSection().getMemProt() & orc::MemProt::Exec) != orc::MemProt::None;
    if (symbol->hasName() && isCode)
      outcome.object.functions[*symbol->getName()] = symbol->getAddress().toPtr<void*>();
  }
  return llvm::Error::success();
}

struct ObjectLinker::Impl {
  std::unique_ptr<jitlink::InProcessMemoryManager> memory;
  std::shared_ptr<orc::SymbolStringPool> symbols = std::make_shared<orc::SymbolStringPool>();
  std::vector<LinkedObject> objects;

  ~Impl() {
    std::vector<jitlink::JITLinkMemoryManager::FinalizedAlloc> allocations;
    for (LinkedObject& object : objects)
      allocations.push_back(std::move(object.memory));
    llvm::consumeError(memory->deallocate(std::move(allocations)));
  }
};

ObjectLinker::ObjectLinker(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
ObjectLinker::~ObjectLinker() = default;

absl::StatusOr<std::unique_ptr<ObjectLinker>> ObjectLinker::create() {
  auto memory = jitlink::InProcessMemoryManager::Create();
  if (!memory)
    return absl::InternalError(llvm::toString(memory.takeError()));
  auto impl = std::make_unique<Impl>();
  impl->memory = std::move(*memory);
  return std::unique_ptr<ObjectLinker>(new ObjectLinker(std::move(impl)));
}

absl::StatusOr<size_t> ObjectLinker::link(std::span<const std::byte> object) {
  llvm::MemoryBufferRef buffer(
      llvm::StringRef(reinterpret_cast<const char*>(object.data()), object.size()), "object");
  auto graph = jitlink::createLinkGraphFromELFObject(buffer, impl->symbols);
  if (!graph)
    return absl::InvalidArgumentError(
        absl::StrFormat("expects an ELF object, but %s", llvm::toString(graph.takeError())));
  llvm::Triple host(llvm::sys::getProcessTriple());
  if ((*graph)->getTargetTriple().getArch() != host.getArch())
    return absl::InvalidArgumentError(
        absl::StrFormat("expects an object for %s, but found one for %s", host.getArchName().str(),
                        (*graph)->getTargetTriple().getArchName().str()));
  LinkOutcome outcome;
  jitlink::link_ELF(std::move(*graph), std::make_unique<LinkContext>(*impl->memory, outcome));
  if (!outcome.error.empty())
    return absl::InvalidArgumentError("cannot link: " + outcome.error);
  impl->objects.push_back(std::move(outcome.object));
  return impl->objects.size() - 1;
}

absl::StatusOr<void*> ObjectLinker::lookup(size_t object, const std::string& symbol) const {
  if (void* address = impl->objects[object].functions.lookup(symbol))
    return address;
  return absl::NotFoundError(absl::StrFormat("expects a function named \"%s\"", symbol));
}

} // namespace tenon::runtime
