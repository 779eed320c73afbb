#include "deposit/on_shares/rows_on_disk.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/secrets/random.h"
#include "base/secrets/sealed_box.h"
#include "jobs/files/sealed_file.h"

namespace trefoil::deposit {
namespace {

using mpc::ArithShare;
using mpc::Index;
using mpc::RingMatrix;

std::size_t BytesOfMatrix(const RingMatrix& matrix) {
  return static_cast<std::size_t>(matrix.size()) * sizeof(mpc::Word);
}

/// What a piece is sealed with, so that no other can be taken for it, nor one that was taken back.
std::string HeaderOf(std::uint64_t number) { return "trefoil rows " + std::to_string(number); }

}  // namespace

RowsOnDisk::RowsOnDisk(std::filesystem::path folder, const Shape& shape)
    : folder_(std::move(folder)), shape_(shape), key_(RandomKey()), file_(folder_) {
  Require(shape.columns > 0 && shape.block_rows > 0 && shape.capacity > 0,
          "RowsOnDisk: blocks of a row at least");
}

void RowsOnDisk::Add(const ArithShare& rows) {
  Require(rows.cols() == shape_.columns, "RowsOnDisk: rows of one width");
  std::vector<std::uint8_t> plain(2 * BytesOfMatrix(rows.own()));
  std::memcpy(plain.data(), rows.own().data(), plain.size() / 2);
  std::memcpy(plain.data() + plain.size() / 2, rows.next().data(), plain.size() / 2);
  const jobs::SecretBytes secret(std::move(plain));
  const auto number = sealed_++;
  const auto sealed = Seal(key_, HeaderOf(number), secret.bytes());
  pieces_.push_back(
      {.number = number, .position = file_.size(), .bytes = sealed.size(), .rows = rows.rows()});
  file_.Append(sealed);
}

void RowsOnDisk::TakeBack(std::size_t additions) {
  Require(additions <= pieces_.size(), "RowsOnDisk: no more than was added");
  if (additions == pieces_.size()) return;
  file_.Cut(pieces_[additions].position);
  pieces_.resize(additions);
}

ArithShare RowsOnDisk::Read(std::size_t piece) const {
  const auto& one = pieces_.at(piece);
  std::vector<std::uint8_t> sealed(one.bytes);
  file_.Read(one.position, sealed);
  auto plain = Unseal(key_, HeaderOf(one.number), sealed);
  if (!plain)
    throw DataError(folder_.string() +
                    ": found rows changed that this run had written there, expected them as they were");
  const jobs::SecretBytes secret(std::move(*plain));
  RingMatrix own(one.rows, shape_.columns);
  RingMatrix next(one.rows, shape_.columns);
  std::memcpy(own.data(), secret.bytes().data(), BytesOfMatrix(own));
  std::memcpy(next.data(), secret.bytes().data() + BytesOfMatrix(own), BytesOfMatrix(next));
  return {std::move(own), std::move(next)};
}

ArithShare RowsOnDisk::Block(std::int64_t number) {
  const auto rows_here = std::accumulate(pieces_.begin(), pieces_.end(), std::int64_t{0},
                                         [](std::int64_t sum, const Piece& one) { return sum + one.rows; });
  Require(rows_here <= shape_.capacity, "RowsOnDisk: no more rows than the capacity");
  const auto count = (shape_.capacity + shape_.block_rows - 1) / shape_.block_rows;
  const auto block = number % count;
  if (block == 0) {
    next_block_ = 0;
    next_piece_ = 0;
    piece_ = {};
    taken_ = 0;
  }
  Require(block == next_block_, "RowsOnDisk: blocks in their order");
  ++next_block_;
  RingMatrix own = RingMatrix::Zero(shape_.block_rows, shape_.columns);
  RingMatrix next = own;
  for (Index first = 0; first < own.rows();) {
    if (taken_ == piece_.rows()) {
      piece_ = {};  // before the next one is there
      taken_ = 0;
      if (next_piece_ == pieces_.size()) break;
      piece_ = Read(next_piece_++);
    }
    const Index rows = std::min(own.rows() - first, piece_.rows() - taken_);
    own.middleRows(first, rows) = piece_.own().middleRows(taken_, rows);
    next.middleRows(first, rows) = piece_.next().middleRows(taken_, rows);
    first += rows;
    taken_ += rows;
  }
  return {std::move(own), std::move(next)};
}

}  // namespace trefoil::deposit
