// The fleet of the shard map: what the server tells of it, and which jobs are shown.
import { layout, render } from "./map_grid.js";
import { $, MOVED_MS, NOWHERE, POLL_MS, RATES_MS, fill, find, fleet, none, problems, root, texts, view } from "./map_state.js";

export function apply(doc, isLate = false) {
  const start = performance.now();
  take(doc, isLate);
  performance.clearMeasures("map");
  performance.measure("map", { start, end: performance.now() });
}
function take(doc, isLate) {
  fleet.version = doc.version;
  Object.assign(fleet.words, doc.words);
  if (doc.executors) fleet.executors = new Map(doc.executors.map((one) => [one.number, one]));
  let isNewList = doc.full;
  const before = fleet.jobs;
  if (doc.full) { fleet.jobs = new Map(); fleet.counts = {}; }
  for (const name of doc.removed) { count(fleet.jobs.get(name), -1); isNewList = fleet.jobs.delete(name) || isNewList; }
  for (const job of doc.jobs) {
    const old = fleet.jobs.get(job.name);
    job.reason = doc.said[job.reason] || job.reason;
    if (old) count(old, -1); else isNewList = true;
    job.counts = letters(job.items);
    job.problem = job.state === "held" || job.state === "unowned" || Object.keys(job.counts).some((letter) => texts.sights[letter].problem);
    count(job, 1);
    job.moved = isLate ? NOWHERE : moved(before.get(job.name), job);
    fleet.jobs.set(job.name, job);
  }
  if (isNewList) fleet.names = [...fleet.jobs.keys()];
  if (doc.fault !== fleet.fault) { fleet.fault = doc.fault; window.shell.askAway(); }
  legend();
  if (doc.executors) mark();
  if (isNewList || doc.jobs.length || doc.fault) refilter(isNewList);
}
function letters(items) {
  const found = {};
  for (let item = 0; item < items.length; item += 1) found[items[item]] = (found[items[item]] || 0) + 1;
  return found;
}
function count(job, sign) {
  if (job) for (const letter in job.counts) fleet.counts[letter] = (fleet.counts[letter] || 0) + sign * job.counts[letter];
}
function moved(old, job) {
  if (!old) return NOWHERE;
  const places = new Map([...old.moved].filter(([, until]) => until > Date.now()));
  job.owners.forEach((owner, item) => owner && item < old.owners.length && owner !== old.owners[item] && places.set(item, Date.now() + MOVED_MS));
  return places;
}

// What was seen last is kept with the window, so that the next visit asks only for what has changed since.
const KEPT = `map ${root?.dataset.language}`;
export function keepSeen() {
  const { version, jobs, executors, words } = fleet;
  if (!version) return;
  const lean = [...jobs.values()].map(({ counts, moved, problem, ...job }) => job);
  try {
    sessionStorage.setItem(KEPT, JSON.stringify({ version, jobs: lean, executors: [...executors.values()], words, said: {}, full: true, removed: [] }));
  } catch { sessionStorage.removeItem(KEPT); }
}
let isKept = false;
export function seenLast() {
  try {
    const seen = JSON.parse(sessionStorage.getItem(KEPT));
    isKept = Boolean(seen);
    return seen;
  } catch { return null; }
}

export async function poll() {
  if (!window.shell.isHeld() || !fleet.version) {
    try {
      const answer = await fetch(`${root.dataset.live}?since=${encodeURIComponent(fleet.version)}`);
      window.shell.answered(answer.status < 500);
      if (answer.redirected || answer.status === 401) { location.reload(); return; }
      if (answer.status === 200) {
        const doc = await answer.json();
        apply(doc, isKept);
        // Not only when the page ends: the next one may look before it is told so.
        if (doc.full) setTimeout(keepSeen, 0);
      }
      isKept = false;
    } catch { window.shell.answered(false); }
  }
  setTimeout(poll, POLL_MS);
}
export async function rates() {
  if (!window.shell.isHeld()) {
    try { const answer = await fetch(root.dataset.success); if (answer.ok) { fleet.rates = await answer.json(); render(); } } catch { /* the next time */ }
  }
  setTimeout(rates, RATES_MS);
}

// Which jobs are shown, and the tools and the legend above them; filters stay in the address.
export function refilter(isAll) {
  const text = find.value.trim().toLocaleLowerCase();
  const fits = (job) => (!text || job.name.toLocaleLowerCase().includes(text)) && (!problems.checked || job.problem)
    && (!view.sights.size || [...view.sights].some((letter) => job.counts[letter]));
  const at = view.shown[view.at.row];
  const shown = fleet.names.filter((name) => fits(fleet.jobs.get(name)));
  const isSame = !isAll && shown.length === view.shown.length && shown.every((name, row) => name === view.shown[row]);
  view.shown = shown;
  const kept = shown.indexOf(at);
  view.at.row = kept >= 0 ? kept : Math.max(0, Math.min(view.at.row, shown.length - 1));
  none.hidden = shown.length > 0;
  $(".map-count").textContent = fill(texts.shown, { shown: shown.length, all: fleet.names.length });
  if (isSame) render(); else layout();
}
export function legend() {
  for (const button of root.querySelectorAll("[data-sight]")) {
    const number = String(fleet.counts[button.dataset.sight] || 0), shown = $("strong", button);
    if (shown.textContent !== number) shown.textContent = number;
    if (number !== "0") button.hidden = false;
  }
}
function keep() {
  const query = new URLSearchParams();
  const by = $("[name=by]:checked").value;
  if (find.value.trim()) query.set("q", find.value.trim());
  if (problems.checked) query.set("problems", "1");
  if (view.sights.size) query.set("items", [...view.sights].join(""));
  if (by !== "state") query.set("by", by);
  if (view.owner) query.set("owner", view.owner);
  history.replaceState(null, "", query.size ? `?${query}` : location.pathname);
}
export function mark() {
  for (const button of document.querySelectorAll("[data-owner]")) button.setAttribute("aria-pressed", String(Number(button.dataset.owner) === view.owner));
}
export function press(button, isOn) {
  view.sights[isOn ? "add" : "delete"](button.dataset.sight);
  button.setAttribute("aria-pressed", String(isOn));
}
document.addEventListener("click", ({ target }) => {
  const owner = target.closest("[data-owner]"), sight = target.closest("[data-sight]");
  if (owner) { view.owner = view.owner === Number(owner.dataset.owner) ? 0 : Number(owner.dataset.owner); mark(); render(); keep(); }
  if (sight) { press(sight, !view.sights.has(sight.dataset.sight)); refilter(true); keep(); }
  if (target.closest("[data-clear]")) { find.value = ""; problems.checked = false; for (const one of root.querySelectorAll("[data-sight]")) press(one, false); refilter(true); keep(); }
});
document.addEventListener("htmx:after:swap", mark);
find.addEventListener("input", () => { refilter(true); keep(); });
root.addEventListener("change", () => { refilter(true); keep(); });
