#ifndef TENON_TESTS_EMULATOR_TRANSLATE_H
#define TENON_TESTS_EMULATOR_TRANSLATE_H

#include <string>
#include <string_view>

namespace tenon::emulator {

/// CUDA C++ as Tenon writes it, as C++ for the host (`device.h`): asm statements become calls of
/// functions that bear the mnemonic's name, shared variables ask for their place, kernels describe
/// themselves.
std::string translate(std::string_view source);

} // namespace tenon::emulator

#endif // TENON_TESTS_EMULATOR_TRANSLATE_H
