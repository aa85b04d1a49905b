// Which rows share a chart, and what it shows of them at first.

const published = "published: ";         // how the device of a row begins that was printed in a paper
const publishedMethod = "published-";    // and its method
const isPublished = (row) => row.device.startsWith(published);
/** The method that a row is of, whoever measured it. */
const methodOf = (row) =>
  isPublished(row) && row.method.startsWith(publishedMethod) ? row.method.slice(publishedMethod.length) : row.method;

const headlineName = (row) => (row.metrics.step_time ? "step_time" : Object.keys(row.metrics)[0]);
const headline = (row) => row.metrics[headlineName(row)];
const isFloor = (row) => row.kind === "floor";
const isContender = (row) => row.status === "ok" && row.verified === true && !isFloor(row) && row.ordered;

/** What people compare a barrier with on a device: graphs and others' barriers. */
const isFamiliar = (row) => row.rival && (row.kind === "graph" || row.kind === "barrier");
const ownDefault = "placed-counters-acquire-release";  // this library's default barrier on a GPU
const mostAtFirst = 12;  // lines that a chart shows at first; of more, those of the main methods

/** What a chart of this row has on its x axis; nothing for a row without such an axis, or one drawn from others. Bytes
    are one where they are what a step works on. */
const xAxisOf = (row) => "fit" in row.axes ? undefined :
  ["iterations", "blocks", "groups", "blocks_per_sm", "barriers", "lane", ...(row.metrics.step_time ? ["bytes"] : [])]
    .find((name) => typeof row.axes[name] === "number");

/** A size as people write it: "64 KiB". */
function bytesInWords(bytes) {
  const unit = Math.max(0, [1, 10, 20, 30].findLastIndex((power) => bytes >= 2 ** power));
  return `${Number((bytes / 2 ** (10 * unit)).toPrecision(4))} ${["B", "KiB", "MiB", "GiB"][unit]}`;
}

/** Whether these are blocks, of which there are some sizes. */
const areBlocks = (x) => x === "blocks" || x === "blocks_per_sm";

/** The rows that stand for a row in charts: a lane has several times, and each is a line. */
const linesOf = (row) => xAxisOf(row) !== "lane" || isPublished(row) ? [row] :
  Object.entries(row.metrics).map(([name, found]) => ({...row, method: `${row.method}, ${name}`, metrics: {[name]: found}}));

/** Axes besides the one on x and, for blocks and lines over them, the threads. */
const otherAxes = (row, x) => Object.entries(row.axes).filter(([name]) =>
  name !== x && (name !== "threads" || (!areBlocks(x) && !("fit" in row.axes))));

const inWords = (axes) => axes.filter(([name]) => name !== "fit").map(([name, value]) =>
  name === "stores" ? (value ? "stores in flight" : "no stores in flight") : `${name} ${value}`);

/** Whether two rows are of one kind: axes whose values are words have the same ones where both rows have them. */
const sameWords = (one, other) => Object.entries(one.axes).every(([name, value]) =>
  typeof value !== "string" || other.axes[name] === undefined || other.axes[name] === value);

/** A range of x in which something holds: what has an end is one, whatever else its row says. */
const rangeOf = (row) => {
  const {faster_from: from, faster_until: until} = row.metrics;
  return from || until ? {from: from?.value ?? null, until: until?.value ?? null} : null;
};

/** The shape of a row in words: "30 blocks of 256 threads". */
function shapeOf(row, x) {
  const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
  const noun = {groups: "work-group", blocks_per_sm: "block per SM"}[x] ?? x?.replace(/s$/, "");
  const words = x === undefined ? [] : [count(row.axes[x], noun)];
  if (row.axes.threads !== undefined) words.push(count(row.axes.threads, "thread"));
  return words.join(" of ");
}

/** The methods of an experiment that matter most: what a paper names, launches for each step, the familiar ones, and
    those that are the fastest of a shape. */
