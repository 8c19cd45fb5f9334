// What all pages share: live polling, keys, theme, menus, dialogs, toasts. No page needs it to be read.
// Scripts of pages find toast, answered (tells the live chip whether a poll was) and isHeld in window.shell.
const $ = (selector, from = document) => from.querySelector(selector);
const texts = JSON.parse($("#texts")?.textContent || "{}");
const csrf = $("meta[name=csrf-token]")?.content;
const STALE_MS = 10000;

// Live: parts that poll are held while the tab is hidden or somebody paused them.
const chip = $("#live");
const live = { paused: sessionStorage.getItem("paused") === "1", failedAt: 0 };
const off = { registry: "", history: "", stale: "" };
const isPoll = (element) => (element?.getAttribute?.("hx-trigger") || "").includes("every ");
function showLive() {
  if (!chip) return;
  const state = live.paused ? "paused" : off.stale || live.failedAt && Date.now() - live.failedAt > STALE_MS ? "reconnecting" : "live";
  if (chip.dataset.state === state) return;
  chip.dataset.state = state;
  chip.setAttribute("aria-pressed", String(live.paused));
  $("span:last-child", chip).textContent = texts[state];
}
function answered(isWell) {
  live.failedAt = isWell ? 0 : live.failedAt || Date.now();
  showLive();
}
const isHeld = () => live.paused || document.hidden;
function pause() {
  live.paused = !live.paused;
  sessionStorage.setItem("paused", live.paused ? "1" : "");
  showLive();
  document.dispatchEvent(new CustomEvent("live", { detail: { paused: live.paused } }));
}
chip?.addEventListener("click", pause);
setInterval(showLive, 1000);
document.addEventListener("htmx:config:request", ({ detail: { ctx } }) => {
  if (csrf && ctx.request.method !== "GET") ctx.request.headers["X-CSRFToken"] = csrf;
});
document.addEventListener("htmx:before:request", (event) => {
  const element = event.detail.ctx.sourceElement;
  if (isPoll(element) && (element.id === "away" ? document.hidden : isHeld())) event.preventDefault();
});
document.addEventListener("htmx:after:request", ({ detail: { ctx } }) => isPoll(ctx.sourceElement) && answered(ctx.response.status < 500));
document.addEventListener("htmx:response:error", async ({ detail: { ctx } }) => {
  if (isPoll(ctx.sourceElement)) return;
  let problem = {};
  try { problem = JSON.parse(ctx.text || "{}"); } catch { /* no JSON: the general text is shown */ }
  toast({ text: problem.detail || texts.failed, kind: "failed" });
});
document.addEventListener("htmx:error", ({ detail: { ctx } }) => {
  if (isPoll(ctx?.sourceElement)) answered(false);
  else if (ctx) toast({ text: texts.no_answer, kind: "failed" });
});
document.addEventListener("toast", ({ detail }) => (detail.messages || []).forEach(toast));

// Toasts: over the page, never moving it; with a way back where there is one.
// What failed and fails again is told once: it stays until somebody takes it away.
function toast({ text, kind = "done", undo = "", label = "" }) {
  if (kind === "failed" && [...$("#toasts").children].some((one) => one.dataset.kind === kind && $("p", one).textContent === text)) return;
  const item = Object.assign(document.createElement("div"), { className: "toast-item" });
  item.dataset.kind = kind;
  const words = Object.assign(document.createElement("p"), { textContent: text });
  const close = button("×", () => item.remove());
  close.setAttribute("aria-label", texts.dismiss);
  item.append(words, ...(undo ? [button(label, () => { post(undo); item.remove(); })] : []), close);
  $("#toasts")?.append(item);
  if (kind !== "failed") setTimeout(() => item.matches(":hover, :focus-within") || item.remove(), undo ? 10000 : 6000);
}
function button(text, act) {
  return Object.assign(document.createElement("button"), { type: "button", className: "btn", textContent: text, onclick: act });
}
function post(address) {
  const form = Object.assign(document.createElement("form"), { method: "post", action: address });
  form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "csrf_token", value: csrf }));
  document.body.append(form);
  form.submit();
}
JSON.parse($("#flashed")?.textContent || "[]").forEach(toast);

