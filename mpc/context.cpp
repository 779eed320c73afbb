#include "mpc/context.h"

#include <cstring>
#include <utility>

#include "base/error.h"

namespace trefoil::mpc {

Context::Context(net::Transport& transport, Prss prss, ThreadPool& pool)
    : transport_(transport), prss_(std::move(prss)), pool_(pool) {}

OperationId Context::NextOperation() {
  Require(operations_.next < operations_.end, "NextOperation: a branch has used up its operation numbers");
  return operations_.next++;
}

// Branches get 2^44 numbers each, so that a program may fork 2^19 times; their branches 2^30, and theirs
// 2^16.
OperationId Context::NumbersOfBranch() const { return OperationId{1} << (44 - 14 * depth_); }

Context Context::Branch(net::Transport& lane, int branch) const {
  Require(operations_.end - operations_.next >= 2 * NumbersOfBranch(),
          "Branch: a branch has used up its operation numbers");
  Context context(lane, prss_.Twin(), pool_);
  const OperationId first = operations_.next + static_cast<OperationId>(branch) * NumbersOfBranch();
  context.operations_ = {.next = first, .end = first + NumbersOfBranch()};
  context.depth_ = depth_ + 1;
  context.turn_ = (turn_ + branch) % net::kParties;
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

RingMatrix Context::Draw(int component, Purpose purpose, OperationId operation, Index rows, Index cols) {
  RingMatrix out(rows, cols);
  prss_.Fill(component, purpose, operation, {out.data(), static_cast<std::size_t>(out.size())});
  return out;
}

BitMatrix Context::DrawBits(int component, Purpose purpose, OperationId operation, Index planes,
                            Index count) {
  BitMatrix out(planes, count);
  prss_.Fill(component, purpose, operation,
             {out.words().data(), static_cast<std::size_t>(out.words().size())});
  out.ClearTail();
  return out;
}

RingMatrix Context::DrawZero(OperationId operation, Index rows, Index cols) {
  return Draw(self(), Purpose::kZero, operation, rows, cols) -
         Draw(next(), Purpose::kZero, operation, rows, cols);
}

BitMatrix Context::DrawZeroBits(OperationId operation, Index planes, Index count) {
  return DrawBits(self(), Purpose::kZero, operation, planes, count) ^
         DrawBits(next(), Purpose::kZero, operation, planes, count);
}

void Context::SendWords(int peer, const RingMatrix& words, net::Phase phase) {
  const auto* bytes = reinterpret_cast<const std::byte*>(words.data());
  transport_.Send(peer, net::Bytes(bytes, bytes + static_cast<std::size_t>(words.size()) * sizeof(Word)),
                  phase);
}

RingMatrix Context::ReceiveWords(int peer, Index rows, Index cols) {
  RingMatrix out(rows, cols);
  const auto size = static_cast<std::size_t>(out.size()) * sizeof(Word);
  const net::Bytes bytes = transport_.Receive(peer, size);
  if (size > 0) std::memcpy(out.data(), bytes.data(), size);
  return out;
}

void Context::SendBits(int peer, const BitMatrix& bits, net::Phase phase) {
  transport_.Send(peer, Pack(bits), phase);
}

BitMatrix Context::ReceiveBits(int peer, Index planes, Index count) {
  return Unpack(transport_.Receive(peer, PackedBytes(planes, count)), planes, count);
}

}  // namespace trefoil::mpc
