#include "apps/owners/check_together.h"

#include <spdlog/fmt/fmt.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/console.h"
#include "base/error_report.h"
#include "base/secrets/sha256.h"
#include "base/threads/thread_pool.h"
#include "deposit/on_shares/checked_rows.h"
#include "mpc/context.h"
#include "net/mesh/mesh.h"
#include "runtime/abort_reason.h"
#include "runtime/mesh_setup.h"
#include "runtime/observe/run_watch.h"
#include "runtime/stop_signals.h"

namespace trefoil::apps {
namespace {

/// What the parties compare when they meet, as they do with a job.
std::string MeetingOf(const deposit::Hash& study) {
  return nlohmann::json{{"command", "store check"}, {"study", ToHex(study)}}.dump();
}

/// After the three have met: a line for each deposit. The exit code.
int CheckAll(net::MeshTransport& mesh, const deposit::Study& study, deposit::Store& store,
             const std::map<deposit::Hash, deposit::StoredDeposit>& stored, std::size_t threads) {
  ThreadPool pool(ThreadsFor(threads));
  mpc::Context context(mesh, runtime::AgreeOnSessionKeys(mesh), pool);
  std::vector<deposit::Hash> ids;
  for (const auto& one : stored) ids.push_back(one.first);
  auto& out = StandardOutput().stream();  // which does not wait for a reader
  int code = kDone;
  for (const auto& id : deposit::AgreeOnDeposits(context, deposit::IdOf(study), ids)) {
    const auto& one = stored.at(id);
    const bool rows = deposit::AreRows(context, study.records, store.Read(one));
    if (!rows) code = kData;
    out << fmt::format("{}  {}  {}\n", ToHex(id), one.owner,
                       rows ? "rows within the study's bounds"
                            : "REFUSED: a row is neither a record within the study's bounds nor padding")
        << std::flush;
  }
  out << fmt::format("{} deposits checked on shares\n", stored.size());
  return code;
}

}  // namespace

int CheckTogether(const jobs::PartyFile& party, const deposit::Study& study, deposit::Store& store,
                  std::size_t threads) {
  const auto study_id = deposit::IdOf(study);
  std::map<deposit::Hash, deposit::StoredDeposit> stored;
  for (const auto& one : store.List()) {
    if (one.header.study != study_id || one.set_aside != 0) continue;
    // What is damaged is said before the peers are troubled.
    if (store.Verify(one)) stored.emplace(one.id, one);
  }
  const auto mesh = net::ConnectMesh(runtime::MeshConfigOf(party, MeetingOf(study_id)));
  runtime::NoteStopSignals();  // until now there was nobody to tell
  runtime::RunWatch watch(*mesh, nullptr, party.peer_timeout, [](const std::string& line) {
    StandardError().Write("warning: " + OneLine(line) + "\n");
  });
  int code = kDone;
  runtime::TellingPeers(*mesh, [&] {
    watch.Run(runtime::StopWhen::kAtOnce, [&] { code = CheckAll(*mesh, study, store, stored, threads); });
  });
  return code;
}

}  // namespace trefoil::apps
