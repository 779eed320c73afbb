#include "runtime/observe/status_page.h"

#include <spdlog/fmt/fmt.h>

#include <string_view>
#include <utility>

#include "base/secrets/sha256.h"
#include "runtime/observe/page_style.h"

namespace trefoil::runtime {
namespace {

constexpr const char* kOwnStyle = R"(
progress { width: 100%; height: 1rem; accent-color: var(--one); }
.cards { grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); }
#plot { max-width: 42rem; margin-top: 1rem; }
p, td { overflow-wrap: anywhere; }
.target { stroke: var(--soft); stroke-dasharray: 2 4; }
[hidden] { display: none; }
)";

constexpr const char* kBody = R"(
<main>
<h1 id="name">A party of Trefoil</h1>
<p class="soft" id="title"></p>
<p id="state" role="status">asking …</p>
<noscript><p>This page needs JavaScript; /metrics and /status.json have the numbers, too.</p></noscript>
<progress id="bar" aria-label="steps done" hidden></progress>
<ul class="cards" id="cards"></ul>
<h2>Privacy</h2>
<p class="soft" id="promise"></p>
<div class="wide"><table id="privacy" hidden>
<thead><tr><th>epsilon</th><th>now</th><th>of the job, at most</th></tr></thead>
<tbody id="epsilons"></tbody></table></div>
<div id="plot"></div>
<section id="budget" hidden><h2>Ledgers</h2>
<div class="wide"><table>
<thead><tr><th>ledger</th><th>spent before</th><th>with this job</th><th>cap</th><th>delta</th></tr></thead>
<tbody id="ledgers"></tbody></table></div></section>
<h2>Links</h2>
<div class="wide"><table>
<thead><tr><th>party</th><th>link</th><th>the run waits for it</th><th>sent to it</th></tr></thead>
<tbody id="peers"></tbody></table></div>
<h2>Last lines of party.log</h2>
<pre id="log" tabindex="0"></pre>
</main>
)";

