// The parameters of an operation: a plain struct, erased. A tag checks every access.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ir/codec.hpp"
#include <unisono/detail/handle.hpp>

namespace uni::ir {

struct NoParams {};

class Params {
 public:
  Params() = default;
  template <class P>
  requires(!std::is_same_v<std::remove_cvref_t<P>, Params>) Params(P params)
      : box_(std::make_shared<Box<P>>(std::move(params))), tag_(&tag<P>) {}

  template <class P>
  const P& as() const {
    if constexpr (std::is_empty_v<P>) {
      static constexpr P nothing{};
      return nothing;
    }
    if (tag_ != &tag<P>) wrong_tag();
    return static_cast<const Box<P>&>(*box_).value;
  }
  // The canonical text; equal text means equal parameters.
  const std::string& text() const;
  // Axis names that the operation refers to: the field `axes` where there is one.
  const AxisNames& axes() const;
  // The programs held in fields.
  std::vector<ProgramPtr> programs() const;
  // The same with each of these programs replaced.
  Params with_programs(detail::FunctionRef<ProgramPtr(const ProgramPtr&)> f) const;
  bool operator==(const Params& other) const { return box_ == other.box_ || text() == other.text(); }

 private:
  struct BoxBase {
    virtual ~BoxBase() = default;
    virtual std::string print() const = 0;
    virtual const AxisNames* axes() const = 0;
    virtual void programs(std::vector<ProgramPtr>& out) const = 0;
    virtual Params with_programs(detail::FunctionRef<ProgramPtr(const ProgramPtr&)> f) const = 0;
    mutable std::string text;  // printed at first use; parameters are built by one thread
  };
  template <class P>
  struct Box final : BoxBase {
    explicit Box(P p) : value(std::move(p)) {}
    std::string print() const override {
      std::string out;
      write_fields(out, value);
      return out;
    }
    const AxisNames* axes() const override {
      if constexpr (
          requires { value.axes; } && requires { static_cast<const AxisNames&>(value.axes); })
        return &value.axes;
      else
        return nullptr;
    }
    void programs(std::vector<ProgramPtr>& out) const override {
      const auto fields = detail::tie_fields(value);
      [&]<std::size_t... I>(std::index_sequence<I...>) { (collect(out, std::get<I>(fields)), ...); }
      (std::make_index_sequence<detail::field_count<P>()>{});
    }
    Params with_programs(detail::FunctionRef<ProgramPtr(const ProgramPtr&)> f) const override {
      P copy = value;
      auto fields = detail::tie_fields(copy);
      [&]<std::size_t... I>(std::index_sequence<I...>) { (replace(f, std::get<I>(fields)), ...); }
      (std::make_index_sequence<detail::field_count<P>()>{});
      return Params(std::move(copy));
    }
    template <class T>
    static void replace(detail::FunctionRef<ProgramPtr(const ProgramPtr&)> f, T& field) {
      if constexpr (std::is_same_v<T, ProgramPtr>) {
        if (field) field = f(field);
      } else if constexpr (std::is_same_v<T, std::vector<ProgramPtr>>) {
        for (ProgramPtr& p : field) p = f(p);
      }
    }
    template <class T>
    static void collect(std::vector<ProgramPtr>& out, const T& field) {
      if constexpr (std::is_same_v<T, ProgramPtr>) {
        if (field) out.push_back(field);
      } else if constexpr (std::is_same_v<T, std::vector<ProgramPtr>>) {
        for (const ProgramPtr& p : field) out.push_back(p);
      }
    }
    P value;
  };
  template <class P>
  static constexpr char tag = 0;
  [[noreturn]] static void wrong_tag();

  std::shared_ptr<const BoxBase> box_;
  const char* tag_ = nullptr;
};

// Reads "{field=value, ...}" of the struct P.
template <class P>
Params read_params(Reader& in) {
  P p{};
  read_fields(in, p);
  return Params(std::move(p));
}

}  // namespace uni::ir
