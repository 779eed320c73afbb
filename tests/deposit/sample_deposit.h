#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "deposit/format/components.h"
#include "deposit/make_deposit.h"
#include "deposit/read_deposit.h"
#include "tests/deposit/sample_study.h"

namespace trefoil::deposit {

/// Three records of the sample study.
inline data::Table SampleTable() {
  data::Table table;
  table.x.resize(3, 4);
  table.x << 0.5F, -0.25F, 1.0F, 0.0F,  //
      -1.5F, 0.125F, 0.0F, 1.0F,        //
      0.75F, -0.5F, 0.0F, 1.0F;
  table.y = {2, 0, 1};
  return table;
}

inline DepositTerms SampleTerms(std::uint64_t capacity = 8) {
  return {
      .capacity = capacity, .population = "ward-3", .purpose = "train", .adds = false, .time = 1795000000};
}

/// Party `party`'s reader of the sample study, which lists owner 10.
inline DepositReader SampleReader(const Study& study, int party) {
  return {.study = study,
          .party = party,
          .key = SamplePair(KeyKind::kParty, party),
          .owners = {{.name = "hospital", .key = SamplePair(KeyKind::kOwner, 10).known}}};
}

/// Owner 10's deposit of the sample table.
inline MadeDeposit SampleDeposit(const Study& study, std::uint8_t coins = 5) {
  RandomStream stream(testing_support::FixedKey(coins));
  return MakeDeposit(study, SampleTable(), SampleTerms(), SamplePair(KeyKind::kOwner, 10), stream);
}

}  // namespace trefoil::deposit
