#ifndef TENON_IR_ENCODING_INTERNAL_ENCODINGS_H
#define TENON_IR_ENCODING_INTERNAL_ENCODINGS_H

#include "ir/encoding/Encoding.h"

namespace tenon::encodings {

/// The encodings of activations beside weights in blocks of 32 and of 256.
extern const Encoding q8_s;
extern const Encoding q8_k;

} // namespace tenon::encodings

#endif // TENON_IR_ENCODING_INTERNAL_ENCODINGS_H
