#ifndef TENON_PASSES_FUSION_CHOOSECOVER_H
#define TENON_PASSES_FUSION_CHOOSECOVER_H

#include "passes/fusion/Candidates.h"

namespace tenon::passes::fusion {

/// The candidates that a plan, `fused` or `auto`, computes as kernels, ascending.
///
/// The graph is cut where no legal candidate reaches across, at the attention and, between layers,
/// at the residual where nothing crosses it; candidates stay in one part where they share an
/// operation or need results of each other. Each part is a cover problem of its own, and equal
/// problems, the layers of a model, are solved once. So that the time stays linear, a part of more
/// operations than any model's is cut where the candidates that reach across save least, and those
/// are given up.
///
/// Candidates of rules that fill gaps may tie all layers of a model together. So the cover is
/// chosen without them and with them, and wherever the two differ the better one holds.
std::vector<unsigned> chooseCover(const FusionGraph& graph, CandidateSet& candidates, Plan plan);

} // namespace tenon::passes::fusion

#endif // TENON_PASSES_FUSION_CHOOSECOVER_H
