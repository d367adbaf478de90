#ifndef TENON_SUPPORT_WARNING_H
#define TENON_SUPPORT_WARNING_H

#include <string>

namespace tenon {

/// Prints `tenon: warning: TEXT` to standard error, each text once a process: for what costs time
/// or does less than it could, where failing would be worse.
void warnOnce(const std::string& text);

} // namespace tenon

#endif // TENON_SUPPORT_WARNING_H
