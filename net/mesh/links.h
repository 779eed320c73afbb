#pragma once
#include <array>
#include <chrono>
#include <memory>

#include "net/link/asio.h"
#include "net/link/channel.h"
#include "net/mesh/mailbox.h"

namespace trefoil::net {

/// The two links of one party while a job runs, on the I/O thread. What arrives goes to the mailbox. When one
/// peer is lost, the other one is told which, before the link to it is closed, so that both remaining parties
/// name the same.
class Links {
 public:
  Links(asio::io_context& io, int self, Mailbox& mailbox);

  /// Begins to deliver. On the I/O thread, as all but Post.
  void Attach(const std::array<std::shared_ptr<Channel>, kParties>& channels);

  /// Queues a message to a peer; from any thread, after Attach.
  void Post(int peer, Message message);

  /// Gives up because of a peer: tells the other and closes both links. The first call counts.
  void Lose(const Failure& failure);

  /// Gives up for a reason of its own: tells both peers and closes the links.
  void Abort(const AbortReason& reason);

  /// Ends in order: sends what is queued, however long that takes, and closes the links. A peer that takes
  /// nothing for `silence` is given up.
  void Finish(std::chrono::milliseconds silence);

 private:
  void OnFrame(int peer, Frame frame);
  void OnAbort(int peer, const Frame& frame);
  void OnEnd(int peer, const Ending& ending);
  void TellAndClose(const AbortReason& reason);
  /// False where it has ended already.
  bool End();

  int self_;
  Mailbox& mailbox_;
  std::array<std::shared_ptr<Channel>, kParties> channels_;
  asio::steady_timer grace_;
  std::array<bool, kParties> reported_{};  // peers that have said that they lost somebody
  bool ended_ = false;
};

}  // namespace trefoil::net
