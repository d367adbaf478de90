#include "frontends/models/internal/HeadNorms.h"

#include "support/Status.h"

namespace tenon::frontends {

absl::Status checkHeadNorms(const ModelSource& source) {
  if (!source.has(headNormsKey))
    return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(bool stated, source.flag(headNormsKey));
  const bool shown = source.hasTensor("blk.0.attn_q_norm.weight");
  if (stated == shown)
    return absl::OkStatus();
  return source.keyError(headNormsKey,
                         shown ? "true where there are norms of heads"
                               : "false where there are no norms of heads",
                         stated ? "true" : "false");
}

} // namespace tenon::frontends
