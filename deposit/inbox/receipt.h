#pragma once
#include <cstdint>
#include <string>

#include "deposit/format/header.h"
#include "net/certificates/certificate.h"

namespace trefoil::deposit {

/// A party's signed word that it took a deposit, as one line of JSON (docs/reference/deposits.md, "A
/// receipt"). `identity`: the party's TLS certificate and key.
[[nodiscard]] std::string SignReceipt(const Hash& deposit, int party, std::uint64_t time,
                                      const net::Identity& identity);

/// Whether SignReceipt() made a receipt with this identity's certificate, and not with one of before.
[[nodiscard]] bool IsSignedAs(const std::string& receipt, const net::Identity& identity);

/// Throws DataError, with `source` before it, unless `receipt` is one of this deposit and party, signed by
/// the certificate with that fingerprint.
void CheckReceipt(const std::string& receipt, const Hash& deposit, int party, const std::string& fingerprint,
                  const std::string& source);

/// The deposit that a receipt names, be it right or not. Throws DataError, with `source` before it, where it
/// names none.
[[nodiscard]] Hash DepositNamedBy(const std::string& receipt, const std::string& source);

}  // namespace trefoil::deposit
