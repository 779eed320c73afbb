#pragma once
#include <optional>
#include <string>
#include <vector>

#include "dp/accounting/any_accountant.h"
#include "jobs/config/fields.h"
#include "jobs/records/schema.h"
#include "ml/plan/settings.h"

namespace trefoil::jobs {

/// version, and type, which is `type`.
void TypeFields(FieldVisitor& v, const char* type);
void NameField(FieldVisitor& v, std::string& name);
/// All three.
void HeaderFields(FieldVisitor& v, const char* type, std::string& name);

/// data.rows: the declared capacity of each party.
void RowsField(FieldVisitor& v, std::array<std::int64_t, 3>& rows);

/// Of one plain release.
inline constexpr Interval kEpsilons{.above = 1e-6, .below = 1024.0};
inline constexpr Interval kSigmas{.least = 0.01, .below = 1e6};
inline constexpr Interval kDeltas{.above = 0.0, .below = 1.0};

/// Of predictions for the second of two classes.
inline constexpr Interval kThresholds{.least = ml::kMinThreshold, .most = 1 - ml::kMinThreshold};

/// [privacy] must have exactly one of the keys epsilon and sigma.
void CheckOneOfEpsilonAndSigma(FieldVisitor& v);

/// privacy.accountant of a job of another type than a training: "pld", which is exact for plain Gaussians and
/// next to it for the rest, or "rdp".
void AccountantField(FieldVisitor& v, dp::AccountantKind& accountant);

/// Whose epsilon a target is.
[[nodiscard]] const OneOf<ml::Adversary>& Adversaries();

/// What release.to says of a model.
inline constexpr const char* kWhoGetsTheModel =
    "Who gets the model. `[]`: nobody; each party keeps its share, `model.share`, for jobs of type "
    "`predict`.";

/// release.to.
void ReleaseFields(FieldVisitor& v, const char* help, std::vector<int>& to, bool none_allowed);

/// [local] with the one key `split`.
void Fields(FieldVisitor& v, LocalSpec& local);

[[nodiscard]] std::string WithoutLocal(const Declaration& fields);
[[nodiscard]] std::string OnlyLocal(const Declaration& fields);

/// The settings as compact JSON with sorted keys, every default filled in, without [local]: what the parties
/// compare and hash.
template <typename S>
[[nodiscard]] std::string HashedJson(const S& settings) {
  return WithoutLocal([copy = settings](FieldVisitor& v) mutable { Fields(v, copy); });
}

/// [local] as compact JSON; without members where the settings have none.
template <typename S>
[[nodiscard]] std::string LocalJsonOf(const S& settings) {
  return OnlyLocal([copy = settings](FieldVisitor& v) mutable { Fields(v, copy); });
}

}  // namespace trefoil::jobs
