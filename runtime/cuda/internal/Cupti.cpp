#include "runtime/cuda/internal/Cupti.h"

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include "absl/strings/str_format.h"
#include "support/SharedLibrary.h"
#include "support/Status.h"

namespace tenon::runtime::internal {

#define TENON_CUPTI_FUNCTIONS(X)                                                                   \
  X(getResultString, cuptiGetResultString)                                                         \
  X(initialize, cuptiProfilerInitialize)                                                           \
  X(getChipName, cuptiDeviceGetChipName)                                                           \
  X(getAvailability, cuptiProfilerGetCounterAvailability)                                          \
  X(hostInitialize, cuptiProfilerHostInitialize)                                                   \
  X(hostDeinitialize, cuptiProfilerHostDeinitialize)                                               \
  X(addMetrics, cuptiProfilerHostConfigAddMetrics)                                                 \
  X(getConfigSize, cuptiProfilerHostGetConfigImageSize)                                            \
  X(getConfig, cuptiProfilerHostGetConfigImage)                                                    \
  X(evaluate, cuptiProfilerHostEvaluateToGpuValues)                                                \
  X(enable, cuptiRangeProfilerEnable)                                                              \
  X(disable, cuptiRangeProfilerDisable)                                                            \
  X(getDataSize, cuptiRangeProfilerGetCounterDataSize)                                             \
  X(initializeData, cuptiRangeProfilerCounterDataImageInitialize)                                  \
  X(setConfig, cuptiRangeProfilerSetConfig)                                                        \
  X(start, cuptiRangeProfilerStart)                                                                \
  X(stop, cuptiRangeProfilerStop)                                                                  \
  X(pushRange, cuptiRangeProfilerPushRange)                                                        \
  X(popRange, cuptiRangeProfilerPopRange)                                                          \
  X(decode, cuptiRangeProfilerDecodeData)

namespace {

constexpr size_t metricCount = 2;
const char* metrics[metricCount] = {"dram__bytes_read.sum", "dram__bytes_write.sum"};

/// Parameters of a call, all zero but their size.
#define TENON_CUPTI_PARAMS(type, name)                                                             \
  type name{};                                                                                     \
  name.structSize = type##_STRUCT_SIZE

} // namespace

struct Cupti::Impl {
// A declarator takes no parentheses. NOLINTNEXTLINE(bugprone-macro-parentheses)
#define TENON_DECLARE(member, symbol) std::add_pointer_t<decltype(::symbol)> member = nullptr;
  TENON_CUPTI_FUNCTIONS(TENON_DECLARE)
#undef TENON_DECLARE
  const Device& device;
  CUpti_Profiler_Host_Object* host = nullptr;
  std::vector<uint8_t> config;

  explicit Impl(const Device& device) : device(device) {}
  ~Impl();

  absl::Status check(CUptiResult result, const char* action) const;
  absl::Status resolve(const SharedLibrary& library);
  /// What the device can count of what is asked for.
  absl::StatusOr<std::vector<uint8_t>> readAvailability() const;
  /// Describes the metrics to the chip.
  absl::Status configure();

  absl::StatusOr<std::vector<uint8_t>> makeData(CUpti_RangeProfiler_Object* profiler) const;
  /// Runs `work` in a range for each pass.
  absl::Status collect(CUpti_RangeProfiler_Object* profiler, std::vector<uint8_t>& data,
                       const std::function<absl::Status()>& work) const;
  absl::StatusOr<MemoryTraffic> evaluateData(const std::vector<uint8_t>& data) const;
};

Cupti::Impl::~Impl() {
  if (!host)
    return;
  TENON_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, params);
  params.pHostObject = host;
  hostDeinitialize(&params);
}

absl::Status Cupti::Impl::check(CUptiResult result, const char* action) const {
  if (result == CUPTI_SUCCESS)
    return absl::OkStatus();
  const char* name = nullptr;
  if (getResultString(result, &name) != CUPTI_SUCCESS || !name)
    name = "an error without a name";
  if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ||
      result == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES)
    return absl::PermissionDeniedError(
        absl::StrFormat("CUPTI may not %s: %s; the driver's option "
                        "NVreg_RestrictProfilingToAdminUsers=0 lets others "
                        "than administrators read counters",
                        action, name));
  return absl::InternalError(absl::StrFormat("CUPTI cannot %s: %s", action, name));
}

absl::Status Cupti::Impl::resolve(const SharedLibrary& library) {
#define TENON_FIND(member, symbol) TENON_RETURN_IF_ERROR(library.find(#symbol, member, "CUPTI 13"));
  TENON_CUPTI_FUNCTIONS(TENON_FIND)
#undef TENON_FIND
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint8_t>> Cupti::Impl::readAvailability() const {
  TENON_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params, params);
  params.ctx = device.context();
  TENON_RETURN_IF_ERROR(check(getAvailability(&params), "ask for the device's counters"));
  std::vector<uint8_t> image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  TENON_RETURN_IF_ERROR(check(getAvailability(&params), "ask for the device's counters"));
  return image;
}

absl::Status Cupti::Impl::configure() {
  TENON_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, first);
  TENON_RETURN_IF_ERROR(check(initialize(&first), "start"));
  TENON_CUPTI_PARAMS(CUpti_Device_GetChipName_Params, chip);
  chip.deviceIndex = device.ordinal();
  TENON_RETURN_IF_ERROR(check(getChipName(&chip), "name the device's chip"));
  TENON_ASSIGN_OR_RETURN(std::vector<uint8_t> availability, readAvailability());
  TENON_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params, made);
  made.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  made.pChipName = chip.pChipName;
  made.pCounterAvailabilityImage = availability.data();
  TENON_RETURN_IF_ERROR(check(hostInitialize(&made), "describe the device's counters"));
  host = made.pHostObject;
  TENON_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, added);
  added.pHostObject = host;
  added.ppMetricNames = metrics;
  added.numMetrics = metricCount;
  TENON_RETURN_IF_ERROR(check(addMetrics(&added), "count bytes of memory"));
  TENON_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, sized);
  sized.pHostObject = host;
  TENON_RETURN_IF_ERROR(check(getConfigSize(&sized), "configure counters"));
  config.resize(sized.configImageSize);
  TENON_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, filled);
  filled.pHostObject = host;
  filled.configImageSize = config.size();
  filled.pConfigImage = config.data();
  return check(getConfig(&filled), "configure counters");
}

