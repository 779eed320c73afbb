#pragma once
#include <functional>

namespace trefoil {

/// Runs `first` in the calling thread and `second` in one of its own, and returns when both have ended.
/// Of two failures the earlier in time is rethrown; as soon as it occurs `on_failure` is called (once, in the
/// thread that failed), so that the other need not wait for what will never come.
/// Cost: one thread is started, some tens of microseconds.
void RunBoth(const std::function<void()>& first, const std::function<void()>& second,
             const std::function<void()>& on_failure);

}  // namespace trefoil
