#ifndef TENON_RUNTIME_CPU_USABLECORES_H
#define TENON_RUNTIME_CPU_USABLECORES_H

#include <optional>
#include <string>

namespace tenon::runtime {

/// The number of cores that this process may keep busy: those that it may run on
/// (sched_getaffinity), or fewer whole ones where a control group has a quota of processor time. At
/// least 1.
int usableCores();

/// The processor time that control groups allow, in cores, as files below `root` (/sys/fs/cgroup)
/// say of the groups in `groups` (the text of /proc/self/cgroup) and those around them: `cpu.max`, or
/// in version 1 `cpu.cfs_quota_us` and `cpu.cfs_period_us`. Nullopt where there is no limit.
std::optional<double> quotaCores(const std::string& root, const std::string& groups);

} // namespace tenon::runtime

#endif // TENON_RUNTIME_CPU_USABLECORES_H
