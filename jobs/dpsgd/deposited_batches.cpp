#include "jobs/dpsgd/deposited_batches.h"

#include <spdlog/fmt/fmt.h>

#include "jobs/dpsgd/settings/training_settings.h"
#include "jobs/records/record_fields.h"

namespace trefoil::jobs {
namespace {

constexpr WholeInterval kDeposits{1, 100'000};
constexpr WholeInterval kRecordsOfOne{1, 10'000'000};

}  // namespace

void BatchesFields(FieldVisitor& v, std::optional<BatchSpec>& s) {
  v.Table(
      "batches",
      "Batches that owners draw and deposit for one run, with `privacy.sampling = \"deposited\"` and only "
      "then "
      "(`owners.md`, \"Batches\").",
      s, [&](BatchSpec& batches) {
        v("run", batches.run, Name{},
          "A name for the run: what is deposited for one run of a job is used by no other.");
        v("deposits", batches.deposits, kDeposits,
          "At most so many are used; every batch has room for as many, and what is planned is for that.");
        v("records", batches.records, kRecordsOfOne,
          "Records that one deposit is drawn from, at most; `data.capacity` is those of all owners together, "
          "of which "
          "the sampling rate is `expected_batch`'s share.");
      });
}

void CheckBatches(const DpsgdSettings& job, const Section& document) {
  const bool deposited = job.privacy.sampling == ml::Sampling::kDeposited;
  const auto privacy = document.Table("privacy");
  if (deposited && !job.store.on)
    privacy.Fail("sampling",
                 "found \"deposited\", expected data.source \"store\" with it: owners draw the batches");
  if (deposited && !job.store.batches)
    document.Fail("batches",
                  "missing, expected run, deposits and records with privacy.sampling \"deposited\"");
  if (!deposited && job.store.batches)
    document.Fail("batches", "found it, which only privacy.sampling \"deposited\" has");
  if (deposited && job.store.batches->records > TotalRows(job.data))
    document.Table("batches").Refuse("records",
                                     fmt::format("at most {}, data.capacity", TotalRows(job.data)));
}

void CompleteBatches(DpsgdSettings& job) {
  if (!job.store.batches) return;
  auto& batches = *job.store.batches;
  const auto settings = SettingsOf(job);
  auto unnamed = job;  // the study has the hash in its id, which a job says that is on it
  unnamed.store.study.clear();
  batches.job = DpsgdHash(unnamed);
  batches.steps = settings.steps;
  batches.rows = ml::BatchOfOneDeposit(settings);
  batches.sampling_rate = ml::SamplingRate(settings);
}

}  // namespace trefoil::jobs
