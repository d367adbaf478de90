#ifndef TENON_RUNTIME_TEXT_INTERNAL_PORTABLEEXP_H
#define TENON_RUNTIME_TEXT_INTERNAL_PORTABLEEXP_H

namespace tenon::runtime::internal {

/// exp(x) for x ≤ 0 to a relative error below 1e-15, with the same bits on every machine:
/// `std::exp` differs between libraries and, by its use of FMA, between processors. 0 below −700.
///
/// x = n ln 2 + r with |r| ≤ ln(2)/2 (Cody and Waite 1980), exp(r) by its Taylor series of degree
/// 13, then a scaling by 2^n. Compiled without contraction into FMAs.
double portableExp(double x);

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_TEXT_INTERNAL_PORTABLEEXP_H
