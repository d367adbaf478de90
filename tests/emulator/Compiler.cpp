// The functions of NVRTC that Tenon calls, whose cubins are libraries for this machine.
#include <dlfcn.h>
#include <elf.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>

#include "Machine.h"
#include "Translate.h"

namespace {

namespace fs = std::filesystem;

struct EmulatedProgram {
  std::map<std::string, std::string> files; ///< the source is `kernel.cu`
  std::string library, log;
};

std::string readFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string makeFolder() {
  std::string pattern = (fs::temp_directory_path() / "tenon-emulated-XXXXXX").string();
  return ::mkdtemp(pattern.data()) ? pattern : "";
}

/// Changes with what kernels are compiled with, so that none from before is taken from a cache.
int versionOfSources() {
  size_t hash = std::hash<std::string>()(readFile(TENON_EMULATOR_SOURCES "/device.h") +
                                         readFile(TENON_EMULATOR_SOURCES "/Machine.h"));
  return static_cast<int>(hash % 1'000'000);
}

/// The library beside this one that kernels call.
std::string machineLibrary() {
  Dl_info info;
  ::dladdr(reinterpret_cast<void*>(&machineLibrary), &info);
  return (fs::absolute(info.dli_fname).parent_path() / "libcuda.so.1").string();
}

EmulatedProgram& programOf(void* program) { return *static_cast<EmulatedProgram*>(program); }

int copyString(const std::string& text, char* target) {
  std::memcpy(target, text.data(), text.size());
  return 0;
}

} // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) {
  *major = 0, *minor = versionOfSources();
  return 0;
}

int nvrtcCreateProgram(void** program, const char* source, const char*, int headers,
                       const char* const* texts, const char* const* names) {
  auto* created = new EmulatedProgram;
  created->files["kernel.cu"] = source;
  for (int i = 0; i < headers; ++i)
    created->files[names[i]] = texts[i];
  *program = created;
  return 0;
}

int nvrtcDestroyProgram(void** program) {
  delete &programOf(*program);
  return 0;
}

int nvrtcCompileProgram(void* handle, int, const char* const*) {
  EmulatedProgram& program = programOf(handle);
  std::string folder = makeFolder();
  for (const auto& [name, text] : program.files)
    std::ofstream(folder + "/" + name) << text;
  // Macros that asm statements are made of are expanded first.
  const std::string compiler = "cd " + folder + " && " TENON_EMULATOR_COMPILER " ";
  int status = std::system((compiler + "-E -P -x c++ kernel.cu -o whole.cpp > log 2>&1").c_str());
  if (status == 0) {
    std::ofstream(folder + "/kernel.cpp")
        << tenon::emulator::translate(readFile(folder + "/whole.cpp"));
    std::string command = compiler + "-shared -include-pch " TENON_EMULATOR_DEVICE " kernel.cpp " +
                          machineLibrary() + " -o kernel.so > log 2>&1";
    status = std::system(command.c_str());
  }
  program.log = readFile(folder + "/log");
  program.library = readFile(folder + "/kernel.so");
  if (program.library.size() >= sizeof(Elf64_Ehdr)) // as a cubin says of itself
    reinterpret_cast<Elf64_Ehdr*>(program.library.data())->e_machine = emulatedMachine;
  if (status == 0)
    fs::remove_all(folder);
  else
    program.log += "\n(sources in " + folder + ")";
  return status == 0 ? 0 : 6; // NVRTC_ERROR_COMPILATION
}

int nvrtcGetCUBINSize(void* program, size_t* bytes) {
  *bytes = programOf(program).library.size();
  return 0;
}
int nvrtcGetCUBIN(void* program, char* cubin) {
  return copyString(programOf(program).library, cubin);
}
int nvrtcGetPTXSize(void*, size_t* bytes) {
  *bytes = 0;
  return 0;
}
int nvrtcGetPTX(void*, char*) { return 0; }
int nvrtcGetProgramLogSize(void* program, size_t* bytes) {
  *bytes = programOf(program).log.size() + 1;
  return 0;
}
int nvrtcGetProgramLog(void* program, char* log) {
  log[programOf(program).log.size()] = '\0';
  return copyString(programOf(program).log, log);
}
const char* nvrtcGetErrorString(int result) {
  return result == 0 ? "NVRTC_SUCCESS" : "NVRTC_ERROR_COMPILATION";
}
}
