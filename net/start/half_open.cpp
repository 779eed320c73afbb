#include "net/start/half_open.h"

#include <algorithm>
#include <map>
#include <utility>

#include "net/link/asio.h"

namespace trefoil::net {
namespace {

/// What counts as one source: an address; of strangers' IPv6 addresses the first 64 bits, since whoever has
/// one of them has all that begin so.
std::string KeyOf(const HalfOpenConnections::Source& source) {
  if (source.of_peer) return "peer " + source.address;
  ErrorCode error;
  const auto address = asio::ip::make_address(source.address, error);
  if (error || !address.is_v6()) return source.address;
  auto bytes = address.to_v6().to_bytes();
  std::fill(bytes.begin() + 8, bytes.end(), std::uint8_t{0});
  return asio::ip::make_address_v6(bytes).to_string() + "/64";
}

}  // namespace

std::size_t HalfOpenConnections::CountOf(const std::string& key) const {
  return static_cast<std::size_t>(
      std::count_if(places_.begin(), places_.end(), [&](const Place& place) { return place.key == key; }));
}

// Those of strangers' keys that hold the most, the new connection included.
std::set<std::string> HalfOpenConnections::LargestStrangers(const std::string& newest) const {
  std::map<std::string, std::size_t> counts;
  for (const Place& place : places_) {
    if (!place.of_peer) ++counts[place.key];
  }
  ++counts[newest];
  std::set<std::string> largest;
  std::size_t most = 0;
  for (const auto& [key, count] : counts) {
    if (count > most) largest.clear();
    if (count >= most) largest.insert(key);
    most = std::max(most, count);
  }
  return largest;
}

// The keys of which one connection has to go for a new one; none where there is room.
std::set<std::string> HalfOpenConnections::Crowded(const std::string& key, bool of_peer) const {
  if (CountOf(key) >= (of_peer ? kPerPeer : kPerStranger)) return {key};
  const auto strangers =
      std::count_if(places_.begin(), places_.end(), [](const Place& place) { return !place.of_peer; });
  if (of_peer || static_cast<std::size_t>(strangers) < kStrangers) return {};
  return LargestStrangers(key);
}

std::optional<HalfOpenConnections::Connection> HalfOpenConnections::MakeRoom(const Source& source,
                                                                             std::uint64_t draw) {
  std::erase_if(places_, [](const Place& place) { return place.connection.expired(); });
  const std::string key = KeyOf(source);
  const auto crowded = Crowded(key, source.of_peer);
  if (crowded.empty()) return std::nullopt;
  const auto may_go = [&](const Place& place) { return crowded.contains(place.key); };
  const auto held = static_cast<std::uint64_t>(std::count_if(places_.begin(), places_.end(), may_go));
  std::uint64_t drawn = draw % (held + (crowded.contains(key) ? 1 : 0));
  if (drawn == held) return Connection();
  const auto place = std::find_if(places_.begin(), places_.end(),
                                  [&](const Place& candidate) { return may_go(candidate) && drawn-- == 0; });
  Connection gone = std::move(place->connection);
  places_.erase(place);
  return gone;
}

void HalfOpenConnections::Add(const Source& source, Connection connection) {
  places_.push_back({.key = KeyOf(source), .of_peer = source.of_peer, .connection = std::move(connection)});
}

void HalfOpenConnections::Remove(const void* connection) {
  std::erase_if(places_,
                [connection](const Place& place) { return place.connection.lock().get() == connection; });
}

std::deque<HalfOpenConnections::Connection> HalfOpenConnections::TakeAll() {
  std::deque<Connection> all;
  for (Place& place : places_) all.push_back(std::move(place.connection));
  places_.clear();
  return all;
}

}  // namespace trefoil::net
