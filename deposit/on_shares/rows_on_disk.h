#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/files/scratch_file.h"
#include "base/secrets/secure_memory.h"
#include "mpc/share.h"

namespace trefoil::deposit {

/// This party's shares of rows that are read again and again, in blocks, and do not lie in memory meanwhile.
/// They are in a file without a name, sealed under a key that nothing but this process has and that dies with
/// it.
class RowsOnDisk {
 public:
  struct Shape {
    mpc::Index columns = 0;
    std::int64_t block_rows = 0;
    std::int64_t capacity =
        0;  ///< rows of all blocks together at least: behind those that are here come zeros
  };

  /// In a folder. Throws std::runtime_error where nothing can be written there.
  RowsOnDisk(std::filesystem::path folder, const Shape& shape);

  /// Adds rows behind those that are here. They are in memory once more while they are sealed, and when they
  /// are read. Throws std::runtime_error where they cannot be written.
  void Add(const mpc::ArithShare& rows);
  /// How many times rows were added.
  [[nodiscard]] std::size_t additions() const { return pieces_.size(); }
  /// Takes back what was added since there were so many additions.
  void TakeBack(std::size_t additions);

  /// The block with this number, of all from the first on; behind the last comes the first again. Throws
  /// DataError where the file was changed, std::runtime_error where it cannot be read, ContractError for any
  /// other than the next block or a first one, or where more rows were added than the capacity.
  [[nodiscard]] mpc::ArithShare Block(std::int64_t number);

 private:
  /// Rows that were added together.
  struct Piece {
    std::uint64_t number = 0;  ///< of all that were sealed
    std::uint64_t position = 0;
    std::uint64_t bytes = 0;  ///< sealed
    mpc::Index rows = 0;
  };

  [[nodiscard]] mpc::ArithShare Read(std::size_t piece) const;

  std::filesystem::path folder_;
  Shape shape_;
  SecretKey key_;
  ScratchFile file_;
  std::vector<Piece> pieces_{};
  std::uint64_t sealed_ = 0;
  std::int64_t next_block_ = 0;
  std::size_t next_piece_ = 0;
  mpc::ArithShare piece_{};  ///< the one before it, of which rows may be left
  mpc::Index taken_ = 0;     ///< rows of it that were in a block
};

}  // namespace trefoil::deposit
