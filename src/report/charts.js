// The page's charts.

const palette = {
  light: ["#0a5cc2", "#c2410c", "#12703c", "#8b2fa8", "#b8860b", "#0e7c86", "#c0266d", "#5a5fcf", "#6b7a0f", "#7a4a2b"],
  dark: ["#7fb2ff", "#ff9a5c", "#66d194", "#d594ee", "#ecc04d", "#5cd1db", "#ff8fc0", "#a9adff", "#c3d45a", "#d3a27e"],
};
const charts = [];
let printing = false;

const isDark = () => dark.matches && !printing;
const gray = () => (isDark() ? "#a2a7ae" : "#5d6166");
const gridColor = () => (isDark() ? "#34383d" : "#e3e5e8");
const textColor = () => (isDark() ? "#e8e9eb" : "#1c1d1f");
const surfaceColor = () => (isDark() ? "#1b1d20" : "#ffffff");
const colorsNow = () => palette[isDark() ? "dark" : "light"];

/** Whiskers from the first to the third quartile. */
const whiskers = {
  id: "whiskers",
  afterDatasetsDraw(chart) {
    const {ctx} = chart;
    const sideways = chart.options.indexAxis === "y";
    const scale = chart.scales[sideways ? "x" : "y"];
    chart.data.datasets.forEach((dataset, index) => {
      if (!chart.isDatasetVisible(index)) return;
      chart.getDatasetMeta(index).data.forEach((point, at) => {
        const entry = dataset.entries[at];
        if (!entry || entry.range || entry.figure.q1 === null || entry.figure.q3 === null) return;
        const from = scale.getPixelForValue(entry.figure.q1);
        const to = scale.getPixelForValue(entry.figure.q3);
        if (Math.abs(to - from) < 2) return;
        ctx.save();
        ctx.beginPath();
        const {left, top, width, height} = chart.chartArea;
        ctx.rect(left, top, width, height);
        ctx.clip();
        ctx.strokeStyle = sideways ? gray() : dataset.borderColor;
        ctx.lineWidth = 1.5;
        ctx.beginPath();
        const line = (x1, y1, x2, y2) => { ctx.moveTo(x1, y1); ctx.lineTo(x2, y2); };
        if (sideways) {
          line(from, point.y, to, point.y);
          line(from, point.y - 4, from, point.y + 4);
          line(to, point.y - 4, to, point.y + 4);
        } else {
          line(point.x, from, point.x, to);
          line(point.x - 4, from, point.x + 4, from);
          line(point.x - 4, to, point.x + 4, to);
        }
        ctx.stroke();
        ctx.restore();
      });
    });
  },
};

/** The figure of each bar in words, behind its end. */
const barWords = {
  id: "barWords",
  afterDatasetsDraw(chart) {
    const {ctx, chartArea} = chart;
    ctx.save();
    ctx.font = "11px system-ui, sans-serif";
    ctx.textBaseline = "middle";
    chart.data.datasets.forEach((dataset, index) => {
      if (!chart.isDatasetVisible(index)) return;
      chart.getDatasetMeta(index).data.forEach((bar, at) => {
        const entry = dataset.entries[at];
        if (!entry?.words) return;
        const {x, base, y} = bar.getProps(["x", "base", "y"], true);
        const width = ctx.measureText(entry.words).width + 5;
        const empty = entry.range?.length === 0;
        const [left, right] = empty ? [chartArea.left, chartArea.left] : [Math.min(x, base), Math.max(x, base)];
        const before = x < base && left - width > chartArea.left;
        const behind = right + width < chartArea.right;
        ctx.fillStyle = before || behind ? textColor() : surfaceColor();
        ctx.fillText(entry.words, before ? left - width : behind ? right + 5 : right - width, y);
      });
    });
    ctx.restore();
  },
};

function methodColor(ranked, method) {
  if (ranked.floors.has(method)) return gray();
  return colorsNow()[ranked.all.indexOf(method) % palette.light.length];
}

