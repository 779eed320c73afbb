#include "trefoil/session.h"

#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>

#include "api/session_impl.h"
#include "base/secrets/random.h"
#include "base/secrets/sha256.h"
#include "base/threads/run_both.h"
#include "jobs/job.h"
#include "net/local_transport.h"
#include "runtime/abort_reason.h"
#include "runtime/mesh_setup.h"

namespace trefoil {
namespace {

using Links = std::array<std::unique_ptr<net::Transport>, net::kParties>;

/// One party of RunInProcess: agrees on keys over its links, then runs the body.
void RunOne(net::Transport& links, const std::string& name, const std::function<void(Session&)>& body) {
  Session session(std::make_unique<Session::Impl>(links, mpc::AgreeOnKeys(links, name), 1, name));
  body(session);
}

}  // namespace

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::Session(Session&&) noexcept = default;
Session::~Session() = default;

Session Session::Connect(const std::filesystem::path& party_file, const std::string& program,
                         std::size_t threads) {
  const nlohmann::json job{{"program", program}};
  auto mesh = net::ConnectMesh(runtime::MeshConfigOf(jobs::ReadParty(party_file), job.dump()));
  auto impl = runtime::TellingPeers(*mesh, [&] {
    return std::make_unique<Impl>(*mesh, runtime::AgreeOnSessionKeys(*mesh), ThreadsFor(threads),
                                  ToHex(mesh->session()));
  });
  impl->mesh = std::move(mesh);
  return Session(std::move(impl));
}

int Session::party() const { return impl_->context.self(); }

Traffic Session::traffic() const {
  const auto& counters = impl_->context.transport().counters();
  return {
      .rounds = counters.rounds, .bytes_sent = counters.bytes_sent, .bytes_offline = counters.bytes_offline};
}

const std::vector<Opening>& Session::openings() const { return impl_->openings; }

void Session::Abort() noexcept { runtime::AbortWithReason(impl_->context.transport()); }

void RunInProcess(const std::function<void(Session&)>& body, std::chrono::seconds patience) {
  const auto name = ToHex(RandomKey().bytes());
  const Links links = net::MakeLocalTransports(patience);
  std::exception_ptr failure;
  std::mutex mutex;
  const auto run = [&](std::size_t self) {
    try {
      RunOne(*links[self], name, body);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      runtime::AbortWithReason(*links[self]);  // after the failure is kept: it is the first
    }
  };
  // run() throws nothing, so that there is no failure for RunBoth to act on.
  RunBoth([&] { run(0); }, [&] { RunBoth([&] { run(1); }, [&] { run(2); }, [] {}); }, [] {});
  if (failure) std::rethrow_exception(failure);
}

}  // namespace trefoil
