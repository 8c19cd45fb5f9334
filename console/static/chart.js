// Lines over time, drawn by uPlot from JSON in the page. The table below each chart has the same figures.
const dateLocale = document.documentElement.lang;
const timeZone = document.body.dataset.zone; // of whoever looks, as the rest of the page
const clock = new Intl.DateTimeFormat(dateLocale, { timeZone, hour: "2-digit", minute: "2-digit", hour12: false });
const day = new Intl.DateTimeFormat(dateLocale, { timeZone, month: "2-digit", day: "2-digit" });
const number = new Intl.NumberFormat(dateLocale, { notation: "compact", maximumFractionDigits: 2 });
const drawn = new Map();

const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const inks = () => [token("--accent"), token("--bad"), token("--warn")];

function draw(box) {
  const text = document.getElementById(box.dataset.chart)?.textContent;
  const before = drawn.get(box.dataset.chart);
  const key = `${text}${inks()}${token("--muted")}${box.clientWidth}`;
  if (!text || (before?.key === key && box.contains(before.plot.root))) return;
  const data = JSON.parse(text);
  before?.plot.destroy();
  box.replaceChildren();
  const span = data.times.at(-1) - data.times[0];
  const axis = { stroke: token("--muted"), grid: { stroke: token("--line"), width: 1 }, ticks: { stroke: token("--line"), width: 1 }, font: "12px system-ui" };
  const plot = new uPlot({
    width: box.clientWidth || 320,
    height: 160,
    cursor: { drag: { x: false, y: false }, points: { size: 6 } },
    legend: { show: false },
    scales: { y: { range: (_plot, least, most) => [Math.min(0, least), Math.max(most * 1.1, data.least || 1)] } },
    axes: [
      { ...axis, values: (_plot, ticks) => ticks.map((at) => (span > 2 * 86400 ? day : clock).format(at * 1000)), space: 70, size: 32 },
      { ...axis, size: 52, incrs: data.unit ? undefined : [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6], values: (_plot, ticks) => ticks.map((value) => number.format(value)) },
    ],
    series: [{}, ...data.lines.map((_line, index) => ({
      stroke: inks()[index], width: 1.75, spanGaps: false, points: { show: data.times.length < 40, size: 4 },
      fill: index ? undefined : `color-mix(in srgb, ${inks()[index]} 12%, transparent)`,
    }))],
  }, [data.times, ...data.lines], box);
  drawn.set(box.dataset.chart, { key, plot });
}
const drawAll = () => document.querySelectorAll("[data-chart]").forEach(draw);

drawAll();
document.addEventListener("htmx:after:swap", drawAll);
addEventListener("resize", drawAll);
new MutationObserver(drawAll).observe(document.documentElement, { attributes: true, attributeFilter: ["data-bs-theme"] });
for (const media of ["print", "(forced-colors: active)"]) matchMedia(media).addEventListener("change", drawAll);
