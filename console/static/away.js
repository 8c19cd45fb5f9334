// What is away is told by a part of every page; what cannot be done meanwhile is switched off, and on again.
const { off, showLive } = window.shell;
const reasons = new Set(JSON.parse(document.getElementById("texts").textContent).reasons);
const SWITCHES = "form[method=post] button:not([type=button]), button[form], button[aria-disabled=true]";
const ask = () => window.htmx?.trigger("#away", "look");

function show(event) {
  const told = document.getElementById("gone")?.dataset, isNew = event?.detail.ctx.sourceElement?.id === "away";
  if (!told) return;
  const before = JSON.stringify(off);
  Object.assign(off, { registry: told.registry, history: told.history, stale: told.stale });
  showLive();
  for (const button of document.querySelectorAll(SWITCHES)) {
    if (button.type === "submit" && button.form?.method !== "post") continue;
    const now = button.getAttribute("aria-disabled") === "true" ? button.title || "?" : "";
    const needs = button.closest("[data-needs]")?.dataset.needs;
    const why = needs === "nothing" ? "" : needs === "history" ? off.history : off.registry;
    if (now === why || (now && !reasons.has(now))) continue;
    if (now && !isNew) { ask(); continue; } // another part knew it first
    button.title = why || button.getAttribute("aria-label") || "";
    if (why) button.setAttribute("aria-disabled", "true");
    else for (const name of ["aria-disabled", "aria-describedby"]) button.removeAttribute(name);
  }
  if (before !== JSON.stringify(off)) document.dispatchEvent(new CustomEvent("away"));
}
document.addEventListener("htmx:after:swap", show);
window.shell.askAway = ask;
show();
