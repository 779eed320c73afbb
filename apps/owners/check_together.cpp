#include "apps/owners/check_together.h"

#include <spdlog/fmt/fmt.h>

#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error_report.h"
#include "base/hex.h"
#include "base/thread_pool.h"
#include "deposit/on_shares/checked_rows.h"
#include "mpc/context.h"
#include "net/mesh/mesh.h"
#include "runtime/mesh_setup.h"

namespace trefoil::apps {
namespace {

/// What the parties compare when they meet, as they do with a job.
std::string MeetingOf(const deposit::Hash& study) {
  return nlohmann::json{{"command", "store check"}, {"study", ToHex(study)}}.dump();
}

}  // namespace

int CheckTogether(const jobs::PartyFile& party, const deposit::Study& study, deposit::Store& store,
                  std::size_t threads) {
  const auto study_id = deposit::IdOf(study);
  std::map<deposit::Hash, deposit::StoredDeposit> stored;
  std::vector<deposit::Hash> ids;
  for (const auto& one : store.List()) {
    if (one.header.study != study_id) continue;
    store.Verify(one);  // what is damaged is said before the peers are troubled
    stored.emplace(one.id, one);
    ids.push_back(one.id);
  }
  const auto mesh = net::ConnectMesh(runtime::MeshConfigOf(party, MeetingOf(study_id)));
  ThreadPool pool(ThreadsFor(threads));
  mpc::Context context(*mesh, runtime::AgreeOnSessionKeys(*mesh), pool);
  int code = kDone;
  for (const auto& id : deposit::AgreeOnDeposits(context, study_id, ids)) {
    const auto& one = stored.at(id);
    const auto rows = deposit::CheckedRows(context, study.records, store.Read(one));
    if (!rows) code = kData;
    std::cout << fmt::format("{}  {}  {}\n", ToHex(id), one.owner,
                             rows
                                 ? "rows within the study's bounds"
                                 : "REFUSED: a row is neither a record within the study's bounds nor padding")
              << std::flush;
  }
  std::cout << fmt::format("{} deposits checked on shares\n", stored.size());
  return code;
}

}  // namespace trefoil::apps
