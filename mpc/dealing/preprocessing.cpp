#include "mpc/dealing/preprocessing.h"

#include <chrono>
#include <memory>
#include <utility>

#include "base/error.h"

namespace trefoil::mpc {
namespace {

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Preprocessing::Preprocessing(Context& party, const Settings& settings)
    : party_(party), settings_(settings), base_(party.TakeRuns(settings.runs)) {
  Require(settings.runs >= 1 && settings.ahead >= 0, "Preprocessing: at least one run");
}

Preprocessing::~Preprocessing() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  producer_.reset();
}

void Preprocessing::Run(const std::function<void(Context&)>& program) {
  Require(run_ < settings_.runs, "Preprocessing: more runs than announced");
  Require(!under_way_, "Preprocessing: another run after one that failed, whose streams it would draw again");
  under_way_ = true;
  {
    Context run = party_.ForRun(*this, FirstOperation(run_), TurnOf(run_));
    try {
      program(run);
    } catch (const NetworkError&) {
      ThrowFailure();  // which interrupted the program
      throw;
    }
    party_.AddOfflineSeconds(run.offline_seconds());
  }
  {
    std::unique_lock lock(mutex_);
    if (run_ == 0) {
      produced_ = 1;
    } else if (producer_) {
      // A dealer's own program needs nothing of what it deals, and may come to its end long before.
      changed_.wait(lock, [this] { return produced_ > run_ || failure_; });
    }
    if (failure_) std::rethrow_exception(failure_);
    ++run_;
    party_.AddOfflineSeconds(seconds_);
    seconds_ = 0;
  }
  under_way_ = false;
  changed_.notify_all();
  if (run_ == 1) StartProducer();
}

void Preprocessing::WaitForNextRun() {
  if (!producer_) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return produced_ > run_ || run_ == settings_.runs || failure_; });
}

bool Preprocessing::Pass(net::Lane lane, OperationId operation, const Roles& roles, const DealtBytes& bytes,
                         const std::function<void(const Dealer&)>& make, DealtBy by) {
  const bool dealer = party_.self() == roles.dealer;
  if (settings_.ahead == 0) return dealer;
  const OperationId operation_of_run = operation - FirstOperation(run_);
  const int turn = by == DealtBy::kTurn ? TurnOf(run_) : 0;
  const auto turned_back = [turn](int role) { return (role + net::kParties - turn) % net::kParties; };
  const Place place{lane, operation_of_run, turned_back(roles.dealer), bytes.to_a, bytes.to_b};
  std::unique_lock lock(mutex_);
  if (run_ > 0) {
    const auto noted = noted_.find(place);
    Require(noted != noted_.end(), "Preprocessing: a run that deals otherwise than the first");
    if (dealer && by == DealtBy::kTheSame) {
      changed_.wait(lock, [&] {
        return failure_ || produced_ > run_ || (produced_ == run_ && produced_deals_ > noted->second);
      });
      if (failure_) std::rethrow_exception(failure_);
    }
    return false;
  }
  noted_.emplace(place, deals_.size());
  const Roles first{
      .a = turned_back(roles.a), .b = turned_back(roles.b), .dealer = turned_back(roles.dealer)};
  deals_.push_back({.lane = lane, .operation = operation_of_run, .roles = first, .by = by, .make = make});
  return dealer;
}

OperationId Preprocessing::FirstOperation(std::int64_t run) const {
  return base_ + static_cast<OperationId>(run) * Context::kOperationsOfRun;
}

int Preprocessing::TurnOf(std::int64_t run) const {
  return settings_.rotate ? static_cast<int>(run % net::kParties) : 0;
}

Roles Preprocessing::RolesOf(const Deal& deal, std::int64_t run) const {
  if (deal.by == DealtBy::kTheSame) return deal.roles;
  const auto turned = [turn = TurnOf(run)](int role) { return (role + turn) % net::kParties; };
  return {.a = turned(deal.roles.a), .b = turned(deal.roles.b), .dealer = turned(deal.roles.dealer)};
}

void Preprocessing::StartProducer() {
  if (settings_.ahead == 0 || settings_.runs == 1 || deals_.empty()) return;
  producer_.emplace([this, prss = std::make_shared<Prss>(party_.TwinPrss())] { Produce(*prss); });
}

void Preprocessing::Produce(Prss& prss) {
  ThreadPool alone(1);  // the program's threads are the program's
  try {
    for (std::int64_t run = 1; run < settings_.runs; ++run) {
      if (!WaitForTurnOf(run)) return;
      ProduceRun(run, prss, alone);
      {
        const std::lock_guard lock(mutex_);
        if (stopping_) return;
        produced_ = run + 1;
        produced_deals_ = 0;
      }
      changed_.notify_all();
    }
  } catch (...) {
    {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
    }
    changed_.notify_all();
    party_.transport().Interrupt();
  }
}

bool Preprocessing::WaitForTurnOf(std::int64_t run) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopping_ || run <= run_ + settings_.ahead - 1; });
  return !stopping_;
}

void Preprocessing::ProduceRun(std::int64_t run, Prss& prss, ThreadPool& pool) {
  for (std::size_t k = 0; k < deals_.size(); ++k) {
    const Deal& deal = deals_[k];
    const Roles roles = RolesOf(deal, run);
    if (roles.dealer != party_.self()) continue;
    const auto start = std::chrono::steady_clock::now();
    const auto post = [&](int peer, net::Bytes payload) {
      party_.transport().PostOffline(deal.lane, peer, std::move(payload));
    };
    deal.make(Dealer(prss, FirstOperation(run) + deal.operation, roles, pool, post, run));
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      seconds_ += SecondsSince(start);
      produced_deals_ = k + 1;
    }
    if (deal.by == DealtBy::kTheSame) changed_.notify_all();
  }
}

void Preprocessing::ThrowFailure() {
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
}

double DealingBytes(const Cost& run, std::int64_t ahead) {
  const std::int64_t messages = ahead < 2 ? 3 : 4 + ahead / net::kParties;
  return static_cast<double>(messages) * static_cast<double>(run.largest_offline());
}

}  // namespace trefoil::mpc
