// The output of a run: earlier parts on demand, follows while the run goes on, jumps to lines, cuts long ones.
// Without this script the page shows the end of the output, its search and the whole file.
const $ = (selector) => document.querySelector(selector);
const log = $("#log");
const MAX_CHARS = 2000;
const state = { begin: Number(log.dataset.begin), end: Number(log.dataset.end), isLive: "live" in log.dataset, isBusy: false, turn: 0 };

function cut(line) {
  const text = line.textContent;
  if (text.length <= MAX_CHARS) return;
  const more = document.createElement("button");
  more.type = "button";
  more.className = "btn line-more";
  more.textContent = log.dataset.more;
  more.addEventListener("click", () => { line.textContent = text; });
  line.textContent = `${text.slice(0, MAX_CHARS)}…`;
  line.append(more);
}
function made(text, number) {
  const line = document.createElement("div");
  line.className = "line";
  line.textContent = text;
  if (number > 0) { line.id = `L${number}`; line.dataset.no = number; }
  cut(line);
  return line;
}
function lines(text, first) {
  const parts = text.endsWith("\n") ? text.slice(0, -1).split("\n") : text.split("\n");
  return text ? parts.map((part, index) => made(part, first + index)) : [];
}
async function ask(query) {
  const answer = await fetch(`${log.dataset.address}?${new URLSearchParams(query)}`, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(answer.status);
  return answer.json();
}
// Answers are of the lines that were there when they were asked for: with others (another turn) they are not shown.
function show(block) {
  state.begin = block.begin;
  state.end = block.end;
  $("#log-earlier").hidden = !block.begin;
}
async function earlier() {
  const { begin, turn } = state;
  const block = await ask({ before: begin });
  if (state.begin !== begin || state.turn !== turn) return;
  const height = log.scrollHeight;
  log.prepend(...lines(block.text, block.first));
  log.scrollTop += log.scrollHeight - height;
  show({ begin: block.begin, end: state.end });
}
async function jump(number) {
  const turn = state.turn += 1;
  if (!document.getElementById(`L${number}`)) {
    const block = await ask({ line: number });
    if (state.turn !== turn) return;
    state.turn += 1;
    log.replaceChildren(...lines(block.text, block.first));
    show(block);
  }
  $(".line.is-marked")?.classList.remove("is-marked");
  const line = document.getElementById(`L${number}`);
  line?.classList.add("is-marked");
  line?.scrollIntoView({ block: "center" });
}
function byHash() {
  const found = /^#L(\d{1,9})$/.exec(location.hash);
  if (found) { if ($("#log-follow")) $("#log-follow").checked = false; jump(Number(found[1])).catch(() => {}); }
}
async function follow() {
  if (!state.isLive || state.isBusy || window.shell?.isHeld() || !$("#log-follow").checked) return;
  state.isBusy = true;
  const { turn } = state;
  try {
    const block = await ask({ after: state.end });
    window.shell?.answered(true);
    if (state.turn !== turn) return;
    if (block.source === "disk") {
      const last = Number(log.lastElementChild?.dataset.no || 0);
      log.append(...lines(block.text, last + 1));
      state.end = block.end;
    } else if (block.over) {
      log.replaceChildren(...lines(block.text, block.first));
    }
    if (block.text) log.scrollTop = log.scrollHeight;
    $("#log-size").textContent = new Intl.NumberFormat(document.documentElement.lang, { style: "unit", unit: "byte", notation: "compact", maximumFractionDigits: 1 }).format(block.size);
    if (block.over && (block.source !== "disk" || block.end >= block.size)) over();
  } catch {
    window.shell?.answered(false);
  } finally {
    state.isBusy = false;
  }
}
function over() {
  state.isLive = false;
  delete log.dataset.live;
  $("#log-state").textContent = "";
  $("#log-follow").closest("label").hidden = true;
}

log.querySelectorAll(".line").forEach(cut);
$("#log-earlier").addEventListener("click", () => earlier().catch(() => window.shell?.answered(false)));
$("#log-wrap").addEventListener("change", ({ target }) => log.classList.toggle("is-wrapped", target.checked));
$("#log-hits").addEventListener("click", (event) => {
  const number = event.target.closest("[data-line]")?.dataset.line;
  if (!number) return;
  event.preventDefault();
  history.replaceState(null, "", `#L${number}`);
  byHash();
});
log.addEventListener("click", (event) => {
  const line = event.target.closest(".line[data-no]");
  if (!line || event.clientX > line.getBoundingClientRect().left + 64 || String(getSelection())) return;
  history.replaceState(null, "", `#L${line.dataset.no}`);
  byHash();
});
log.addEventListener("scroll", () => {
  if (state.isLive && log.scrollTop + log.clientHeight < log.scrollHeight - 200) $("#log-follow").checked = false;
});
addEventListener("hashchange", byHash);
log.scrollTop = log.scrollHeight;
byHash();
setInterval(follow, 1000);