/** One line for each method; several shapes on the x axis. What a paper has printed has its method's colour. */
function lineData(choice, ranked) {
  const labels = labelsOf(choice);
  const names = [...new Set(choice.entries.map(({row}) => row.method))];
  const rank = (name) => ranked.all.indexOf(methodOf(choice.entries.find(({row}) => row.method === name).row));
  names.sort((a, b) => rank(a) - rank(b));
  return {
    labels,
    datasets: names.map((name) => {
      const own = choice.entries.filter(({row}) => row.method === name);
      const entries = labels.map((label) => own.find((entry) => choice.label(entry) === label) ?? null);
      const wrong = own.some(({row}) => row.verified === false);
      const method = methodOf(own[0].row);
      const style = ["circle", "rect", "triangle"][Math.floor(Math.max(0, ranked.all.indexOf(method)) / 10) % 3];
      return {
        method,
        label: name + (wrong ? " (wrong results)" : ""),
        entries,
        data: entries.map((entry) => (entry ? entry.figure.value : null)),
        hidden: !ranked.shown.has(method),
        spanGaps: true,
        borderWidth: isFloor(own[0].row) ? 1.5 : 2,
        borderDash: wrong || own.every(({row}) => isPublished(row)) ? [6, 4] : isFloor(own[0].row) ? [2, 3] : [],
        pointStyle: entries.map((entry) => (entry && entry.row.verified === false ? "crossRot" : style)),
        pointRadius: entries.map((entry) => (entry && entry.row.verified === false ? 6 : 3)),
        pointHoverRadius: 6,
        pointBorderWidth: 2,
      };
    }),
  };
}

/** One bar for each method; a single shape. */
function barData(choice) {
  const entries = [...choice.entries].sort((a, b) => a.figure.value - b.figure.value);
  return {
    labels: entries.map(({row}) => wrapped(row.method + (row.verified === false ? " (wrong results)" : ""))),
    datasets: [{
      label: choice.label(entries[0]),
      entries,
      methods: entries.map(({row}) => methodOf(row)),
      data: entries.map(({figure: found}) => found.value),
      maxBarThickness: 22,
      borderRadius: 3,
    }],
  };
}

/** For each method a bar of what was printed and one of ours; ranges float between their ends. */
function comparisonData(state) {
  const {group, ranked} = state;
  const shape = state.choices[state.chosen];
  const methods = [...new Set([...group.printed, ...shape.entries].map(({row}) => methodOf(row)))]
    .filter((method) => state.every || ranked.shown.has(method))
    .sort((a, b) => ranked.all.indexOf(a) - ranked.all.indexOf(b));
  const bounds = [Math.min(...group.bounds), Math.max(...group.bounds)];
  const worded = ({row, figure: found}) => {
    const range = rangeOf(row);
    if (!range) return {row, figure: found, words: `${figure(found.value)} ${found.unit}`};
    if (range.from === null && range.until === null) return {row, figure: found, range: [], words: "nowhere"};
    const ends = [range.from ?? bounds[0], range.until ?? bounds[1]];
    const rounded = ends.map((end) => (end < 100 ? Number(end.toPrecision(3)) : Math.round(end)));
    return {row, figure: found, range: ends, words: `${rounded[0]} to ${rounded[1]}`};
  };
  const areWrong = (method) => shape.entries.some(({row}) => row.method === method && row.verified === false);
  const dataset = (label, entries, color) => {
    const own = methods.map((method) => {
      const entry = entries.find(({row}) => methodOf(row) === method);
      return entry ? worded(entry) : null;
    });
    return {
      label, color, entries: own,
      data: own.map((entry) => (!entry || entry.range?.length === 0 ? null : entry.range ?? entry.figure.value)),
      maxBarThickness: 16, borderRadius: 2, borderWidth: 1, minBarLength: 2,
    };
  };
  return {
    labels: methods.map((method) => wrapped(method + (areWrong(method) ? " (wrong results)" : ""))),
    datasets: [dataset(`then: ${group.then}`, group.printed, 4),
               dataset(`now: ${group.now}${shape.name ? `, ${shape.name}` : ""}`, shape.entries, 0)],
  };
}

/** A name in two lines if it is long. */
function wrapped(name) {
  if (name.length <= 20) return name;
  const cuts = [...name.matchAll(/[- ]/g)].map(({index}) => index + 1);
  const middle = (a, b) => Math.abs(a - name.length / 2) - Math.abs(b - name.length / 2);
  const cut = cuts.sort(middle)[0];
  return cut === undefined ? name : [name.slice(0, cut).trimEnd(), name.slice(cut)];
}

function tooltipLine(entry) {
  const {row, figure: found, range, words} = entry;
  const verified = row.verified === null ? "not checked" : row.verified ? "verified" : "WRONG RESULTS";
  if (range) return `${row.method}: ${words} ${found.unit}`;
  const spread = found.q1 === null || found.q3 === null ? "" : `, quartiles ${figure(found.q1)} to ${figure(found.q3)}`;
  return `${row.method}: ${figure(found.value)} ${found.unit}${spread}, n ${found.n}, ${verified}`;
}