function mainMethods(rows) {
  const best = new Map();  // by shape
  for (const row of rows.filter((each) => isContender(each) && headline(each)?.value != null && !("fit" in each.axes))) {
    const shape = JSON.stringify([row.device, row.axes]);
    if (!best.has(shape) || headline(row).value < headline(best.get(shape)).value) best.set(shape, row);
  }
  const all = new Set(rows.map(methodOf));
  const launches = rows.find((row) => row.kind === "launch") ?? rows.find((row) => row.kind === "host-wait");
  const main = [...rows.filter(isPublished).map(methodOf), launches && methodOf(launches),
                ...rows.filter(isFamiliar).map(methodOf), ownDefault, ...[...best.values()].map(methodOf)];
  return [...new Set(main)].filter((method) => all.has(method));
}

/** The methods of a chart in the order in which they get their colours, and those that it shows at first. */
function rankMethods({comparison, entries: ours, printed = []}, main) {
  const entries = [...printed, ...ours];
  const all = [...new Set(entries.map(({row}) => methodOf(row)))];
  const first = main.filter((method) => all.includes(method));
  const floors = new Set(entries.filter(({row}) => isFloor(row)).map(({row}) => methodOf(row)));
  return {
    floors,
    all: [...first, ...all.filter((method) => !first.includes(method) && !floors.has(method))],
    shown: new Set(!comparison && new Set(entries.map(({row}) => row.method)).size <= mostAtFirst ? all : [...first, ...floors]),
  };
}

/**
 * Rows that share a chart: one experiment and device, and one value of each axis besides the x axis and, for blocks,
 * the threads. What a paper has printed of the same quantity is drawn into every chart of its experiment. Where a paper
 * prints another quantity than the one that methods are compared by, a chart compares it with ours.
 */
function chartGroups(results, titles) {
  const groups = new Map();
  const put = (key, group, entry) => {
    if (!groups.has(key)) groups.set(key, {...group, entries: []});
    groups.get(key).entries.push(entry);
  };
  const all = results.rows.flatMap(linesOf).map((row) => ({row, figure: headline(row), x: xAxisOf(row)}))
    .filter(({figure: found}) => found && (found.value !== null));
  for (const entry of all.filter(({row, x}) => x && !isPublished(row))) {
    const {row, x} = entry;
    const others = otherAxes(row, x);
    put(JSON.stringify([row.experiment, row.device, x, others]),
        {title: [titles[row.device], ...inWords(others)].join(", "), experiment: row.experiment, x}, entry);
  }
  const comparisons = new Map();
  for (const entry of all.filter(({row}) => isPublished(row))) {
    const {row, x} = entry;
    const beside = [...groups.values()].filter((group) =>
      x && group.experiment === row.experiment && group.x === x && group.entries[0].figure.unit === entry.figure.unit &&
      headlineName(group.entries[0].row) === headlineName(row) && !isPublished(group.entries[0].row) &&
      sameWords(row, group.entries[0].row));
    for (const group of beside) {
      group.entries.push(entry);
      group.published = row.device.slice(published.length);
    }
    if (beside.length === 0) {
      const key = JSON.stringify([row.experiment, headlineName(row)]);
      if (!comparisons.has(key)) comparisons.set(key, []);
      comparisons.get(key).push(entry);
    }
  }
  for (const group of groups.values()) {
    if (group.published) group.title += `; dashed: published, on ${group.published}`;
  }
  const compared = [...comparisons.values()].flatMap((printed) => comparisonGroups(results, titles, printed, put));
  const experiments = [...new Set(results.rows.map((row) => row.experiment))];
  return experiments.flatMap((name) => [...groups.values(), ...compared].filter((group) => group.experiment === name));
}

/** Charts of one printed quantity beside ours, one for each device and kind of ours; where there is nothing of ours,
    the printed figures go into a chart over their own x axis, if they have one. */
