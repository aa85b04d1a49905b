// What the page's parts share, and its tables, which become sortable and get a filter. The page reads well without it.
// This file, chart_groups.js and charts.js are one function's body.

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const data = JSON.parse(document.getElementById("data").textContent);

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A figure to three significant digits. */
function figure(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e7) return value.toExponential(1);
  return value.toFixed(Math.min(5, Math.max(0, 2 - Math.floor(Math.log10(size)))));
}

function sortValue(row, column) {
  const cell = row.cells[column];
  if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
  return cell.textContent === "" ? null : cell.textContent;
}

function compareValues(a, b) {
  if (a === null || b === null) return (a === null) - (b === null);  // what was not measured comes last
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", {numeric: true});
}

function sortBy(table, column) {
  const header = table.tHead.rows[0].cells[column];
  const descending = header.getAttribute("aria-sort") === "ascending";
  for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows].map((row) => ({row, value: sortValue(row, column)}));
  rows.sort((a, b) => {
    const flip = descending && a.value !== null && b.value !== null ? -1 : 1;
    return flip * compareValues(a.value, b.value);
  });
  table.tBodies[0].append(...rows.map((entry) => entry.row));
}

function makeSortable(table) {
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    const button = element("button", {type: "button"}, ...cell.childNodes);
    button.addEventListener("click", () => sortBy(table, column));
    cell.append(button);
  });
}

function addFilter(table) {
  const input = element("input", {type: "search", placeholder: "method, device, status …"});
  const count = element("output");
  const rows = [...table.tBodies[0].rows].map((row) => ({row, text: row.textContent.toLowerCase()}));
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/);
    let shown = 0;
    for (const {row, text} of rows) {
      row.hidden = !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = input.value === "" ? "" : `${shown} of ${rows.length} rows`;
  });
  const label = element("label", {}, "Show rows with ", input);
  table.parentElement.before(element("div", {class: "filter"}, label, count));
}

document.querySelectorAll("table.rows").forEach((table) => { makeSortable(table); addFilter(table); });
