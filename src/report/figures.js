// Which rows a figure shows, and how: a figure is a view of one experiment's rows, with a choice for everything that
// can be chosen. A view is {metric, form, x, y, fixed: {dimension: value}, logarithmic}.

const notDimensions = new Set(["fit"]);
const usualAxes = ["blocks", "groups", "iterations", "participants", "bytes", "elements", "lane"];  // on x, sooner than others
const fewestForLines = 3;
const everyDevice = Symbol("all devices");
// What nobody reads, and would take long: of documents that are not like any of ours.
const mostDimensions = 16, mostChoices = 500, mostSeries = 80, rowsToCompare = 4000;

/** The value of a dimension: the device, the document, the method, or an axis. */
const valueOf = (row, name) =>
  name === "device" ? row.device : name === "document" ? row.document : name === "method" ? row.method : row.axes[name];

/** What can be drawn of a metric: measured rows with a figure. Lines through others are drawn where nothing else is. */
function candidatesOf(experiment, metrics) {
  const all = experiment.rows.filter((row) => metrics.some((name) => row.metrics[name]?.value != null) &&
    (row.status === "ok" || row.verified === 0));
  const ours = all.filter((row) => !row.isPublished);
  const points = ours.filter((row) => row.axes.fit === undefined);
  return {ours: points.length > 0 ? points : ours, printed: all.filter((row) => row.isPublished)};
}

const keyOf = (row, names) => JSON.stringify(names.map((name) => valueOf(row, name) ?? null));

function countBy(list, key) {
  const counts = new Map();
  for (const each of list) counts.set(key(each), (counts.get(key(each)) ?? 0) + 1);
  return counts;
}

/** Dimensions with several values, without those that another one settles. */
function dimensionsOf(all, experiment) {
  const rows = all.length > rowsToCompare ? all.filter((_, i) => i % Math.ceil(all.length / rowsToCompare) === 0) : all;
  const names = ["device", ...experiment.axes.filter((name) => !notDimensions.has(name)), "document"];
  const kept = [];
  for (const name of names) {
    if (new Set(rows.map((row) => valueOf(row, name))).size < 2) continue;
    const settles = (other) => new Set(rows.map((row) => keyOf(row, [other]))).size === new Set(rows.map((row) => keyOf(row, [other, name]))).size;
    if (kept.length < mostDimensions && !kept.some(settles)) kept.push(name);
  }
  return kept;
}

/** Numeric dimensions that have several values where the others stay the same, those with the most first. */
function axesToDraw(rows, dimensions) {
  const found = [];
  for (const name of dimensions) {
    if (name === "document" || name === "device" || name === "stores") continue;
    if (!rows.some((row) => typeof row.axes[name] === "number")) continue;
    const others = dimensions.filter((each) => each !== name);
    const values = new Map();
    for (const row of rows) {
      const key = keyOf(row, [...others, "method"]);
      if (!values.has(key)) values.set(key, new Set());
      values.get(key).add(row.axes[name]);
    }
    const most = greatestOf([0, ...[...values.values()].map((set) => set.size)]);
    if (most >= fewestForLines) found.push({name, most});
  }
  const rank = ({name}) => (usualAxes.indexOf(name) + usualAxes.length + 1) % (usualAxes.length + 1) || usualAxes.length + 1;
  return found.sort((a, b) => (usualAxes.includes(b.name) - usualAxes.includes(a.name)) || b.most - a.most || rank(a) - rank(b)).map(({name}) => name);
}

/** How much a row is what people look for first: of the device with the most rows, then of the usual shape, 256 threads
    in a block, with stores. */
const mostRows = greatestOf(shared.device_rows), rowsOfDevice = new Map(shared.devices.map((name, i) => [name, shared.device_rows[i]]));
const usualness = (row) => 10 * rowsOfDevice.get(row.device) / mostRows +
  (/x256$/.test(row.axes.shape ?? "") || row.axes.threads === 256 ? 2 : 0) + (row.axes.stores === 1 ? 1 : 0) +
  (row.axes.type === "double" ? 0.5 : 0);

