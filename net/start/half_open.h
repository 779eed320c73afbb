#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace trefoil::net {

/// Which connections may stay while they are not through with their TLS handshake. No address takes another's
/// room: each address of a peer's host has kPerPeer places of its own; all other addresses share kStrangers
/// places, of which one address has at most kPerStranger. Where there is no place, one connection is drawn
/// and has to go: from the same address, the new one included, where that address holds all its places; else
/// from the addresses that hold the most. Since it is drawn, and is not the oldest, a peer behind an address
/// that floods still gets through sometimes: with probability (1 - 1 / (n + 1))^k if k others arrive while it
/// is one of n.
class HalfOpenConnections {
 public:
  static constexpr std::size_t kPerPeer = 64;
  static constexpr std::size_t kStrangers = 64;
  static constexpr std::size_t kPerStranger = 16;

  /// A connection counts for as long as its object lives.
  using Connection = std::weak_ptr<void>;

  /// Where a connection comes from.
  struct Source {
    std::string address;   ///< as AddressText gives it
    bool of_peer = false;  ///< whether a peer's host has that address
  };

  /// Makes room for one more connection of `source`. `draw`: 64 uniform bits. Returns nothing where there is
  /// room; otherwise the connection that has to go, whose place is free now, or an empty one if the new
  /// connection has to go. The new connection has no place before Add.
  [[nodiscard]] std::optional<Connection> MakeRoom(const Source& source, std::uint64_t draw);

  /// Pre: MakeRoom has just returned nothing, or another connection than the new one.
  void Add(const Source& source, Connection connection);

  /// The connection has ended its handshake.
  void Remove(const void* connection);

  /// All connections; afterwards there are none.
  [[nodiscard]] std::deque<Connection> TakeAll();

 private:
  struct Place {
    std::string key;
    bool of_peer = false;
    Connection connection;
  };
  [[nodiscard]] std::size_t CountOf(const std::string& key) const;
  [[nodiscard]] std::set<std::string> LargestStrangers(const std::string& newest) const;
  [[nodiscard]] std::set<std::string> Crowded(const std::string& key, bool of_peer) const;

  std::deque<Place> places_;
};

}  // namespace trefoil::net
