#include "secrecy_runs.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "tests/support/secrecy/recording_transport.h"
#include "tests/support/secrecy/stream_rules.h"

namespace trefoil::protocols {
namespace {

using mpc::Index;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

constexpr Index kSessionLanes = 64;
constexpr std::size_t kTakenWhole = 128;

/// Words received or drawn.
struct Seen {
  /// By operation; of branches that are in none yet, by lane; then in time.
  std::array<std::uint64_t, 3> order{};
  std::string name;
  bool received = false;
  bool bits = false;
  std::vector<Word> words;
};

/// Zeros fill the last word: of a message that does not fill it that word is not uniform.
std::vector<Word> ToWords(const net::Bytes& bytes) {
  std::vector<Word> words((bytes.size() + sizeof(Word) - 1) / sizeof(Word));
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

std::string NameOf(const StreamDraw& draw) {
  return "stream " + std::to_string(static_cast<int>(draw.purpose()));
}

/// Of each word's bits a plane: what words look like where only their low bits are opened.
std::vector<Word> AsPlanes(const std::vector<Word>& words, Index lanes) {
  const mpc::BitMatrix planes = mpc::ToPlanes(Eigen::Map<const mpc::RingMatrix>(words.data(), lanes, 1), 64);
  return {planes.words().data(), planes.words().data() + planes.words().size()};
}

/// What was received, which alone is in the transcript, and the streams that the receiver drew or could have
/// drawn. Words of one column also as bits.
std::vector<Seen> InOrder(Transcript& transcript, const std::vector<StreamDraw>& draws, Index lanes) {
  const auto is_bits = [lanes](const std::vector<Word>& words) {
    return words.size() % static_cast<std::size_t>(lanes) != 0;
  };
  std::vector<Seen> seen;
  for (Event& event : transcript) {
    const net::Bytes payload = std::move(event.payload);
    if (payload.empty()) continue;
    seen.push_back({.order = {event.operation, event.lane, event.stamp},
                    .name = "from party " + std::to_string(event.peer),
                    .received = true,
                    .bits = false,
                    .words = ToWords(payload)});
    seen.back().bits = is_bits(seen.back().words);
  }
  for (const StreamDraw& draw : draws) {
    if (draw.bytes == 0) continue;
    Seen drawn{.order = {draw.operation(), 0, draw.stamp},
               .name = NameOf(draw),
               .received = false,
               .bits = false,
               .words = WordsOf(draw)};
    drawn.bits = is_bits(drawn.words);
    if (drawn.words.size() == static_cast<std::size_t>(lanes)) {
      seen.push_back({.order = drawn.order,
                      .name = drawn.name + " as bits",
                      .received = false,
                      .bits = true,
                      .words = AsPlanes(drawn.words, lanes)});
    }
    seen.push_back(std::move(drawn));
  }
  std::sort(seen.begin(), seen.end(), [](const Seen& a, const Seen& b) { return a.order < b.order; });
  for (std::size_t k = 0; k < seen.size(); ++k) {
    seen[k].name = std::to_string(k).append(" ").append(seen[k].name);
  }
  return seen;
}

/// Columns of all lanes, or of a third of them, where the parties input a third each
/// (protocols/comparison/adder.h).
Sight OfLanes(Seen seen, std::size_t lanes) {
  std::size_t samples = seen.bits ? lanes / 64 : lanes;
  if (seen.bits && seen.words.size() % samples != 0) samples /= 3;
  Require(seen.words.size() % samples == 0, "ViewsOfLanes: whole columns");
  return {.name = std::move(seen.name),
          .received = seen.received,
          .bits = seen.bits,
          .samples = samples,
          .words = std::move(seen.words)};
}

/// The party's draws, and those of its peers that it could have made as well: from a key that it holds.
std::vector<StreamDraw> WithinReach(std::size_t self, Seed seed,
                                    const std::array<std::vector<StreamDraw>, 3>& draws) {
  const auto same_stream = [](const StreamDraw& a, const StreamDraw& b) {
    return a.key == b.key && a.start == b.start;
  };
  std::vector<StreamDraw> within = draws[self];
  for (std::size_t peer = 0; peer < draws.size(); ++peer) {
    for (const StreamDraw& draw : draws[peer]) {
      const bool holds = HoldsKey(seed, static_cast<int>(self), draw.key);
      const bool known = std::any_of(within.begin(), within.end(),
                                     [&](const StreamDraw& other) { return same_stream(draw, other); });
      if (holds && !known) within.push_back(draw);
    }
  }
  return within;
}

/// A session's keys: component j's is the same at both its holders.
mpc::Prss SessionPrss(Seed seed, int session, int self) {
  const auto key = [&](int component) {
    SecretKey out = InsecureKey(seed, component);
    for (std::size_t i = 0; i < 4; ++i) out.bytes()[i] = static_cast<std::uint8_t>(session >> (8 * i));
    return out;
  };
  return {self, key(self), key(self + 1), TestTag(seed)};
}

/// The columns of rows of `columns` words each. Some rows at a time, so that a line of memory is written
/// once.
std::vector<Word> Transposed(const std::vector<Word>& rows, std::size_t columns) {
  constexpr std::size_t kRows = 8;
  const std::size_t count = rows.size() / columns;
  std::vector<Word> out(rows.size());
  for (std::size_t first = 0; first < count; first += kRows) {
    for (std::size_t k = 0; k < columns; ++k) {
      for (std::size_t row = first; row < std::min(count, first + kRows); ++row)
        out[k * count + row] = rows[row * columns + k];
    }
  }
  return out;
}

/// Keeps the words of each session, those of a sight one session after the other. The sights are made in the
/// first.
class Columns {
 public:
  explicit Columns(int sessions) : sessions_(static_cast<std::size_t>(sessions)) {}

  void Add(const std::vector<Seen>& seen) {
    if (session_ == 0) {
      for (const Seen& sight : seen) Begin(sight);
    }
    Require(seen.size() == view_.size(), "ViewsOfSessions: every session looks alike");
    for (std::size_t at = 0; at < seen.size(); ++at) {
      const std::vector<Word> taken = Taken(seen[at].words);
      Require(taken.size() == view_[at].columns(), "ViewsOfSessions: every session looks alike");
      std::copy(taken.begin(), taken.end(),
                view_[at].words.begin() + static_cast<std::ptrdiff_t>(session_ * taken.size()));
    }
    ++session_;
  }

  View Take() {
    for (Sight& sight : view_) sight.words = Transposed(sight.words, sight.columns());
    return std::move(view_);
  }

 private:
  static std::vector<Word> Taken(const std::vector<Word>& words) {
    if (words.size() <= kTakenWhole || words.size() % kSessionLanes != 0) return words;
    std::vector<Word> taken;
    for (std::size_t k = 0; k < words.size(); k += kSessionLanes) {
      taken.push_back(words[k]);
      taken.push_back(words[k + 1]);
    }
    return taken;
  }

  void Begin(const Seen& sight) {
    view_.push_back({.name = sight.name,
                     .received = sight.received,
                     .bits = sight.bits,
                     .samples = sessions_,
                     .words = std::vector<Word>(Taken(sight.words).size() * sessions_)});
  }

  std::size_t sessions_;
  std::size_t session_ = 0;
  View view_;
};

}  // namespace

std::array<View, 3> ViewsOfLanes(const ProtocolCase& protocol, Seed seed, Index lanes, Word secret) {
  Require(lanes % (3 * 64) == 0, "ViewsOfLanes: thirds of whole words of lanes");
  std::array<Transcript, 3> transcripts;
  std::array<DrawLog, 3> logs;
  (void)RunPartiesOver(MakeRecordingTransports(transcripts, Recorded::kReceived), LoggedPrss(seed, logs),
                       [&](mpc::Context& party) {
                         (void)protocol.run(party, lanes, secret);
                         return true;
                       });
  std::array<View, 3> views;
  const std::array<std::vector<StreamDraw>, 3> draws{logs[0].Take(), logs[1].Take(), logs[2].Take()};
  for (std::size_t self = 0; self < views.size(); ++self) {
    for (Seen& seen : InOrder(transcripts[self], WithinReach(self, seed, draws), lanes))
      views[self].push_back(OfLanes(std::move(seen), static_cast<std::size_t>(lanes)));
  }
  return views;
}

std::array<View, 3> ViewsOfSessions(const ProtocolCase& protocol, Seed seed, int sessions, Word secret) {
  std::array<Transcript, 3> transcripts;
  // Threads, links and pool stay; keys and all counters of a context are new in every session.
  auto transports = MakeRecordingTransports(transcripts, Recorded::kReceived);
  return RunPartiesOver(std::move(transports), seed, [&](mpc::Context& party) {
    Transcript& transcript = transcripts[static_cast<std::size_t>(party.self())];
    Columns columns(sessions);
    for (int session = 0; session < sessions; ++session) {
      DrawLog log;
      const ScopedDrawLog logging(log);
      transcript.clear();
      CurrentOperation() = 0;
      mpc::Context context(party.transport(), SessionPrss(seed, session, party.self()), party.pool());
      (void)protocol.run(context, kSessionLanes, secret);
      columns.Add(InOrder(transcript, log.Take(), kSessionLanes));
    }
    return columns.Take();
  });
}

}  // namespace trefoil::protocols
