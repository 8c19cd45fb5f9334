// The chart of the overview: runs per minute, from the server's roll-ups; also as a table.
const chart = document.getElementById("chart"), table = document.getElementById("chart-table"), knob = document.getElementById("chart-switch");
const words = chart.dataset, timeZone = document.body.dataset.zone;
const format = (options, language = words.language) => new Intl.DateTimeFormat(language, { ...options, timeZone });
const axis = words.range === "7d" ? format({ weekday: "short", hour: "2-digit", hour12: false }) : format({ hour: "2-digit", minute: "2-digit", hour12: false });
const exact = format({ dateStyle: "short", timeStyle: "short" }, "sv"); // 2026-12-01 14:02, as everywhere
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
let plot = null, data = [[], [], []];

function draw() {
  plot?.destroy();
  chart.textContent = "";
  // Where nothing is pointed at, the legend has the latest figures.
  const shown = (series, index) => data[series]?.[index ?? data[0].length - 1];
  const number = (_, value, series, index) => shown(series, index)?.toFixed(words.range === "1h" ? 0 : 2) ?? "–";
  const grid = { stroke: colour("--line"), width: 1 }, ticks = { show: false }, stroke = colour("--muted");
  plot = new window.uPlot({
    width: chart.clientWidth - 32,
    height: 200,
    cursor: { y: false },
    series: [
      { label: words.time, value: (_, value, series, index) => { const at = shown(0, index); return at ? exact.format(at * 1000) : "–"; } },
      { label: words.ok, stroke: colour("--info"), fill: colour("--info-soft"), width: 1.5, value: number, points: { show: false } },
      { label: words.failed, stroke: colour("--bad"), width: 1.5, dash: [4, 2], value: number, points: { show: false } },
    ],
    scales: { y: { range: (_, low, high) => [0, Math.max(1, high * 1.1)] } },
    axes: [
      { stroke, grid, ticks, size: 32, values: (_, moments) => moments.map((at) => axis.format(at * 1000)) },
      { stroke, grid, ticks, size: 44, incrs: words.range === "1h" ? [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5] : undefined },
    ],
  }, data, chart);
  if (!data[1].some(Boolean) && !data[2].some(Boolean)) {
    const note = chart.appendChild(document.createElement("p"));
    note.className = "empty-text";
    note.textContent = words.none;
  }
}
function list() {
  const made = document.createElement("table");
  made.className = "table";
  const row = (parent, tag, values) => {
    const line = parent.insertRow();
    for (const value of values) {
      const cell = line.appendChild(document.createElement(tag));
      if (tag === "th") cell.scope = "col";
      cell.textContent = value;
    }
  };
  row(made.createTHead(), "th", [words.time, words.ok, words.failed]);
  const body = made.createTBody();
  for (let index = data[0].length - 1; index >= 0; index -= 1) row(body, "td", [exact.format(data[0][index] * 1000), data[1][index], data[2][index]]);
  table.replaceChildren(made);
}
async function look() {
  if (!window.shell.isHeld() || !plot) {
    try {
      const answer = await fetch(words.runs);
      if (answer.ok) {
        data = await answer.json();
        if (plot) plot.setData(data); else draw();
        if (!table.hidden) list();
      }
    } catch { /* the chip tells it; the next time */ }
  }
  setTimeout(look, 10000);
}
knob.addEventListener("click", () => {
  table.hidden = !table.hidden;
  chart.hidden = !table.hidden;
  knob.setAttribute("aria-pressed", String(!table.hidden));
  if (table.hidden) draw(); else list();
});
new ResizeObserver(() => plot?.setSize({ width: chart.clientWidth - 32, height: 200 })).observe(chart);
new MutationObserver(draw).observe(document.documentElement, { attributeFilter: ["data-bs-theme"] });
for (const media of ["print", "(forced-colors: active)"]) matchMedia(media).addEventListener("change", draw);
addEventListener("load", look);