absl::StatusOr<std::vector<uint8_t>>
Cupti::Impl::makeData(CUpti_RangeProfiler_Object* profiler) const {
  TENON_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, sized);
  sized.pRangeProfilerObject = profiler;
  sized.pMetricNames = metrics;
  sized.numMetrics = metricCount;
  sized.maxNumOfRanges = sized.maxNumRangeTreeNodes = 1;
  TENON_RETURN_IF_ERROR(check(getDataSize(&sized), "size the counters' data"));
  std::vector<uint8_t> data(sized.counterDataSize);
  TENON_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, made);
  made.pRangeProfilerObject = profiler;
  made.counterDataSize = data.size();
  made.pCounterData = data.data();
  TENON_RETURN_IF_ERROR(check(initializeData(&made), "initialise the counters' data"));
  return data;
}

absl::Status Cupti::Impl::collect(CUpti_RangeProfiler_Object* profiler, std::vector<uint8_t>& data,
                                  const std::function<absl::Status()>& work) const {
  TENON_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, set);
  set.pRangeProfilerObject = profiler;
  set.configSize = config.size();
  set.pConfig = config.data();
  set.counterDataImageSize = data.size();
  set.pCounterDataImage = data.data();
  set.range = CUPTI_UserRange;
  set.replayMode = CUPTI_UserReplay;
  set.maxRangesPerPass = 1;
  set.numNestingLevels = set.minNestingLevel = set.targetNestingLevel = 1;
  TENON_RETURN_IF_ERROR(check(setConfig(&set), "set the counters"));
  TENON_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params, started);
  TENON_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange_Params, pushed);
  TENON_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange_Params, popped);
  TENON_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, stopped);
  started.pRangeProfilerObject = pushed.pRangeProfilerObject = popped.pRangeProfilerObject =
      stopped.pRangeProfilerObject = profiler;
  pushed.pRangeName = "steps";
  while (!stopped.isAllPassSubmitted) {
    TENON_RETURN_IF_ERROR(check(start(&started), "start the counters"));
    TENON_RETURN_IF_ERROR(check(pushRange(&pushed), "begin a range"));
    absl::Status ran = work();
    TENON_RETURN_IF_ERROR(check(popRange(&popped), "end a range"));
    TENON_RETURN_IF_ERROR(check(stop(&stopped), "stop the counters"));
    TENON_RETURN_IF_ERROR(ran);
  }
  TENON_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params, decoded);
  decoded.pRangeProfilerObject = profiler;
  return check(decode(&decoded), "read the counters");
}

absl::StatusOr<MemoryTraffic> Cupti::Impl::evaluateData(const std::vector<uint8_t>& data) const {
  std::array<double, metricCount> values{};
  TENON_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, params);
  params.pHostObject = host;
  params.pCounterDataImage = data.data();
  params.counterDataImageSize = data.size();
  params.ppMetricNames = metrics;
  params.numMetrics = metricCount;
  params.pMetricValues = values.data();
  TENON_RETURN_IF_ERROR(check(evaluate(&params), "add up the counters"));
  return MemoryTraffic{static_cast<uint64_t>(values[0]), static_cast<uint64_t>(values[1])};
}

Cupti::Cupti(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Cupti::Cupti(Cupti&&) noexcept = default;
Cupti& Cupti::operator=(Cupti&&) noexcept = default;
Cupti::~Cupti() = default;

std::span<const std::string> Cupti::defaultPaths() {
  static const std::string paths[] = {"libcupti.so.13", "/usr/local/cuda/lib64/libcupti.so.13",
                                      "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13"};
  return paths;
}

absl::StatusOr<Cupti> Cupti::open(std::span<const std::string> paths, const Device& device) {
  absl::StatusOr<SharedLibrary> library = SharedLibrary::open(paths);
  if (!library.ok())
    return absl::NotFoundError(
        absl::StrFormat("this machine lacks CUPTI; %s", library.status().message()));
  auto impl = std::make_unique<Impl>(device);
  TENON_RETURN_IF_ERROR(impl->resolve(*library));
  TENON_RETURN_IF_ERROR(impl->configure());
  return Cupti(std::move(impl));
}

absl::StatusOr<MemoryTraffic> Cupti::count(const std::function<absl::Status()>& work) const {
  TENON_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, enabled);
  enabled.ctx = impl->device.context();
  TENON_RETURN_IF_ERROR(impl->check(impl->enable(&enabled), "take hold of the device's counters"));
  CUpti_RangeProfiler_Object* profiler = enabled.pRangeProfilerObject;
  auto collected = [&]() -> absl::StatusOr<MemoryTraffic> {
    TENON_ASSIGN_OR_RETURN(std::vector<uint8_t> data, impl->makeData(profiler));
    TENON_RETURN_IF_ERROR(impl->collect(profiler, data, work));
    return impl->evaluateData(data);
  }();
  TENON_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params, disabled);
  disabled.pRangeProfilerObject = profiler;
  TENON_RETURN_IF_ERROR(impl->check(impl->disable(&disabled), "let go of the device's counters"));
  return collected;
}

} // namespace tenon::runtime::internal
