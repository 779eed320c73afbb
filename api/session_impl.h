#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/threads/thread_pool.h"
#include "mpc/context.h"
#include "net/mesh/mesh.h"
#include "runtime/abort_reason.h"
#include "trefoil/session.h"

namespace trefoil {

/// What a session holds: links that are its own, over TLS, or that outlive it, within the process.
struct Session::Impl {
  /// `name`: the session's, in lower-case hexadecimal, the same at all three and of no other session.
  Impl(net::Transport& transport, mpc::Prss prss, std::size_t threads, std::string name)
      : pool(threads), context(transport, std::move(prss), pool), id(std::move(name)) {}

  std::unique_ptr<net::MeshTransport> mesh{};  // dies last
  ThreadPool pool;
  mpc::Context context;
  std::string id;
  std::vector<Opening> openings{};
};

/// Runs what a function of the interface does over a session's links, `body(context)`. What it throws, the
/// peers on a network are told by its reason. Those within the process are told by RunInProcess: only after
/// it has kept the error may others fail.
template <typename Body>
auto Over(Session& session, const Body& body) -> decltype(body(std::declval<mpc::Context&>())) {
  auto& impl = session.impl();
  if (!impl.mesh) return body(impl.context);
  return runtime::TellingPeers(*impl.mesh, [&] { return body(impl.context); });
}

}  // namespace trefoil
