// The form of a job: only the fields of its kind, and a table of parameters that grows.
const form = document.getElementById("job-form");
const rows = document.getElementById("param-rows");
const blank = document.getElementById("param-row");

function showKind() {
  const kind = form.elements.kind.value;
  for (const part of form.querySelectorAll("[data-kind]")) part.hidden = part.dataset.kind !== kind;
}
form.addEventListener("change", ({ target }) => target.name === "kind" && showKind());
showKind();

function addRow(item = "") {
  rows.append(blank.content.cloneNode(true));
  const field = rows.lastElementChild.querySelector("input");
  field.value = item;
  return field;
}
document.getElementById("param-add")?.addEventListener("click", () => addRow().focus());
document.getElementById("param-fill")?.addEventListener("click", () => {
  const count = Math.min(Number(form.elements.items.value) || 0, 200);
  const fields = [...rows.querySelectorAll("[name=param_item]")];
  const known = new Set(fields.map((field) => field.value.trim()));
  const empty = fields.filter((field) => !field.value && !field.closest("tr").querySelector("[name=param_value]").value);
  for (let item = 0; item < count; item += 1) {
    if (known.has(String(item))) continue;
    const free = empty.shift();
    if (free) free.value = String(item);
    else addRow(String(item));
  }
});
document.getElementById("faults")?.focus();