/** Values of the dimensions that a view keeps fixed: as near to `wanted` as there are rows, and of those the fullest. */
function settle(rows, names, wanted) {
  const best = {agree: -1, count: 0, usual: 0, row: undefined};
  const groups = new Map();
  for (const row of rows) {
    const key = keyOf(row, names);
    if (!groups.has(key)) groups.set(key, {row, methods: new Set(), count: 0});
    groups.get(key).methods.add(row.method);
    groups.get(key).count += 1;
  }
  for (const {row, count} of groups.values()) {
    const agree = names.filter((name) => wanted[name] !== undefined && valueOf(row, name) === wanted[name]).length;
    const usual = usualness(row);
    if (agree > best.agree || (agree === best.agree && (count > best.count * 1.2 || (count > best.count * 0.8 && usual > best.usual)))) {
      Object.assign(best, {agree, count, usual, row});
    }
  }
  return lookup(Object.fromEntries(names.map((name) => [name, best.row && valueOf(best.row, name)])));
}

/** The quantity that methods are compared by. */
function mainMetric(experiment) {
  const rows = experiment.rows.filter((row) => !row.isPublished && Object.values(row.metrics).some(({value}) => value != null));
  if (rows.some((row) => row.metrics.step_time)) return "step_time";
  const counts = countBy(rows.flatMap((row) => Object.keys(row.metrics).slice(0, 1)), (name) => name);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? experiment.metrics[0];
}

/** Metrics that something can be drawn of. */
const metricsToDraw = (experiment) => experiment.metrics.filter((name) => experiment.rows.some((row) => row.metrics[name]?.value != null));

/** What a figure shows at first, from what was asked of it. */
function firstView(experiment, spec) {
  const metrics = spec.metrics ?? [spec.metric ?? mainMetric(experiment)];
  const {ours, printed} = candidatesOf(experiment, metrics);
  const rows = ours.length > 0 ? ours : printed;
  const dimensions = dimensionsOf(rows, experiment);
  const axes = axesToDraw(rows, dimensions);
  const methods = new Set(rows.map((row) => row.method)).size;
  const view = {metrics, fixed: lookup(spec.where), logarithmic: spec.logarithmic, methods: spec.methods, choose: spec.choose};
  view.form = spec.form ?? (axes.length >= 2 && methods <= 3 ? "map" : axes.length >= 1 ? "lines" : "bars");
  view.x = spec.x ?? axes[0];
  view.y = spec.y ?? axes.find((name) => name !== view.x);
  if (view.form !== "bars" && !rows.some((row) => typeof row.axes[view.x] === "number")) view.form = "bars";
  if (view.form === "map" && !rows.some((row) => typeof row.axes[view.y] === "number")) view.form = "lines";
  return view;
}

/** Whether a printed row may stand beside what a view shows: where both have a word, it is the same. */
const standsBeside = (row, fixed, form, x) => Object.entries(row.axes).every(([name, value]) =>
  name === x || typeof value !== "string" || fixed[name] === undefined || name === "shape" || fixed[name] === value) &&
  (form !== "lines" || typeof row.axes[x] === "number");

/** The published method that a method of ours is, with the ordering that is the default or not. */
const plainName = (method) => method.replace(/-acquire-release$/, "");

const classes = lookup(shared.colours.classes), rivals = new Set(shared.colours.rivals);

/** The class of a method in an experiment: its colour, if it is one of those to look at. */
function colourOf(experiment, row) {
  for (const name of row.isPublished ? [row.method, `${row.method}-acquire-release`] : [row.method]) {
    if (classes[name] === "floor" || experiment.coloured.has(name)) return classes[name];
  }
  return "other";
}

/** What a point says of itself, a line each. */
function tipOf(row, name, view) {
  const {value, q1, q3, n, unit} = row.metrics[name];
  const axes = Object.entries(row.axes).map(([axis, at]) => `${nameInWords(axis)} ${axisInWords(axis, at)}`).join(", ");
  const spread = q1 != null && q3 != null && !row.isPublished ? `quartiles ${figure(q1)} to ${figure(q3)}, ${n} samples` : null;
  const state = row.verified === 0 ? "wrong results" : row.verified === 1 ? "results checked" : null;
  return [`${row.method}${view.metrics.length > 1 ? `, ${nameInWords(name)}` : ""}: ${inWords(value, unit, name)}`, row.device, axes || null, spread, state].filter(Boolean);
}

