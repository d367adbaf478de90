#ifndef TENON_RUNTIME_TEXT_INTERNAL_WORDEDGES_H
#define TENON_RUNTIME_TEXT_INTERNAL_WORDEDGES_H

#include <cstddef>
#include <string_view>

namespace tenon::runtime::internal {

/// Whether the last or first character of `text` is part of a word: a letter, mark, digit or
/// connecting punctuation (`\w` of Unicode's technical standard 18).
bool endsWithWord(std::string_view text);
bool beginsWithWord(std::string_view text);

/// Bytes of White_Space at the end or the begin of `text`.
size_t spacesAtEnd(std::string_view text);
size_t spacesAtBegin(std::string_view text);

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_TEXT_INTERNAL_WORDEDGES_H
