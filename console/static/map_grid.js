// The grid of the shard map: where rows and cells stand, moving about them, and the strip beside them.
import { $, DENSE_FROM, HEAD, ROW, body, box, canvas, fill, fleet, frame, heads, make, percent, relative, root, strip, texts, view } from "./map_state.js";

export function layout() {
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
  if (body.contains(document.activeElement)) focus(box);
  for (const row of view.pool) row.remove();
  view.pool = [];
  render();
  paint();
}
export function render() {
  // Read once: what is read between changes has the browser lay the page out for each row.
  const left = box.scrollLeft, width = box.clientWidth, hadFocus = document.activeElement?.matches(".map-box, .map-body [tabindex='0']");
  const top = Math.max(0, Math.floor(box.scrollTop / ROW) - 3);
  const size = Math.min(view.shown.length, Math.ceil(box.clientHeight / ROW) + 7);
  while (view.pool.length < size) view.pool.push(newRow());
  while (view.pool.length > size) view.pool.pop().remove();
  for (let row = top; row < Math.min(top + size, view.shown.length); row += 1) bind(view.pool[row % size], row, left, width);
  headings(...columns(view.pitch, left, width));
  frame.style.top = `${(100 * box.scrollTop) / Math.max(1, body.offsetHeight)}%`;
  frame.style.height = `${Math.min(100, (100 * (box.clientHeight - HEAD)) / Math.max(1, body.offsetHeight))}%`;
  // The focus stays with its cell, or with the map while that is out of sight, as rows show one job after the other.
  const cell = cellAt(view.at);
  if (cell) rove();
  if (hadFocus) focus(cell || box);
}
export const focus = (element) => element?.focus({ preventScroll: true });
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
export function cellAt({ row, col }) {
  const element = view.pool.find((one) => one.index === row);
  if (!element) return null;
  const length = element.job.items.length;
  if (col < length) return element.cells.find((cell) => cell.item === col) || null;
  return col === length ? element.acts.children[0] : [...element.acts.children].slice(1).find((button) => !button.hidden);
}
export function rove() {
  const cell = cellAt(view.at), before = $("[tabindex='0']", body);
  if (before === cell) return;
  const hadFocus = before && before === document.activeElement;
  before?.setAttribute("tabindex", "-1");
  cell?.setAttribute("tabindex", "0");
  if (hadFocus) focus(cell);
}
export function go(row, col) {
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
  focus(cellAt(view.at));
}

// The strip beside the map: a pixel for each item.
export function readColours() {
  const style = getComputedStyle(root), rgb = (name) => {
    const value = style.getPropertyValue(name).trim();
    const [r, g, b] = (value.length === 4 ? [...value.slice(1)].map((c) => c + c) : value.slice(1).match(/../g)).map((part) => parseInt(part, 16));
    return (255 << 24) | (b << 16) | (g << 8) | r;
  };
  const kinds = { running: "--info", failover: "--warn", failed: "--bad", lost: "--bad", unreadable: "--bad", unowned: "--bad", held: "--bad", retry: "--warn", missed: "--warn", waiting: "--panel", unread: "--panel", paused: "--line", disabled: "--line" };
  for (const [letter, { code }] of Object.entries(texts.sights)) view.colours[letter] = rgb(kinds[code] || "--sunken");
  view.owners = [rgb("--panel"), ...[1, 2, 3, 4, 5, 6, 7, 8].map((number) => rgb(`--owner-${number}`))];
}
export function paint() {
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
strip.addEventListener("click", (event) => { box.scrollTop = (event.offsetY / strip.offsetHeight) * body.offsetHeight - box.clientHeight / 2; });
new MutationObserver(() => { readColours(); paint(); }).observe(document.documentElement, { attributeFilter: ["data-bs-theme"] });

// A row, which shows one job after the other as the map is scrolled.
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
  const next = Number.isNaN(left) ? texts.never : left <= 0 ? texts.now : window.shell.ago(left, relative);
  if (row.next.textContent !== next) row.next.textContent = next;
  const rate = Object.hasOwn(fleet.rates, job.name) ? fleet.rates[job.name] : undefined, shown = rate === undefined ? texts.never : percent(rate);
  if (row.rate.textContent !== shown) { row.rate.textContent = shown; row.rate.classList.toggle("is-low", rate < 0.9); }
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
