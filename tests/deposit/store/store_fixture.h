#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/secrets/sha256.h"
#include "deposit/store/store.h"
#include "tests/deposit/sample_deposit.h"

namespace trefoil::deposit {

/// A store of party 1, and deposits for it.
class StoreTest : public testing::Test {
 protected:
  /// A deposit as party 1 opened it.
  [[nodiscard]] OpenedDeposit Opened(const MadeDeposit& made) const {
    return ReadDeposit(folder_.Write("x.deposit", made.files[1]), SampleReader(study_, 1));
  }
  /// One of owner 10, with the terms of the sample but for these.
  [[nodiscard]] OpenedDeposit Another(std::uint8_t coins, bool adds,
                                      const std::string& population = "ward-3") const {
    RandomStream stream(testing_support::FixedKey(coins));
    auto terms = SampleTerms();
    terms.adds = adds;
    terms.population = population;
    return Opened(MakeDeposit(study_, SampleTable(), terms, SamplePair(KeyKind::kOwner, 10), stream));
  }
  /// One of the owner `name`, who has another key than owner 10, with its header changed by `change`.
  template <typename Change>
  [[nodiscard]] OpenedDeposit OfAnotherKey(const Change& change, const std::string& name) const {
    auto deposit = Another(7, false);
    deposit.owner = name;
    deposit.header.owner = SamplePair(KeyKind::kOwner, 12).known;
    change(deposit.header);
    deposit.id = DepositId(EncodeHeader(deposit.header));
    return deposit;
  }
  [[nodiscard]] Store Open(std::uint8_t key = 3) const {
    return {folder_.path() / "s", 1, testing_support::FixedKey(key)};
  }
  /// Why the store refuses it; nothing where it takes it.
  [[nodiscard]] std::optional<Reason> ReasonOf(Store& store, const OpenedDeposit& deposit) const {
    try {
      store.Accept(deposit, study_, "x.deposit", 1'795'000'001);
    } catch (const RefusedDeposit& refused) {
      return refused.reason();
    }
    return {};
  }
  [[nodiscard]] std::filesystem::path BodyOf(const OpenedDeposit& deposit) const {
    return folder_.path() / "s/bodies" / (ToHex(deposit.id) + ".sealed");
  }

  TemporaryFolder folder_;
  Study study_ = SampleStudy(folder_);
};

}  // namespace trefoil::deposit
