#include "ir/interpreter/internal/WeightStore.h"

#include <filesystem>

#include "absl/strings/str_format.h"
#include "ir/encoding/TransposeMatrices.h"
#include "support/Fingerprint.h"
#include "support/Status.h"

using namespace mlir;

namespace tenon::interpreter {

absl::StatusOr<std::shared_ptr<const MappedFile>> WeightStore::open(FileOp file) {
  std::shared_ptr<const MappedFile>& entry = files[file];
  if (entry)
    return entry;
  std::string path = (std::filesystem::path(baseFolder) / file.getPath().str()).string();
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> mapped, MappedFile::open(path));
  if (mapped->bytes().size() != file.getBytes())
    return absl::FailedPreconditionError(
        absl::StrFormat("%s: expects the %d bytes that @%s states, but got %d", path,
                        file.getBytes(), file.getSymName().str(), mapped->bytes().size()));
  uint64_t fingerprint = fingerprintFile(*mapped);
  if (fingerprint != file.getFingerprint())
    return absl::FailedPreconditionError(
        absl::StrFormat("%s: expects the fingerprint %d that @%s states, but got %d", path,
                        static_cast<int64_t>(file.getFingerprint()), file.getSymName().str(),
                        static_cast<int64_t>(fingerprint)));
  return entry = std::move(mapped);
}

absl::StatusOr<std::shared_ptr<const MappedFile>> WeightStore::fileOf(WeightOp weight,
                                                                      RangeAttr range) {
  return open(SymbolTable::lookupNearestSymbolFrom<FileOp>(weight, range.getFile()));
}

absl::StatusOr<ReferenceTensor> WeightStore::gather(WeightOp weight, ElementBudget& budget) {
  TENON_ASSIGN_OR_RETURN(Reservation reservation, budget.reserve(weight.getType()));
  using Gathered = std::pair<Reservation, std::vector<std::byte>>;
  auto gathered = std::make_shared<Gathered>(std::move(reservation), std::vector<std::byte>());
  std::vector<std::byte>& bytes = gathered->second;
  for (RangeAttr range : weight.getRanges().getAsRange<RangeAttr>()) {
    TENON_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file, fileOf(weight, range));
    std::span part = file->bytes().subspan(range.getOffset(), range.getBytes());
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  auto type = llvm::cast<RankedTensorType>(weight.getType());
  if (weight.getTransposed() && !bytes.empty()) {
    std::vector<std::byte> stored(bytes.size());
    stored.swap(bytes);
    transposeMatrices(stored, bytes, type.getShape().back(), type.getShape().end()[-2],
                      getEncoding(type.getElementType())->blockBytes);
  }
  return ReferenceTensor(type, bytes, gathered);
}

absl::StatusOr<ReferenceTensor> WeightStore::load(WeightOp weight, ElementBudget& budget) {
  if (auto known = weights.find(weight); known != weights.end())
    return known->second;
  ReferenceTensor tensor;
  if (weight.getRanges().size() == 1 && !weight.getTransposed()) {
    auto range = llvm::cast<RangeAttr>(weight.getRanges()[0]);
    TENON_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file, fileOf(weight, range));
    tensor = ReferenceTensor(llvm::cast<RankedTensorType>(weight.getType()),
                             file->bytes().subspan(range.getOffset(), range.getBytes()), file);
  } else {
    TENON_ASSIGN_OR_RETURN(tensor, gather(weight, budget));
  }
  weights[weight] = tensor;
  return tensor;
}

} // namespace tenon::interpreter
