// The page: figures are drawn when their section comes near, tables when they are opened, and the first figure of every
// section before the page is printed.

const widths = new ResizeObserver((entries) => {
  for (const {target} of entries) target.redraw();
});

/** A box for a figure that is drawn at once, and again when its width changes. */
function addFigure(container, number, spec, options) {
  const {made, box, draw, resize} = figureOf(number, spec, options);
  container.append(made);
  draw();
  box.redraw = resize;
  if (made.isConnected) widths.observe(box);
}

/** Draws a section's figures, or only the first of them. */
function drawSection(section, only = Infinity) {
  const container = section.querySelector(".figures"), number = Number(section.dataset.number);
  const specs = specsOf(number).slice(0, only);
  for (let i = Number(container.dataset.drawn ?? 0); i < specs.length; ++i) addFigure(container, number, specs[i]);
  const printed = only === Infinity ? printedOnly(number) : null;
  if (printed) container.append(printed);
  container.dataset.drawn = Math.max(Number(container.dataset.drawn ?? 0), specs.length);
  if (only === Infinity && !container.hasChildNodes()) container.replaceChildren(element("p", {class: "hint"}, "None of its rows has a number to draw: the table has what they say."));
  section.classList.add("drawn");
}

/** The one figure of a paper on the front page: the first of those that are marked, of an experiment that is there. */
function drawFront(container) {
  if (container.hasChildNodes()) return;
  for (const spec of shared.figures.filter((each) => each.front === container.dataset.paper)) {
    const number = shared.experiments.indexOf(spec.experiment);
    if (number < 0 || candidatesOf(experimentOf(number), spec.metrics ?? [spec.metric]).ours.length === 0) continue;
    addFigure(container, number, spec, {plain: true});
    if (container.hasChildNodes()) return;
  }
}

const near = new IntersectionObserver((entries) => {
  for (const {target, isIntersecting} of entries) {
    if (!isIntersecting) continue;
    near.unobserve(target);
    if (target.matches(".front")) drawFront(target); else drawSection(target);
  }
}, {rootMargin: "500px 0px"});

const sections = [...document.querySelectorAll("section.experiment")];
const fronts = [...document.querySelectorAll(".front")];
for (const each of [...fronts, ...sections]) near.observe(each);

function fillVerdicts(details, number) {
  const verdicts = JSON.parse(document.getElementById(`verdicts-${number}`).textContent);
  details.append(element("ul", {}, ...verdicts.map(([words, behind]) => element("li", {}, element("b", {}, words), ` ${behind}`))));
}

for (const section of sections) {
  for (const [name, fill] of [["rows", fillTable], ["verdicts", fillVerdicts]]) {
    const details = section.querySelector(`details.${name}`);
    details?.addEventListener("toggle", () => { if (details.open && details.children.length === 1) fill(details, Number(section.dataset.number)); });
  }
}

window.addEventListener("beforeprint", () => {
  for (const each of fronts) drawFront(each);
  for (const each of sections) drawSection(each, 1);
});
