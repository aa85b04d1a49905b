// Every row of an experiment as a table that sorts and filters. Only some rows are put on the page at a time.

const rowsAtOnce = 100;

function compareValues(a, b) {
  const [noA, noB] = [a === null || a === undefined, b === null || b === undefined];
  if (noA || noB) return noA - noB;  // what was not measured comes last
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", {numeric: true});
}

/** What stands in a column of the table: its title, the value to sort by, and its words. */
function columnsOf(experiment) {
  const {rows, axes, metrics} = experiment;
  const plain = (title, value, words = (found) => String(found ?? "")) => ({title, value, words: (row) => words(value(row))});
  const columns = [plain("device", (row) => row.device)];
  if (new Set(rows.map((row) => row.document)).size > 1) columns.push(plain("document", (row) => shared.documents[row.document]));
  for (const name of axes) columns.push({...plain(nameInWords(name), (row) => row.axes[name], (value) => value === undefined ? "" : axisInWords(name, value)), number: true});
  columns.push({...plain("method", (row) => (row.isPublished ? `${row.method} (published)` : row.method)), head: true});
  for (const name of metrics) {
    const spread = (row) => { const {q1, q3} = row.metrics[name] ?? {}; return q1 == null || q3 == null ? "" : ` ± ${figure((q3 - q1) / 2)}`; };
    columns.push({title: nameInWords(name), number: true, value: (row) => row.metrics[name]?.value,
                  words: (row) => row.metrics[name]?.value == null ? "" : inWords(row.metrics[name].value, row.metrics[name].unit, name) + (row.isPublished ? "" : spread(row))});
  }
  const first = (row) => Object.values(row.metrics)[0]?.n;
  columns.push({...plain("n", first), number: true}, plain("verified", (row) => row.verified, (value) => value === 1 ? "yes" : value === 0 ? "WRONG" : ""),
               {...plain("MHz", (row) => row.clock, (value) => value == null ? "" : String(Math.round(value))), number: true},
               plain("status", (row) => row.status), {...plain("remark", (row) => row.note), remark: true});
  return columns.filter(({value, title}) => title === "method" || rows.some((row) => value(row) != null && value(row) !== ""));
}

function rowElement(row, columns) {
  const made = element("tr", {class: row.verified === 0 ? "wrong" : row.status === "ok" ? null : row.status});
  for (const {words, number, head, remark} of columns) {
    made.append(element(head ? "th" : "td", {class: number ? "number" : remark ? "remark" : null, scope: head ? "row" : null}, words(row)));
  }
  return made;
}

/** Fills a <details> with the table of an experiment. */
function fillTable(details, number) {
  const experiment = experimentOf(number);
  const columns = columnsOf(experiment);
  const texts = experiment.rows.map((row) => columns.map(({words}) => words(row)).join(" ").toLowerCase());
  let list = experiment.rows.map((_, i) => i), shown = 0, sorted = null;
  const body = element("tbody"), more = element("button", {type: "button", class: "more"}), count = element("output");
  const input = element("input", {type: "search", placeholder: "method, device, status …"});
  const showMore = () => {
    body.append(...list.slice(shown, shown + rowsAtOnce).map((i) => rowElement(experiment.rows[i], columns)));
    shown = Math.min(list.length, shown + rowsAtOnce);
    more.hidden = shown === list.length;
    more.textContent = `${list.length - shown} more rows`;
  };
  const fill = () => {
    const words = input.value.toLowerCase().split(/\s+/);
    list = experiment.rows.map((_, i) => i).filter((i) => words.every((word) => texts[i].includes(word)));
    if (sorted) {
      const value = (i) => columns[sorted.column].value(experiment.rows[i]);
      list.sort((a, b) => {
        const missing = [a, b].some((i) => value(i) === null || value(i) === undefined);
        return (sorted.descending && !missing ? -1 : 1) * compareValues(value(a), value(b));
      });
    }
    count.textContent = input.value === "" ? "" : `${list.length} of ${experiment.rows.length} rows`;
    shown = 0;
    body.replaceChildren();
    showMore();
  };
  const heads = columns.map(({title, number: isNumber}, column) => {
    const button = element("button", {type: "button"}, title);
    const head = element("th", {scope: "col", class: isNumber ? "number" : null}, button);
    button.addEventListener("click", () => {
      sorted = {column, descending: sorted?.column === column && !sorted.descending};
      for (const each of heads) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", sorted.descending ? "descending" : "ascending");
      fill();
    });
    return head;
  });
  input.addEventListener("input", fill);
  more.addEventListener("click", showMore);
  const csv = element("button", {type: "button"}, "All rows as CSV");
  csv.addEventListener("click", () => download(`${experiment.name.replace(/[^\w.-]+/g, "-")}.csv`, "text/csv", csvOf(experiment.rows, experiment.axes, experiment.metrics)));
  const table = element("table", {class: "all-rows"}, element("thead", {}, element("tr", {}, ...heads)), body);
  details.append(element("p", {class: "hint"}, `Values are medians, ± half the interquartile range.${experiment.columnsLeftOut > 0 ? " Some of its many quantities are left out." : ""}`),
                 element("div", {class: "filter"}, element("label", {}, "Show rows with ", input), count, csv),
                 element("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": `All rows of ${experiment.name}`}, table), more);
  fill();
}
