#pragma once
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "mpc/context.h"
#include "mpc/share.h"
#include "protocols/catalogue/catalogue.h"

namespace trefoil::protocols {

/// A protocol as every test over all protocols runs it: on `count` elements, all of them `secret`, shared
/// trivially (component 0 is the value, the others zero), so that whatever is random in a run is the
/// protocol's own.
struct ProtocolCase {
  std::string name;
  std::function<Output(mpc::Context& party, mpc::Index count, mpc::Word secret)> run;
  /// What the catalogue declares for it; nothing for another way to call one of its entries.
  std::function<mpc::Cost(mpc::Index count)> cost{};
  mpc::Index sample = 4096;  ///< how many elements a statistical test takes
  /// Two secrets at the edges of what the protocol takes: nobody may tell which of them it runs on.
  std::array<mpc::Word, 2> extremes{0, (mpc::Word{1} << 61) - 1};
};

/// The entries of the catalogue in their forms, where they cannot be as in its table at sizes that tests can
/// take many lanes of, and other ways to call them.
[[nodiscard]] const std::vector<ProtocolCase>& AllProtocols();

/// The one of that name: an entry's, with _latency behind it in that form. Throws ContractError.
[[nodiscard]] const ProtocolCase& CaseNamed(const std::string& name);

/// Of them, those whose result is shared afresh, as that of every new entry must be: each component, and each
/// party's pair of components, is uniform.
[[nodiscard]] const std::vector<ProtocolCase>& FreshSharings();
/// Those that give shares of which some components are what they are by design.
[[nodiscard]] const std::vector<ProtocolCase>& DesignedSharings();
/// Both.
[[nodiscard]] std::vector<ProtocolCase> ThatGiveShares();
/// Those that give no shares.
[[nodiscard]] const std::vector<ProtocolCase>& OtherProtocols();

/// The trivial sharing of `value` in every element: one component is the value, the others are zero. Which
/// one, ScopedSecretComponent says, else component 0.
[[nodiscard]] mpc::ArithShare Trivial(const mpc::Context& party, mpc::Word value, mpc::Index rows,
                                      mpc::Index cols = 1);
/// The low bits of `value`, for each of `count` items.
[[nodiscard]] mpc::BoolShare TrivialBits(const mpc::Context& party, mpc::Word value, mpc::Index planes,
                                         mpc::Index count);

/// While one lives, trivial sharings hold their value in `component`. Made before the parties' threads.
class ScopedSecretComponent {
 public:
  explicit ScopedSecretComponent(int component);
  ~ScopedSecretComponent();
  ScopedSecretComponent(const ScopedSecretComponent&) = delete;
  ScopedSecretComponent& operator=(const ScopedSecretComponent&) = delete;
};

/// For parameterised tests.
[[nodiscard]] std::string CaseName(const ProtocolCase& protocol);
void PrintTo(const ProtocolCase& protocol, std::ostream* out);

}  // namespace trefoil::protocols
