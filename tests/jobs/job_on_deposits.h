#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "base/error.h"
#include "jobs/job.h"
#include "tests/support/error_text.h"

namespace trefoil::jobs {

/// Of a job with data.source "store": no data are dealt for it, and only a program that has a store loads
/// them.
inline void ExpectNoRecordsOfItsOwn(Job& job) {
  std::array<PartyFile, 3> parties;
  EXPECT_THAT(testing_support::ErrorText<ConfigError>([&] {
                (void)job.Split(
                    {.job_file = "x.toml", .data = {}, .test = {}, .party_folders = {}, .parties = parties});
              }),
              testing::HasSubstr("x.toml: data.source: found \"store\""));
  const PartyFile party;
  EXPECT_THAT(
      testing_support::ErrorText<ConfigError>([&] { (void)job.Inputs(party, "p.toml", {}).at(0).load(); }),
      testing::HasSubstr("trefoil run and check alone read a store"));
}

}  // namespace trefoil::jobs