/** Ticks of a logarithmic axis at 1, 2 and 5 times powers of ten, or at these alone where there is little room. */
function logarithmicTick(value) {
  const leading = value / 10 ** Math.floor(Math.log10(value) + 1e-9);
  const wanted = this.isHorizontal() && this.width < 350 ? [1] : [1, 2, 5];
  return wanted.some((tick) => Math.abs(leading - tick) < 1e-6) ? String(Number(value.toPrecision(3))) : "";
}

function scaleOptions(logarithmic, title, values) {
  const options = {
    type: logarithmic ? "logarithmic" : "linear",
    title: {display: true, text: title, color: gray()},
    grid: {color: gridColor()},
    ticks: {color: gray()},
  };
  if (logarithmic) {
    Object.assign(options.ticks, {callback: logarithmicTick, autoSkip: false, maxRotation: 0});
    // Noise about zero is not worth decades of the axis.
    const largest = Math.max(...values), least = largest / 5000;
    if (values.some((value) => value > 0 && value < least)) options.min = least;
  } else {
    options.beginAtZero = true;
  }
  return options;
}

function categoryOptions(title) {
  return {type: "category", title: {display: title !== "", text: title, color: gray()}, grid: {color: gridColor()},
          ticks: {color: gray(), autoSkip: title !== ""}};
}

function paint(state) {
  const color = (method) => methodColor(state.ranked, method);
  for (const dataset of state.chart.data.datasets) {
    const colors = dataset.methods ? dataset.methods.map(color) :
      dataset.color === undefined ? color(dataset.method) : colorsNow()[dataset.color];
    dataset.borderColor = colors;
    dataset.backgroundColor = colors;
  }
  const {scales} = state.chart.options;
  for (const scale of Object.values(scales)) {
    scale.grid.color = gridColor();
    scale.ticks.color = gray();
    scale.title.color = gray();
  }
  state.chart.data.datasets.forEach((dataset, index) => {
    const swatch = state.swatches[index];
    if (swatch) swatch.style.background = Array.isArray(dataset.borderColor) ? "" : dataset.borderColor;
  });
}

/** A button for each line; those of methods that are not shown at first lie behind "more methods". */
function fillLegend(state) {
  state.swatches = [];
  state.legend.replaceChildren();
  if (state.sideways && !state.group.comparison) return;
  const rest = element("div", {class: "legend"});
  state.chart.data.datasets.forEach((dataset, index) => {
    const swatch = element("span", {class: "swatch", "aria-hidden": "true"});
    const shown = !dataset.hidden;
    const button = element("button", {type: "button", "aria-pressed": String(shown)}, swatch, dataset.label);
    button.addEventListener("click", () => {
      const visible = !state.chart.isDatasetVisible(index);
      state.chart.setDatasetVisibility(index, visible);
      button.setAttribute("aria-pressed", String(visible));
      state.chart.update();
    });
    state.swatches.push(swatch);
    (shown ? state.legend : rest).append(button);
  });
  if (!rest.hasChildNodes()) return;
  const summary = element("summary", {}, rest.childNodes.length === 1 ? "1 more" : `${rest.childNodes.length} more`);
  state.legend.append(element("details", {class: "more"}, summary, rest));
}

