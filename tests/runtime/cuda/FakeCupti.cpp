// A CUPTI whose counters take two passes, and which fails where a test tells it to: it has read 100
// bytes and written 10 for each time that a range ran in the second pass.
#include <algorithm>
#include <string>

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

namespace {

std::string failing;
CUptiResult failure = CUPTI_ERROR_UNKNOWN;
size_t starts = 0, ranges = 0;
int enabled = 0, hosts = 0;
// Only addresses count.
int host, profiler;

CUptiResult result(const char* function) { return failing == function ? failure : CUPTI_SUCCESS; }

} // namespace

extern "C" {

/// Makes `function` return `error` from now on.
void fakeCuptiFail(const char* function, int error) {
  failing = function;
  failure = static_cast<CUptiResult>(error);
}

/// What is not yet given back.
int fakeCuptiHeld() { return enabled + hosts; }

CUptiResult cuptiGetResultString(CUptiResult error, const char** text) {
  *text = error == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
                                                       : "CUPTI_ERROR_OF_TESTS";
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params*) {
  return result("cuptiProfilerInitialize");
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* params) {
  params->pChipName = "GH100";
  return result("cuptiDeviceGetChipName");
}

CUptiResult
cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* params) {
  if (params->pCounterAvailabilityImage)
    std::fill_n(params->pCounterAvailabilityImage, params->counterAvailabilityImageSize, 1);
  params->counterAvailabilityImageSize = 16;
  return result("cuptiProfilerGetCounterAvailability");
}

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* params) {
  params->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(&host);
  hosts += result("cuptiProfilerHostInitialize") == CUPTI_SUCCESS;
  return result("cuptiProfilerHostInitialize");
}

CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params*) {
  --hosts;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params*) {
  return result("cuptiProfilerHostConfigAddMetrics");
}

CUptiResult
cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* params) {
  params->configImageSize = 32;
  return result("cuptiProfilerHostGetConfigImageSize");
}

CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* params) {
  std::fill_n(params->pConfigImage, params->configImageSize, 2);
  return result("cuptiProfilerHostGetConfigImage");
}

CUptiResult
cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
  params->pMetricValues[0] = 100.0 * static_cast<double>(ranges);
  params->pMetricValues[1] = 10.0 * static_cast<double>(ranges);
  return result("cuptiProfilerHostEvaluateToGpuValues");
}

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* params) {
  params->pRangeProfilerObject = reinterpret_cast<CUpti_RangeProfiler_Object*>(&profiler);
  enabled += result("cuptiRangeProfilerEnable") == CUPTI_SUCCESS;
  return result("cuptiRangeProfilerEnable");
}

CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params*) {
  --enabled;
  return result("cuptiRangeProfilerDisable");
}

CUptiResult
cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* params) {
  params->counterDataSize = 64;
  return result("cuptiRangeProfilerGetCounterDataSize");
}

CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params* params) {
  std::fill_n(params->pCounterData, params->counterDataSize, 3);
  return result("cuptiRangeProfilerCounterDataImageInitialize");
}

CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params*) {
  starts = ranges = 0;
  return result("cuptiRangeProfilerSetConfig");
}

CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params*) {
  ++starts;
  ranges = 0;
  return result("cuptiRangeProfilerStart");
}

CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* params) {
  params->isAllPassSubmitted = starts == 2;
  return result("cuptiRangeProfilerStop");
}

CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params*) {
  return result("cuptiRangeProfilerPushRange");
}

CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params*) {
  ++ranges;
  return result("cuptiRangeProfilerPopRange");
}

CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params*) {
  return result("cuptiRangeProfilerDecodeData");
}

} // extern "C"
