#include "net/start/peer_addresses.h"

#include <algorithm>
#include <chrono>

namespace trefoil::net {
namespace {

constexpr std::chrono::seconds kBetweenLookUps{30};

}  // namespace

std::string AddressText(const asio::ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
  return address.to_string();
}

PeerAddresses::PeerAddresses(asio::io_context& io, const std::vector<std::string>& hosts)
    : resolver_(io), pause_(io) {
  for (const auto& name : hosts) {
    ErrorCode error;
    const auto address = asio::ip::make_address(name, error);
    hosts_.push_back({.name = name, .addresses = {}, .is_address = !error});
    if (!error) hosts_.back().addresses.push_back(AddressText(address));
  }
}

void PeerAddresses::Start() { LookUp(0); }

void PeerAddresses::Stop() {
  stopped_ = true;
  resolver_.cancel();
  pause_.cancel();
}

bool PeerAddresses::Contain(const std::string& address) const {
  return std::any_of(hosts_.begin(), hosts_.end(), [&](const Host& host) {
    return std::find(host.addresses.begin(), host.addresses.end(), address) != host.addresses.end();
  });
}

// Looks up one name after the other, and after a pause all of them again.
void PeerAddresses::LookUp(std::size_t index) {
  if (stopped_) return;
  while (index < hosts_.size() && hosts_[index].is_address) ++index;
  if (index < hosts_.size()) {
    return resolver_.async_resolve(
        hosts_[index].name, "",
        [this, index](const ErrorCode& error, const tcp::resolver::results_type& found) {
          if (!error) hosts_[index].addresses.clear();
          for (const auto& entry : found)
            hosts_[index].addresses.push_back(AddressText(entry.endpoint().address()));
          LookUp(index + 1);
        });
  }
  if (std::all_of(hosts_.begin(), hosts_.end(), [](const Host& host) { return host.is_address; })) return;
  pause_.expires_after(kBetweenLookUps);
  pause_.async_wait([this](const ErrorCode& cancelled) {
    if (!cancelled) LookUp(0);
  });
}

}  // namespace trefoil::net
