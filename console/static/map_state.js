// What the parts of the shard map share: the fleet as last told, how it is shown, and the elements of the page.
export const root = document.getElementById("map");
export const json = (id) => JSON.parse(document.getElementById(id)?.textContent || "null");
export const texts = json("map-texts");
export const ROW = 40, HEAD = 32, DENSE_FROM = 40, MOVED_MS = 4000, POLL_MS = 1000, RATES_MS = 60000, NOWHERE = new Map();
export const $ = (selector, from = root) => from.querySelector(selector);
export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, key) => values[key]);

export const fleet = { version: "", fault: null, jobs: new Map(), names: [], executors: new Map(), words: {}, rates: {}, counts: {} };
export const view = { shown: [], pool: [], pitch: 48, widest: 0, dense: false, mixed: false, at: { row: 0, col: 0 }, owner: 0, why: root.dataset.why, sights: new Set(), colours: {} };
export const box = $(".map-box"), body = $(".map-body"), heads = $(".map-numbers"), strip = $(".map-strip");
export const canvas = $("canvas", strip), frame = strip.appendChild(document.createElement("span")), none = $(".map-none");
export const find = $("[name=q]"), problems = $("[name=problems]"), drawer = document.getElementById("item");
export const make = (tag, classes, parent) => parent.appendChild(Object.assign(document.createElement(tag), { className: classes }));
export const relative = new Intl.RelativeTimeFormat(root.dataset.language, { style: "short" });
// As the server says it (console/run_text.py): never 100 % where something is missing.
const shares = [1, 2].map((digits) => new Intl.NumberFormat(root.dataset.language, { style: "percent", maximumFractionDigits: digits }));
export function percent(share) {
  const shown = share < 1 ? Math.min(share, 0.9999) : share;
  return shares[shown > 0.99 ? 1 : 0].format(shown);
}
