#include "net/mesh/mesh.h"

#include <exception>
#include <future>
#include <optional>
#include <utility>

#include "base/error.h"
#include "net/link/asio.h"
#include "net/link/io_thread.h"
#include "net/mesh/links.h"
#include "net/mesh/mailbox.h"
#include "net/mesh/mesh_config.h"
#include "net/start/starter.h"

namespace trefoil::net {
namespace {

// On top of the linger of an abort, which itself ends every operation: links that finish in order, and a
// defect, use it up.
constexpr std::chrono::milliseconds kDrainMargin{500};

class TlsMeshTransport final : public MeshTransport {
 public:
  explicit TlsMeshTransport(const MeshConfig& config)
      : MeshTransport(config.self),
        peer_timeout_(config.peer_timeout),
        job_(HashJob(config.job_json)),
        io_([this] { mailbox_.Fail({.kind = Failure::Kind::kMemory, .cause = {}}); }),
        links_(io_.context(), config.self, mailbox_),
        starter_(
            io_.context(), config, [this](const Starter::Links& links) { OnReady(links); },
            [this](std::exception_ptr failure) { started_.set_exception(std::move(failure)); }) {}

  ~TlsMeshTransport() override {
    if (std::uncaught_exceptions() > exceptions_at_start_) Abort({.code = AbortCode::kInternal});
    (void)Deliver();
  }

  void Start() {
    asio::post(io_.context(), [this] { starter_.Start(); });
    started_.get_future().get();
  }

  [[nodiscard]] const SessionId& session() const override { return session_; }
  [[nodiscard]] const JobHash& job() const override { return job_; }

  [[nodiscard]] std::chrono::milliseconds WaitingFor(int peer) const override {
    return mailbox_.WaitingFor(peer);
  }

  [[nodiscard]] std::optional<PeerLoss> Loss() const override {
    const auto failure = mailbox_.failure();
    if (!failure) return {};
    const bool told = failure->told == AbortCode::kStopped || failure->told == AbortCode::kRankLost;
    if (!failure->link_ended && !failure->reported && !told) return {};
    return PeerLoss{
        .peer = failure->peer, .cause = failure->cause, .link_ended = failure->link_ended, .at = failure->at};
  }

  void Abort(AbortReason reason) noexcept override {
    mailbox_.Fail({.peer = -1, .cause = "the link was closed by this party"});
    asio::post(io_.context(), [this, reason] { links_.Abort(reason); });
    (void)io_.Drain(kLinger + kDrainMargin);
  }

  void Finish() override {
    if (!Deliver()) throw NetworkError(self(), "closed its links before all was delivered");
  }

  void Interrupt() noexcept override { mailbox_.Fail({.peer = -1, .cause = "interrupted by this party"}); }

 protected:
  void Write(int peer, Message message) override {
    if (const auto failure = mailbox_.WhyNotSend(peer)) Raise(peer, *failure);
    links_.Post(peer, std::move(message));
  }

  Message Read(int peer, Lane lane) override {
    Failure failure;
    if (auto message = mailbox_.Take(peer, lane, failure)) return *std::move(message);
    Raise(peer, failure);
  }

 private:
  void OnReady(const Starter::Links& links) {
    session_ = links.session;
    links_.Attach(links.channels);
    started_.set_value();
  }

  // The peers learn of a failure that only this thread has found (a peer that has finished too early).
  [[noreturn]] void Raise(int peer, const Failure& failure) {
    if (failure.kind == Failure::Kind::kMemory) Throw(failure);
    if (failure.peer < 0) throw NetworkError(peer, failure.cause);
    asio::post(io_.context(), [this, failure] { links_.Lose(failure); });
    Throw(failure);
  }

  // Has no limit of its own: the links end by themselves, or by an abort.
  bool Deliver() noexcept {
    asio::post(io_.context(), [this] { links_.Finish(peer_timeout_); });
    return io_.Drain(std::nullopt);
  }

  int exceptions_at_start_ = std::uncaught_exceptions();
  std::chrono::milliseconds peer_timeout_;
  JobHash job_;
  std::promise<void> started_;
  SessionId session_{};
  Mailbox mailbox_;
  IoThread io_;
  Links links_;
  Starter starter_;
};

}  // namespace

std::unique_ptr<MeshTransport> ConnectMesh(const MeshConfig& config) {
  CheckMeshConfig(config);
  auto transport = std::make_unique<TlsMeshTransport>(config);
  transport->Start();
  return transport;
}

}  // namespace trefoil::net
