// Makes the page's tables sortable and draws its charts; the page reads well without it.
"use strict";

(() => {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const palette = {
    light: ["#0a5cc2", "#c2410c", "#12703c", "#8b2fa8", "#b8860b", "#0e7c86", "#c0266d", "#5a5fcf", "#6b7a0f", "#7a4a2b"],
    dark: ["#7fb2ff", "#ff9a5c", "#66d194", "#d594ee", "#ecc04d", "#5cd1db", "#ff8fc0", "#a9adff", "#c3d45a", "#d3a27e"],
  };
  const charts = [];
  let printing = false;

  const isDark = () => dark.matches && !printing;
  const gray = () => (isDark() ? "#a2a7ae" : "#5d6166");
  const gridColor = () => (isDark() ? "#34383d" : "#e3e5e8");

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

  // Tables

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

  // Charts

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
          if (!entry || entry.figure.q1 === null || entry.figure.q3 === null) return;
          const from = scale.getPixelForValue(entry.figure.q1);
          const to = scale.getPixelForValue(entry.figure.q3);
          if (Math.abs(to - from) < 2) return;
          ctx.save();
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

  const headline = (row) => row.metrics.step_time ?? Object.values(row.metrics)[0];
  const headlineName = (row) => (row.metrics.step_time ? "step_time" : Object.keys(row.metrics)[0]);
  const published = "published: ";  // how the device of a row begins that was printed in a paper
  const isPublished = (row) => row.device.startsWith(published);
  const isFloor = (method) => method === "no-barrier";

  function methodColor(methods, method) {
    if (isFloor(method)) return gray();
    const colors = palette[isDark() ? "dark" : "light"];
    return colors[methods.filter((name) => !isFloor(name)).indexOf(method) % colors.length];
  }

  /** What a chart of this row has on its x axis; nothing for a row without such an axis, or one drawn from others. */
  const xAxisOf = (row) =>
    "fit" in row.axes ? undefined : ["iterations", "blocks", "groups"].find((name) => typeof row.axes[name] === "number");

  /** Whether two rows are of one kind: axes whose values are words have the same ones where both rows have them. */
  const sameWords = (one, other) => Object.entries(one.axes).every(([name, value]) =>
    typeof value !== "string" || other.axes[name] === undefined || other.axes[name] === value);

  /**
   * Rows that share a chart: one experiment and device, and one value of each axis besides the x axis and, for blocks,
   * the threads. What a paper has printed is drawn into every chart of its experiment.
   */
  function chartGroups(results, titles) {
    const groups = new Map();
    const put = (key, group, entry) => {
      if (!groups.has(key)) groups.set(key, {...group, entries: []});
      groups.get(key).entries.push(entry);
    };
    const drawn = results.rows.map((row) => ({row, figure: headline(row), x: xAxisOf(row)}))
      .filter(({figure, x}) => x && figure && figure.value !== null);
    for (const entry of drawn.filter(({row}) => !isPublished(row))) {
      const {row, x} = entry;
      const others = Object.entries(row.axes).filter(([name]) => name !== x && (x !== "blocks" || name !== "threads"));
      const words = others.map(([name, value]) =>
        name === "stores" ? (value ? "stores in flight" : "no stores in flight") : `${name} ${value}`);
      const key = JSON.stringify([row.experiment, row.device, x, others]);
      put(key, {title: [titles[row.device], ...words].join(", "), experiment: row.experiment, x}, entry);
    }
    for (const entry of drawn.filter(({row}) => isPublished(row))) {
      const {row, x} = entry;
      const beside = [...groups.values()].filter((group) =>
        group.experiment === row.experiment && group.x === x && group.entries[0].figure.unit === entry.figure.unit &&
        !isPublished(group.entries[0].row) && sameWords(row, group.entries[0].row));
      for (const group of beside) {
        group.entries.push(entry);
        group.published = row.device.slice(published.length);
      }
      if (beside.length === 0) {
        const key = JSON.stringify([row.experiment, row.device, x]);
        put(key, {title: titles[row.device], experiment: row.experiment, x}, entry);
      }
    }
    for (const group of groups.values()) {
      if (group.published) group.title += `; dashed: published, on ${group.published}`;
    }
    return [...groups.values()];
  }

  /** What the x axis may show: the blocks at one block size, or all shapes; the fullest choice first. */
  function choicesOf({entries, x}) {
    if (x !== "blocks") {
      return [{name: x === "groups" ? "work-groups" : x, entries, label: ({row}) => String(row.axes[x]),
               rank: ({row}) => row.axes[x]}];
    }
    const sizeOf = ({row}) => row.axes.threads ?? null;
    // Papers do not always say how large their blocks were; what they print is shown beside blocks of any size.
    const anySize = (entry) => isPublished(entry.row) && sizeOf(entry) === null;
    const measured = entries.filter((entry) => !anySize(entry));
    const sizes = [...new Set((measured.length > 0 ? measured : entries).map(sizeOf))];
    const choices = sizes.map((threads) => {
      const chosen = entries.filter((entry) => anySize(entry) || sizeOf(entry) === threads);
      return {
        name: threads === null ? "blocks" : `blocks of ${threads} thread${threads === 1 ? "" : "s"}`,
        entries: chosen,
        label: ({row}) => String(row.axes.blocks),
        rank: ({row}) => row.axes.blocks,
      };
    });
    choices.sort((a, b) => b.entries.length - a.entries.length);
    if (sizes.length > 1) {
      choices.push({
        name: "blocks × threads",
        entries,
        label: ({row}) => `${row.axes.blocks}×${row.axes.threads ?? "?"}`,
        rank: ({row}) => row.axes.blocks * (row.axes.threads ?? 1) + row.axes.blocks / 1e9,
      });
    }
    return choices;
  }

  function labelsOf(choice) {
    const ranks = new Map(choice.entries.map((entry) => [choice.label(entry), choice.rank(entry)]));
    return [...ranks].sort((a, b) => a[1] - b[1]).map(([label]) => label);
  }

  /** One line for each method; several shapes on the x axis. */
  function lineData(choice, methods) {
    const labels = labelsOf(choice);
    const present = methods.filter((method) => choice.entries.some(({row}) => row.method === method));
    return {
      labels,
      datasets: present.map((method) => {
        const own = choice.entries.filter(({row}) => row.method === method);
        const entries = labels.map((label) => own.find((entry) => choice.label(entry) === label) ?? null);
        const wrong = own.some(({row}) => row.verified === false);
        return {
          method,
          label: method + (wrong ? " (wrong results)" : ""),
          entries,
          data: entries.map((entry) => (entry ? entry.figure.value : null)),
          spanGaps: true,
          borderWidth: isFloor(method) ? 1.5 : 2,
          borderDash: wrong || own.every(({row}) => isPublished(row)) ? [6, 4] : isFloor(method) ? [2, 3] : [],
          pointStyle: entries.map((entry) => (entry && entry.row.verified === false ? "crossRot" : "circle")),
          pointRadius: entries.map((entry) => (entry && entry.row.verified === false ? 6 : 3)),
          pointHoverRadius: 6,
          pointBorderWidth: 2,
        };
      }),
    };
  }

  /** One bar for each method; a single shape. */
  function barData(choice, methods) {
    const entries = [...choice.entries].sort((a, b) => a.figure.value - b.figure.value);
    return {
      labels: entries.map(({row}) => row.method + (row.verified === false ? " (wrong results)" : "")),
      datasets: [{
        label: choice.label(entries[0]),
        entries,
        methods: entries.map(({row}) => row.method),
        data: entries.map(({figure}) => figure.value),
        maxBarThickness: 22,
        borderRadius: 3,
      }],
    };
  }

  function tooltipLine(entry) {
    const {row, figure: found} = entry;
    const spread = found.q1 === null || found.q3 === null ? "" : `, quartiles ${figure(found.q1)} to ${figure(found.q3)}`;
    const verified = row.verified === null ? "not checked" : row.verified ? "verified" : "WRONG RESULTS";
    return `${row.method}: ${figure(found.value)} ${found.unit}${spread}, n ${found.n}, ${verified}`;
  }

  /** Ticks of a logarithmic axis at 1, 2 and 5 times powers of ten. */
  function logarithmicTick(value) {
    const leading = Math.round(value / 10 ** Math.floor(Math.log10(value) + 1e-9));
    return [1, 2, 5].includes(leading) ? String(Number(value.toPrecision(3))) : "";
  }

  function scaleOptions(logarithmic, title) {
    const options = {
      type: logarithmic ? "logarithmic" : "linear",
      title: {display: true, text: title, color: gray()},
      grid: {color: gridColor()},
      ticks: {color: gray()},
    };
    if (logarithmic) Object.assign(options.ticks, {callback: logarithmicTick, autoSkip: false, maxRotation: 0});
    else options.beginAtZero = true;
    return options;
  }

  function categoryOptions(title) {
    return {type: "category", title: {display: title !== "", text: title, color: gray()}, grid: {color: gridColor()},
            ticks: {color: gray()}};
  }

  function paint(state) {
    const color = (method) => methodColor(state.methods, method);
    for (const dataset of state.chart.data.datasets) {
      const colors = dataset.methods ? dataset.methods.map(color) : color(dataset.method);
      dataset.borderColor = colors;
      dataset.backgroundColor = colors;
    }
    const {scales} = state.chart.options;
    for (const scale of Object.values(scales)) {
      scale.grid.color = gridColor();
      scale.ticks.color = gray();
      scale.title.color = gray();
    }
    for (const [method, swatch] of state.swatches) swatch.style.background = color(method);
  }

  function fillLegend(state) {
    state.swatches = new Map();
    state.legend.replaceChildren();
    if (state.sideways) return;
    state.chart.data.datasets.forEach((dataset, index) => {
      const swatch = element("span", {class: "swatch", "aria-hidden": "true"});
      const button = element("button", {type: "button", "aria-pressed": "true"}, swatch, dataset.label);
      button.addEventListener("click", () => {
        const visible = !state.chart.isDatasetVisible(index);
        state.chart.setDatasetVisibility(index, visible);
        button.setAttribute("aria-pressed", String(visible));
        state.chart.update();
      });
      state.swatches.set(dataset.method, swatch);
      state.legend.append(button);
    });
  }

  function draw(state) {
    const choice = state.choices[state.chosen];
    const {row, figure: {unit}} = choice.entries[0];
    const name = headlineName(row);
    const quantity = name === "step_time" ? "time per step" : name.replaceAll("_", " ");
    const value = scaleOptions(state.logarithmic, `${quantity} in ${unit}`);
    state.sideways = labelsOf(choice).length === 1;
    if (state.chart) state.chart.destroy();
    state.chart = new Chart(state.canvas, {
      type: state.sideways ? "bar" : "line",
      data: state.sideways ? barData(choice, state.methods) : lineData(choice, state.methods),
      plugins: [whiskers],
      options: {
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        indexAxis: state.sideways ? "y" : "x",
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

  function controlsOf(state) {
    const toggle = element("input", {type: "checkbox"});
    toggle.checked = state.logarithmic;
    toggle.addEventListener("change", () => { state.logarithmic = toggle.checked; draw(state); });
    const controls = element("div", {class: "controls"}, element("label", {}, toggle, "logarithmic time"));
    if (state.choices.length > 1) {
      const select = element("select", {});
      state.choices.forEach((choice, index) => select.append(element("option", {value: index}, choice.name)));
      select.addEventListener("change", () => { state.chosen = Number(select.value); draw(state); });
      controls.append(element("label", {}, "shapes", select));
    }
    return controls;
  }

  function spansDecades(groups) {
    const values = groups.flatMap(({entries}) => entries.map((entry) => entry.figure.value)).filter((value) => value > 0);
    const smallest = values.reduce((a, b) => Math.min(a, b), Infinity);
    return values.some((value) => value > 10 * smallest);
  }

  function addChart(container, group, methods, logarithmic) {
    const state = {
      methods,
      choices: choicesOf(group),
      chosen: 0,
      logarithmic,
      canvas: element("canvas", {role: "img", "aria-label": `Chart: ${group.title}; the table holds the same figures`}),
      legend: element("div", {class: "legend"}),
    };
    container.append(element("figure", {},
      element("figcaption", {}, group.title, element("small", {}, group.experiment)),
      controlsOf(state), element("div", {class: "canvas"}, state.canvas), state.legend));
    draw(state);
    charts.push(state);
  }

  function repaint() {
    for (const state of charts) { paint(state); state.chart.update(); }
  }

  function prepareForPrint() {
    printing = true;
    document.querySelectorAll("details").forEach((details) => { details.open = true; });
    repaint();
    for (const {chart} of charts) chart.resize(600, 300);
  }

  function returnFromPrint() {
    printing = false;
    repaint();
    for (const {chart} of charts) chart.resize();
  }

  document.querySelectorAll("table.rows").forEach((table) => { makeSortable(table); addFilter(table); });
  const data = JSON.parse(document.getElementById("data").textContent);
  document.querySelectorAll(".charts").forEach((container) => {
    const {results, device_titles: titles} = data[Number(container.dataset.document)];
    const methods = [...new Set(results.rows.map((row) => row.method))];
    const groups = chartGroups(results, titles);
    const logarithmic = spansDecades(groups);
    for (const group of groups) addChart(container, group, methods, logarithmic);
    if (!container.hasChildNodes()) container.append("No row has a figure to draw.");
  });
  dark.addEventListener("change", repaint);
  window.addEventListener("beforeprint", prepareForPrint);
  window.addEventListener("afterprint", returnFromPrint);
})();
