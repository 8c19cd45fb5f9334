// The list of jobs: which are selected, kept while the table is brought up to date.
const bulk = document.getElementById("bulk");
const texts = JSON.parse(document.getElementById("bulk-texts").textContent);
const list = document.getElementById("jobs");
const takeAll = document.getElementById("bulk-all");
const count = document.getElementById("bulk-count");
const acts = [...bulk.querySelectorAll("button[name=action]")];
const lacking = new Set(acts.filter((button) => button.getAttribute("aria-disabled") === "true"));
const chosen = new Set();
let isAll = false;

const boxes = () => [...list.querySelectorAll("[data-check]")];
const total = () => Number(list.querySelector("[data-count]")?.dataset.count || 0);
const say = (text, number) => text.replace("{count}", new Intl.NumberFormat().format(number));

function show() {
  for (const box of boxes()) box.checked = isAll || chosen.has(box.value);
  const here = boxes().length > 0 && boxes().every((box) => box.checked);
  const all = list.querySelector("[data-check-all]");
  if (all) {
    all.checked = here;
    all.indeterminate = !here && boxes().some((box) => box.checked);
  }
  const number = isAll ? total() : chosen.size;
  count.textContent = isAll ? say(texts.all, number) : number ? say(texts.some, number) : texts.none;
  takeAll.hidden = isAll || !here || total() <= boxes().length;
  takeAll.textContent = say(texts.take_all, total());
  bulk.elements.all.value = isAll ? "1" : "";
  bulk.elements.expect_count.value = String(total());
  bulk.classList.toggle("is-on", number > 0);
  for (const button of acts) {
    if (lacking.has(button)) continue;
    if (number) button.removeAttribute("aria-disabled");
    else button.setAttribute("aria-disabled", "true");
    button.title = number ? "" : texts.first;
  }
}
list.addEventListener("change", ({ target }) => {
  if (isAll) { isAll = false; boxes().forEach((box) => chosen.add(box.value)); }
  const boxesMeant = target.matches("[data-check-all]") ? boxes() : target.matches("[data-check]") ? [target] : [];
  for (const box of boxesMeant) target.checked ? chosen.add(box.value) : chosen.delete(box.value);
  show();
});
takeAll.addEventListener("click", () => { isAll = true; show(); });
// Those that were chosen on another page of the list or have scrolled away are sent too.
bulk.addEventListener("submit", () => {
  bulk.querySelectorAll("[data-more]").forEach((field) => field.remove());
  const shown = new Set(boxes().map((box) => box.value));
  for (const name of isAll ? [] : chosen) {
    if (shown.has(name)) continue;
    const field = document.createElement("input");
    Object.assign(field, { type: "hidden", name: "names", value: name });
    field.dataset.more = "";
    bulk.append(field);
  }
});
document.addEventListener("htmx:after:swap", show);
new MutationObserver(show).observe(list, { childList: true });
show();
