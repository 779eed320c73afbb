#pragma once
#include <string>

#include "jobs/config/domains.h"
#include "jobs/config/fields.h"
#include "jobs/dpsgd/settings/settings.h"

namespace trefoil::jobs {

/// What privacy.clip says: a number (kAuto until a rule gives one), or that it adapts.
struct ClipKey {
  double number = 0;
  bool adaptive = false;
};

/// The domain of privacy.clip: a positive number, "auto" or "adaptive", which leaves the number as it was.
struct ClipOrAdaptive {
  OrAuto<Interval> numbers;

  [[nodiscard]] std::string Expected(const toml::node* found) const;
  bool Read(const toml::node& node, ClipKey& member) const;
  void Write(const ClipKey& member, nlohmann::json& json) const;
  void Describe(nlohmann::json& schema) const;
};

/// privacy.clip and the keys that an adaptive one has.
void ClipFields(FieldVisitor& v, PrivacySpec& s);

/// What an adaptive clip asks of the rest of the job.
void CheckAdaptiveClip(const DpsgdSettings& job, const Section& document);

/// What all see of such a job's counts, for the user and the summary.
[[nodiscard]] std::string AdaptiveClipWarning();

}  // namespace trefoil::jobs
