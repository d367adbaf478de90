#ifndef TENON_TESTS_COMMON_STATUSMATCHERS_H
#define TENON_TESTS_COMMON_STATUSMATCHERS_H

#include <string>

#include <gmock/gmock.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tenon::tests {

inline const absl::Status& statusOf(const absl::Status& status) { return status; }
template <typename T> const absl::Status& statusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

/// Matches a Status or StatusOr that is OK.
MATCHER(IsOk, "is OK") {
  *result_listener << statusOf(arg).ToString();
  return statusOf(arg).ok();
}

/// Matches a Status or StatusOr with that code whose message matches.
MATCHER_P2(FailsWith, code, message, "") {
  const absl::Status& status = statusOf(arg);
  *result_listener << status.ToString();
  return status.code() == code &&
         ::testing::ExplainMatchResult(message, std::string(status.message()), result_listener);
}

} // namespace tenon::tests

#endif // TENON_TESTS_COMMON_STATUSMATCHERS_H
