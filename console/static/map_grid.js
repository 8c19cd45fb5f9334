// Where rows and cells of the shard map stand, and moving about them.
import { bind, columns, newRow, pitchOf } from "./map_row.js";
import { $, DENSE_FROM, HEAD, ROW, body, box, canvas, fleet, frame, heads, make, root, strip, texts, view } from "./map_state.js";

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
  for (const row of view.pool) row.remove();
  view.pool = [];
  render();
  paint();
}
export function render() {
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
  if (hadFocus) cell?.focus({ preventScroll: true });
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
  cellAt(view.at)?.focus({ preventScroll: true });
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
