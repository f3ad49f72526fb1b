#include "backend/native/group.hpp"

#include <algorithm>

#include "backend/native/walk.hpp"
#include "base/thread_instance.hpp"
#include "ops/structural.hpp"

namespace uni::native {

void Group::finish() {
  // The last member that reads each member's result.
  std::vector<int> last(members.size(), -1);
  for (std::size_t m = 0; m < members.size(); ++m)
    for (const Source& s : members[m].in)
      if (s.kind == Source::Kind::member) last[static_cast<std::size_t>(s.index)] = static_cast<int>(m);
  std::vector<int> free;
  for (std::size_t m = 0; m < members.size(); ++m) {
    Member& member = members[m];
    slot_bytes_ = std::max(slot_bytes_, static_cast<std::size_t>(tile * itemsize(member.type.dtype)));
    if (member.output < 0) {
      // A constant is filled once per run and keeps its slot.
      if (free.empty() || member.kind == Member::Kind::constant) {
        member.slot = slots_++;
      } else {
        member.slot = free.back();
        free.pop_back();
      }
    }
    for (std::size_t k = 0; k <= m; ++k) {
      const Member& done = members[k];
      const bool ends_here = last[k] == static_cast<int>(m) || (k == m && last[k] < 0);
      if (ends_here && done.slot >= 0 && done.kind != Member::Kind::constant) free.push_back(done.slot);
    }
  }
}

i64 Group::bytes_per_element() const {
  i64 bytes = 0;
  for (const Member& m : members) bytes += itemsize(m.type.dtype);
  return bytes;
}

void Group::fill_broadcast(const Member& m, const std::byte* in, i64 begin, i64 n, std::byte* out) const {
  const i64 item = itemsize(m.type.dtype);
  const std::size_t rank = m.sizes.size();
  constexpr std::size_t few = 12;
  i64 small[few];
  std::vector<i64> large;
  i64* at = rank <= few ? small : (large.resize(rank), large.data());
  i64 from = 0;
  for (std::size_t d = rank; d-- > 0;) {
    at[d] = begin % m.sizes[d];
    begin /= m.sizes[d];
    from += at[d] * m.strides[d];
  }
  const i64 length = m.sizes.back(), step = m.strides.back();
  for (i64 done = 0; done < n;) {
    const i64 run = std::min(n - done, length - at[rank - 1]);
    if (step == 0)
      fill_elements(out + done * item, run, in + from * item, item);
    else
      std::memcpy(out + done * item, in + from * item, static_cast<std::size_t>(run * item));
    done += run;
    from += run * step;
    at[rank - 1] += run;
    for (std::size_t d = rank - 1; d > 0 && at[d] == m.sizes[d]; --d) {
      from += m.strides[d - 1] - at[d] * m.strides[d];
      at[d] = 0;
      ++at[d - 1];
    }
  }
}

namespace {
void fill_iota(const ir::Eqn& e, const ir::Type& type, i64 begin, i64 n, std::byte* out) {
  const int axis = e.params.as<ops::Iota>().axis;
  const i64 step = row_strides(type.shape)[static_cast<std::size_t>(axis)], size = type.shape[axis];
  dispatch(type.dtype, [&]<class T>(T) {
    T* y = reinterpret_cast<T*>(out);
    for (i64 i = 0; i < n; ++i) {
      const i64 v = (begin + i) / step % size;
      if constexpr (is_complex_like<T>)
        y[i] = {static_cast<decltype(T::re)>(v), 0};
      else if constexpr (!std::is_same_v<T, KeyWords>)
        y[i] = T(static_cast<Work<T>>(v));
    }
  });
}
}  // namespace

void Group::run(i64 begin, i64 end, std::byte* const* inputs, std::byte* const* outputs) const {
  std::vector<std::byte>& scratch = base::thread_instance<std::vector<std::byte>>();
  scratch.resize(static_cast<std::size_t>(slots_) * slot_bytes_ + 64);
  std::byte* base = scratch.data() + (64 - reinterpret_cast<std::uintptr_t>(scratch.data()) % 64) % 64;
  const auto slot = [&](const Member& m) { return base + static_cast<std::size_t>(m.slot) * slot_bytes_; };
  for (const Member& m : members)
    if (m.kind == Member::Kind::constant && m.slot >= 0)
      fill_elements(slot(m), std::min(tile, end - begin),
                    reinterpret_cast<const std::byte*>(&m.eqn->params.as<ops::Full>().value.low),
                    itemsize(m.type.dtype));
  const std::byte* in[3];
  for (i64 at = begin; at < end; at += tile) {
    const i64 n = std::min(tile, end - at);
    const auto result = [&](const Member& m) {
      return m.output >= 0 ? outputs[m.output] + at * itemsize(m.type.dtype) : slot(m);
    };
    for (const Member& m : members) {
      std::byte* out = result(m);
      switch (m.kind) {
        case Member::Kind::constant:
          if (m.output >= 0)
            fill_elements(out, n, reinterpret_cast<const std::byte*>(&m.eqn->params.as<ops::Full>().value.low),
                          itemsize(m.type.dtype));
          continue;
        case Member::Kind::iota:
          fill_iota(*m.eqn, m.type, at, n, out);
          continue;
        case Member::Kind::broadcast:
          fill_broadcast(m, inputs[m.external], at, n, out);
          continue;
        case Member::Kind::loop:
          break;
      }
      for (std::size_t k = 0; k < m.in.size(); ++k) {
        const Source& s = m.in[k];
        if (s.kind == Source::Kind::member)
          in[k] = result(members[static_cast<std::size_t>(s.index)]);
        else
          in[k] = inputs[s.index] + at * item_of_input[static_cast<std::size_t>(s.index)];
      }
      m.run({out, in, n, m.eqn->params});
    }
  }
}

}  // namespace uni::native
