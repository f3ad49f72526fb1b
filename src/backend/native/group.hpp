// A group of pointwise equations over the same number of elements, run tile by tile: temporaries stay in the cache.
#pragma once
#include <vector>

#include "backend/native/kernel.hpp"

namespace uni::native {

class Group {
 public:
  // Where an operand comes from.
  struct Source {
    enum class Kind : std::uint8_t { member, flat } kind = Kind::flat;
    int index = 0;  // of the member, or of the external operand
  };
  struct Member {
    enum class Kind : std::uint8_t { loop, constant, iota, broadcast } kind = Kind::loop;
    FlatFn run = nullptr;
    std::vector<Source> in;
    const ir::Eqn* eqn = nullptr;
    ir::Type type;    // of the result
    int output = -1;  // external result, or none
    int slot = -1;    // scratch slot when there is no external result
    // broadcast: the result's shape with dimensions merged where they can be, and the external operand's strides
    std::vector<i64> sizes, strides;
    int external = -1;
  };

  std::vector<Member> members;
  std::vector<i64> item_of_input;  // bytes of an element of each external operand
  i64 count = 0;                   // elements on one device

  // Assigns scratch slots; call once after the members are complete.
  void finish();
  // Elements [begin, end). Pointers are of whole values on this device.
  void run(i64 begin, i64 end, std::byte* const* inputs, std::byte* const* outputs) const;
  i64 bytes_per_element() const;

  static constexpr i64 tile = 1024;
  static constexpr std::size_t max_members = 48, max_inputs = 3 * max_members;

 private:
  void fill_broadcast(const Member& m, const std::byte* in, i64 begin, i64 n, std::byte* out) const;
  int slots_ = 0;
  std::size_t slot_bytes_ = 0;
};

}  // namespace uni::native
