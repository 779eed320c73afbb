#include "mpc/context.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "mpc/dealing/preprocessing.h"
#include "mpc/simd/elementwise_kernels.h"

namespace trefoil::mpc {
namespace {

template <typename Matrix>
Matrix Received(net::Transport& transport, int peer, Index rows, Index cols, net::Phase phase) {
  Matrix out(rows, cols);
  const auto size = static_cast<std::size_t>(out.size()) * sizeof(typename Matrix::Scalar);
  const net::Bytes bytes = transport.Receive(peer, size, phase);
  if (size > 0) std::memcpy(out.data(), bytes.data(), size);
  return out;
}

}  // namespace

Context::Context(net::Transport& transport, Prss prss, ThreadPool& pool)
    : transport_(transport), prss_(std::move(prss)), pool_(pool) {}

OperationId Context::NextOperation() {
  Require(operations_.next < operations_.end, "NextOperation: a branch has used up its operation numbers");
  return operations_.next++;
}

// Branches, and runs of a program that is run many times, get 2^44 numbers each, so that a program may fork
// 2^19 times; their branches 2^32, theirs 2^20, and theirs, within a run, 2^8.
OperationId Context::NumbersOfBranch() const { return kOperationsOfRun >> (12 * depth_); }

OperationId Context::TakeRuns(std::int64_t runs) {
  const OperationId first = operations_.next;
  const OperationId most = (operations_.end - first) / kOperationsOfRun;
  Require(depth_ == 0 && runs >= 0 && static_cast<OperationId>(runs) <= most,
          "TakeRuns: more runs than there are operation numbers for");
  operations_.next += static_cast<OperationId>(runs) * kOperationsOfRun;
  return first;
}

Context Context::ForRun(Preprocessing& ahead, OperationId first, int turn) const {
  Context run(transport_, prss_.Twin(), pool_);
  run.operations_ = {.next = first, .end = first + kOperationsOfRun};
  run.depth_ = depth_ + 1;
  run.turn_ = turn;
  run.ahead_ = &ahead;
  return run;
}

Context Context::Branch(net::Transport& lane, int branch) const {
  Require(operations_.end - operations_.next >= 2 * NumbersOfBranch(),
          "Branch: a branch has used up its operation numbers");
  Context context(lane, prss_.Twin(), pool_);
  const OperationId first = operations_.next + static_cast<OperationId>(branch) * NumbersOfBranch();
  context.operations_ = {.next = first, .end = first + NumbersOfBranch()};
  context.depth_ = depth_ + 1;
  context.turn_ = (turn_ + branch) % net::kParties;
  context.ahead_ = ahead_;
  return context;
}

void Context::PassBranches() {
  operations_.next += 2 * NumbersOfBranch();
  turn_ = (turn_ + 2) % net::kParties;
}

void Context::Absorb(const Context& branch) {
  transport_.Absorb(branch.transport_.counters());
  offline_seconds_ += branch.offline_seconds_;
}

Roles Context::NextRoles() {
  const int first = turn_;
  turn_ = (turn_ + 1) % net::kParties;
  return {.a = first, .b = (first + 1) % net::kParties, .dealer = (first + 2) % net::kParties};
}

void Context::Deal(OperationId operation, const Roles& roles, const DealtBytes& bytes,
                   const std::function<void(const Dealer&)>& make, DealtBy by) {
  const bool in_line = ahead_ != nullptr ? ahead_->Pass(transport_.lane(), operation, roles, bytes, make, by)
                                         : self() == roles.dealer;
  if (!in_line) {
    if (self() != roles.dealer) return;
    if (bytes.to_a > 0) transport_.CountOffline(roles.a, bytes.to_a);
    if (bytes.to_b > 0) transport_.CountOffline(roles.b, bytes.to_b);
    return;
  }
  const auto start = std::chrono::steady_clock::now();
  make(Dealer(prss_, operation, roles, pool_, [this](int peer, net::Bytes payload) {
    transport_.Send(peer, std::move(payload), net::Phase::kOffline);
  }));
  AddOfflineSeconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

RingMatrix Context::Draw(int component, Purpose purpose, OperationId operation, Index rows, Index cols) {
  RingMatrix out(rows, cols);
  prss_.Fill(component, purpose, operation, {out.data(), static_cast<std::size_t>(out.size())});
  return out;
}

void Context::StartDraw(int component, Purpose purpose, OperationId operation) {
  prss_.Start(component, purpose, operation);
}

void Context::ContinueDraw(int component, std::span<Word> out) { prss_.Continue(component, out); }

NarrowMatrix Context::DrawNarrow(int component, Purpose purpose, OperationId operation, Index rows,
                                 Index cols, const NarrowColumns& narrow) {
  if (narrow.packed() == 0) return NarrowMatrix(Draw(component, purpose, operation, rows, cols));
  NarrowMatrix out(rows, cols, narrow);
  RingMatrix words(std::min(rows, kRowsAtOnce), cols);
  prss_.Start(component, purpose, operation);
  for (Index row = 0; row < rows; row += words.rows()) {
    const Index here = std::min(words.rows(), rows - row);
    prss_.Continue(component, {words.data(), static_cast<std::size_t>(here * cols)});
    out.PutRows(row, here, {.data = words.data(), .stride = cols});
  }
  return out;
}

HalfMatrix Context::DrawHalves(int component, Purpose purpose, OperationId operation, Index rows,
                               Index cols) {
  HalfMatrix out(rows, cols);
  prss_.FillHalves(component, purpose, operation, {out.data(), static_cast<std::size_t>(out.size())});
  return out;
}

BitMatrix Context::DrawBits(int component, Purpose purpose, OperationId operation, Index planes,
                            Index count) {
  BitMatrix out = BitMatrix::ToBeWritten(planes, count);
  prss_.Fill(component, purpose, operation,
             {out.words().data(), static_cast<std::size_t>(out.words().size())});
  out.ClearTail();
  return out;
}

RingMatrix Context::DrawZero(OperationId operation, Index rows, Index cols) {
  RingMatrix zero(rows, cols);
  prss_.FillZero(operation, {zero.data(), static_cast<std::size_t>(zero.size())});
  return zero;
}

BitMatrix Context::DrawZeroBits(OperationId operation, Index planes, Index count) {
  BitMatrix zero = BitMatrix::ToBeWritten(planes, count);
  prss_.FillZeroBits(operation, {zero.words().data(), static_cast<std::size_t>(zero.words().size())});
  zero.ClearTail();
  return zero;
}

void Context::SendWords(int peer, const RingMatrix& words) { transport_.Send(peer, ToBytes(words)); }

RingMatrix Context::ReceiveWords(int peer, Index rows, Index cols, net::Phase phase) {
  return Received<RingMatrix>(transport_, peer, rows, cols, phase);
}

void Context::AddReceivedWords(int peer, RingMatrix& sum) {
  const net::Bytes bytes = transport_.Receive(peer, static_cast<std::size_t>(sum.size()) * sizeof(Word));
  AddWordsFrom(bytes.data(), sum.size(), sum.data());
}

NarrowMatrix Context::ReceiveDealt(int dealer, Index rows, Index cols, const NarrowColumns& narrow) {
  constexpr auto kPhase = net::Phase::kOffline;
  const Index packed = narrow.packed();
  if (packed == 0) return NarrowMatrix(ReceiveWords(dealer, rows, cols, kPhase));
  const Index count = rows * packed;
  const BitMatrix planes =
      Unpack(transport_.Receive(dealer, PackedBytes(narrow.width, count), kPhase), narrow.width,
             count);  // not beside the message
  NarrowMatrix out(rows, cols, narrow);
  RingMatrix words(std::min(rows, kRowsAtOnce), packed);
  for (Index row = 0; row < rows; row += words.rows()) {
    const Index here = std::min(words.rows(), rows - row);
    TakePlanes(planes, row * packed, {words.data(), static_cast<std::size_t>(here * packed)});
    out.packed.PutRows(row, here, {.data = words.data(), .stride = packed});
  }
  if (packed < cols) out.whole = ReceiveWords(dealer, rows, cols - packed, kPhase);
  return out;
}

HalfMatrix Context::ReceiveDealtHalves(int dealer, Index rows, Index cols) {
  return Received<HalfMatrix>(transport_, dealer, rows, cols, net::Phase::kOffline);
}

void Context::SendBits(int peer, const BitMatrix& bits) { transport_.Send(peer, Pack(bits)); }

BitMatrix Context::ReceiveBits(int peer, Index planes, Index count) {
  return Unpack(transport_.Receive(peer, PackedBytes(planes, count)), planes, count);
}

}  // namespace trefoil::mpc
