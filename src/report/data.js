// What the page's parts share: elements, figures in words, and the rows of an experiment. This file, chart.js, figures.js,
// tables.js and page.js are one function's body.

const shared = JSON.parse(document.getElementById("shared").textContent);
const published = "published: ";       // how the device of a row begins that was printed in a paper
const publishedMethod = "published-";  // and its method
const shapeAxes = ["blocks of a shape", "threads of a block"];
const statuses = ["ok", "failed", "skipped"];

const svgSpace = ["http:", "", "www.w3.org", "2000", "svg"].join("/");  // a name, not an address to load
const svgNames = new Set(["svg", "g", "path", "line", "rect", "circle", "text", "title"]);

/** An element with attributes and children; those that are null or undefined are left out. */
function element(name, attributes = {}, ...children) {
  const made = svgNames.has(name) ? document.createElementNS(svgSpace, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value != null) made.setAttribute(key, value);
  made.append(...children.filter((child) => child != null));
  return made;
}

/** A figure to three significant digits; whole numbers as they are. */
function figure(value) {
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e7) return String(value);
  if (size < 1e-3 || size >= 1e7) return value.toExponential(1);
  return value.toFixed(Math.min(5, Math.max(0, 2 - Math.floor(Math.log10(size)))));
}

/** A figure with its unit: ratios as "1.07×", counts without one. */
function inWords(value, unit, name = "") {
  if (unit === "1") return name.includes("_over_") ? `${figure(value)}×` : figure(value);
  return `${figure(value)} ${unit}`;
}

/** The least and the greatest of a list, however long it is. */
const leastOf = (list) => list.reduce((a, b) => (b < a ? b : a), Infinity);
const greatestOf = (list) => list.reduce((a, b) => (b > a ? b : a), -Infinity);

/** An object to look names up in: without those that every object has. */
const lookup = (entries = {}) => Object.assign(Object.create(null), entries);

const nameInWords = (name) => name.replaceAll("_", " ");

/** A size as people write it: "64 KiB". */
function bytesInWords(bytes) {
  const unit = Math.max(0, [1, 10, 20, 30].findLastIndex((power) => bytes >= 2 ** power));
  return `${Number((bytes / 2 ** (10 * unit)).toPrecision(4))} ${["B", "KiB", "MiB", "GiB"][unit]}`;
}

/** The value of an axis: sizes in bytes in words, powers of two from a million on as such. */
function axisInWords(name, value) {
  if (typeof value !== "number") return String(value);
  if (name === "bytes") return bytesInWords(value);
  if (name === "stores") return value ? "in flight" : "none";
  if (value >= 2 ** 20 && Number.isInteger(Math.log2(value))) return `2^${Math.log2(value)}`;
  return String(value);
}

/** A shape like "132x256" as two numbers more, which figures may have as axes; what lists axes does not see them. */
function addShape(axes) {
  const [, blocks, threads] = /^(\d+)x(\d+)$/.exec(axes.shape ?? "") ?? [];
  if (blocks === undefined) return;
  for (const [name, value] of [[shapeAxes[0], blocks], [shapeAxes[1], threads]]) {
    Object.defineProperty(axes, name, {value: Number(value), enumerable: false});
  }
}

/** What a column has at each place: what is folded into one entry stands for all, a run for as many as it says. */
function reader(column) {
  if (column?.runs !== undefined) {
    const all = [];
    for (let run = 0; run < column.runs.length; run += 2) {
      for (let left = column.runs[run + 1]; left > 0; --left) all.push(column.runs[run]);
    }
    return (i) => all[i];
  }
  return Array.isArray(column) ? (i) => column[i] : () => column;
}

/** Columns to rows. */
function rowsOf(columns) {
  const {count, strings, metrics} = columns;
  const [deviceAt, methodAt, documentAt, statusAt, verifiedAt, noteAt, clockAt] =
    ["device", "method", "document", "status", "verified", "note", "clock"].map((name) => reader(columns[name]));
  const axes = Object.entries(columns.axes).map(([name, {numbers, words}]) =>
    [name, reader(numbers ?? words), words !== undefined]);
  const rows = Array.from({length: count}, (_, i) => {
    const device = shared.devices[deviceAt(i)];
    const isPublished = device.startsWith(published);
    const method = strings[methodAt(i)];
    const own = lookup();
    for (const [name, valueAt, isWord] of axes) {
      const value = valueAt(i);
      if (value !== null && value !== undefined) own[name] = isWord ? strings[value] : value;
    }
    addShape(own);
    return {
      device, isPublished, axes: own, metrics: lookup(), document: documentAt(i),
      method: isPublished && method.startsWith(publishedMethod) ? method.slice(publishedMethod.length) : method,
      status: statuses[statusAt(i)], verified: verifiedAt(i), note: strings[noteAt(i)], clock: clockAt(i),
    };
  });
  for (const [name, column] of Object.entries(metrics)) {
    const [valueAt, q1At, q3At, nAt, unitAt] = ["value", "q1", "q3", "n", "unit"].map((part) => reader(column[part]));
    let i = 0;
    for (const place of column.rows ?? rows.keys()) {
      rows[place].metrics[name] = {value: valueAt(i), q1: q1At(i), q3: q3At(i), n: nAt(i), unit: strings[unitAt(i)]};
      ++i;
    }
  }
  return rows;
}

const experiments = new Map();

/** The rows of an experiment, by the number of its section; read when they are first wanted. */
function experimentOf(number) {
  if (!experiments.has(number)) {
    const columns = JSON.parse(document.getElementById(`rows-${number}`).textContent);
    experiments.set(number, {name: shared.experiments[number], coloured: new Set(shared.colours.of[number]), rows: rowsOf(columns), columnsLeftOut: columns.columns_left_out,
                             axes: Object.keys(columns.axes), metrics: Object.keys(columns.metrics)});
  }
  return experiments.get(number);
}

/** Text that a spreadsheet takes as text, whatever it begins with. */
function csvCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Rows as CSV: the same columns as the table's. */
function csvOf(rows, axes, metrics) {
  const head = ["device", "document", ...axes, "method", "status", "verified"];
  for (const name of metrics) head.push(name, `${name}_unit`, `${name}_q1`, `${name}_q3`, `${name}_n`);
  const lines = rows.map((row) => {
    const cells = [row.device, shared.documents[row.document], ...axes.map((name) => row.axes[name]), row.method, row.status,
                   row.verified === null ? null : String(row.verified === 1)];
    for (const name of metrics) {
      const found = row.metrics[name];
      cells.push(found?.value, found?.unit, found?.q1, found?.q3, found?.n);
    }
    return cells.map(csvCell).join(",");
  });
  return [head.map(csvCell).join(","), ...lines, ""].join("\n");
}

/** Hands a text to the reader as a file. */
function download(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], {type}));
  element("a", {href: address, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
