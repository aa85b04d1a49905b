// Charts as SVG: bars, lines over an axis, maps. Each has its points, which the pointer and the arrow keys walk.
// A model says what to draw: {form, quantity, unit, name, series: [{label, class, published, points}]}; a point is
// {x, y, value, q1, q3, words, label}.

const text = (x, y, content, attributes = {}) => element("text", {x, y, ...attributes}, content);
const line = (x1, y1, x2, y2, name) => element("line", {x1, y1, x2, y2, class: name});
const widthOf = (content) => content.length * 6.7;  // of 12 px sans-serif, a little too much

/** `content` cut to a width in pixels: of a long one its middle is left out, for what tells names apart is often behind. */
function cut(content, width) {
  const most = Math.max(3, Math.floor(width / 6.7));
  const behind = Math.floor((most - 1) / 2);
  return content.length <= most ? content : `${content.slice(0, most - 1 - behind)}…${behind > 0 ? content.slice(-behind) : ""}`;
}

/** Round values from `low` to `high`, about `count` of them. */
function ticksOf(low, high, count) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((each) => each * power >= rough);
  const ticks = [];
  for (let at = Math.ceil(low / step); at * step <= high * (1 + 1e-9); ++at) ticks.push(at * step);
  return ticks;
}

/** A scale from values to pixels, with its ticks: linear, which always has zero, or logarithmic. */
function scaleOf(values, from, to, {logarithmic = false, zero = true, count = 5} = {}) {
  if (logarithmic) {
    const above = values.filter((value) => value > 0);
    const low = Math.log10(leastOf(above)), high = Math.log10(greatestOf(above));
    const pad = (high - low || 1) * 0.04;
    const at = (value) => from + (to - from) * (Math.log10(value) - low + pad) / (high - low + 2 * pad);
    const powers = ticksOf(Math.floor(low), Math.ceil(high), Math.min(count, Math.ceil(high) - Math.floor(low) || 1))
      .filter(Number.isInteger).map((power) => 10 ** power);
    const ticks = powers.filter((value) => at(value) >= Math.min(from, to) - 1 && at(value) <= Math.max(from, to) + 1);
    return {at, ticks: ticks.length > 1 ? ticks : [10 ** low, 10 ** high]};
  }
  const shown = (value) => Math.max(-1e300, Math.min(1e300, value));  // beyond that a difference has no figure
  let low = shown(leastOf(zero ? [0, ...values] : values)), high = shown(greatestOf(zero ? [0, ...values] : values));
  if (low === high) high = low + 1;
  const pad = (high - low) * 0.04;
  if (low < 0 || !zero) low -= pad;
  if (high > 0) high += pad;
  return {at: (value) => from + (to - from) * (shown(value) - low) / (high - low), ticks: ticksOf(low, high, count)};
}

const tickWords = (tick) => (tick !== 0 && (Math.abs(tick) < 1e-3 || Math.abs(tick) >= 1e7) ? tick.toExponential() : String(Number(tick.toPrecision(6))));

/** Values far beyond all others are cut off, so that the others can be told apart: the end of the axis, or nothing. */
function cutOff(values) {
  const sorted = values.filter((value) => value > 0).sort((a, b) => a - b);
  if (sorted.length < 4) return undefined;
  const limit = 6 * sorted[Math.floor(sorted.length / 2)];
  return sorted.at(-1) > 1.5 * limit ? 1.1 * sorted.findLast((value) => value <= limit) : undefined;
}

const classOf = (series) => `${series.class}${series.published ? " printed" : ""}${series.wrong ? " wrong" : ""}`;

function whisker(parts, point, at, across, sideways) {
  if (point.q1 == null || point.q3 == null) return;
  const from = at(point.q1), to = at(point.q3);
  if (!(Math.abs(to - from) >= 2)) return;
  const d = sideways ? `M${from} ${across}H${to}M${from} ${across - 3}v6M${to} ${across - 3}v6`
                     : `M${across} ${from}V${to}M${across - 3} ${from}h6M${across - 3} ${to}h6`;
  parts.push(element("path", {d, class: "whisker"}));
}

