#pragma once
#include <array>
#include <functional>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mpc/context.h"
#include "mpc/cost.h"
#include "mpc/fixed_point.h"
#include "mpc/share.h"
#include "protocols/arithmetic/rounding.h"
#include "protocols/form.h"

namespace trefoil::protocols {

/// How large an instance of a protocol is, and how it runs. Each protocol reads what it has a use for.
struct Size {
  mpc::Index count = 960;  ///< elements, rows, or items of bits; with 960 every packed message is whole, and
                           ///< every party's turns are equal in a bulk of uses
  mpc::Index columns = 1;  ///< of a row, or of a matrix product
  mpc::Index inner = 1;    ///< of a matrix product
  int width = 64;          ///< bits of an item, or of what is compared or looked up
  int input_bits = 61;     ///< |x| < 2^input_bits for inputs as ring elements
  int fraction_bits = 16;
  int pieces = 2;  ///< of a table, one more than it has thresholds
  Form form = Form::kBulk;
  Rounding rounding = Rounding::kStochastic;
};

/// Makes the inputs of an instance as its user wants them: `bench` at random, tests all of one secret.
class Inputs {
 public:
  Inputs() = default;
  virtual ~Inputs() = default;
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;

  /// What this party holds itself: numbers, or items of `planes` bits.
  [[nodiscard]] virtual mpc::RingMatrix Own(mpc::Index rows, mpc::Index cols) = 0;
  [[nodiscard]] virtual mpc::BitMatrix OwnBits(mpc::Index planes, mpc::Index count) = 0;
  /// What is shared.
  [[nodiscard]] virtual mpc::ArithShare Numbers(mpc::Index rows, mpc::Index cols) = 0;
  [[nodiscard]] virtual mpc::BoolShare Bits(mpc::Index planes, mpc::Index count) = 0;
};

/// The shares that a protocol gave to one party; of what it opens nothing.
struct Output {
  std::vector<mpc::ArithShare> arith{};
  std::vector<mpc::BoolShare> bits{};
};

/// An instance with its inputs ready: `run` does it once and may be called again.
struct Prepared {
  std::function<Output(mpc::Context& party)> run;
  /// Returns when what this party makes ahead for the next run, beside what it deals, is there.
  std::function<void()> wait_until_ready = [] {};
};

inline constexpr const char* kExact = "none";  ///< `error` of an exact protocol

/// An entry's line in the table of docs/reference/protocols.md.
struct Row {
  std::string what;       ///< as the table calls the protocol
  std::string functions;  ///< in C++, each in back-quotes
  std::string unit;       ///< what its figures are for
  std::string source;     ///< a section of the document, or a paper
  std::string sees;       ///< what each party sees; {form} stands for the form's name
  std::string error = kExact;
  mpc::Index units = 0;  ///< how many units Size::count elements are; 0: as many
};

/// A further line of an entry: the same at another size.
struct FurtherRow {
  std::string what;
  std::string unit;
  Size size;
};

/// What a protocol declares of itself, once: `bench`, the table and the tests over all protocols (cost,
/// secrecy, faults, streams) read it.
struct Entry {
  std::string name;  ///< as `bench` calls it; the forms of one operation may be several entries, side by side
  Row row;
  std::vector<FurtherRow> further{};
  std::vector<Form> forms{Form::kBulk};
  std::string seen_in_latency{};  ///< of two forms, where it is not as row.sees has it
  Size size{};            ///< in the table; `bench` sets count, or where `shaped` count, inner and columns
  bool positive = false;  ///< inputs are from 1, else of both signs
  bool shaped = false;
  bool in_bench = true;
  std::function<mpc::Cost(const Size& size)> cost;
  /// Seconds of computation where there are two forms to choose from (protocols/cost_model.h).
  std::function<double(const Size& size)> seconds = [](const Size&) { return 0.0; };
  /// Makes the inputs; nothing where only the cost is declared.
  std::function<Prepared(mpc::Context& party, Inputs& inputs, const Size& size)> prepare{};
};

/// Every protocol of this folder and its sub-folders, in the order of the table.
[[nodiscard]] const std::vector<Entry>& Catalogue();

// By file.
[[nodiscard]] std::vector<Entry> SetUpEntries();
[[nodiscard]] std::vector<Entry> ArithmeticEntries();
[[nodiscard]] std::vector<Entry> ComparisonEntries();
[[nodiscard]] std::vector<Entry> FunctionEntries();

[[nodiscard]] std::string NameOf(Form form);

[[nodiscard]] std::vector<Entry> Joined(std::initializer_list<std::vector<Entry>> lists);

/// `source` of an entry: a section, and where the protocol was published.
[[nodiscard]] std::string Section(const std::string& title, const std::string& paper = "");
/// `sees` of a protocol that is made of others.
[[nodiscard]] std::string As(const std::string& parts);

// `sees` of several.
inline constexpr const char* kSeesReshare =
    "P_(i−1) gets z_i under a part of zero of which it lacks one stream: uniform";
inline constexpr const char* kSeesOpening =
    "A, B: c = x + r, of r each lacks one half, and a half of the result under a stream it lacks: uniform; "
    "B also what is dealt, under a stream of A and D; D nothing";
inline constexpr const char* kSeesOpeningOfProduct =
    "as truncate, and D's part under a part of zero and r: uniform beside the other";
inline constexpr const char* kSeesKey =
    "A, B: c = x + r; one key of a comparison function whose point r the other key hides (AES under "
    "the operation's public key as a random function): corrections look uniform; D nothing";

// By push_back: a list of initial values would be copied, in the time that is measured.
[[nodiscard]] inline Output OutputOf(mpc::ArithShare share) {
  Output output;
  output.arith.push_back(std::move(share));
  return output;
}
[[nodiscard]] inline Output OutputOf(mpc::BoolShare share) {
  Output output;
  output.bits.push_back(std::move(share));
  return output;
}
[[nodiscard]] inline Output OutputOf(const mpc::FixedShare& share) { return OutputOf(share.ring()); }
[[nodiscard]] inline Output OutputOf(const std::array<mpc::ArithShare, 3>& shares) {
  return {.arith = {shares.begin(), shares.end()}};
}
[[nodiscard]] inline Output OutputOf(const std::array<mpc::BoolShare, 3>& shares) {
  return {.bits = {shares.begin(), shares.end()}};
}
/// Of opened values.
template <typename Opened>
[[nodiscard]] Output OutputOf(const Opened& /*opened*/) {
  return {};
}

/// `prepare` of a protocol run(party, input, size) on what input(party, inputs, size) makes.
template <typename Input, typename Run>
[[nodiscard]] auto On(Input input, Run run) {
  return [input, run](mpc::Context& party, Inputs& inputs, const Size& size) {
    return Prepared{[run, size, x = input(party, inputs, size)](mpc::Context& running) {
      if constexpr (std::is_void_v<decltype(run(running, x, size))>) {
        run(running, x, size);
        return Output{};
      } else {
        return OutputOf(run(running, x, size));
      }
    }};
  };
}

/// run(party, x, size) on count rows of numbers.
template <typename Run>
[[nodiscard]] auto OnNumbers(Run run) {
  return On([](mpc::Context&, Inputs& inputs,
               const Size& size) { return inputs.Numbers(size.count, size.columns); },
            run);
}

/// The same with a table that table(size) makes beforehand: run(party, table, x, size).
template <typename Table, typename Run>
[[nodiscard]] auto OnNumbersBy(Table table, Run run) {
  return On(
      [table](mpc::Context&, Inputs& inputs, const Size& size) {
        return std::pair{table(size), inputs.Numbers(size.count, size.columns)};
      },
      [run](mpc::Context& party, const auto& in, const Size& size) {
        return run(party, in.first, in.second, size);
      });
}

/// run(party, x, size) on items of width bits.
template <typename Run>
[[nodiscard]] auto OnBits(Run run) {
  return On(
      [](mpc::Context&, Inputs& inputs, const Size& size) { return inputs.Bits(size.width, size.count); },
      run);
}

}  // namespace trefoil::protocols