function pointOf(row, name, view) {
  const {value, q1, q3, unit} = row.metrics[name];
  return {row, value, q1: row.isPublished ? null : q1, q3: row.isPublished ? null : q3, x: row.axes[view.x], y: row.axes[view.y],
          words: inWords(value, unit, name), tip: () => tipOf(row, name, view)};
}

/** What of a printed row is to be known beside its method: the device, and where it is not ours the place. */
function printedLabel(row, view) {
  const places = Object.entries(row.axes).filter(([name]) => name !== view.x || view.form === "bars")
    .filter(([name, value]) => typeof value === "number" && view.fixed[name] !== value)
    .map(([name, value]) => `${nameInWords(name)} ${axisInWords(name, value)}`);
  return `${row.device.slice(published.length)}, ${row.method}${places.length > 0 ? ` (${places.join(", ")})` : ""}`;
}

/** The rows that a view shows, after its dimensions are settled. */
function rowsOfView(experiment, view) {
  const {ours, printed} = candidatesOf(experiment, view.metrics);
  const base = ours.length > 0 ? ours : printed;
  const chosen = view.methods ? base.filter((row) => view.methods.some((name) => name === row.method || name === plainName(row.method))) : base;
  const some = chosen.length > 0 ? chosen : base;
  const free = view.form === "bars" ? [] : view.form === "lines" ? [view.x] : [view.x, view.y];
  view.dimensions = dimensionsOf(some, experiment).filter((name) =>
    !free.includes(name) && !(name === "shape" && free.some((each) => shapeAxes.includes(each))));
  const oneMethod = view.form === "map" || view.choose === "method";
  if (oneMethod && new Set(some.map((row) => row.method)).size > 1) view.dimensions.push("method");
  const onAxes = some.filter((row) => free.every((name) => typeof row.axes[name] === "number"));
  const devices = [...new Set(onAxes.map((row) => row.device))];
  if (devices.length < 2) view.every = false;
  view.devices = devices;
  const asked = view.fixed;
  view.fixed = settle(onAxes, view.dimensions, asked);
  view.choices = Object.fromEntries(view.dimensions.map((name) => [name, [...new Set(onAxes.map((row) => valueOf(row, name)))]
    .sort((a, b) => (typeof a === "number" && typeof b === "number" ? a - b : 0))]));
  const at = (rows, fixed) => rows.filter((row) => view.dimensions.every((name) => valueOf(row, name) === fixed[name]));
  const here = !view.every ? at(onAxes, view.fixed) : devices.flatMap((name) => {
    const own = onAxes.filter((row) => row.device === name);
    return at(own, settle(own, view.dimensions, view.fixed));
  });
  // What one dimension settles is the same in all rows shown: printed rows must agree with that as well.
  const words = lookup({...Object.fromEntries(Object.entries(here[0]?.axes ?? {}).filter(([, value]) => typeof value === "string")), ...view.fixed});
  const beside = view.form === "map" || ours.length === 0 ? [] : printed.filter((row) => standsBeside(row, words, view.form, view.x) &&
    (!view.methods || view.printed || view.methods.some((name) => plainName(name) === row.method || name === row.method)));
  return {here, beside};
}

/** Where a figure is of few methods by name, each of them has a colour: the one that it has elsewhere, or a free one of
    its sort. */
function colourNamed(list, view) {
  if (!view.methods) return;
  const taken = new Set(list.map((one) => one.class)), given = new Map();
  for (const one of list.filter((each) => each.class === "other")) {
    const name = plainName(one.method), sort = rivals.has(one.method) ? "rival" : "own";
    const free = [classes[one.method], ...Array.from({length: shared.colours.of_a_sort}, (_, i) => `${sort}-${i}`)]
      .find((each) => each && each !== "floor" && !taken.has(each));
    if (!given.has(name) && free) { given.set(name, free); taken.add(free); }
    one.class = given.get(name) ?? "other";
  }
}

