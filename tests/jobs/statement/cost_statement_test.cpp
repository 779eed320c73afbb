#include "jobs/statement/cost_statement.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace trefoil::jobs {
namespace {

PlannedRun SomeRun() {
  return {.form = "bulk", .cost = {.rounds = 12, .bytes_sent = {1'000'000, 20, 3'000}}};
}

TEST(PlannedRunText, SaysWhatIsKnown) {
  auto run = SomeRun();
  EXPECT_EQ(ToText(run), "The run, bulk form: 12 rounds; the parties send 1.0 MB, 20 B and 3.0 kB\n");
  run.seconds = 2;
  run.form = "";
  EXPECT_EQ(ToText(run),
            "The run: 12 rounds; the parties send 1.0 MB, 20 B and 3.0 kB; about 2.0 s on this link\n");
  run.less = "fewer on Sundays";
  EXPECT_EQ(ToText(run),
            "The run: at most 12 rounds; the parties send at most 1.0 MB, 20 B and 3.0 kB, fewer on Sundays; "
            "about 2.0 s on this link\n");
  EXPECT_EQ(MemoryText(1999), "A party needs about 2.0 kB of memory\n");
}

TEST(PlannedRunJson, HasNullWhereNothingIsKnown) {
  auto run = SomeRun();
  EXPECT_EQ(ToJson(run).dump(),
            R"({"form":"bulk","rounds":12,"bytes_sent":[1000000,20,3000],"at_most":false,"seconds":null})");
  run.form = "";
  run.less = "fewer on Sundays";
  run.seconds = 0.5;
  EXPECT_EQ(ToJson(run).dump(),
            R"({"form":null,"rounds":12,"bytes_sent":[1000000,20,3000],"at_most":true,"seconds":0.5})");
}

TEST(PlanRun, KnowsTheTimeWhereItKnowsTheLink) {
  JobCost cost{.less = "fewer on Sundays"};
  cost.session.Add(mpc::Cost::EachToNext(1000), 9);
  const auto plan = PlanRun(cost, "latency", {});
  EXPECT_EQ(plan.form, "latency");
  EXPECT_EQ(plan.less, cost.less);
  EXPECT_EQ(plan.cost.rounds, 10);
  EXPECT_EQ(plan.cost.bytes_sent[2], 9064U);
  EXPECT_FALSE(plan.seconds);
  const protocols::Link link{.message_seconds = 1, .bytes_per_second = 1e6};
  EXPECT_NEAR(PlanRun(cost, "", link).seconds.value_or(0), 10.009, 0.01);
}

}  // namespace
}  // namespace trefoil::jobs
