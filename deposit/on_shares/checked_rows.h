#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "deposit/read_deposit.h"
#include "jobs/deposited_records.h"
#include "jobs/records/schema.h"
#include "ml/plan/run_cost.h"
#include "mpc/context.h"
#include "mpc/share.h"
#include "protocols/comparison/row_check.h"

namespace trefoil::deposit {

/// What the rows of a study's deposits have to be: norm and labels in the units of RowLayout.
[[nodiscard]] protocols::RowBounds BoundsOf(const jobs::RecordSchema& records);

/// Deposits that a run takes at most.
inline constexpr std::int64_t kMostDeposits = 100'000;

/// Makes sure that all three parties are about to use the same deposits of one study: `ids`, in any order.
/// Returns them ascending, in the same order at all three. Ids are public to the three: with them a party
/// learns which deposits another one took. Pre: no id twice.
/// Cost:   1 round, 8 bytes and 65 for the study and for each id from a party to each other one.
/// Throws: ConfigError at all three, naming a party that has another study, or a deposit and a party that
/// lacks it; at a party that has more than kMostDeposits;
///         NetworkError, ProtocolError.
[[nodiscard]] std::vector<Hash> AgreeOnDeposits(mpc::Context& party, const Hash& study,
                                                std::vector<Hash> ids);
[[nodiscard]] mpc::Cost AgreeOnDepositsCost(std::int64_t deposits);

/// Numbers that are checked together, where nobody asks for fewer.
inline constexpr mpc::Index kCheckedAtOnce = jobs::kCheckedAtOnce;

/// The rows of one deposit on shares, once all three have made sure that they are rows
/// (docs/explanation/deposits.md, "On shares"): features in steps of 2^-fraction_bits of the ring, mask bit,
/// label, as RowLayout has them but not modulo 2^b. Nothing where one of its rows is not as BoundsOf() says:
/// that one bit is opened, to all three, and is what they learn. What an honest owner deposited is always
/// taken.
///
/// A block of rows at a time, the two holders of each component compare it by a hash under a key of this
/// session that the third party does not have; then the features are lifted and the rows checked.
/// Pre:    the same deposit and study at all three; its components are checked (CheckedComponents). Blocks as
///         large at all three.
/// Cost:   CheckedRowsCost: for each block of `numbers_at_a_time` RequireSharesOfOne, Lift of its features,
///         FaultyRows and AnyItem of its rows; then AnyPlane of the blocks and 1 bit revealed. Memory: the
///         rows, and a block several times.
/// Throws: ConfigError at all three, naming who holds another component; NetworkError, ProtocolError.
[[nodiscard]] std::optional<mpc::ArithShare> CheckedRows(mpc::Context& party,
                                                         const jobs::RecordSchema& records,
                                                         const OpenedDeposit& deposit,
                                                         mpc::Index numbers_at_a_time = kCheckedAtOnce);
/// Of a deposit of `rows` rows, padding included: also what is computed for that.
[[nodiscard]] ml::SessionPart CheckedRowsCost(const jobs::RecordSchema& records, mpc::Index rows,
                                              mpc::Index numbers_at_a_time = kCheckedAtOnce);

/// Whether CheckedRows() would give the rows of a deposit, of which none is kept but by `each`: it gets each
/// block, lifted, before it is known whether the deposit is of rows. As CheckedRows; memory: a block several
/// times.
[[nodiscard]] bool AreRows(mpc::Context& party, const jobs::RecordSchema& records,
                           const OpenedDeposit& deposit, mpc::Index numbers_at_a_time = kCheckedAtOnce,
                           const std::function<void(const mpc::ArithShare& rows)>& each = {});

}  // namespace trefoil::deposit
