// Columns: small histograms or bars for each cluster, and how each column was read.
const LINE = 26; // height of the histogram of a cluster
const WIDE = 300;

function middle(counts, edges) {
  const half = counts.reduce((a, b) => a + b, 0) / 2;
  let sum = 0;
  const at = counts.findIndex((value) => (sum += value) >= half);
  return half === 0 ? null : (edges[at] + edges[at + 1]) / 2;
}

function ridge(column, counts) {
  const height = LINE * counts.length + 22;
  const show = (value) => (column.kind === "date" && value !== null ? new Date(value * 864e5).toISOString().slice(0, 10) : measured(value));
  const words = counts.map((line, c) => `cluster ${c} about ${show(middle(line, column.edges))}`).join(", ");
  const svg = frame(`${column.name}, median of each cluster: ${words}.`, WIDE, height);
  counts.forEach((line, c) => {
    const total = line.reduce((a, b) => a + b, 0) || 1;
    const most = Math.max(...line) / total;
    const floor = LINE * (c + 1);
    const step = (WIDE - 22) / line.length;
    svg.append(draw("text", { x: 0, y: floor - 4 }, String(c)));
    svg.append(draw("line", { class: "grid", x1: 18, x2: WIDE, y1: floor, y2: floor }));
    line.forEach((value, i) => {
      if (value === 0) return;
      const tall = Math.max(1, ((LINE - 4) * (value / total)) / most);
      svg.append(draw("rect", { class: `k${colourOf(c)}`, x: (18 + step * i).toFixed(1), y: (floor - tall).toFixed(1), width: Math.max(1, step - 1).toFixed(1), height: tall.toFixed(1) }));
    });
  });
  svg.append(draw("text", { x: 18, y: height - 5 }, column.labels[0]));
  svg.append(draw("text", { x: WIDE, y: height - 5, "text-anchor": "end" }, column.labels[1]));
  return svg;
}

function stacked(column, counts) {
  const lines = counts.map((line, c) => {
    const total = line.reduce((a, b) => a + b, 0) || 1;
    const parts = line.map((value, i) => {
      const part = make("i", { class: `level l${i}`, title: `${column.labels[i]}: ${percent(value / total)}` });
      part.style.width = `${(100 * value) / total}%`;
      return part;
    });
    const words = line.map((value, i) => `${column.labels[i]} ${percent(value / total)}`).join(", ");
    return make("div", { class: "stack" }, clusterNumber(c), make("span", { class: "bar", role: "img", "aria-label": `Cluster ${c}: ${words}` }, ...parts));
  });
  const key = make("ul", { class: "key" }, ...column.labels.map((label, i) => make("li", {}, make("i", { class: `level l${i}`, "aria-hidden": "true" }), named(label))));
  return make("div", {}, ...lines, key);
}

function drawHistograms() {
  const cards = now.counts.map((counts, j) => {
    const column = data.columns[j];
    const missing = column.missing > 0 ? make("small", {}, ` ${percent(column.missing, 1)} missing`) : null;
    const picture = column.edges === null ? stacked(column, counts) : ridge(column, counts);
    return make("figure", { class: "card" }, make("figcaption", {}, named(column.name), missing), picture);
  });
  find("histograms").replaceChildren();
  unfold(find("histograms"), cards, find("histograms-more"), "columns");
  find("histograms-text").hidden = cards.length === 0;
  const listed = new Set(data.features.features.map((feature) => feature.name)).size;
  find("histograms-text").textContent =
    `How the values of ${cards.length < listed ? `the first ${cards.length}` : "the"} columns lie in each cluster, ` +
    "the most informative first. Each line is a cluster, drawn to its own height.";
}

function createReadings() {
  const readings = data.readings;
  find("columns").hidden = readings.length === 0;
  if (readings.length === 0) return;
  const used = readings.filter((reading) => reading.used).length;
  find("columns-text").textContent =
    used === readings.length
      ? `All ${count(used)} columns were used.`
      : `${count(used)} of ${count(readings.length)} columns were used; the others were left out for the reasons below.`;
  const shown = readings.some((reading) => reading.examples.length); // saved models keep no cells
  find("reading-table").tHead.rows[0].lastElementChild.hidden = !shown;
  const lines = readings.map((reading) =>
    make(
      "tr",
      { class: reading.used ? null : "noise" },
      heading("row", named(reading.name)),
      cell(reading.kind + (reading.unit ? ` (${reading.unit})` : ""), reading.used ? null : make("small", {}, " left out")),
      cell([reading.reason, ...reading.notes].join(". ")),
      ...(shown ? [cell(...reading.examples.map((text, i) => make("span", { class: "example" }, named(text), i + 1 < reading.examples.length ? ", " : "")))] : []),
    ),
  );
  unfold(find("reading-table").tBodies[0], lines, find("readings-more"), "columns");
}
