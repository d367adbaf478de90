#include "runtime/cuda/internal/Driver.h"

#include "absl/strings/str_format.h"
#include "support/SharedLibrary.h"
#include "support/Status.h"

namespace tenon::runtime::internal {

absl::StatusOr<Driver> Driver::open(const std::string& path) {
  constexpr std::string_view expected = "a CUDA driver of version 12.4 or newer";
  absl::StatusOr<SharedLibrary> library = SharedLibrary::open({&path, 1});
  if (!library.ok())
    return absl::NotFoundError(
        absl::StrFormat("no CUDA driver on this machine: %s", library.status().message()));
  PFN_cuGetProcAddress_v12000 getProcAddress = nullptr;
  TENON_RETURN_IF_ERROR(library->find("cuGetProcAddress_v2", getProcAddress, expected));
  Driver driver;
  auto find = [&](const char* symbol, int version, void** function) -> absl::Status {
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    CUresult result =
        getProcAddress(symbol, function, version, CU_GET_PROC_ADDRESS_DEFAULT, &found);
    if (result != CUDA_SUCCESS || found != CU_GET_PROC_ADDRESS_SUCCESS || !*function)
      return absl::FailedPreconditionError(
          absl::StrFormat("%s: expects %s, but found no %s", path, expected, symbol));
    return absl::OkStatus();
  };
#define TENON_FIND(member, symbol, version)                                                        \
  TENON_RETURN_IF_ERROR(find(#symbol, version, reinterpret_cast<void**>(&driver.member)));
  TENON_CUDA_FUNCTIONS(TENON_FIND)
#undef TENON_FIND
  return driver;
}

static absl::StatusOr<Driver> openAndInitialise() {
  TENON_ASSIGN_OR_RETURN(Driver driver, Driver::open("libcuda.so.1"));
  CUresult result = driver.init(0);
  if (result == CUDA_ERROR_NO_DEVICE)
    return absl::NotFoundError("no CUDA device on this machine");
  TENON_RETURN_IF_ERROR(driver.check(result, "initialise the CUDA driver"));
  return driver;
}

absl::StatusOr<const Driver*> Driver::get() {
  static const absl::StatusOr<Driver> driver = openAndInitialise();
  if (!driver.ok())
    return driver.status();
  return &*driver;
}

std::string Driver::describe(CUresult result) const {
  const char *name = nullptr, *text = nullptr;
  if (getErrorName(result, &name) != CUDA_SUCCESS || !name)
    return absl::StrFormat("CUDA error %d", static_cast<int>(result));
  if (getErrorString(result, &text) != CUDA_SUCCESS || !text)
    return name;
  return absl::StrFormat("%s (%s)", name, text);
}

absl::Status Driver::error(CUresult result, std::string_view action) const {
  std::string message = absl::StrFormat("cannot %s: %s", action, describe(result));
  return result == CUDA_ERROR_OUT_OF_MEMORY ? absl::ResourceExhaustedError(message)
                                            : absl::InternalError(message);
}

} // namespace tenon::runtime::internal