// Dialogs: a form with data-confirm asks first; with data-confirm-name the name must be typed.
// Who agrees, agrees to what the question was about: parts are sent anew beneath the dialog, and rows may be others then.
// And what is under way is not done a second time by a second click.
let waiting = null, isAgreed = false, sent = "";
const deed = (form, submitter) => JSON.stringify([submitter?.getAttribute("formaction") || form.getAttribute("action"), ...new FormData(form, submitter)]);
const forget = () => { sent = ""; };
addEventListener("pageshow", forget);
document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => ctx.request.method === "GET" || forget());
document.addEventListener("submit", (event) => {
  const { target: form, submitter } = event;
  if (submitter?.getAttribute("aria-disabled") === "true") return stop(event);
  if (submitter?.dataset.first && !form.querySelector("input:checked")) {
    toast({ text: submitter.dataset.first, kind: "warning" });
    return stop(event);
  }
  const text = submitter?.dataset.confirm || form.dataset.confirm;
  const dialog = $("#confirm");
  if (!text || !dialog || isAgreed) {
    const what = form.method === "post" && deed(form, submitter);
    if (what && what === sent) return stop(event);
    sent = what;
    return void setTimeout(forget, 5000);
  }
  stop(event);
  waiting = { form, submitter, what: deed(form, submitter) };
  const name = submitter?.dataset.confirmName || form.dataset.confirmName || "";
  $("[data-text]", dialog).textContent = text;
  $("[data-name-row]", dialog).hidden = !name;
  $("[data-name]", dialog).textContent = name;
  const typed = $("input", dialog), agree = $("[data-agree]", dialog);
  typed.value = "";
  agree.disabled = Boolean(name);
  typed.oninput = () => { agree.disabled = typed.value !== name; };
  agree.dataset.label ||= agree.textContent;
  agree.textContent = submitter?.textContent.trim() || submitter?.getAttribute("aria-label") || agree.dataset.label;
  dialog.showModal();
}, true);
$("#confirm [data-agree]")?.addEventListener("click", () => {
  const dialog = $("#confirm"), typed = $("input", dialog).value;
  dialog.close();
  if (!waiting) return;
  const { form, submitter, what } = waiting;
  waiting = null;
  const isGone = !form.isConnected || (submitter && (submitter.form !== form || submitter.getAttribute("aria-disabled") === "true"));
  if (isGone || deed(form, submitter) !== what) { toast({ text: texts.changed, kind: "warning" }); return; }
  const field = form.elements.namedItem("confirm");
  if (field) field.value = typed;
  isAgreed = true;
  try { form.requestSubmit(submitter); } finally { isAgreed = false; }
});
const stop = (event) => { event.preventDefault(); event.stopImmediatePropagation(); };
document.addEventListener("click", (event) => {
  const target = event.target.closest("[data-open], [data-close], [data-copy], [aria-disabled=true]");
  if (!target) return;
  if (target.matches("[aria-disabled=true]")) return stop(event);
  if (target.dataset.open) document.getElementById(target.dataset.open)?.showModal();
  if ("close" in target.dataset) target.closest("dialog")?.close();
  if (target.dataset.copy) {
    navigator.clipboard?.writeText(document.getElementById(target.dataset.copy).textContent.trim());
    toast({ text: texts.copied });
  }
}, true);

// Menus are popovers; this puts each below its button.
document.addEventListener("toggle", (event) => {
  const menu = event.target;
  if (event.newState !== "open" || !menu.classList?.contains("menu")) return;
  const at = $(`[popovertarget="${menu.id}"]`).getBoundingClientRect();
  menu.style.top = `${Math.min(at.bottom + 4, innerHeight - menu.offsetHeight - 8)}px`;
  menu.style.left = `${Math.max(8, Math.min(at.right - menu.offsetWidth, innerWidth - menu.offsetWidth - 8))}px`;
}, true);

// Forms that send themselves, and forms whose changes would be lost.
document.addEventListener("change", ({ target }) => target.form?.matches("[data-auto]") && target.form.requestSubmit());
const dirty = new Set();
document.addEventListener("input", ({ target }) => target.form?.matches("[data-guard]") && dirty.add(target.form));
document.addEventListener("submit", ({ target }) => dirty.delete(target));
addEventListener("beforeunload", (event) => dirty.size && event.preventDefault());
if (!document.cookie.includes("zone=")) {
  document.cookie = `zone=${Intl.DateTimeFormat().resolvedOptions().timeZone}; path=/; max-age=31536000; samesite=lax`;
}

// Keys: single letters act unless somebody types or has switched them off.
// The row stays the current one while its list is polled; where it has gone, the keys go on from its place.
let lead = "", row = null, at = 0;
const moves = { j: 1, k: -1 };
const mark = (isOn) => row?.isConnected && row.classList.toggle("is-current", isOn);
document.addEventListener("htmx:after:swap", () => mark(true));
function move(step) {
  const rows = [...document.querySelectorAll("[data-row]")];
  if (!rows.length) return;
  mark(false);
  at = Math.max(0, Math.min(rows.length - 1, row?.isConnected ? rows.indexOf(row) + step : Math.min(at, at + step)));
  row = rows[at];
  mark(true);
  row.scrollIntoView({ block: "nearest" });
  ($("a[data-row-link]", row) || $("a, button", row))?.focus();
}
const acts = {
  "/": () => $("#search")?.focus(),
  "?": () => $("#keys")?.showModal(),
  r: () => chip && pause(),
  t: () => $("#theme-next")?.click(),
  x: () => $(".is-current input[type=checkbox]")?.click(),
  ".": () => $(".is-current [popovertarget]")?.click(),
};
document.addEventListener("keydown", (event) => {
  if (document.body.dataset.keys === "off" || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target.closest?.("input, textarea, select, [contenteditable]")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if ($("dialog[open]")) return;
  const page = lead === "g" && $(`.side [data-key="${CSS.escape(event.key)}"]`);
  lead = event.key === "g" ? "g" : "";
  if (page) { page.click(); return; }
  if (event.key in moves) move(moves[event.key]);
  else if (acts[event.key]) { event.preventDefault(); acts[event.key](); }
});
if (!chip) sessionStorage.clear(); // nobody is signed in: what was seen is not left to the next
window.shell = { toast, answered, isHeld, off, showLive };
showLive();
