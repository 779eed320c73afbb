#pragma once
#include <stdexcept>
#include <string>

/// What the library throws, beside what the standard library throws (std::system_error for files,
/// std::bad_alloc). It throws; it never ends the program. A text is one line: the place, what was found, what
/// was expected.
namespace trefoil {

/// A caller broke a function's precondition: a defect in the calling program, never its user's fault.
class ContractError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// A peer sent something that the protocol does not allow (wrong length, wrong sequence number, ...).
class ProtocolError : public std::runtime_error {
 public:
  /// `peer`: who sent it, where that is known.
  explicit ProtocolError(const std::string& text, int peer = -1) : std::runtime_error(text), peer_(peer) {}
  [[nodiscard]] int peer() const { return peer_; }

 private:
  int peer_;
};

/// A link failed: a peer was lost, stayed silent, or aborted. Names the party that the failure is about.
class NetworkError : public std::runtime_error {
 public:
  /// The message reads "party PEER: CAUSE".
  NetworkError(int peer, const std::string& cause);
  [[nodiscard]] int peer() const { return peer_; }

 private:
  int peer_;
};

/// Input data is not what the job declares: the text names file, row and column, what was found and expected.
class DataError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A command line, job file or party file is wrong: the text names the place, what was found and expected.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The privacy budget does not allow what was asked for.
class BudgetError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The operator told this process to stop, by a signal.
class StoppedError : public std::runtime_error {
 public:
  /// `signal`: its number, of which the text tells, too.
  StoppedError(int signal, const std::string& text) : std::runtime_error(text), signal_(signal) {}
  [[nodiscard]] int signal() const { return signal_; }

 private:
  int signal_;
};

}  // namespace trefoil