// What comes with the answer is shown as text only: names and log lines may have been chosen by somebody
// else.
constexpr const char* kScript = R"(
'use strict';
const at = id => document.getElementById(id);
function make(name, text) {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}
function row(cells) {
  const line = make('tr', '');
  line.append(...cells.map(cell => make('td', cell)));
  return line;
}
function card(title, text) {
  const item = make('li', title);
  item.append(make('b', text));
  return item;
}
function draw(name, attributes, text) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}
function plot(status) {
  const order = adversaries(status.epsilon);
  const planned = order.map(who => status.epsilon[who].planned.value).filter(value => value !== null);
  const shown = status.course.flatMap(point => point.slice(1)).filter(value => value !== null);
  const most = Math.max(...planned, ...shown);
  if (status.course.length < 2 || !(most > 0)) return [];
  const x = step => 56 + 408 * step / status.progress.steps;
  const y = epsilon => 220 - 196 * epsilon / most;
  const svg = draw('svg', {viewBox: '0 0 480 260', role: 'img', 'aria-label': 'epsilon by step'});
  svg.append(draw('line', {class: 'axis', x1: 56, y1: 220, x2: 464, y2: 220}));
  svg.append(draw('line', {class: 'axis', x1: 56, y1: 220, x2: 56, y2: 24}));
  for (const part of [0, 0.5, 1]) {
    const step = Math.round(part * status.progress.steps);
    svg.append(draw('text', {class: 'label', x: x(step), y: 238, 'text-anchor': 'middle'}, step));
    const label = {class: 'label', x: 48, y: y(part * most) + 4, 'text-anchor': 'end'};
    svg.append(draw('text', label, (part * most).toPrecision(3)));
  }
  svg.append(draw('text', {class: 'label', x: 260, y: 254, 'text-anchor': 'middle'}, 'step'));
  for (const value of planned) svg.append(draw('line', {class: 'target', x1: 56, y1: y(value), x2: 464, y2: y(value)}));
  order.forEach((who, k) => {
    const column = who === 'outsider' ? 1 : 2;
    const known = status.course.filter(point => point[column] !== null);
    const points = known.map(point => x(point[0]).toFixed(1) + ',' + y(point[column]).toFixed(1));
    svg.append(draw('polyline', {class: 'line-' + k, points: points.join(' ')}));
    svg.append(draw('line', {class: 'line-' + k, x1: 68 + 130 * k, y1: 12, x2: 86 + 130 * k, y2: 12}));
    svg.append(draw('text', {class: 'label', x: 92 + 130 * k, y: 16}, who));
  });
  return [svg];
}
function adversaries(epsilon) {
  return epsilon.first === 'insider' ? ['insider', 'outsider'] : ['outsider', 'insider'];
}
function showProgress(status) {
  const {progress, pace} = status;
  at('bar').hidden = progress.steps === 0;
  at('bar').max = Math.max(1, progress.steps);
  at('bar').value = progress.step;
  const cards = [];
  if (progress.steps > 0) cards.push(card('steps', progress.step + ' of ' + progress.steps));
  if (progress.left) cards.push(card('time left', progress.left.text));
  if (progress.steps > 0) cards.push(card('time of these steps', progress.seconds.text));
  if (pace) cards.push(card('steps a second', pace.steps.text), card('sent a second', pace.bytes_sent.text));
  cards.push(card('sent', progress.bytes_sent.text), card('rounds', String(progress.rounds)));
  cards.push(card('memory', status.memory.text));
  at('cards').replaceChildren(...cards);
}
function showPrivacy(status) {
  const epsilon = status.epsilon;
  const order = adversaries(epsilon);
  at('promise').textContent = epsilon.covered || 'Of what has been executed, at delta ' + epsilon.delta.text + '.';
  at('privacy').hidden = epsilon.covered !== '';
  at('epsilons').replaceChildren(...order.map(who => row([who, epsilon[who].now.text, epsilon[who].planned.text])));
  at('plot').replaceChildren(...(status.progress.steps > 0 && !epsilon.covered ? plot(status) : []));
  at('budget').hidden = status.ledgers.length === 0;
  at('ledgers').replaceChildren(...status.ledgers.map(
      one => row([one.what, one.spent.text, one.after.text, one.cap.text, one.delta.text])));
}
function show(status) {
  document.title = 'Party ' + status.party + (status.job.name ? ': ' + status.job.name : '');
  at('name').textContent = document.title;
  at('title').textContent = status.job.title;
  at('state').className = status.obstacle ? 'bad' : '';
  at('state').textContent = status.obstacle || 'The run gets on.';
  showProgress(status);
  showPrivacy(status);
  at('peers').replaceChildren(...status.peers.map(
      peer => row([peer.party, peer.state, peer.waiting.value > 0 ? peer.waiting.text : '-', peer.bytes_sent.text])));
  const log = at('log');
  const follows = log.scrollTop + log.clientHeight >= log.scrollHeight - 4;
  log.textContent = status.log.join('\n');
  if (follows) log.scrollTop = log.scrollHeight;
}
function gone() {
  at('state').className = 'bad';
  at('state').textContent = 'No answer: the party has ended, or this page is out of its reach. What stands below is ' +
      'the last that it said; party.log tells how it ended.';
}
async function poll() {
  let pause = 1000;
  if (!document.hidden) {
    try {
      const answer = await fetch('/status.json', {cache: 'no-store', signal: AbortSignal.timeout(5000)});
      if (!answer.ok) throw new Error('status ' + answer.status);
      show(await answer.json());
    } catch (error) {
      gone();
      pause = 5000;
    }
  }
  setTimeout(poll, pause);
}
poll();
)";

std::string Source(std::string_view text) { return "'sha256-" + Sha256Base64(text) + "'"; }

}  // namespace

net::HttpAnswer StatusPage() {
  const auto style = std::string(kPageStyle) + kOwnStyle;
  return {
      .body =
          "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Trefoil</title>\n"
          "<link rel=\"icon\" href=\"data:,\">\n<style>" +
          style + "</style>\n</head>\n<body>" + kBody + "<script>" + kScript +
          "</script>\n</body>\n</html>\n",
      .type = "text/html; charset=utf-8",
      .policy =
          fmt::format("default-src 'none'; script-src {}; style-src {}; img-src data:; connect-src 'self'; "
                      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                      Source(kScript), Source(style))};
}

net::HttpAnswer StatusAnswer(std::string json) {
  return {.body = std::move(json),
          .type = "application/json",
          .policy = "default-src 'none'; frame-ancestors 'none'"};
}

}  // namespace trefoil::runtime
