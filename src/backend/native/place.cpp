// Where values live: which group results leave their group, offsets in the arena by liveness, storage that results may
// take over from donated inputs.
#include <algorithm>
#include <map>

#include "backend/native/plan.hpp"

namespace uni::native {

namespace {
std::size_t at(int v) { return static_cast<std::size_t>(v); }

void select_group_results(Plan& plan) {
  std::vector<bool> needed(plan.values.size(), false);
  for (const Step& s : plan.steps)
    for (int v : s.in) needed[at(plan.values[at(v)].root)] = true;
  for (int v : plan.outputs) needed[at(plan.values[at(v)].root)] = true;
  for (Step& s : plan.steps) {
    if (s.kind == Step::Kind::compiled) {
      std::vector<int> stored, kept;
      for (std::size_t k = 0; k < s.stored.size(); ++k) {
        if (!needed[at(s.out[k])]) continue;
        stored.push_back(s.stored[k]);
        kept.push_back(s.out[k]);
      }
      kept.insert(kept.end(), s.out.begin() + static_cast<std::ptrdiff_t>(s.stored.size()), s.out.end());
      s.stored = std::move(stored);
      s.out = std::move(kept);
      continue;
    }
    if (s.kind != Step::Kind::group) continue;
    std::vector<int> kept;
    for (std::size_t m = 0; m < s.out.size(); ++m) {
      if (s.out[m] < 0 || !needed[at(s.out[m])]) continue;
      s.group->members[m].output = static_cast<int>(kept.size());
      kept.push_back(s.out[m]);
    }
    s.out = std::move(kept);
    s.group->finish();
  }
}

void find_lifetimes(Plan& plan) {
  const int end = static_cast<int>(plan.steps.size());
  for (int i = 0; i < end; ++i) {
    for (int v : plan.steps[at(i)].out) {
      Value& root = plan.values[at(v)];
      root.first = root.last = i;
      root.place = Value::Place::arena;
    }
    for (int v : plan.steps[at(i)].in) plan.values[at(plan.values[at(v)].root)].last = i;
  }
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    Value& v = plan.values[at(plan.inputs[i])];
    v.place = Value::Place::input;
    v.index = static_cast<int>(i);
  }
  for (int v : plan.outputs) {
    const int root = plan.values[at(v)].root;
    Value& r = plan.values[at(root)];
    r.last = end;
    if (r.place != Value::Place::arena) continue;
    r.place = Value::Place::output;
    r.index = static_cast<int>(plan.result_roots.size());
    plan.result_roots.push_back(root);
  }
}

// First fit among the holes that dead values left.
class Arena {
 public:
  i64 take(i64 bytes) {
    bytes = (std::max<i64>(bytes, 1) + 63) / 64 * 64;
    for (auto it = holes_.begin(); it != holes_.end(); ++it) {
      if (it->second < bytes) continue;
      const i64 offset = it->first, rest = it->second - bytes;
      holes_.erase(it);
      if (rest) holes_[offset + bytes] = rest;
      return offset;
    }
    const i64 offset = end_;
    end_ += bytes;
    return offset;
  }
  void give(i64 offset, i64 bytes) {
    bytes = (std::max<i64>(bytes, 1) + 63) / 64 * 64;
    auto it = holes_.emplace(offset, bytes).first;
    if (const auto next = std::next(it); next != holes_.end() && it->first + it->second == next->first) {
      it->second += next->second;
      holes_.erase(next);
    }
    if (it != holes_.begin()) {
      const auto before = std::prev(it);
      if (before->first + before->second == it->first) {
        before->second += it->second;
        holes_.erase(it);
      }
    }
  }
  i64 end() const { return end_; }

 private:
  std::map<i64, i64> holes_;  // offset -> bytes
  i64 end_ = 0;
};

void lay_out_arena(Plan& plan) {
  Arena arena;
  for (int i = 0; i < static_cast<int>(plan.steps.size()); ++i) {
    const Step& s = plan.steps[at(i)];
    for (int v : s.out) {
      Value& r = plan.values[at(v)];
      if (r.place == Value::Place::arena) r.offset = arena.take(r.bytes(plan.devices));
    }
    std::vector<int> ended;
    for (const std::vector<int>* list : {&s.in, &s.out})
      for (int v : *list) {
        const int root = plan.values[at(v)].root;
        const Value& r = plan.values[at(root)];
        if (r.place == Value::Place::arena && r.last == i) ended.push_back(root);
      }
    std::sort(ended.begin(), ended.end());
    ended.erase(std::unique(ended.begin(), ended.end()), ended.end());
    for (int root : ended) arena.give(plan.values[at(root)].offset, plan.values[at(root)].bytes(plan.devices));
  }
  plan.arena_bytes = arena.end();
}

// Within a group, element i of the result may overwrite element i of an input that no later member reads.
bool may_overwrite(const Step& s, int input_root, int result) {
  if (s.kind == Step::Kind::compiled) return s.cluster->may_overwrite(input_root, result);
  if (s.kind != Step::Kind::group) return false;
  const auto position = std::find(s.in.begin(), s.in.end(), input_root) - s.in.begin();
  int writer = -1;
  for (std::size_t m = 0; m < s.group->members.size(); ++m) {
    const Group::Member& member = s.group->members[m];
    if (member.output >= 0 && s.out[at(member.output)] == result) writer = static_cast<int>(m);
  }
  for (std::size_t m = 0; m < s.group->members.size(); ++m) {
    const Group::Member& member = s.group->members[m];
    if (member.external == position) return false;  // a broadcast reads other elements
    for (const Group::Source& in : member.in)
      if (in.kind == Group::Source::Kind::flat && in.index == position && static_cast<int>(m) > writer) return false;
  }
  return true;
}

void find_donors(Plan& plan) {
  std::vector<bool> returned(plan.inputs.size(), false);
  for (int v : plan.outputs) {
    const Value& r = plan.values[at(plan.values[at(v)].root)];
    if (r.place == Value::Place::input) returned[at(r.index)] = true;
  }
  for (int root : plan.result_roots) {
    const Value& r = plan.values[at(root)];
    std::vector<int> same_type, same_size;
    for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
      const Value& in = plan.values[at(plan.inputs[i])];
      if (returned[i] || in.varying != r.varying || in.type.bytes() != r.type.bytes()) continue;
      const bool dead = in.last < r.first;
      const bool dies = in.last == r.first && may_overwrite(plan.steps[at(r.first)], plan.inputs[i], root);
      if (!dead && !dies) continue;
      const bool alike = in.type.dtype == r.type.dtype && in.type.shape == r.type.shape;
      (alike ? same_type : same_size).push_back(static_cast<int>(i));
    }
    same_type.insert(same_type.end(), same_size.begin(), same_size.end());
    plan.donors.push_back(std::move(same_type));
  }
}

void find_slots(Plan& plan) {
  const auto slot = [&](int v) {
    const Value& root = plan.values[at(plan.values[at(v)].root)];
    return Slot{plan.values[at(v)].root, root.varying ? root.type.bytes() : 0};
  };
  for (Step& s : plan.steps) {
    for (int v : s.in) s.in_slots.push_back(slot(v));
    for (int v : s.out) s.out_slots.push_back(slot(v));
  }
}
}  // namespace

void place_values(Plan& plan) {
  select_group_results(plan);
  find_lifetimes(plan);
  lay_out_arena(plan);
  find_donors(plan);
  find_slots(plan);
}

}  // namespace uni::native
