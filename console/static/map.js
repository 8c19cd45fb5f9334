// The shard map: a row for each job, a cell for each item; only what is near the view is in the page.
const root = document.getElementById("map");
const json = (id) => JSON.parse(document.getElementById(id)?.textContent || "null");
const texts = json("map-texts");
const ROW = 40, HEAD = 32, DENSE_FROM = 40, MOVED_MS = 4000, POLL_MS = 1000, RATES_MS = 60000, NOWHERE = new Map();
const $ = (selector, from = root) => from.querySelector(selector);
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, key) => values[key]);

const fleet = { version: "", fault: null, jobs: new Map(), names: [], executors: new Map(), words: {}, rates: {}, counts: {} };
const view = { shown: [], pool: [], pitch: 48, widest: 0, dense: false, mixed: false, at: { row: 0, col: 0 }, owner: 0, why: root.dataset.why, sights: new Set(), colours: {} };
const box = $(".map-box"), body = $(".map-body"), heads = $(".map-numbers"), strip = $(".map-strip");
const canvas = $("canvas", strip), frame = strip.appendChild(document.createElement("span")), none = $(".map-none");
const find = $("[name=q]"), problems = $("[name=problems]"), drawer = document.getElementById("item");
const make = (tag, classes, parent) => parent.appendChild(Object.assign(document.createElement(tag), { className: classes }));
const relative = new Intl.RelativeTimeFormat(root.dataset.language, { style: "short" });
const percent = new Intl.NumberFormat(root.dataset.language, { style: "percent", maximumFractionDigits: 1 });

