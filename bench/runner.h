#pragma once
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "mpc/context.h"
#include "mpc/cost.h"
#include "mpc/ring.h"

namespace trefoil::bench {

/// The sizes of a product or a step: rows x inner x columns (for steps: batch x features x classes).
struct ProductShape {
  mpc::Index rows = 0;
  mpc::Index inner = 0;
  mpc::Index cols = 0;
};

/// One size to measure at: a number of elements, or the shape of a product or step.
struct Point {
  mpc::Index count = 1;
  std::optional<ProductShape> shape{};
};

/// What to measure; the same at all three parties.
struct Request {
  std::vector<std::string> operations;  ///< names; empty: all
  std::string form = "auto";            ///< "latency", "bulk", or "auto": the form that an operation has
  std::vector<mpc::Index> sizes{1, 128, 1024};
  std::vector<ProductShape> shapes{{.rows = 128, .inner = 784, .cols = 10}};
  int reps = 5;
  int sustained = 0;  ///< runs one after the other that are timed together besides
};

/// The request as compact JSON, for the parties to compare.
[[nodiscard]] std::string ToJson(const Request& request);

struct Spread {
  double min = 0;
  double median = 0;
  double max = 0;
};

/// One operation in one form at one size.
struct Result {
  std::string op;
  std::string form;
  Point point;
  mpc::Cost declared;
  int rounds = 0;
  std::array<std::uint64_t, 3> bytes_sent{};
  std::array<std::uint64_t, 3> bytes_offline{};
  Spread seconds_offline;  ///< of the dealers' data-independent work, all parties together
  Spread seconds;          ///< online, of the slowest party: what is dealt and the noise were there before
  std::optional<double>
      seconds_sustained{};  ///< a run, where runs follow each other and offline work is done beside them
  int reps = 0;
};

/// Runs the request's operations with the two peers and returns the same results at all three parties: every
/// repetition is measured by each party and the figures are exchanged. `on_result` is called after each.
/// Throws ConfigError on an unknown operation or form, before anything is sent; NetworkError, ProtocolError.
[[nodiscard]] std::vector<Result> Run(mpc::Context& party, const Request& request,
                                      const std::function<void(const Result&)>& on_result);

/// Throws ConfigError where the request names what does not exist.
void Validate(const Request& request);

/// As `bench --json` writes it (docs/reference/formats.md).
[[nodiscard]] nlohmann::json ToJson(const std::vector<Result>& results);

}  // namespace trefoil::bench