/** The best of what is shown stands out, even if it is elsewhere none of those to look at. */
function markBest(list, moreIsBetter) {
  const able = list.filter((one) => !one.published && !one.wrong && one.class !== "floor");
  const end = greatestOf(able.map((one) => one.points.at(-1).x ?? 0));  // where the longest lines end
  const there = able.filter((one) => (one.points.at(-1).x ?? 0) === end);
  const value = (one) => one.points.at(-1).value * (moreIsBetter ? -1 : 1);
  const best = there.reduce((a, b) => (a && value(a) <= value(b) ? a : b), undefined);
  if (there.length > 1 && best.class === "other") best.class = "best";
}

/** The model of the chart of a view (chart.js). */
function modelOf(experiment, view, title) {
  const {here, beside} = rowsOfView(experiment, view);
  const series = new Map();
  const add = (row, name, label) => {
    const key = view.form === "bars" ? `${series.size}` : JSON.stringify([row.method, (row.isPublished || view.every) && row.device, name]);
    if (!series.has(key)) {
      series.set(key, {label, method: row.method, class: colourOf(experiment, row), published: row.isPublished, wrong: row.verified === 0, points: [],
                       hidden: view.hidden?.has(label)});
    }
    const one = series.get(key);
    one.wrong = one.wrong || row.verified === 0;
    one.points.push({...pointOf(row, name, view), label: row.verified === 0 && view.form === "bars" ? `${label} (wrong)` : label});
  };
  for (const name of view.metrics) {
    const several = view.metrics.length > 1 ? `, ${nameInWords(name)}` : "";
    for (const row of here) if (row.metrics[name]?.value != null) add(row, name, row.method + (view.every ? `, ${row.device}` : "") + several);
    for (const row of beside) if (row.metrics[name]?.value != null) add(row, name, printedLabel(row, view) + several);
  }
  const [first] = view.metrics;
  const unit = [...here, ...beside][0]?.metrics[first]?.unit ?? "1";
  const moreIsBetter = /\/(s|cycle)$/.test(unit) || /^(improvement|rho|gain|holds)|hits/.test(first);
  const lessIsBetter = /^(ns|us|ms|s|cycles|KB|bytes)$/.test(unit) || first.includes("_over_");
  const list = [...series.values()];
  colourNamed(list, view);
  if (view.metrics.length > 1) list.forEach((one, i) => { one.class = `own-${i % 5}`; });
  if (view.form === "bars") list.sort((a, b) => (moreIsBetter ? -1 : 1) * (a.points[0].value - b.points[0].value));
  const leftOut = Math.max(0, list.length - mostSeries);
  if (view.form !== "map") list.splice(mostSeries);
  for (const one of list) one.points.sort((a, b) => a.x - b.x);
  if (view.form !== "map" && (moreIsBetter || lessIsBetter)) markBest(list, moreIsBetter);
  const values = list.filter((one) => one.class !== "other" && one.class !== "floor").flatMap((one) => one.points.map((point) => point.value)).filter((value) => value > 0);
  const wide = values.length > 0 && values.reduce((a, b) => Math.max(a, b)) > 100 * values.reduce((a, b) => Math.min(a, b));
  const positive = list.every((one) => one.points.every((point) => point.value >= 0));
  if (view.logarithmic === undefined) view.logarithmic = view.form === "lines" && wide && positive;
  const rest = view.form !== "map" && leftOut > 0 ? `; ${leftOut} more are in the table` : "";
  const quantity = `${view.metrics.map(nameInWords).join(", ")}${unit === "1" ? "" : `, ${unit}`}${rest}`;
  return {form: view.form, title, quantity, unit, x: view.x, y: view.y, series: list, logarithmic: view.logarithmic, rows: [...here, ...beside],
          shown: [...new Set(list.filter((one) => !one.hidden).flatMap((one) => one.points.map((point) => point.row)))]};
}

function chooser(label, choices, chosen, change) {
  const select = element("select", {});
  choices.forEach(([value, words]) => {
    const option = element("option", {value: String(value)}, words);
    option.selected = value === chosen;
    select.append(option);
  });
  select.addEventListener("change", () => change(choices[select.selectedIndex][0]));
  return element("label", {}, `${label} `, select);
}

