#pragma once

namespace trefoil::runtime {

/// The style of every page that this program makes, light and dark as its reader's system is.
inline constexpr const char* kPageStyle = R"(
:root { --page: #fff; --text: #1c2024; --soft: #5b6470; --rule: #d5dae0; --box: #f5f7f9;
  --one: #0b62c4; --two: #b3450a; --bad: #a4121a; color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14171b; --text: #e4e8ec; --soft: #a3adb8; --rule: #363d45; --box: #1d2227;
    --one: #6cb0ff; --two: #ffa05c; --bad: #ff8a8a; } }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1rem 4rem; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .2rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; border-bottom: 1px solid var(--rule); padding-bottom: .2rem; }
p { margin: .4rem 0; }
.soft { color: var(--soft); }
.bad { color: var(--bad); font-weight: 600; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(10.5rem, 1fr)); gap: .6rem; padding: 0;
  list-style: none; margin: 1rem 0; }
.cards li { background: var(--box); border-radius: .4rem; padding: .6rem .8rem; }
.cards b { display: block; font-size: 1.35rem; font-variant-numeric: tabular-nums; }
dl { margin: 0; }
dt { font-weight: 600; margin-top: .7rem; overflow-wrap: anywhere; }
dd { margin: 0; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem 1rem .25rem 0; border-bottom: 1px solid var(--rule); vertical-align: top; }
th { font-weight: 600; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 1rem; }
svg { width: 100%; height: auto; background: var(--box); border-radius: .4rem; }
svg text { fill: var(--text); font: 12px system-ui, sans-serif; }
svg .title { font-size: 14px; font-weight: 600; }
svg .axis { stroke: var(--soft); }
svg .grid { stroke: var(--rule); }
svg .line-0, svg .line-1 { fill: none; stroke-width: 2; stroke-linejoin: round; }
svg .line-0 { stroke: var(--one); }
svg .line-1 { stroke: var(--two); stroke-dasharray: 6 3; }
pre { background: var(--box); border-radius: .4rem; padding: .8rem; overflow-x: auto; font-size: .85rem; }
)";

}  // namespace trefoil::runtime