function draw(state) {
  const {group} = state;
  const choice = state.choices[state.chosen];
  let chartData, quantity, unit, values;
  const range = group.comparison && rangeOf(group.printed[0].row) !== null;
  if (group.comparison) {
    state.sideways = true;
    chartData = comparisonData(state);
    ({name: quantity, unit} = group);
    if (range) quantity = "faster with so many";
    state.box.style.height = `${Math.max(14, 5 + chartData.labels.length * 2.5)}rem`;
  } else {
    state.sideways = labelsOf(choice).length === 1;
    chartData = state.sideways ? barData(choice) : lineData(choice, state.ranked);
    const {row, figure: first} = choice.entries[0];
    unit = first.unit;
    quantity = headlineName(row) === "step_time" ? "time per step" : group.x === "lane" ? "clock" : headlineName(row);
    state.box.style.height = state.sideways ? `${Math.max(21, 4 + chartData.labels.length * 1.6)}rem` : "";
  }
  values = chartData.datasets.flatMap(({data: list}) => list).flat().filter((value) => value !== null);
  const value = scaleOptions(range || state.logarithmic, `${quantity.replaceAll("_", " ")}${range ? "" : " in"} ${unit}`, values);
  if (range) {
    value.min = Math.min(...group.bounds, ...values);
    value.max = Math.max(...group.bounds, ...values);
  } else if (group.comparison) {
    value.grace = "22%";  // for the words behind the bars
  }
  if (state.chart) state.chart.destroy();
  state.chart = new Chart(state.canvas, {
    type: state.sideways ? "bar" : "line",
    data: chartData,
    plugins: group.comparison ? [whiskers, barWords] : [whiskers],
    options: {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      indexAxis: state.sideways ? "y" : "x",
      layout: {padding: {right: range ? 16 : 0}},
      interaction: {mode: "nearest", intersect: false, axis: state.sideways ? "y" : "xy"},
      scales: state.sideways ? {x: value, y: categoryOptions("")} : {x: categoryOptions(choice.name), y: value},
      plugins: {
        legend: {display: false},
        tooltip: {callbacks: {label: (item) => tooltipLine(item.dataset.entries[item.dataIndex])}},
      },
    },
  });
  fillLegend(state);
  paint(state);
  state.chart.update();
}

function checkbox(text, checked, change) {
  const box = element("input", {type: "checkbox"});
  box.checked = checked;
  box.addEventListener("change", () => change(box.checked));
  return element("label", {}, box, text);
}

function controlsOf(state) {
  const controls = element("div", {class: "controls"});
  if (state.group.comparison) {
    const methods = new Set([...state.group.printed, ...state.group.entries].map(({row}) => methodOf(row)));
    if ([...methods].some((method) => !state.ranked.shown.has(method))) {
      controls.append(checkbox("all methods", false, (every) => { state.every = every; draw(state); }));
    }
  } else {
    controls.append(checkbox("logarithmic", state.logarithmic, (on) => { state.logarithmic = on; draw(state); }));
  }
  if (state.choices.length > 1) {
    const select = element("select", {});
    state.choices.forEach((choice, index) => select.append(element("option", {value: index}, choice.name)));
    select.addEventListener("change", () => { state.chosen = Number(select.value); draw(state); });
    controls.append(element("label", {}, state.group.comparison ? "now with" : "shapes", select));
  }
  return controls;
}

function spansDecades({entries}) {
  const values = entries.map((entry) => entry.figure.value).filter((value) => value > 0);
  const smallest = values.reduce((a, b) => Math.min(a, b), Infinity);
  return values.some((value) => value > 10 * smallest);
}

function addChart(container, group, main) {
  const canvas = element("canvas", {role: "img", "aria-label": `Chart: ${group.title}; the table holds the same figures`});
  const state = {
    group,
    ranked: rankMethods(group, main),
    choices: group.comparison ? comparedShapes(group) : choicesOf(group),
    chosen: 0,
    logarithmic: !group.comparison && spansDecades(group),
    every: false,
    canvas,
    box: element("div", {class: "canvas"}, canvas),
    legend: element("div", {class: "legend"}),
  };
  const detail = [group.experiment, group.detail].filter(Boolean).join("; ");
  container.append(element("figure", {}, element("figcaption", {}, group.title, element("small", {}, detail)),
                           controlsOf(state), state.box, state.legend));
  draw(state);
  charts.push(state);
}

function repaint() {
  for (const state of charts) { paint(state); state.chart.update(); }
}

function prepareForPrint() {
  printing = true;
  document.querySelectorAll("details:not(.more)").forEach((details) => { details.open = true; });
  repaint();
  for (const {chart, box} of charts) chart.resize(600, Math.max(300, box.clientHeight));
}

function returnFromPrint() {
  printing = false;
  repaint();
  for (const {chart} of charts) chart.resize();
}

document.querySelectorAll(".charts").forEach((container) => {
  const {results, device_titles: titles} = data[Number(container.dataset.document)];
  for (const group of chartGroups(results, titles)) {
    addChart(container, group, mainMethods(results.rows.filter((row) => row.experiment === group.experiment)));
  }
  if (!container.hasChildNodes()) container.append("No row has a figure to draw.");
});
dark.addEventListener("change", repaint);
window.addEventListener("beforeprint", prepareForPrint);
window.addEventListener("afterprint", returnFromPrint);
