#pragma once
#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "dp/ledger/ledger_chain.h"

namespace trefoil::runtime {

/// A file of chained lines (dp/ledger/ledger_chain.h) to which several processes append, one after the other,
/// each behind the newest line. Every line is on disk when the function that wrote it returns: whatever
/// instant a process or its machine dies at, no line is lost, doubled or cut but the one that was being
/// written. File systems without locks (some network ones) cannot hold such a file. Not copyable or movable.
class ChainFile {
 public:
  enum class Access { kRead, kAppend };
  /// What a line says, in order. May throw DataError, which then names the file and the line.
  using Apply = std::function<void(const nlohmann::json& content)>;

  /// Opens the file, which `what` names in errors ("a ledger"); to append, makes it with mode 0600 if it is
  /// not there. Throws ConfigError if it cannot be opened or, to append, has another mode.
  ChainFile(std::filesystem::path file, Access access, std::string what);
  ~ChainFile();
  ChainFile(const ChainFile&) = delete;
  ChainFile& operator=(const ChainFile&) = delete;

  /// An advisory lock on the whole file, shared to read and exclusive to append, which ends with the scope,
  /// or with the process.
  class Locked {
   public:
    explicit Locked(const ChainFile& chain);
    ~Locked();
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

   private:
    int descriptor_;
  };

  // Under the lock.
  /// Reads and checks what is behind the lines read before; to append, also repairs the end. Throws DataError
  /// "FILE: line N: found X, expected Y", or where the file was replaced or became shorter in the meantime.
  void Follow(const Apply& apply);
  /// After Follow. Throws std::system_error where it cannot be written; the file is then as it was.
  void Append(const nlohmann::json& content);
  /// The same of several lines, all or none. Only a process or machine that dies in the middle may leave the
  /// first of them.
  void AppendAll(std::span<const nlohmann::json> contents);

  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// Lines read or written so far.
  [[nodiscard]] std::size_t lines() const { return lines_; }
  /// The hash of the newest line.
  [[nodiscard]] const std::string& head() const { return head_; }
  /// Bytes of a torn line behind the newest one.
  [[nodiscard]] std::size_t torn() const { return torn_; }

 private:
  /// Open the file; each returns why not, or an empty text.
  [[nodiscard]] std::string OpenToRead();
  [[nodiscard]] std::string OpenToAppend();
  void RequireNotReplaced() const;
  void RepairEnd(dp::Tail tail);

  std::filesystem::path file_;
  Access access_;
  int descriptor_ = -1;
  std::size_t bytes_ = 0;  ///< read or written
  std::size_t lines_ = 0;
  std::size_t torn_ = 0;
  std::string head_ = dp::FirstPrevious();
};

/// "2025-01-31T12:00:00Z", now: as entries of a chain say it.
[[nodiscard]] std::string TimeNow();

}  // namespace trefoil::runtime
