#include "net/mesh/mailbox.h"

#include <new>
#include <utility>

#include "base/error.h"

namespace trefoil::net {

Failure FailureOf(int peer, AbortCode code) {
  return {.kind = code == AbortCode::kBudget ? Failure::Kind::kBudget : Failure::Kind::kNetwork,
          .peer = peer,
          .cause = Describe(code),
          .told = code};
}

Failure FailureOf(int self, int sender, const AbortReason& reason) {
  const int about = reason.about;
  const bool about_third = about == kParties - self - sender;
  const std::string by = "party " + std::to_string(sender);
  if (reason.code == AbortCode::kProtocol) {
    if (about == self) {
      return {.kind = Failure::Kind::kProtocol,
              .peer = about,
              .cause = "broke the protocol, as " + by + " found: compare versions and settings of both"};
    }
    if (about == sender) return {.peer = about, .cause = "broke the protocol, and was told so"};
    if (about_third) return {.peer = about, .cause = "broke the protocol (reported by " + by + ")"};
  }
  if (reason.code == AbortCode::kPeerLost) {
    if (about == self) return {.peer = sender, .cause = "gave up the link to this party"};
    if (about_third) return {.peer = about, .cause = "lost (reported by " + by + ")", .reported = true};
  }
  return FailureOf(sender, reason.code);
}

void Throw(const Failure& failure) {
  if (failure.kind == Failure::Kind::kProtocol) {
    throw ProtocolError("party " + std::to_string(failure.peer) + ": " + failure.cause, failure.peer);
  }
  if (failure.kind == Failure::Kind::kBudget) {
    throw BudgetError("party " + std::to_string(failure.peer) + ": " + failure.cause);
  }
  if (failure.kind == Failure::Kind::kMemory) throw std::bad_alloc();
  if (failure.told) throw AbortedError(failure.peer, *failure.told);
  throw NetworkError(failure.peer, failure.cause);
}

void Mailbox::Put(int peer, Message message) {
  {
    const std::lock_guard lock(mutex_);
    Inbox& inbox = InboxOf(peer);
    inbox.waiting_since = Clock::now();
    inbox.messages[message.lane].push_back(std::move(message));
  }
  changed_.notify_all();
}

void Mailbox::Finish(int peer) {
  {
    const std::lock_guard lock(mutex_);
    InboxOf(peer).finished = true;
  }
  changed_.notify_all();
}

void Mailbox::Fail(Failure failure) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = std::move(failure);
  }
  changed_.notify_all();
}

std::optional<Failure> Mailbox::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

std::optional<Message> Mailbox::Take(int peer, Lane lane, Failure& failure) {
  std::unique_lock lock(mutex_);
  Inbox& inbox = InboxOf(peer);
  std::deque<Message>& messages = inbox.messages[lane];
  const auto ready = [&] { return failure_ || inbox.finished || !messages.empty(); };
  if (!ready()) {
    if (inbox.waiting++ == 0) inbox.waiting_since = Clock::now();
    changed_.wait(lock, ready);
    --inbox.waiting;
  }
  if (!failure_ && messages.empty()) FailAsFinished(peer);
  if (failure_) {
    failure = *failure_;
    return std::nullopt;
  }
  Message message = std::move(messages.front());
  messages.pop_front();
  return message;
}

std::chrono::milliseconds Mailbox::WaitingFor(int peer) const {
  const std::lock_guard lock(mutex_);
  const Inbox& inbox = inboxes_[static_cast<std::size_t>(peer)];
  if (inbox.waiting == 0) return std::chrono::milliseconds(0);
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - inbox.waiting_since);
}

std::optional<Failure> Mailbox::WhyNotSend(int peer) {
  const std::lock_guard lock(mutex_);
  if (!failure_ && InboxOf(peer).finished) FailAsFinished(peer);
  return failure_;
}

void Mailbox::FailAsFinished(int peer) {
  failure_ = {.kind = Failure::Kind::kNetwork, .peer = peer, .cause = "closed the connection"};
}

}  // namespace trefoil::net