// What comes from the server.
function apply(doc, isLate = false) {
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

// Which jobs are shown.
function refilter(isAll) {
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
function legend() {
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

// Where things stand.
function layout() {
  strip.hidden = view.shown.length < 30;
  view.widest = Math.max(1, ...view.shown.map((name) => fleet.jobs.get(name).items.length));
  view.dense = view.widest >= DENSE_FROM;
  view.mixed = view.dense && view.shown.some((name) => fleet.jobs.get(name).items.length < DENSE_FROM);
  const isNarrow = innerWidth < 992, others = isNarrow ? 392 : 496;
  const free = Math.floor((box.clientWidth - others) / view.widest);
  view.pitch = view.dense ? Math.max(isNarrow ? 8 : 5, Math.min(free, 16)) : Math.max(30, Math.min(free, 56));
  root.classList.toggle("dense", view.dense);
  root.classList.toggle("by-owner", $("[name=by]:checked").value === "executor");
  const cells = view.widest * view.pitch;
  box.style.setProperty("--cells", `${cells}px`);
  box.style.setProperty("--wide", `${others + cells}px`);
  body.style.height = `${view.shown.length * ROW}px`;
  box.setAttribute("aria-rowcount", view.shown.length + 1);
  box.setAttribute("aria-colcount", view.widest + 5);
  for (const row of view.pool) row.remove();
  view.pool = [];
  render();
  paint();
}
// A job of few items has wide cells also beside one of many, whose cells are narrow.
function pitchOf(job) {
  const count = Math.max(1, job.items.length);
  return view.mixed && count < DENSE_FROM ? Math.max(view.pitch, Math.min(48, Math.floor((view.widest * view.pitch) / count))) : view.pitch;
}
function columns(pitch, left, width) {
  const first = Math.max(0, Math.floor(left / pitch) - 4);
  return [first, Math.min(view.widest, first + Math.ceil(width / pitch) + 8)];
}
function render() {
  // Read once: what is read between changes has the browser lay the page out for each row.
  const left = box.scrollLeft, width = box.clientWidth;
  const top = Math.max(0, Math.floor(box.scrollTop / ROW) - 3);
  const size = Math.min(view.shown.length, Math.ceil(box.clientHeight / ROW) + 7);
  while (view.pool.length < size) view.pool.push(newRow());
  while (view.pool.length > size) view.pool.pop().remove();
  for (let row = top; row < Math.min(top + size, view.shown.length); row += 1) bind(view.pool[row % size], row, left, width);
  headings(...columns(view.pitch, left, width));
  frame.style.top = `${(100 * box.scrollTop) / Math.max(1, body.offsetHeight)}%`;
  frame.style.height = `${Math.min(100, (100 * (box.clientHeight - HEAD)) / Math.max(1, body.offsetHeight))}%`;
  if (!view.pool.some((row) => row.index === view.at.row)) return;
  rove();
}
function headings(first, last) {
  const key = `${first} ${last} ${view.pitch} ${view.mixed}`;
  if (heads.dataset.key === key) return;
  heads.dataset.key = key;
  heads.textContent = "";
  heads.previousElementSibling.className = view.mixed ? "" : "only-read";
  if (view.mixed) return;
  const step = view.dense ? 10 : 1;
  for (let item = Math.ceil(first / step) * step; item < last; item += step) {
    const label = make("span", "", heads);
    label.textContent = item;
    label.style.left = `${item * view.pitch + (view.dense ? 0 : view.pitch / 2 - 2)}px`;
  }
}
function newRow() {
  const row = make("div", "map-row", body);
  row.setAttribute("role", "row");
  const job = make("span", "map-job", row);
  job.setAttribute("role", "rowheader");
  row.dot = make("i", "", job);
  row.name = make(root.dataset.job ? "a" : "b", "", job);
  row.name.tabIndex = -1;
  row.words = make("small", "", job);
  row.items = make("span", "map-cells", row);
  row.items.setAttribute("role", "none");
  row.next = make("span", "num map-next", row);
  row.rate = make("span", "num map-rate", row);
  row.acts = make("span", "map-acts", row);
  for (const part of [row.next, row.rate, row.acts]) part.setAttribute("role", "gridcell");
  row.acts.append(document.getElementById("row-buttons").content.cloneNode(true));
  row.cells = [];
  return row;
}
function bind(row, index, left, width) {
  const job = fleet.jobs.get(view.shown[index]), pitch = pitchOf(job), [first, last] = columns(pitch, left, width);
  if (row.index !== index) row.style.transform = `translateY(${index * ROW}px)`;
  const now = Date.now(), isRinging = [...job.moved.values()].some((until) => until > now);
  const key = `${index} ${first} ${last} ${view.owner} ${isRinging}`;
  tick(row, job);
  if (row.job === job && row.key === key) return;
  if (row.job !== job) title(row, job, index);
  Object.assign(row, { index, job, key });
  if (row.pitch !== pitch) {
    row.pitch = pitch;
    row.isDense = pitch < 20;
    row.style.setProperty("--pitch", `${pitch}px`);
    row.classList.toggle("is-dense", row.isDense);
    for (const cell of row.cells) cell.item = null;
  }
  const count = Math.max(0, Math.min(last, job.items.length) - first);
  while (row.cells.length < count) {
    const cell = make("span", "cell", row.items);
    cell.setAttribute("role", "gridcell");
    cell.tabIndex = -1;
    row.cells.push(cell);
  }
  while (row.cells.length > count) row.cells.pop().remove();
  row.cells.forEach((cell, place) => bindCell(cell, row, first + place, now));
}
function bindCell(cell, row, item, now) {
  const { job, pitch, isDense } = row, sight = texts.sights[job.items[item]], owner = job.owners[item];
  const classes = `cell s-${sight.code}${owner ? ` o-${((owner - 1) % 8) + 1}` : ""}${sight.problem ? " is-bad" : ""}${view.owner && owner !== view.owner ? " is-dim" : ""}${job.moved.get(item) > now ? " is-moved" : ""}`;
  if (cell.item !== item) {
    cell.item = item;
    cell.style.left = `${item * pitch}px`;
    cell.setAttribute("aria-colindex", item + 2);
  }
  if (cell.looks !== classes) { cell.looks = classes; cell.className = classes; cell.dataset.glyph = sight.glyph && !["running", "done"].includes(sight.code) ? sight.glyph : ""; }
  const shown = isDense || !owner ? "" : String(owner);
  if (cell.textContent !== shown) cell.textContent = shown;
  const who = owner ? `${texts.owner} ${owner} ${fleet.executors.get(owner)?.name || ""}` : texts.nobody;
  const label = `${job.name} ${texts.item} ${item}: ${sight.text}, ${who}`;
  if (cell.label !== label) { cell.label = label; cell.setAttribute("aria-label", label); }
}
function title(row, job, index) {
  row.setAttribute("aria-rowindex", index + 2);
  row.name.textContent = job.name;
  row.name.title = job.reason ? `${job.name}: ${job.reason}` : job.name;
  if (root.dataset.job) row.name.href = root.dataset.job.replace("~", encodeURIComponent(job.name));
  const parts = [job.cron ? fleet.words[job.cron] || job.cron : texts.by_hand];
  if (job.state === "paused") parts.unshift(texts.paused);
  if (job.failover === false) parts.push(texts.no_failover);
  row.words.textContent = job.state === "held" ? job.reason || texts.held : parts.join(" · ");
  row.dot.className = job.state !== "enabled" ? `is-${job.state}` : job.problem ? "is-problem" : "";
  const [run, pause, resume] = row.acts.children;
  for (const button of [run, pause, resume]) {
    const why = view.why || (job.state === "held" ? texts.held : ""), label = fill(texts[button.dataset.act], { name: job.name });
    button.setAttribute("aria-label", why ? `${label}: ${why}` : label);
    button.title = why || label;
    button.setAttribute("aria-disabled", String(Boolean(why)));
  }
  pause.hidden = job.state === "paused";
  resume.hidden = job.state !== "paused";
}
function tick(row, job) {
  const left = job.next_fire === null ? NaN : job.next_fire - window.shell.now() / 1000;
  const [size, unit] = left < 90 ? [1, "second"] : left < 5400 ? [60, "minute"] : left < 129600 ? [3600, "hour"] : [86400, "day"];
  const next = Number.isNaN(left) ? texts.never : left <= 0 ? texts.now : relative.format(Math.round(left / size), unit);
  if (row.next.textContent !== next) row.next.textContent = next;
  const rate = Object.hasOwn(fleet.rates, job.name) ? fleet.rates[job.name] : undefined, shown = rate === undefined ? texts.never : percent.format(rate < 1 ? Math.min(rate, 0.999) : 1);
  if (row.rate.textContent !== shown) { row.rate.textContent = shown; row.rate.classList.toggle("is-low", rate < 0.9); }
}

// The strip: a pixel for each item.
function readColours() {
  const style = getComputedStyle(root), rgb = (name) => {
    const value = style.getPropertyValue(name).trim();
    const [r, g, b] = (value.length === 4 ? [...value.slice(1)].map((c) => c + c) : value.slice(1).match(/../g)).map((part) => parseInt(part, 16));
    return (255 << 24) | (b << 16) | (g << 8) | r;
  };
  const kinds = { running: "--info", failover: "--warn", failed: "--bad", lost: "--bad", unreadable: "--bad", unowned: "--bad", held: "--bad", retry: "--warn", missed: "--warn", waiting: "--panel", unread: "--panel", paused: "--line", disabled: "--line" };
  for (const [letter, { code }] of Object.entries(texts.sights)) view.colours[letter] = rgb(kinds[code] || "--sunken");
  view.owners = [rgb("--panel"), ...[1, 2, 3, 4, 5, 6, 7, 8].map((number) => rgb(`--owner-${number}`))];
}
function paint() {
  if (strip.hidden) return;
  const width = Math.min(view.widest, 200), height = Math.min(view.shown.length, 4000), byOwner = root.classList.contains("by-owner");
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const image = new ImageData(width, height), pixels = new Uint32Array(image.data.buffer);
  for (let row = 0; row < height; row += 1) {
    const job = fleet.jobs.get(view.shown[row]), length = Math.min(width, job.items.length);
    for (let item = 0; item < length; item += 1) {
      const owner = job.owners[item];
      pixels[row * width + item] = byOwner ? view.owners[owner ? ((owner - 1) % 8) + 1 : 0] : view.colours[job.items[item]];
    }
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
}

// Moving about.
function cellAt({ row, col }) {
  const element = view.pool.find((one) => one.index === row);
  if (!element) return null;
  const length = element.job.items.length;
  if (col < length) return element.cells.find((cell) => cell.item === col) || null;
  return col === length ? element.acts.children[0] : [...element.acts.children].slice(1).find((button) => !button.hidden);
}
function rove() {
  const cell = cellAt(view.at), before = $("[tabindex='0']", body);
  if (before === cell) return;
  const hadFocus = before && before === document.activeElement;
  before?.setAttribute("tabindex", "-1");
  cell?.setAttribute("tabindex", "0");
  if (hadFocus) cell?.focus({ preventScroll: true });
}
function go(row, col) {
  view.at.row = Math.max(0, Math.min(row, view.shown.length - 1));
  const job = fleet.jobs.get(view.shown[view.at.row]);
  if (!job) return;
  const length = job.items.length, pitch = pitchOf(job);
  view.at.col = Math.max(0, Math.min(col, length + 1));
  const top = view.at.row * ROW, left = Math.min(view.at.col, length) * pitch;
  if (top < box.scrollTop) box.scrollTop = top;
  if (top + ROW + HEAD > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW + HEAD - box.clientHeight;
  const room = box.clientWidth - (innerWidth < 992 ? 160 : 250);
  if (left < box.scrollLeft) box.scrollLeft = left;
  if (left + pitch > box.scrollLeft + room) box.scrollLeft = left + pitch - room;
  render();
  rove();
  cellAt(view.at)?.focus({ preventScroll: true });
}
box.addEventListener("keydown", (event) => {
  const { row, col } = view.at, page = Math.max(1, Math.floor((box.clientHeight - HEAD) / ROW) - 1);
  const last = (fleet.jobs.get(view.shown[row])?.items.length || 1) - 1;
  const to = {
    ArrowDown: [row + 1, col], ArrowUp: [row - 1, col], ArrowRight: [row, col + 1], ArrowLeft: [row, col - 1],
    PageDown: [row + page, col], PageUp: [row - page, col],
    Home: [event.ctrlKey ? 0 : row, 0], End: [event.ctrlKey ? view.shown.length - 1 : row, last],
  }[event.key];
  if (to) { event.preventDefault(); event.stopPropagation(); go(...to); }
  if ((event.key === "Enter" || event.key === " ") && event.target.matches(".cell")) { event.preventDefault(); open(event.target); }
});
box.addEventListener("click", ({ target }) => {
  const cell = target.closest(".cell"), button = target.closest("[data-act]"), row = target.closest(".map-row");
  if (cell) { view.at = { row: row.index, col: cell.item }; rove(); open(cell); }
  if (!button || button.getAttribute("aria-disabled") === "true") return;
  const form = document.getElementById(`act-${button.dataset.act}`);
  form.elements.namedItem("job").value = row.job.name;
  if (form.dataset.confirm) form.dataset.confirm = fill(texts.run_ask, { name: row.job.name });
  form.requestSubmit();
});
box.addEventListener("focusin", ({ target }) => {
  const row = target.closest(".map-body .map-row");
  if (row && target.matches(".cell")) { view.at = { row: row.index, col: target.item }; rove(); }
});

// What is said of a cell is also shown when it is pointed at.
box.addEventListener("pointerover", ({ target }) => { if (target.matches(".cell")) target.title = target.label; });

// One item, beside the map.
let opened = null;
function address() {
  return `${root.dataset.item}?${new URLSearchParams({ job: opened.job, item: opened.item })}`;
}
function open(cell) {
  const { job } = cell.closest(".map-row");
  opened = { job: job.name, item: cell.item };
  document.getElementById("item-job").textContent = job.name;
  document.getElementById("item-title").textContent = `${texts.item_title} ${cell.item}`;
  document.getElementById("item-body").textContent = "";
  drawer.showModal();
  look();
}
const look = () => opened && window.htmx.ajax("GET", address(), { target: "#item-body", swap: "innerMorph" });
setInterval(() => drawer.open && !window.shell.isHeld() && look(), 2000);
drawer.addEventListener("close", () => { opened = null; cellAt(view.at)?.focus({ preventScroll: true }); });
drawer.addEventListener("click", (event) => event.target === drawer && drawer.close());

// The tools, and the executors above the map.
function mark() {
  for (const button of document.querySelectorAll("[data-owner]")) button.setAttribute("aria-pressed", String(Number(button.dataset.owner) === view.owner));
}
document.addEventListener("click", ({ target }) => {
  const owner = target.closest("[data-owner]"), sight = target.closest("[data-sight]");
  if (owner) { view.owner = view.owner === Number(owner.dataset.owner) ? 0 : Number(owner.dataset.owner); mark(); render(); keep(); }
  if (sight) { press(sight, !view.sights.has(sight.dataset.sight)); refilter(true); keep(); }
  if (target.closest("[data-clear]")) { find.value = ""; problems.checked = false; for (const one of root.querySelectorAll("[data-sight]")) press(one, false); refilter(true); keep(); }
});
function press(button, isOn) {
  view.sights[isOn ? "add" : "delete"](button.dataset.sight);
  button.setAttribute("aria-pressed", String(isOn));
}
document.addEventListener("htmx:after:swap", mark);
find.addEventListener("input", () => { refilter(true); keep(); });
root.addEventListener("change", () => { refilter(true); keep(); });
box.addEventListener("scroll", () => requestAnimationFrame(render), { passive: true });
strip.addEventListener("click", (event) => { box.scrollTop = (event.offsetY / strip.offsetHeight) * body.offsetHeight - box.clientHeight / 2; });
new ResizeObserver(() => layout()).observe(root);
new MutationObserver(() => { readColours(); paint(); }).observe(document.documentElement, { attributeFilter: ["data-bs-theme"] });
setInterval(() => { if (!document.hidden) { render(); paint(); } }, 1000);

// What was seen last is kept with the window, so that the next visit asks only for what has changed since.
const KEPT = `map ${root?.dataset.language}`;
function keepSeen() {
  const { version, jobs, executors, words } = fleet;
  if (!version) return;
  const lean = [...jobs.values()].map(({ counts, moved, problem, ...job }) => job);
  try {
    sessionStorage.setItem(KEPT, JSON.stringify({ version, jobs: lean, executors: [...executors.values()], words, full: true, removed: [] }));
  } catch { sessionStorage.removeItem(KEPT); }
}
let isKept = false;
function seenLast() {
  try {
    const seen = JSON.parse(sessionStorage.getItem(KEPT));
    isKept = Boolean(seen);
    return seen;
  } catch { return null; }
}

// What cannot be done while something is away.
function reconsider() {
  const why = root.dataset.why || window.shell.off.registry;
  if (why === view.why) return;
  view.why = why;
  for (const row of view.pool) row.job = null;
  render();
}
document.addEventListener("away", reconsider);

// Live.
async function poll() {
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
async function rates() {
  if (!window.shell.isHeld()) {
    try { const answer = await fetch(root.dataset.success); if (answer.ok) { fleet.rates = await answer.json(); render(); } } catch { /* the next time */ }
  }
  setTimeout(rates, RATES_MS);
}
if (root) {
  const query = new URLSearchParams(location.search);
  view.owner = Number(query.get("owner")) || 0;
  root.hidden = false;
  for (const letter of query.get("items") || "") { const button = $(`[data-sight="${CSS.escape(letter)}"]`); if (button) { press(button, true); button.hidden = false; } }
  readColours();
  const given = json("map-data"), data = given || seenLast();
  if (data) apply(data); else layout();
  mark();
  reconsider();
  if (!given) addEventListener("pagehide", keepSeen);
  poll();
  rates();
}
