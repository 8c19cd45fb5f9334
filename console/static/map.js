// The shard map: a row for each job, a cell for each item; only what is near the view is in the page.
import { apply, keepSeen, mark, poll, press, rates, seenLast } from "./map_fleet.js";
import { cellAt, focus, go, layout, paint, readColours, render, rove } from "./map_grid.js";
import { $, HEAD, ROW, box, drawer, fill, fleet, json, root, texts, view } from "./map_state.js";

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
  if (row && target.matches(".cell, [data-act]")) { view.at = { row: row.index, col: target.item ?? row.job.items.length + (target.dataset.act !== "run") }; rove(); }
});

// What is said of a cell is also shown when it is pointed at.
box.addEventListener("pointerover", ({ target }) => { if (target.matches(".cell")) target.title = target.label; });

// One item, beside the map.
let opened;
function open(cell) {
  const { job } = cell.closest(".map-row");
  opened = { job: job.name, item: cell.item };
  document.getElementById("item-job").textContent = job.name;
  document.getElementById("item-title").textContent = `${texts.item_title} ${cell.item}`;
  document.getElementById("item-body").textContent = "";
  drawer.showModal();
  look();
}
// A slow answer is waited for; that of an item that was open before is given up (hx-sync).
let asking = 0;
async function look() {
  asking += 1;
  await window.htmx.ajax("GET", `${root.dataset.item}?${new URLSearchParams(opened)}`, { source: "#item-body", target: "#item-body", swap: "innerMorph" });
  asking -= 1;
}
setInterval(() => drawer.open && !asking && !window.shell.isHeld() && look(), 2000);
drawer.addEventListener("close", () => { focus(cellAt(view.at)); });
drawer.addEventListener("click", (event) => event.target === drawer && drawer.close());

box.addEventListener("scroll", () => requestAnimationFrame(render), { passive: true });
new ResizeObserver(() => layout()).observe(root);
setInterval(() => { if (!document.hidden) { render(); paint(); } }, 1000);

// What cannot be done while something is away.
function reconsider() {
  const why = root.dataset.why || window.shell.off.registry;
  if (why === view.why) return;
  view.why = why;
  for (const row of view.pool) row.job = null;
  render();
}
document.addEventListener("away", reconsider);

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