/** Ways to look at the rows: bars where the dimensions are fixed, lines over a numeric one, a map over two. */
function formsOf(experiment, view) {
  const {ours, printed} = candidatesOf(experiment, view.metrics);
  const rows = ours.length > 0 ? ours : printed;
  const axes = axesToDraw(rows, dimensionsOf(rows, experiment));
  const names = view.x && !axes.includes(view.x) && view.form === "lines" ? [...axes, view.x] : axes;
  const forms = [[{form: "bars"}, "bars"], ...names.map((x) => [{form: "lines", x}, `lines over ${nameInWords(x)}`])];
  if (axes.length >= 2) {
    const [x, y] = view.form === "map" ? [view.x, view.y] : axes;
    forms.push([{form: "map", x, y}, `map of ${nameInWords(x)} and ${nameInWords(y)}`]);
  }
  return forms;
}

function controlsOf(experiment, view, redraw) {
  const controls = element("div", {class: "controls"});
  const metrics = metricsToDraw(experiment);
  if (metrics.length > 1 && view.metrics.length === 1) {
    controls.append(chooser("of", metrics.map((name) => [name, nameInWords(name)]), view.metrics[0], (name) => {
      const kept = firstView(experiment, {metric: name, where: view.fixed});
      Object.assign(view, kept, {printed: true});
      redraw();
    }));
  }
  const forms = formsOf(experiment, view);
  if (forms.length > 1) {
    const now = forms.find(([each]) => each.form === view.form && (each.form === "bars" || each.x === view.x))?.[0];
    controls.append(chooser("as", forms, now, (form) => { Object.assign(view, form, {logarithmic: undefined}); redraw(); }));
  }
  for (const name of view.dimensions) {
    const words = (value) => value === undefined ? "none" : name === "document" ? shared.documents[value] : axisInWords(name, value);
    if (view.every && name === "document") continue;
    const choices = view.choices[name].slice(0, mostChoices).map((value) => [value, words(value)]);
    if (name === "device" && view.form !== "map") choices.push([everyDevice, "all devices"]);
    controls.append(chooser(nameInWords(name), choices, name === "device" && view.every ? everyDevice : view.fixed[name], (value) => {
      if (name === "device") view.every = value === everyDevice;
      if (value === everyDevice) { redraw(); return; }
      // What was chosen stays; the other dimensions follow as far as there are rows.
      const {here} = rowsOfView(experiment, {...view, fixed: {[name]: value}});
      const others = Object.fromEntries(Object.entries(view.fixed).filter(([other]) => other !== name));
      const possible = candidatesOf(experiment, view.metrics).ours.filter((row) => valueOf(row, name) === value);
      view.fixed = here.length > 0 ? settle(possible, view.dimensions, {...others, [name]: value}) : {[name]: value};
      redraw();
    }));
  }
  if (view.form === "lines") {
    const box = element("input", {type: "checkbox"});
    box.checked = view.logarithmic;
    box.addEventListener("change", () => { view.logarithmic = box.checked; redraw(); });
    controls.append(element("label", {}, box, "logarithmic"));
  }
  return controls;
}

/** The lines of a chart by name; a button hides its line. */
function legendOf(model, view, redraw) {
  const legend = element("div", {class: "legend"});
  if (model.form !== "lines") return legend;
  view.hidden ??= new Set();
  for (const series of model.series) {
    const button = element("button", {type: "button", "aria-pressed": String(!series.hidden)},
                           element("span", {class: `swatch ${classOf(series)}`}), series.wrong ? `${series.label} (wrong results)` : series.label);
    button.addEventListener("click", () => {
      if (view.hidden.has(series.label)) view.hidden.delete(series.label); else view.hidden.add(series.label);
      redraw();
      [...legend.parentElement?.querySelectorAll(".legend button") ?? []].find((each) => each.textContent === button.textContent)?.focus();
    });
    legend.append(button);
  }
  return legend;
}

