#include "jobs/dpsgd/adaptive_clip.h"

#include <spdlog/fmt/fmt.h>

#include <nlohmann/json.hpp>

#include "ml/plan/settings.h"

namespace trefoil::jobs {
namespace {

constexpr const char* kAdaptive = "adaptive";

}  // namespace

std::string ClipOrAdaptive::Expected(const toml::node* found) const {
  return fmt::format("{} or \"{}\"", numbers.Expected(found), kAdaptive);
}

bool ClipOrAdaptive::Read(const toml::node& node, ClipKey& member) const {
  const bool adaptive = node.value<std::string>() == kAdaptive;
  if (!adaptive && !numbers.Read(node, member.number)) return false;
  member.adaptive = adaptive;
  return true;
}

void ClipOrAdaptive::Write(const ClipKey& member, nlohmann::json& json) const {
  if (member.adaptive) {
    json = kAdaptive;
  } else {
    numbers.Write(member.number, json);
  }
}

void ClipOrAdaptive::Describe(nlohmann::json& schema) const {
  numbers.Describe(schema);
  schema["oneOf"].back()["enum"].push_back(kAdaptive);
}

void ClipFields(FieldVisitor& v, PrivacySpec& s) {
  ClipKey clip{.number = s.clip, .adaptive = s.adaptive_clip.has_value()};
  v("clip", clip, ClipOrAdaptive{{kPositive}},
    "C, at most 1024. Too small for the resolution of squared norms is refused. `adaptive`: it follows a "
    "quantile "
    "of the gradients' norms, by a noisy count that all three parties see at each step; charged "
    "(`settings.md`, "
    "\"A clip that adapts\").");
  s.clip = clip.number;
  auto adaptive = s.adaptive_clip.value_or(ml::AdaptiveClip{});
  v.When({clip.adaptive, "privacy.clip \"adaptive\""}, [&] {
    v("first_clip", s.clip, OrAuto<Interval>{kPositive}, Default(static_cast<double>(kAuto)).Said("`auto`"),
      "The clip of the first step, at most 1024; it goes on from an eighth of it to eight times it.");
    v("clip_quantile", adaptive.quantile, Interval{.above = 0.0, .below = 1.0}, Default(0.5),
      "The part of a batch's gradients that is to be within the clip, 0.05 … 0.95; a difference below 0.027 "
      "need not move it.");
    v("clip_count_sigma", adaptive.count_sigma, kPositive,
      "Deviation of any two parties' noise on the number of a batch's gradients within the clip, at most "
      "10^6, and at "
      "least the noise multiplier over √2. None: a twentieth of `expected_batch`.");
  });
  s.adaptive_clip = clip.adaptive ? std::optional(adaptive) : std::nullopt;
}

void CheckAdaptiveClip(const DpsgdSettings& job, const Section& document) {
  if (!job.privacy.adaptive_clip) return;
  const auto privacy = document.Table("privacy");
  const auto refuse = [&](const std::string& cause) {
    privacy.Fail("clip", "found \"adaptive\", expected a number with " + cause);
  };
  if (!job.model.hidden.empty())
    refuse(
        "model.hidden: a clip that moves weighs a linear model's errors, and what a record adds to a step "
        "then is bounded for these alone, not for the deltas of hidden layers");
  if (job.training.clipping != ml::Clipping::kFactorised)
    refuse("another training.clipping than \"factorised\"");
  if (job.store.on) refuse("data.source \"store\"");
  if (job.privacy.sampling != ml::Sampling::kOwnerPoisson && job.privacy.sampling != ml::Sampling::kFull)
    refuse(
        fmt::format("privacy.sampling \"{}\": a resumed run takes the same rows again, and may not once "
                    "anybody has seen counts of them",
                    Samplings().TextOf(job.privacy.sampling)));
  if (job.privacy.groups()) refuse("privacy.unit \"group\"");
  const double sigma = job.privacy.adaptive_clip->count_sigma.value_or(1);
  if (sigma > ml::kMaxClipCountSigma)
    privacy.Refuse("clip_count_sigma", fmt::format("at most {}", ml::kMaxClipCountSigma));
}

std::string AdaptiveClipWarning() {
  return "privacy.clip \"adaptive\": all three parties see at each step how many of its rows have a gradient "
         "within "
         "the clip, with noise that epsilon covers; nobody may end or resume a run because of them";
}

}  // namespace trefoil::jobs
