#include "jobs/records/source_fields.h"

#include <spdlog/fmt/fmt.h>

#include <nlohmann/json.hpp>

#include "jobs/config/common_fields.h"
#include "jobs/config/path_domains.h"

namespace trefoil::jobs {
namespace {

constexpr const char* kToPredict = "predict";

/// The id of a study.
struct StudyId : TextOfKind {
  StudyId()
      : TextOfKind{"string", "64 lower-case hexadecimal digits, as trefoil study show prints them",
                   "^[0-9a-f]{64}$"} {}
  bool Read(const toml::node& node, std::string& member) const {
    const auto text = node.value<std::string>().value_or("");
    const bool fits = text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (fits) member = text;
    return fits;
  }
  void Write(const std::string& member, nlohmann::json& json) const { json = member; }
};

}  // namespace

bool IsToPredict(const std::string& purpose) {
  return purpose == kToPredict || purpose.starts_with(std::string(kToPredict) + "-");
}

void StoreFields(FieldVisitor& v, StoreSpec& store, const char* help, const char* purpose,
                 const std::function<void()>& more) {
  v("source", store.on, OneOf<bool>{{false, "files"}, {true, "store"}}, Default(false).LeftOut(), help);
  v.When({store.on, fmt::format("{}.source \"store\"", store.table)}, [&] {
    v("study", store.study, StudyId{},
      Default(std::string()).Said("none: `run` and `check` want it").LeftOut(),
      "The id of the study that they were deposited for, which `trefoil study init` prints.");
    v("purpose", store.purpose, Name{}, Default(std::string(purpose)).LeftOut(),
      "Deposits of this purpose are used, and no others.");
    more();
  });
}

void SourceFields(FieldVisitor& v, std::array<std::int64_t, 3>& rows, StoreSpec& store) {
  const auto of_store = [&] {
    v("capped", store.capped,
      OneOf<CappedDeposits>{{CappedDeposits::kEnd, "end"}, {CappedDeposits::kLeaveOut, "leave-out"}},
      Default(CappedDeposits::kEnd).LeftOut(),
      "What becomes of deposits whose population has no budget left for the job in a party's "
      "`[owner_ledgers]`: they "
      "end the run before anything is charged, or are left out at all three.");
    v("memory", store.memory, WholeInterval{1, std::int64_t{1} << 24},
      "MiB: rows lie sealed in the store's folder and are read a block at a time, in a training in every "
      "step, so that "
      "they and what is computed of them take no more than this at once. Nothing is sent ahead then, "
      "whatever "
      "`training.steps_ahead` is. A deposit that does not fit into a quarter is left out. Without it all "
      "rows are in "
      "memory. In trainings and tunings only with `privacy.sampling` `full` and without `model.hidden`.");
    v("capacity", rows[0], WholeInterval{1, 1'000'000'000},
      "The capacities of all deposits together, at most; what is planned is for so many rows.");
  };
  StoreFields(v, store,
              "`store`: no party brings records; those are used that owners deposited (`owners.md`).",
              "train", of_store);
  v.When({!store.on, "data.source \"files\"", "found it with data.source \"store\", which has data.capacity"},
         [&] { RowsField(v, rows); });
}

void CheckPurpose(const StoreSpec& store, const Section& data) {
  if (store.on && IsToPredict(store.purpose))
    data.Refuse("purpose", "another: deposits of this one are rows to predict, whose labels say nothing");
}

void CheckSource(const RecordSchema& s, const Section& data) {
  if (!s.store.on) return;
  CheckPurpose(s.store, data);
  if (s.data.vertical) data.Refuse("partition", "\"horizontal\" with data.source \"store\"");
  if (data::WeightColumn(s.data) != nullptr)
    data.Fail("column",
              "found one of kind \"weight\", expected none with data.source \"store\": rows of deposits have "
              "features and a label; an owner can leave rows out, and model.class_weights are taken");
}

}  // namespace trefoil::jobs
