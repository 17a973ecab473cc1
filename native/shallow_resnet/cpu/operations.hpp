// The network's operations on blocked tensors. Each keeps references to its tensors and to the
// context, which must outlive it; parameters are copied into the kernels' layout.
#pragma once

#include <memory>

#include "common/thread_pool.hpp"
#include "shallow_resnet/backend.hpp"
#include "shallow_resnet/cpu/blocked_tensor.hpp"
#include "shallow_resnet/cpu/kernels.hpp"

namespace hydraconf::cpu {

/// What every operation of one device shares.
struct Context {
  const Kernels& kernels;
  ThreadPool pool;
};

std::unique_ptr<Operation> make_convolution(
    Context& context, const BlockedTensor& input,
    BlockedTensor& output, const HostTensor& weight, const HostTensor& bias);
std::unique_ptr<Operation> make_batch_norm(
    Context& context, BlockedTensor& data,
    const BatchNormParameters& parameters, BatchNormMode mode, Activation activation);
std::unique_ptr<Operation> make_add_relu(
    Context& context, BlockedTensor& into,
    const BlockedTensor& other);
std::unique_ptr<Operation> make_global_average_pool(
    Context& context, const BlockedTensor& input,
    BlockedTensor& output);
std::unique_ptr<Operation> make_linear(
    Context& context, const BlockedTensor& input,
    BlockedTensor& output, const HostTensor& weight, const HostTensor& bias);

}  // namespace hydraconf::cpu
