// A row of the shard map, which shows one job after the other as the map is scrolled.
import { DENSE_FROM, ROW, body, fill, fleet, make, percent, relative, root, texts, view } from "./map_state.js";

export function newRow() {
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
export function bind(row, index, left, width) {
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

// A job of few items has wide cells also beside one of many, whose cells are narrow.
export function pitchOf(job) {
  const count = Math.max(1, job.items.length);
  return view.mixed && count < DENSE_FROM ? Math.max(view.pitch, Math.min(48, Math.floor((view.widest * view.pitch) / count))) : view.pitch;
}
export function columns(pitch, left, width) {
  const first = Math.max(0, Math.floor(left / pitch) - 4);
  return [first, Math.min(view.widest, first + Math.ceil(width / pitch) + 8)];
}
