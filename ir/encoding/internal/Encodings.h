#ifndef TENON_IR_ENCODING_INTERNAL_ENCODINGS_H
#define TENON_IR_ENCODING_INTERNAL_ENCODINGS_H

#include "ir/encoding/Encoding.h"

namespace tenon::encodings {

/// The encodings, each defined in the file of its name; `Encoding.cpp` lists them.
extern const Encoding f32;
extern const Encoding f16;
extern const Encoding bf16;
extern const Encoding i32;
extern const Encoding q8_0;
extern const Encoding q4_0;
extern const Encoding q4_1;
extern const Encoding q5_0;
extern const Encoding q5_1;
extern const Encoding q2_k;
extern const Encoding q3_k;
extern const Encoding q4_k;
extern const Encoding q5_k;
extern const Encoding q6_k;
extern const Encoding iq4_nl;
extern const Encoding q8_s;
extern const Encoding q8_k;

} // namespace tenon::encodings

#endif // TENON_IR_ENCODING_INTERNAL_ENCODINGS_H