/** One bar for each point, sideways, with its name and its figure. */
function drawBars(model, width) {
  const bars = model.series.flatMap((series) => series.points.map((point) => ({series, point})));
  const stacked = width < 480;  // names above the bars
  const longest = greatestOf(bars.map(({point}) => widthOf(point.label)));
  const left = stacked ? 4 : Math.min(longest + 10, width * 0.4), step = stacked ? 38 : 25, top = 8;
  const words = greatestOf(bars.map(({point}) => widthOf(point.words)));
  const right = width - words - 12;
  const height = top + bars.length * step + 44;
  const values = bars.flatMap(({point}) => [point.value, point.q1 ?? point.value, point.q3 ?? point.value]);
  const end = cutOff(bars.map(({point}) => point.value));
  const most = end ?? Infinity;
  const negative = leastOf(values) < 0;
  const scale = scaleOf(values.map((value) => Math.min(value, most)), left + (negative ? words : 0), right,
                        {count: width < 480 ? 3 : 5});
  const bottom = top + bars.length * step + 4;
  const grid = scale.ticks.map((tick) => element("g", {class: "tick"}, line(scale.at(tick), top, scale.at(tick), bottom, tick === 0 ? "zero" : "grid"),
    text(scale.at(tick), bottom + 15, tickWords(tick), {"text-anchor": "middle"})));
  const points = [];
  const drawn = bars.map(({series, point}, i) => {
    const middle = top + i * step + (stacked ? 26 : step / 2), thick = stacked ? 16 : 17;
    const zero = scale.at(0), x = scale.at(Math.min(point.value, most));
    const parts = [element("rect", {x: Math.min(zero, x), y: middle - thick / 2, width: Math.max(1, Math.abs(x - zero)), height: thick,
                                    rx: 2, class: `bar ${classOf(series)}`})];
    if (point.value > most) parts.push(element("path", {d: `M${x - 14} ${middle + 11}l5 -22m4 0l-5 22`, class: "break"}));
    if (point.value <= most) whisker(parts, point, (value) => Math.max(left, Math.min(right, scale.at(value))), middle, true);
    const beyond = point.q3 != null && point.value >= 0 && point.value <= most ? Math.min(right, Math.max(x, scale.at(point.q3))) : x;
    const below = point.value < 0;
    const edge = below ? Math.min(x, point.q1 == null ? x : scale.at(point.q1)) - 6 : beyond + 6;
    parts.push(text(edge, middle + 4, point.words, {class: "value", "text-anchor": below ? "end" : null}));
    parts.push(stacked ? text(left, middle - 12, cut(point.label, width - 8), {class: "name"})
                       : text(left - 8, middle + 4, cut(point.label, left - 8), {class: "name", "text-anchor": "end"}));
    points.push({...point, series, px: x, py: middle, box: [0, top + i * step, width, step]});
    return element("g", {class: "item"}, ...parts);
  });
  const axis = text((left + right) / 2, bottom + 34, `${model.quantity}${end ? ", broken bars are longer" : ""}`,
                    {"text-anchor": "middle", class: "axis"});
  return {height, parts: [...grid, ...drawn, axis], rows: points.map((point) => [point])};
}

/** Names at the ends of coloured lines, apart from each other. */
function endLabels(series, right, top, bottom, room) {
  const labels = series.map(({label, points, ...rest}) => ({...rest, label, words: figure(points.at(-1).value), y: points.at(-1).py})).sort((a, b) => a.y - b.y);
  labels.forEach((each, i) => { each.y = Math.max(each.y, i > 0 ? labels[i - 1].y + 14 : top + 6); });
  for (let i = labels.length - 1; i >= 0; --i) labels[i].y = Math.min(labels[i].y, i + 1 < labels.length ? labels[i + 1].y - 14 : bottom);
  return labels.map((each) => text(right + 8, each.y + 4, `${cut(each.label, (room - 16) * 0.9 - widthOf(each.words))} ${each.words}`, {class: `end ${classOf(each)}`}));
}