/** A figure of an experiment's rows: title, choices, chart, legend, and the chart as CSV and as SVG. */
function figureOf(number, spec, {plain = false} = {}) {
  const experiment = experimentOf(number);
  const view = firstView(experiment, spec);
  const title = spec.title ?? experiment.name;
  const box = element("div", {class: "chart"}), made = element("figure", {});
  let width = 0;
  const draw = () => {
    const model = modelOf(experiment, view, title);
    if (model.series.length === 0) { made.remove(); return; }
    width = Math.max(260, Math.round(box.clientWidth || made.parentElement?.clientWidth - 32 || 640));
    const fixed = Object.entries(view.fixed).filter(([name, value]) => value !== undefined && !(view.every && name === "device"))
      .map(([name, value]) => name === "device" ? value : name === "document" ? null : name === "method" ? value : `${nameInWords(name)} ${axisInWords(name, value)}`);
    const devices = [...new Set(model.rows.map((row) => row.device))];
    const where = [view.fixed.device && !view.every ? null : devices.filter((name) => !name.startsWith(published)).join(", "), ...fixed].filter(Boolean).join(", ");
    const caption = element("figcaption", {}, title, element("small", {}, [nameInWords(view.metrics.join(", ")), where].filter(Boolean).join("; ")));
    const exports = element("div", {class: "exports"});
    const fileName = `${experiment.name}-${view.metrics.join("-")}`.replace(/[^\w.-]+/g, "-");
    const svg = drawChart(box, model, width);
    for (const [kind, act] of [["CSV", () => download(`${fileName}.csv`, "text/csv", csvOf(model.shown, experiment.axes, view.metrics))],
                               ["SVG", () => download(`${fileName}.svg`, "image/svg+xml", svgText(box.querySelector("svg") ?? svg))]]) {
      const button = element("button", {type: "button", "aria-label": `${title} as ${kind}`}, kind);
      button.addEventListener("click", act);
      exports.append(button);
    }
    const focused = made.contains(document.activeElement) && document.activeElement.closest(".controls")
      ? [...made.querySelectorAll(".controls select, .controls input")].indexOf(document.activeElement) : -1;
    made.replaceChildren(caption, ...(plain ? [] : [controlsOf(experiment, view, draw)]), box, legendOf(model, view, draw), exports);
    if (focused >= 0) made.querySelectorAll(".controls select, .controls input")[focused]?.focus();
  };
  return {made, box, draw, resize: () => {
    const now = Math.max(260, Math.round(box.clientWidth));
    if (box.clientWidth > 0 && Math.abs(now - width) > 2) { width = now; drawChart(box, modelOf(experiment, view, title), width); }
  }};
}

/** The figures of an experiment: those that papers have, else its main one; and one for each other quantity that is
    printed. */
function specsOf(number) {
  const experiment = experimentOf(number);
  if (metricsToDraw(experiment).length === 0) return [];
  const known = shared.figures.filter((spec) => spec.experiment === experiment.name &&
    (spec.metrics ?? [spec.metric]).some((name) => candidatesOf(experiment, [name ?? mainMetric(experiment)]).ours.length > 0));
  const specs = known.length > 0 ? known : [{title: experiment.name}];
  const shown = new Set(specs.flatMap((spec) => spec.metrics ?? [spec.metric ?? mainMetric(experiment)]));
  const printed = new Set(experiment.rows.filter((row) => row.isPublished && row.axes.fit === undefined).flatMap((row) => Object.keys(row.metrics)));
  return [...specs, ...[...printed].filter((name) => !shown.has(name) && candidatesOf(experiment, [name]).ours.length > 0)
    .map((metric) => ({metric, title: `Then and now: ${nameInWords(metric)}`}))];
}

/** What a paper has printed of quantities that were not measured here, as a table; nothing if there is none. */
function printedOnly(number) {
  const experiment = experimentOf(number);
  const metrics = metricsToDraw(experiment).filter((name) => candidatesOf(experiment, [name]).ours.length === 0);
  const rows = experiment.rows.filter((row) => row.isPublished).flatMap((row) => metrics.filter((name) => row.metrics[name]?.value != null)
    .map((name) => [nameInWords(name), row.method, inWords(row.metrics[name].value, row.metrics[name].unit, name),
                    Object.entries(row.axes).map(([axis, at]) => `${nameInWords(axis)} ${axisInWords(axis, at)}`).join(", "), row.device.slice(published.length)]));
  if (rows.length === 0) return null;
  const line = (cells, kind) => element("tr", {}, ...cells.map((cell) => element(kind, {}, cell)));
  return element("figure", {class: "printed-only"}, element("figcaption", {}, "Printed, and not measured here"),
    element("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Printed figures"}, element("table", {},
      element("thead", {}, line(["quantity", "method", "figure", "at", "device"], "th")), element("tbody", {}, ...rows.map((cells) => line(cells, "td"))))));
}
