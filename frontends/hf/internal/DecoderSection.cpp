#include "frontends/hf/internal/TokenizerSections.h"

namespace tenon::frontends::internal {

using runtime::TokenizerModel;

namespace {

class DecoderReader : SectionReader {
public:
  using SectionReader::SectionReader;
  absl::Status checkDecoder();
};

/// Byte-level tokens are decoded by their bytes; those over characters have spaces for U+2581; those of
/// WordPiece stand for words of their own, or go on with one after `##`.
absl::Status DecoderReader::checkDecoder() {
  const json* decoder = file.find("decoder");
  if (spec.model == TokenizerModel::ByteLevelBpe || !decoder)
    return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(std::string type, typeOf(*decoder, "decoder"));
  const bool isWordPiece = spec.model == TokenizerModel::WordPiece;
  if (type == (isWordPiece ? "WordPiece" : "Metaspace"))
    return absl::OkStatus();
  if (isWordPiece)
    return error("decoder.type", "WordPiece", type);
  if (type != "Sequence")
    return error("decoder.type", "Metaspace or Sequence", type);
  return readSequence(
      *decoder, "decoder", "decoders", 0,
      [&](const json& step, const std::string& place, int) -> absl::Status {
        TENON_ASSIGN_OR_RETURN(std::string each, typeOf(step, place));
        for (std::string_view known : {"Replace", "ByteFallback", "Fuse", "Strip", "Metaspace"})
          if (each == known)
            return absl::OkStatus();
        return error(place + ".type", "Replace, ByteFallback, Fuse, Strip or Metaspace", each);
      });
}

} // namespace

absl::Status checkDecoderSection(TokenizerJson& json) { return DecoderReader(json).checkDecoder(); }

} // namespace tenon::frontends::internal