function comparisonGroups(results, titles, printed, put) {
  const {row: first, figure: {unit}} = printed[0];
  const name = headlineName(first);
  const ours = results.rows.filter((row) => !isPublished(row) && row.experiment === first.experiment &&
    row.metrics[name]?.unit === unit && sameWords(first, row) &&
    (row.metrics[name].value !== null || (row.status === "ok" && rangeOf(row))));
  if (ours.length === 0) {
    for (const entry of printed.filter(({x}) => x)) {
      put(JSON.stringify([first.experiment, first.device, entry.x]),
          {title: titles[first.device], experiment: first.experiment, x: entry.x}, entry);
    }
    return [];
  }
  const groups = new Map();
  for (const row of ours) {
    const x = xAxisOf(row);
    const others = otherAxes(row, x);
    const key = JSON.stringify([row.device, x, others]);
    if (!groups.has(key)) {
      groups.set(key, {
        comparison: true, name, unit, experiment: first.experiment, x, printed,
        now: titles[row.device], then: first.device.slice(published.length), entries: [],
        title: `Then and now: ${rangeOf(row) ? row.axes.fit : name.replaceAll("_", " ")}`, detail: inWords(others).join(", "),
        bounds: results.rows.filter((each) => each.device === row.device && each.experiment === row.experiment &&
          typeof each.axes.blocks === "number").map((each) => each.axes.blocks),
      });
    }
    groups.get(key).entries.push({row, figure: row.metrics[name]});
  }
  return [...groups.values()];
}

/** What the x axis may show: the blocks at one block size, or all shapes; the fullest choice first. */
function choicesOf({entries, x}) {
  if (!areBlocks(x)) {
    return [{name: {groups: "work-groups", lane: "lanes"}[x] ?? x, entries,
             label: ({row}) => x === "bytes" ? bytesInWords(row.axes[x]) : String(row.axes[x]),
             rank: ({row}) => row.axes[x]}];
  }
  const noun = x === "blocks" ? "blocks" : "blocks per SM";
  const sizeOf = ({row}) => row.axes.threads ?? null;
  // Papers do not always say how large their blocks were; what they print is shown beside blocks of any size.
  const anySize = (entry) => isPublished(entry.row) && sizeOf(entry) === null;
  const measured = entries.filter((entry) => !anySize(entry));
  const sizes = [...new Set((measured.length > 0 ? measured : entries).map(sizeOf))];
  const choices = sizes.map((threads) => {
    const chosen = entries.filter((entry) => anySize(entry) || sizeOf(entry) === threads);
    return {
      name: threads === null ? noun : `${noun} of ${threads} thread${threads === 1 ? "" : "s"}`,
      entries: chosen,
      label: ({row}) => String(row.axes[x]),
      rank: ({row}) => row.axes[x],
    };
  });
  choices.sort((a, b) => b.entries.length - a.entries.length);
  if (sizes.length > 1) {
    choices.push({
      name: `${noun} × threads`,
      entries,
      label: ({row}) => `${row.axes[x]}×${row.axes.threads ?? "?"}`,
      rank: ({row}) => row.axes[x] * (row.axes.threads ?? 1) + row.axes[x] / 1e9,
    });
  }
  return choices;
}

/** Which of our shapes may stand beside the printed figures: the one nearest to theirs first. */
function comparedShapes({entries, x, printed}) {
  const shapes = new Map();
  for (const entry of entries) {
    const name = shapeOf(entry.row, x);
    if (!shapes.has(name)) shapes.set(name, {name, entries: [], at: x === undefined ? 1 : entry.row.axes[x]});
    shapes.get(name).entries.push(entry);
  }
  const theirs = printed[0].row.axes[x] ?? 1;
  const distance = ({at}) => Math.abs(Math.log(Math.max(at, 1) / Math.max(theirs, 1)));
  return [...shapes.values()].sort((a, b) => distance(a) - distance(b));
}

function labelsOf(choice) {
  const ranks = new Map(choice.entries.map((entry) => [choice.label(entry), choice.rank(entry)]));
  return [...ranks].sort((a, b) => a[1] - b[1]).map(([label]) => label);
}
