#include "deposit/inbox/receipt.h"

#include <sodium.h>
#include <spdlog/fmt/fmt.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/secrets/sha256.h"
#include "deposit/format/bytes.h"
#include "net/certificates/signature.h"

namespace trefoil::deposit {
namespace {

std::string TextOfReceipt(const Hash& deposit, int party, std::uint64_t time) {
  return fmt::format("trefoil receipt 1\n{}\n{}\n{}\n", ToHex(deposit), party, time);
}

std::string BytesOfHex(const std::string& hex) {
  std::string bytes(hex.size() / 2, '\0');
  if (sodium_hex2bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), hex.data(), hex.size(),
                     nullptr, nullptr, nullptr) != 0)
    return {};
  return bytes;
}

bool IsRight(const std::string& receipt, const Hash& deposit, int party, const std::string& fingerprint) {
  try {
    const auto json = nlohmann::json::parse(receipt);
    const auto certificate = json.at("certificate").get<std::string>();
    const auto& time = json.at("time");
    if (!time.is_number_unsigned()) return false;
    const auto text = TextOfReceipt(deposit, party, time.get<std::uint64_t>());
    return json.at("deposit") == ToHex(deposit) && json.at("party") == party &&
           net::Fingerprint(certificate) == fingerprint &&
           net::IsSignedBy(certificate, text, BytesOfHex(json.at("signature").get<std::string>()));
  } catch (const nlohmann::json::exception&) {
    return false;
  } catch (const ConfigError&) {  // no certificate
    return false;
  }
}

}  // namespace

std::string SignReceipt(const Hash& deposit, int party, std::uint64_t time, const net::Identity& identity) {
  const auto signature = net::SignWith(identity, TextOfReceipt(deposit, party, time));
  const nlohmann::json json{{"deposit", ToHex(deposit)},
                            {"party", party},
                            {"time", time},
                            {"signature", ToHex(BytesOf(signature))},
                            {"certificate", identity.certificate_pem}};
  return json.dump() + "\n";
}

bool IsSignedAs(const std::string& receipt, const net::Identity& identity) {
  const auto json = nlohmann::json::parse(receipt, nullptr, false);
  return json.is_object() && json.contains("certificate") && json["certificate"] == identity.certificate_pem;
}

void CheckReceipt(const std::string& receipt, const Hash& deposit, int party, const std::string& fingerprint,
                  const std::string& source) {
  if (!IsRight(receipt, deposit, party, fingerprint))
    throw DataError(fmt::format("{}: found no receipt for deposit {}, expected one signed by party {}",
                                source, ToHex(deposit), party));
}

Hash DepositNamedBy(const std::string& receipt, const std::string& source) {
  const auto json = nlohmann::json::parse(receipt, nullptr, false);
  const bool named = json.is_object() && json.contains("deposit") && json["deposit"].is_string();
  const auto bytes = named ? BytesOfHex(json["deposit"].get<std::string>()) : std::string();
  if (bytes.size() != sizeof(Hash))
    throw DataError(source + ": found something else, expected a party's receipt for a deposit");
  return FieldReader(BytesOf(bytes)).Array<sizeof(Hash)>();
}

}  // namespace trefoil::deposit
