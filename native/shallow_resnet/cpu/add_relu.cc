#include "shallow_resnet/cpu/operations.hpp"
#include "shallow_resnet/cpu/rows.hpp"

namespace hydraconf::cpu {
namespace {

class AddRelu final : public Operation {
 public:
  AddRelu(Context& context, BlockedTensor& into, const BlockedTensor& other)
      : context_(context), into_(into), other_(other) {}

  void launch() override {
    context_.pool.for_each(row_count(into_), [&](std::size_t begin, std::size_t end) {
      for (std::size_t index = begin; index < end; ++index) {
        const RowPlace at = row_place(into_, index);
        context_.kernels.add_relu(into_.row(at.image, at.block, at.y),
                                  other_.row(at.image, at.block, at.y), into_.shape().width);
      }
    });
  }

 private:
  Context& context_;
  BlockedTensor& into_;
  const BlockedTensor& other_;
};

}  // namespace

std::unique_ptr<Operation> make_add_relu(
    Context& context, BlockedTensor& into,
    const BlockedTensor& other) {
  return std::make_unique<AddRelu>(context, into, other);
}

}  // namespace hydraconf::cpu
