// The GPU backend's operations. Each holds its parameters on the device; context and tensors are
// kept by reference and must outlive it.
#pragma once

#include <memory>

#include "shallow_resnet/cuda/context.hpp"

namespace hydraconf::cuda {

std::unique_ptr<Operation> make_convolution(const Context& context, const DeviceTensor& input,
                                            const DeviceTensor& output, const HostTensor& weight,
                                            const HostTensor& bias);

std::unique_ptr<Operation> make_batch_norm(const Context& context, const DeviceTensor& data,
                                           const BatchNormParameters& parameters,
                                           BatchNormMode mode, Activation activation);

std::unique_ptr<Operation> make_add_relu(const Context& context, const DeviceTensor& into,
                                         const DeviceTensor& other);

std::unique_ptr<Operation> make_global_average_pool(const Context& context,
                                                    const DeviceTensor& input,
                                                    const DeviceTensor& output);

std::unique_ptr<Operation> make_linear(const Context& context, const DeviceTensor& input,
                                       const DeviceTensor& output, const HostTensor& weight,
                                       const HostTensor& bias);

}  // namespace hydraconf::cuda
