// The curves: what is chosen is drawn by Vega-Lite, and read out in a table at one x, by pointer or by slider.
// Drawn with Vega's interpreter of expressions (ast), since the page's policy forbids making code from strings.
(function () {
  const byId = (id) => document.getElementById(id);
  const { curves, arms, datasets } = JSON.parse(byId("curves").textContent);
  const specification = JSON.parse(byId("specification").textContent);
  const quantity = byId("quantity"), model = byId("model"), slider = byId("at"), plot = byId("plot");
  const boxes = [...document.querySelectorAll("#explore input[type=checkbox]")];
  let view = null, drawn = [], places = [], turn = 0;

  const checked = (kind) => new Set(boxes.filter((box) => box.name === kind && box.checked).map((box) => box.value));
  const curve = () => curves[Number(quantity.value)];
  const format = (value) => Number(value.toPrecision(4)).toString();

  function chooseQuantity() {
    const models = [...new Set(curve().rows.map((row) => row[2]))];
    model.replaceChildren(...models.map((name) => new Option(name, name)));
    for (const [kind, column] of [["arm", 0], ["dataset", 1]]) {
      const there = new Set(curve().rows.map((row) => row[column]));
      for (const box of boxes.filter((box) => box.name === kind)) box.closest("label").hidden = !there.has(box.value);
    }
    draw();
  }

  async function draw() {
    const shown = { arm: checked("arm"), dataset: checked("dataset") }, mine = ++turn;
    const logarithmic = document.querySelector("input[name=scale]:checked").value === "log";
    const rows = curve().rows
      .map(([arm, dataset, model, layers, x, value]) => ({ arm, dataset, model, layers, x, value }))
      .filter((row) => row.model === model.value && (!logarithmic || row.value > 0));
    places = [...new Set(rows.map((row) => row.x))].sort((a, b) => a - b);
    drawn = rows.filter((row) => shown.arm.has(row.arm) && shown.dataset.has(row.dataset));
    slider.max = places.length - 1;
    slider.value = Math.min(slider.value, slider.max);
    const spec = structuredClone(specification);
    spec.data.values = drawn;
    spec.params[0].value = places[slider.value];
    const encoding = spec.layer[0].encoding;
    encoding.x.axis.title = curve().x;
    if (places.every(Number.isInteger)) encoding.x.axis.tickMinStep = 1;
    encoding.y.axis.title = curve().y;
    const scale = logarithmic ? { type: "log" } : { type: "linear", zero: false };
    for (const layer of [spec.layer[0], spec.layer[2]]) layer.encoding.y.scale = scale;
    plot.setAttribute("aria-label", `${curve().title}, ${model.value}. The table below reads the curves out.`);
    const made = await vegaEmbed(byId("drawn"), spec, { mode: "vega-lite", renderer: "svg", actions: false, ast: true });
    if (mine !== turn) return made.finalize();
    if (view) view.finalize();
    view = made;
    view.view.addEventListener("pointermove", follow);
    readOut();
  }

  function follow(event) {
    const left = plot.querySelector("svg").getBoundingClientRect().left + view.view.origin()[0];
    const x = view.view.scale("x").invert(event.clientX - left);
    const away = places.map((place) => Math.abs(place - x));
    slider.value = away.indexOf(Math.min(...away));
    readOut();
  }

  function readOut() {
    const x = places[slider.value];
    byId("at-value").value = `${curve().x} = ${format(x)}`;
    slider.setAttribute("aria-valuetext", byId("at-value").value);
    const rows = drawn.filter((row) => row.x === x).map((row) => {
      const line = document.createElement("tr");
      for (const word of [row.arm, row.dataset, row.layers, format(row.value)]) line.insertCell().textContent = word;
      line.cells[0].style.color = arms.find((arm) => arm.name === row.arm).color;
      return line;
    });
    byId("readout").replaceChildren(...rows);
    if (view) view.view.signal("at", x).runAsync();
  }

  byId("explorer").hidden = false;
  quantity.addEventListener("change", chooseQuantity);
  slider.addEventListener("input", readOut);
  for (const input of [model, ...document.querySelectorAll("#explore input:not([type=range])")]) {
    input.addEventListener("change", draw);
  }
  chooseQuantity();
})();
