#pragma once
// The only door to Boost.Asio, for net/*.cpp alone. Boost 1.74 uses std::exchange without including
// <utility>.
#include <utility>

// Memory fences around handlers: every io_context here has one thread, which meets others through mutexes
// only, and the thread sanitizer does not understand fences.
#define BOOST_ASIO_DISABLE_FENCED_BLOCK

#include <boost/asio/connect.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

namespace trefoil::net {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

}  // namespace trefoil::net
