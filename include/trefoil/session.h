#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trefoil/error.h"

namespace trefoil {

/// What a party has sent since its session began: payload bytes, without frames and TLS.
struct Traffic {
  std::uint32_t rounds = 0;         ///< the longest chain of messages that wait for each other
  std::uint64_t bytes_sent = 0;     ///< that depend on data
  std::uint64_t bytes_offline = 0;  ///< that do not, and may be sent ahead
};

/// A value that left the sharing.
struct Opening {
  std::string reason;         ///< as the program gave it
  std::int64_t elements = 0;  ///< how many numbers it was
  std::vector<int> to;        ///< the parties that got them
};

/// One party's side of a computation among three, numbered 0, 1 and 2. All three execute the same program:
/// every function that takes a session is called by all three in the same order, with arguments of the same
/// shapes. Security holds against one semi-honest party of the three (docs/explanation/threat_model.md).
///
/// A session is used by one thread at a time. After an error it is of no use: it is to be destroyed, or
/// aborted. What a function that takes a session throws, the peers on a network are told by its reason, such
/// as which party broke the protocol; never by a text. A peer whose link stands but that sends nothing is
/// waited for without limit, and nothing is said of it: a run (run.h) says whom it waits for, a session does
/// not.
class Session {
 public:
  /// Meets both peers over TLS 1.3 with pinned certificates, by the party file that `trefoil init` and
  /// `trefoil trust` made, and agrees on keys of this session alone. `program` says in a line what is
  /// computed: the same at all three. `threads`: how many compute; 0: as many as the machine has. Blocks
  /// until all three are there. Throws ConfigError for a file that is wrong or a peer with another program,
  /// NetworkError naming the peer that did not come in time.
  /// The process's memory is not locked, and nothing is written: no log, no ledger, no run directory.
  [[nodiscard]] static Session Connect(const std::filesystem::path& party_file, const std::string& program,
                                       std::size_t threads = 0);

  Session(Session&&) noexcept;
  Session& operator=(Session&&) = delete;
  /// Delivers what is under way and closes the links; while an exception is on its way, tells the peers to
  /// stop: by "internal error" if it is the caller's own, of which they were told nothing yet.
  ~Session();

  [[nodiscard]] int party() const;
  [[nodiscard]] Traffic traffic() const;
  /// All that was opened with this session by Reveal and RevealTo, in order: for the program's own audit log.
  [[nodiscard]] const std::vector<Opening>& openings() const;
  /// Tells both peers to stop, and why: called where an exception is handled, by that exception (as
  /// DataError: "its data is not what the job declares"), else by "internal error". Nothing can be sent
  /// afterwards.
  void Abort() noexcept;

  struct Impl;  ///< the library's own, as what follows
  explicit Session(std::unique_ptr<Impl> impl);
  [[nodiscard]] Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// Runs `body` at three parties within this process, a thread each, over links in memory: every message is
/// serialised and checked as on a network, and nothing is encrypted. For trials, tests and simulations, since
/// whoever has the process has all the data. Returns when all three have ended. A party that fails stops the
/// others, and the first failure in time is rethrown. `patience`: a party that waits for a message for longer
/// fails with NetworkError.
void RunInProcess(const std::function<void(Session&)>& body,
                  std::chrono::seconds patience = std::chrono::minutes(10));

/// The same for a body with a result: what it returned at party 0, 1 and 2.
template <typename Body>
[[nodiscard]] auto ResultsInProcess(Body body, std::chrono::seconds patience = std::chrono::minutes(10)) {
  using Result = decltype(body(std::declval<Session&>()));
  std::array<std::optional<Result>, 3> results;
  RunInProcess(
      [&](Session& session) { results.at(static_cast<std::size_t>(session.party())).emplace(body(session)); },
      patience);
  return std::array<Result, 3>{std::move(*results[0]), std::move(*results[1]), std::move(*results[2])};
}

}  // namespace trefoil
