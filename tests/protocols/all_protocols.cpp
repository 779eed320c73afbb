#include "all_protocols.h"

#include <map>
#include <ostream>
#include <set>

#include "base/error.h"
#include "mpc/parallel.h"
#include "protocols/arithmetic/input.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/reveal.h"
#include "protocols/arithmetic/truncate.h"
#include "protocols/comparison/bit_conversion.h"

namespace trefoil::protocols {
namespace {

using mpc::ArithShare;
using mpc::BitMatrix;
using mpc::BoolShare;
using mpc::Context;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

int secret_component = 0;  // of trivial sharings

/// Every input is one secret, shared trivially.
class SecretInputs : public Inputs {
 public:
  SecretInputs(const Context& party, Word secret) : party_(party), secret_(secret) {}

  RingMatrix Own(Index rows, Index cols) override { return RingMatrix::Constant(rows, cols, secret_); }
  BitMatrix OwnBits(Index planes, Index count) override {
    return mpc::ToPlanes(Own(count, 1), static_cast<int>(planes));
  }
  ArithShare Numbers(Index rows, Index cols) override { return Trivial(party_, secret_, rows, cols); }
  BoolShare Bits(Index planes, Index count) override { return TrivialBits(party_, secret_, planes, count); }

 private:
  const Context& party_;
  Word secret_;
};

/// An entry at a size that is not the table's: smaller, since tests take lanes by the hundred thousand, or
/// with other rounding.
struct Variant {
  std::string name;
  std::string entry;
  Size size;
};

std::vector<Variant> OfBothForms(const std::string& name, Size size) {
  size.form = Form::kLatency;
  const Variant latency{name + "_latency", name, size};
  size.form = Form::kBulk;
  return {{name, name, size}, latency};
}

std::vector<Variant> MakeVariants() {
  std::vector<Variant> variants{
      {"exchange_texts", "exchange_texts", {.columns = 8}},  // whole words, as the checks of views want them
      {"matmul_wide", "matmul_wide", {.columns = 2, .inner = 3}},
      {"matmul", "matmul", {.columns = 2, .inner = 3, .input_bits = 28}},
      {"matmul_exact",
       "matmul_exact",
       {.columns = 2, .inner = 3, .input_bits = 28, .rounding = Rounding::kExact}},
      {"bit_decompose", "bit_decompose", {.width = 20}},
      {"suffix_or", "suffix_or", {.width = 20}},
      {"bit_to_arith", "bit_to_arith", {.width = 3}},
      {"compare_latency", "compare", {.width = 40, .input_bits = 38, .pieces = 4, .form = Form::kLatency}},
      {"look_up_by_low_bits_latency", "look_up_by_low_bits", {.width = 2, .form = Form::kLatency}},
      {"faulty_rows", "faulty_rows", {.columns = 2, .inner = 1, .input_bits = 18}},
      {"faulty_rows_of_classes", "faulty_rows", {.columns = 1, .inner = 2, .input_bits = 18}},
      {"arg_max", "arg_max", {.columns = 4, .width = 40}},
      {"arg_max_latency", "arg_max", {.columns = 3, .width = 40, .form = Form::kLatency}},
      {"relu_latency", "relu", {.width = 40, .input_bits = 39, .form = Form::kLatency}},
      {"sigmoid_latency", "sigmoid", {.input_bits = 19, .form = Form::kLatency}},
      {"sigmoid_exact", "sigmoid", {.input_bits = 19, .form = Form::kLatency, .rounding = Rounding::kExact}},
      {"sigmoid_of_product_latency",
       "sigmoid_of_product",
       {.input_bits = 35, .fraction_bits = 32, .form = Form::kLatency}},
      {"sigmoid_in_whole_words_latency",
       "sigmoid_in_whole_words",
       {.input_bits = 35, .fraction_bits = 32, .form = Form::kLatency}},
      {"clip_factor_exact",
       "clip_factor",
       {.input_bits = 44, .fraction_bits = 40, .rounding = Rounding::kExact}},
      {"inverse_sqrt_published", "inverse_sqrt_published", {.input_bits = 63}},
      {"inverse_sqrt_exact",
       "inverse_sqrt",
       {.input_bits = 63, .form = Form::kLatency, .rounding = Rounding::kExact}},
  };
  for (const auto* name : {"input_bits", "input_each_bits", "reveal_bits", "and", "equal_everywhere"})
    variants.push_back({name, name, {.width = 9}});
  const Size pieces{.width = 40, .input_bits = 30, .pieces = 3};
  for (const auto& both : {
           OfBothForms("look_up_by_leading_bit", {.input_bits = 5, .pieces = 3}),
           OfBothForms("maximum", {.columns = 3, .width = 40}),
           OfBothForms("look_up", pieces),
           OfBothForms("evaluate", pieces),
           OfBothForms("exp", {}),
           OfBothForms("reciprocal", {.input_bits = 16}),
           OfBothForms("softmax", {.columns = 2, .width = 20, .input_bits = 17, .fraction_bits = 8}),
           OfBothForms("softmax_bounded", {.columns = 2, .width = 20, .input_bits = 6, .fraction_bits = 8}),
           OfBothForms("clip_factor", {.input_bits = 44, .fraction_bits = 40}),
           OfBothForms("inverse_sqrt", {.input_bits = 63}),
       })
    variants.insert(variants.end(), both.begin(), both.end());
  return variants;
}

ProtocolCase CaseOf(const std::string& name, const Entry& entry, Size size) {
  const auto at = [size](Index count) {
    Size of_count = size;
    of_count.count = count;
    return of_count;
  };
  ProtocolCase out;
  out.name = name;
  out.run = [&entry, at](Context& party, Index count, Word secret) {
    SecretInputs inputs(party, secret);
    return entry.prepare(party, inputs, at(count)).run(party);
  };
  out.cost = [&entry, at](Index count) { return entry.cost(at(count)); };
  // Keys of comparison functions take up to some kilobytes each.
  constexpr Index kMany = 960;
  std::uint64_t dealt = 0;
  const mpc::Cost cost = out.cost(kMany);
  for (const auto bytes : cost.bytes_offline()) dealt += bytes;
  if (dealt > 500 * kMany) out.sample = 1024;
  out.extremes = {entry.positive ? Word{1} : Word{0}, (Word{1} << size.input_bits) - 1};
  return out;
}

/// All entries in all forms, and what is a variant of one.
std::vector<ProtocolCase> OfTheCatalogue() {
  std::vector<ProtocolCase> cases;
  const std::vector<Variant> variants = MakeVariants();
  std::size_t used = 0;
  for (const Entry& entry : Catalogue()) {
    if (!entry.prepare) continue;
    for (const Form form : entry.forms) {
      const std::string name = entry.name + (form == Form::kLatency ? "_latency" : "");
      Size size = entry.size;
      size.form = form;
      bool listed = false;
      for (const Variant& variant : variants) {
        if (variant.entry != entry.name || variant.size.form != form) continue;
        cases.push_back(CaseOf(variant.name, entry, variant.size));
        listed = listed || variant.name == name;
        ++used;
      }
      if (!listed) cases.push_back(CaseOf(name, entry, size));
    }
  }
  Require(used == variants.size(), "OfTheCatalogue: a variant of each entry that is named");
  return cases;
}

ProtocolCase Of(const std::string& name, std::function<Output(Context& party, Index n, Word x)> run) {
  ProtocolCase out;
  out.name = name;
  out.run = std::move(run);
  return out;
}

/// Other ways to call what the catalogue has.
std::vector<ProtocolCase> OtherCalls() {
  std::vector<ProtocolCase> cases{
      Of("truncate_non_negative",
         [](Context& party, Index n, Word x) {
           return OutputOf(Truncate(party, Trivial(party, x, n), 7, Range::kNonNegative));
         }),
      Of("truncate_non_negative_exact",
         [](Context& party, Index n, Word x) {
           return OutputOf(Truncate(party, Trivial(party, x, n), 33, Range::kNonNegative, Rounding::kExact));
         }),
      Of("truncate_additive",
         [](Context& party, Index n, Word x) {
           return OutputOf(Truncate(party, ToAdditive(Trivial(party, x, n)), 7));
         }),
      Of("less_than_zero_narrow",
         [](Context& party, Index n, Word x) {
           return OutputOf(LessThanZero(party, Trivial(party, x, n), 24));
         }),
      Of("select",
         [](Context& party, Index n, Word x) {
           return OutputOf(
               Select(party, TrivialBits(party, x, 1, n), Trivial(party, x, n), Trivial(party, 4, n)));
         }),
      Of("parallel",
         [](Context& party, Index n, Word x) {
           const auto product = [&](Context& branch) {
             return Multiply(branch, Trivial(branch, x, n), Trivial(branch, 3, n));
           };
           const auto both = mpc::Parallel(party, product, product);
           return OutputOf(Stacked(both.first, both.second));
         }),
      Of("input_bits_of_all",
         [](Context& party, Index n, Word x) {
           Output output;
           const BitMatrix own = mpc::ToPlanes(RingMatrix::Constant(n, 1, x), 9);
           for (int owner = 0; owner < 3; ++owner) output.bits.push_back(InputBits(party, owner, own, 9, n));
           return output;
         }),
      Of("reveal_to_all",
         [](Context& party, Index n, Word x) {
           for (int receiver = 0; receiver < 3; ++receiver)
             (void)RevealTo(party, receiver, Trivial(party, x, n), ReleaseReason::kTest);
           return Output{};
         }),
  };
  cases[1].sample = 1024;
  cases[3].extremes = {0, (Word{1} << 22) - 1};
  return cases;
}

/// Of those that are not shared afresh.
enum class Kind { kFresh, kDesigned, kWithoutShares };

Kind KindOf(const std::string& name) {
  // What is looked up is a sum of fresh bits times the table's public steps, which have common factors.
  static const std::set<std::string> kDesigned{
      "input",         "input_each",        "input_ahead",     "input_ahead_narrow",
      "input_bits",    "input_bits_of_all", "input_each_bits", "equal_everywhere",
      "bit_decompose", "suffix_or",         "look_up",         "look_up_latency"};
  static const std::set<std::string> kWithoutShares{"agree_on_keys",  "require_same_everywhere",
                                                    "exchange_texts", "require_shares_of_one",
                                                    "joint_seed",     "reveal",
                                                    "reveal_to",      "reveal_to_each",
                                                    "reveal_to_all",  "reveal_bits"};
  if (kDesigned.count(name) > 0) return Kind::kDesigned;
  return kWithoutShares.count(name) > 0 ? Kind::kWithoutShares : Kind::kFresh;
}

std::vector<ProtocolCase> OfKind(Kind kind) {
  std::vector<ProtocolCase> cases;
  for (const ProtocolCase& protocol : AllProtocols()) {
    if (KindOf(protocol.name) == kind) cases.push_back(protocol);
  }
  return cases;
}

}  // namespace

ScopedSecretComponent::ScopedSecretComponent(int component) { secret_component = component; }
ScopedSecretComponent::~ScopedSecretComponent() { secret_component = 0; }

ArithShare Trivial(const Context& party, Word value, Index rows, Index cols) {
  const RingMatrix zero = RingMatrix::Zero(rows, cols);
  const RingMatrix all = RingMatrix::Constant(rows, cols, value);
  return {party.self() == secret_component ? all : zero, party.next() == secret_component ? all : zero};
}

BoolShare TrivialBits(const Context& party, Word value, Index planes, Index count) {
  const BitMatrix zero(planes, count);
  const BitMatrix bits = mpc::ToPlanes(RingMatrix::Constant(count, 1, value), static_cast<int>(planes));
  return {party.self() == secret_component ? bits : zero, party.next() == secret_component ? bits : zero};
}

const std::vector<ProtocolCase>& FreshSharings() {
  static const std::vector<ProtocolCase> kCases = OfKind(Kind::kFresh);
  return kCases;
}

const std::vector<ProtocolCase>& DesignedSharings() {
  static const std::vector<ProtocolCase> kCases = OfKind(Kind::kDesigned);
  return kCases;
}

std::vector<ProtocolCase> ThatGiveShares() {
  std::vector<ProtocolCase> all = FreshSharings();
  all.insert(all.end(), DesignedSharings().begin(), DesignedSharings().end());
  return all;
}

const std::vector<ProtocolCase>& OtherProtocols() {
  static const std::vector<ProtocolCase> kCases = OfKind(Kind::kWithoutShares);
  return kCases;
}

const std::vector<ProtocolCase>& AllProtocols() {
  static const std::vector<ProtocolCase> kCases = [] {
    std::vector<ProtocolCase> all = OfTheCatalogue();
    const auto more = OtherCalls();
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return kCases;
}

const ProtocolCase& CaseNamed(const std::string& name) {
  for (const ProtocolCase& protocol : AllProtocols()) {
    if (protocol.name == name) return protocol;
  }
  throw ContractError("CaseNamed: found " + name + ", expected the name of a case");
}

std::string CaseName(const ProtocolCase& protocol) { return protocol.name; }
void PrintTo(const ProtocolCase& protocol, std::ostream* out) { *out << protocol.name; }

}  // namespace trefoil::protocols
