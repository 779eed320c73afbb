#include "runtime/ranks/same_build.h"

#include <elf.h>
#include <link.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "base/error.h"
#include "jobs/ranks/of_rank0.h"
#include "trefoil/version.h"

namespace trefoil::runtime {
namespace {

/// The id among the notes of a program, in hexadecimal; empty where there is none. Source: elf(5), "Notes".
std::string IdAmong(std::span<const std::uint8_t> notes) {
  const auto whole_words = [](std::size_t bytes) { return (bytes + 3) / 4 * 4; };
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note{};
    std::copy_n(notes.begin(), sizeof note, reinterpret_cast<std::uint8_t*>(&note));
    const std::size_t begin = sizeof note + whole_words(note.n_namesz);
    const std::size_t end = begin + whole_words(note.n_descsz);
    if (end > notes.size()) return {};
    if (note.n_type == NT_GNU_BUILD_ID) {
      std::string text;
      for (const auto byte : notes.subspan(begin, note.n_descsz)) text += fmt::format("{:02x}", byte);
      return text;
    }
    notes = notes.subspan(end);
  }
  return {};
}

/// Of the program, which is the first that is called with.
int TakeId(dl_phdr_info* info, std::size_t /*size*/, void* id) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader gives addresses as numbers
    const auto* begin = reinterpret_cast<const std::uint8_t*>(info->dlpi_addr + part.p_vaddr);
    auto found = IdAmong({begin, part.p_memsz});
    if (!found.empty()) *static_cast<std::string*>(id) = std::move(found);
  }
  return 1;
}

}  // namespace

std::string BuildOfProgram() {
  std::string id;
  dl_iterate_phdr(TakeId, &id);
  return fmt::format("version {}{}{}", Version(), id.empty() ? "" : ", build ", id);
}

void RequireSameBuild(mpc::Ranks& ranks, const std::string& build) {
  std::array<char, 128> message{};
  const auto own = std::string_view(build).substr(0, message.size() - 1);
  std::copy(own.begin(), own.end(), message.begin());
  ranks.Broadcast(std::as_writable_bytes(std::span(message)));
  message.back() = 0;
  const std::string_view first = message.data();
  if (own == first) return;
  throw ConfigError(fmt::format(
      "found the program of {}, expected that of rank 0, {}: all machines of a party run one program", own,
      first));
}

void RequireSameJob(mpc::Ranks& ranks, const std::string& hash, int party) {
  constexpr std::size_t kShown = 12;
  const auto first_party = jobs::OfRank0(std::to_string(party), ranks);
  const auto first = jobs::OfRank0(hash, ranks);
  if (std::to_string(party) != first_party)
    throw ConfigError(
        fmt::format("party.id: found {}, expected {}, as rank 0's party file says", party, first_party));
  if (hash != first)
    throw ConfigError(fmt::format(
        "found another job than rank 0, of hash {}, expected that of hash {}: copy its file to all machines",
        hash.substr(0, kShown), first.substr(0, kShown)));
  ranks.Barrier();
}

}  // namespace trefoil::runtime