/** A line for each series over a numeric axis. */
function drawLines(model, width) {
  const shown = model.series.filter((series) => !series.hidden && series.points.length > 0);
  const coloured = shown.filter((series) => series.class !== "other" && series.class !== "floor");
  const room = width < 500 ? 14 : Math.min(width * 0.34, 66 + 1.1 * Math.max(0, ...coloured.map(({label}) => widthOf(label))));
  const left = 52, right = width - room, top = 30, height = width < 480 ? 290 : 350, bottom = height - 46;
  const xs = [...new Set(shown.flatMap((series) => series.points.map((point) => point.x)))].sort((a, b) => a - b);
  const logarithmicX = xs[0] > 0 && xs.at(-1) / xs[0] > 20;
  const xScale = scaleOf(xs, left + 8, right - 8, {logarithmic: logarithmicX, zero: false});
  const values = shown.flatMap((series) => series.points.flatMap((point) => [point.value, point.q3 ?? point.value, point.q1 ?? point.value]));
  const logarithmic = model.logarithmic && values.some((value) => value > 0);
  const yScale = scaleOf(values, bottom, top, {logarithmic});
  const yOf = (value) => Math.max(top, Math.min(bottom, logarithmic && !(value > 0) ? bottom : yScale.at(value)));
  const parts = yScale.ticks.map((tick) => element("g", {class: "tick"}, line(left, yScale.at(tick), right, yScale.at(tick), tick === 0 ? "zero" : "grid"),
    text(left - 6, yScale.at(tick) + 4, tickWords(tick), {"text-anchor": "end"})));
  let last = -Infinity;
  for (const x of xs) {
    const label = axisInWords(model.x, x), at = xScale.at(x);
    if (at - last < widthOf(label) + 10) continue;
    last = at;
    parts.push(element("g", {class: "tick"}, line(at, bottom, at, bottom + 4, "grid"), text(at, bottom + 17, label, {"text-anchor": "middle"})));
  }
  const drawn = shown.map((series) => {
    const points = series.points.map((point) => ({...point, series, px: xScale.at(point.x), py: yOf(point.value)}));
    const marks = points.map(({px, py}) => element("circle", {cx: px, cy: py, r: points.length > 60 ? 1.5 : 3}));
    const whiskers = [];
    for (const point of points) whisker(whiskers, point, yOf, point.px, false);
    const d = points.map(({px, py}, i) => `${i ? "L" : "M"}${px.toFixed(1)} ${py.toFixed(1)}`).join("");
    return {...series, points, drawing: element("g", {class: `line ${classOf(series)}`}, element("path", {d}), element("g", {}, ...whiskers), element("g", {}, ...marks))};
  });
  const grey = (series) => (series.class === "other" || series.class === "floor" ? 0 : 1);
  parts.push(...[...drawn].sort((a, b) => grey(a) - grey(b)).map(({drawing}) => drawing));  // coloured ones on top
  if (room > 20) parts.push(...endLabels(drawn.filter((series) => grey(series)), right, top, bottom, room));
  parts.push(text(left, height - 6, `${nameInWords(model.x)}${logarithmicX ? " (logarithmic)" : ""}`, {class: "axis"}));
  parts.push(text(4, 14, cut(`↑ ${model.quantity}${logarithmic ? " (logarithmic)" : ""}`, width - 8), {class: "axis"}));
  return {height, parts, rows: drawn.map(({points}) => points)};
}

/** A table of cells whose colour says how large their figure is. */
function drawMap(model, width) {
  const points = model.series.flatMap((series) => series.points.map((point) => ({...point, series})));
  const sorted = (key) => [...new Set(points.map((point) => point[key]))].sort((a, b) => a - b);
  const xs = sorted("x"), ys = sorted("y");
  const left = 58, top = 10, cellWidth = (width - left - 8) / xs.length, cellHeight = Math.max(26, Math.min(40, cellWidth));
  const bottom = top + ys.length * cellHeight, height = bottom + 44;
  const values = points.map((point) => point.value);
  const low = leastOf(values), high = greatestOf(values);
  const logarithmic = low > 0 && high / low > 10;
  const part = (value) => high === low ? 0.5 :
    logarithmic ? Math.log(value / low) / Math.log(high / low) : (value / 2 - low / 2) / (high / 2 - low / 2);
  const placeOf = (list) => new Map(list.map((value, i) => [value, i])), xPlace = placeOf(xs), yPlace = placeOf(ys);
  const parts = [];
  for (const point of points) {
    const x = left + xPlace.get(point.x) * cellWidth, y = bottom - (yPlace.get(point.y) + 1) * cellHeight;
    const shade = 0.06 + 0.9 * part(point.value);
    parts.push(element("g", {class: "item"},
      element("rect", {x: x + 1, y: y + 1, width: cellWidth - 2, height: cellHeight - 2, rx: 2, class: "cell", "fill-opacity": shade.toFixed(2)}),
      text(x + cellWidth / 2, y + cellHeight / 2 + 4, cut(figure(point.value), cellWidth), {"text-anchor": "middle", class: shade > 0.5 ? "deep" : "light"})));
    Object.assign(point, {px: x + cellWidth / 2, py: y + cellHeight / 2, box: [x, y, cellWidth, cellHeight]});
  }
  const every = Math.ceil(40 / cellWidth);
  xs.forEach((x, i) => i % every === 0 && parts.push(text(left + (i + 0.5) * cellWidth, bottom + 16, axisInWords(model.x, x), {"text-anchor": "middle", class: "tick"})));
  ys.forEach((y, i) => parts.push(text(left - 8, bottom - (i + 0.5) * cellHeight + 4, axisInWords(model.y, y), {"text-anchor": "end", class: "tick"})));
  parts.push(text(left, height - 6, `→ ${nameInWords(model.x)}, ↑ ${nameInWords(model.y)}`, {class: "axis"}));
  parts.push(text(width - 8, height - 6, model.quantity, {class: "axis", "text-anchor": "end"}));
  return {height, parts, rows: ys.map((y) => points.filter((point) => point.y === y).sort((a, b) => a.x - b.x))};
}

