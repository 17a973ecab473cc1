// What the processor does at most, found out by trying.
#pragma once

#include "shallow_resnet/cpu/operations.hpp"

namespace hydraconf::cpu {

/// FLOP per second of multiply-adds in registers, on every thread of the pool at once: the best of short
/// bursts over at least `seconds`.
double multiply_add_rate(Context& context, double seconds);

/// Bytes read and written per second over arrays that no common cache holds, on every thread: the best
/// of several times through them.
double memory_rate(Context& context, double seconds);

}  // namespace hydraconf::cpu
