// Runs a fuzz target over its corpus and over a fixed number of mutations of it, the same every time: what is
// left of fuzzing where there is no libFuzzer.
//
// Usage: fuzz_replay TARGET CORPUS_FOLDER MUTATIONS MEMORY_MIB
//   MEMORY_MIB   limit of the address space; 0: none
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "base/allocator.h"
#include "tests/fuzz/fuzz.h"

namespace trefoil::fuzz {
namespace {

constexpr std::size_t kLongest = 1U << 16;

std::vector<std::string> ReadCorpus(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> inputs;
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return inputs;
}

class Mutator {
 public:
  explicit Mutator(const std::vector<std::string>& corpus) : corpus_(corpus) {}

  std::string Next() {
    std::string text = Any();
    for (std::size_t changes = 1 + Below(4); changes > 0; --changes) Change(text);
    if (text.size() > kLongest) text.resize(kLongest);
    return text;
  }

 private:
  std::size_t Below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }
  const std::string& Any() { return corpus_[Below(corpus_.size())]; }

  /// A part of a text of the corpus.
  std::string Part() {
    const std::string& text = Any();
    const std::size_t begin = Below(text.size());
    return text.substr(begin, 1 + Below(32));
  }

  void Change(std::string& text) {
    const std::size_t place = Below(text.size() + 1);
    const std::size_t count = std::min<std::size_t>(Below(24), text.size() - place);
    switch (Below(7)) {
      case 0:
        if (place < text.size()) text[place] = static_cast<char>(text[place] ^ (1 << Below(8)));
        return;
      case 1:
        if (place < text.size()) text[place] = static_cast<char>(Below(256));
        return;
      case 2:
        return text.resize(place);
      case 3:
        text.erase(place, count);
        return;
      case 4:
        text.insert(place, Part());
        return;
      case 5:
        text.replace(place, count, Part());
        return;
      default:  // lengths and counts: all bits set, the sign bit, or small, in up to eight bytes
        for (std::size_t k = 0; k < count && k < 8; ++k)
          text[place + k] = static_cast<char>(Below(2) == 0 ? 0xFF : Below(3) == 0 ? 0x80 : Below(4));
    }
  }

  const std::vector<std::string>& corpus_;
  std::mt19937_64 random_{1};
};

/// The input of a finding, for whoever looks into it.
std::string current;  // NOLINT(cert-err58-cpp)

[[noreturn]] void OnFinding() {
  std::ofstream("finding.bin", std::ios::binary) << current;
  try {
    if (const auto error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "replay: an error of another type: %s\n", error.what());
  }
  std::fprintf(stderr, "replay: the input, %zu bytes, is in finding.bin\n", current.size());
  std::abort();
}

const Target* Find(std::string_view name) {
  const Target* target = Target::first;
  while (target != nullptr && target->name != name) target = target->next;
  return target;
}

void Run(const Target& target, const std::string& input) {
  current = input;
  // A copy of exactly this size, so that a sanitizer sees what reads beyond it.
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  target.read(bytes);
}

/// All inputs, in a process that may have so much memory; what main() returns.
int Replay(const Target& target, const char* folder, std::uint64_t mutations, std::uint64_t memory_mib) {
  KeepFreedMemory();  // what a large header has allocated would be faulted in anew for each input
  std::set_terminate(OnFinding);
  if (memory_mib > 0) {
    const rlimit bytes{.rlim_cur = memory_mib << 20, .rlim_max = memory_mib << 20};
    setrlimit(RLIMIT_AS, &bytes);
  }
  const auto corpus = ReadCorpus(folder);
  if (corpus.empty()) {
    std::fprintf(stderr, "replay: %s: found no file\n", folder);
    return 2;
  }
  for (const auto& input : corpus) Run(target, input);
  Mutator mutator(corpus);
  for (std::uint64_t k = 0; k < mutations; ++k) Run(target, mutator.Next());
  std::printf("%zu inputs and %llu mutations\n", corpus.size(), static_cast<unsigned long long>(mutations));
  return 0;
}

}  // namespace
}  // namespace trefoil::fuzz

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: %s TARGET CORPUS_FOLDER MUTATIONS MEMORY_MIB\n", argv[0]);
    return 2;
  }
  const auto* target = trefoil::fuzz::Find(argv[1]);
  if (target == nullptr) {
    std::fprintf(stderr, "replay: found no target %s\n", argv[1]);
    return 2;
  }
  return trefoil::fuzz::Replay(*target, argv[2], std::strtoull(argv[3], nullptr, 10),
                               std::strtoull(argv[4], nullptr, 10));
}