const drawers = {bars: drawBars, lines: drawLines, map: drawMap};

/** Draws a model into a box, and lets the pointer and the arrow keys show what stands behind each point. */
function drawChart(box, model, width) {
  const {height, parts, rows} = drawers[model.form](model, width);
  const ring = element("circle", {r: 7, class: "ring", visibility: "hidden"});
  const svg = element("svg", {viewBox: `0 0 ${width} ${height}`, width, height, tabindex: 0, role: "application",
                              "aria-roledescription": "chart", "aria-label": `${model.title}: ${model.quantity}; arrow keys read its points`},
                      element("title", {}, model.title), ...parts, ring);
  const tip = element("div", {class: "tip", role: "status", hidden: ""});
  const all = rows.filter((row) => row.length > 0);
  let at = null;  // row and place in it
  const hide = () => { tip.hidden = true; ring.setAttribute("visibility", "hidden"); };
  const show = (row, i) => {
    at = [row, i];
    const point = all[row][i];
    ring.setAttribute("cx", point.px);
    ring.setAttribute("cy", point.py);
    ring.setAttribute("visibility", "visible");
    tip.replaceChildren(...point.tip().map((each, k) => element(k === 0 ? "b" : "span", {}, each)));
    tip.hidden = false;
    const scale = svg.getBoundingClientRect().width / width || 1, px = point.px * scale;
    tip.style.top = `${point.py * scale + 12}px`;
    tip.style.left = px < width * scale / 2 ? `${px}px` : "auto";
    tip.style.right = px < width * scale / 2 ? "auto" : `${(width * scale - px)}px`;
  };
  const nearest = (event) => {
    const area = svg.getBoundingClientRect(), scale = width / area.width;
    const x = (event.clientX - area.left) * scale, y = (event.clientY - area.top) * scale;
    let best = null, least = Infinity;
    all.forEach((row, r) => row.forEach((point, i) => {
      const [left, top, wide, high] = point.box ?? [];
      const far = point.box ? (x >= left && x < left + wide && y >= top && y < top + high ? 0 : Infinity)
                            : Math.hypot(point.px - x, point.py - y);
      if (far < least) { least = far; best = [r, i]; }
    }));
    if (best && least < 60) show(...best); else hide();
  };
  const steps = {ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0]};
  svg.addEventListener("pointermove", nearest);
  svg.addEventListener("pointerdown", nearest);
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { hide(); return; }
    if (all.length === 0) return;  // every line is hidden
    let [row, i] = at ?? [0, -1];
    if (event.key === "Home") { row = 0; i = 0; }
    else if (event.key === "End") { row = all.length - 1; i = all[row].length - 1; }
    else if (steps[event.key]) {
      let [down, along] = steps[event.key];
      if (all.every((each) => each.length === 1)) [down, along] = [down || along, 0];  // bars: every arrow leads to the next
      if (at === null) { row = 0; i = 0; }
      else {
        row = Math.max(0, Math.min(all.length - 1, row + (model.form === "map" ? -down : down)));
        i = Math.max(0, Math.min(all[row].length - 1, i + along));
      }
    } else return;
    event.preventDefault();
    show(row, i);
  });
  box.replaceChildren(svg, tip);
  return svg;
}

/** The chart as a file of its own: what the page's style gives it stands in it. */
function svgText(svg) {
  const copy = svg.cloneNode(true);
  const from = [svg, ...svg.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  const kept = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "text-anchor"];
  from.forEach((each, i) => {
    const style = getComputedStyle(each);
    to[i].setAttribute("style", kept.map((key) => `${key}:${style.getPropertyValue(key)}`).join(";"));
    to[i].removeAttribute("class");
  });
  copy.querySelectorAll('[visibility="hidden"]').forEach((each) => each.remove());
  copy.style.background = getComputedStyle(document.documentElement).getPropertyValue("--surface");
  for (const name of ["tabindex", "role", "aria-roledescription"]) copy.removeAttribute(name);
  const noXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
  return `${new XMLSerializer().serializeToString(copy).replace(noXml, "\ufffd")}\n`;
}
