// A map of rows: near points are rows that many trees put together. Colours and shapes are the clusters.
const SHAPES = [
  (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`,
  (x, y, r) => `M${x - 0.88 * r} ${y - 0.88 * r}h${1.76 * r}v${1.76 * r}h${-1.76 * r}z`,
  (x, y, r) => `M${x} ${y - 1.2 * r}l${1.1 * r} ${2 * r}h${-2.2 * r}z`,
  (x, y, r) => `M${x} ${y - 1.25 * r}l${1.25 * r} ${1.25 * r}l${-1.25 * r} ${1.25 * r}l${-1.25 * r} ${-1.25 * r}z`,
];
const SIDE = 560;
const MARGIN = 14;

function createPoints() {
  const { rows, ids, x, y, steps } = data.points;
  const [box, readout] = [find("points-frame"), find("points-readout")];
  const reach = (values) => values.reduce((most, value) => Math.max(most, value), 0) / steps;
  const tall = Math.max(reach(y), 0.5) * SIDE; // as high as it must be
  const scale = SIDE - 2 * MARGIN;
  const [left, top] = [(SIDE - scale * reach(x)) / 2, (tall - scale * reach(y)) / 2 + MARGIN];
  const places = rows.map((_, i) => [left + scale * (x[i] / steps), top + scale * (y[i] / steps)]);
  const svg = draw("svg", { viewBox: `0 0 ${SIDE} ${tall + 2 * MARGIN}`, "aria-hidden": "true" });
  const marks = places.map(() => draw("path"));
  const ring = draw("circle", { class: "ring", r: 8 });
  svg.append(...marks, ring);
  box.append(svg);
  let picked = null;

  function tell() {
    ring.style.visibility = picked === null ? "hidden" : "visible";
    if (picked !== null) attach(ring, { cx: places[picked][0], cy: places[picked][1] }, []);
    if (picked === null) {
      readout.replaceChildren("Point at the map, or move through it with the arrow keys, to read a row.");
      return;
    }
    const cluster = now.points[picked];
    readout.replaceChildren(
      make("strong", {}, named(rowName(rows[picked], ids, picked))),
      make("span", {}, clusterName(cluster), now.description.length ? `: ${now.description[cluster].name}` : ""),
      make("span", {}, `membership ${now.point_memberships[picked]} %`),
    );
  }

  function nearest(event) {
    const edge = svg.getBoundingClientRect();
    const at = [event.clientX - edge.left, event.clientY - edge.top].map((pixel) => (pixel / edge.width) * SIDE);
    const gaps = places.map((place) => (place[0] - at[0]) ** 2 + (place[1] - at[1]) ** 2);
    const best = gaps.indexOf(Math.min(...gaps));
    return gaps[best] < 30 ** 2 ? best : null;
  }

  // From a row to the nearest one in the direction of an arrow.
  function step(dx, dy) {
    const from = places[picked];
    let best = picked;
    let least = Infinity;
    places.forEach((place, i) => {
      const [u, v] = [place[0] - from[0], place[1] - from[1]];
      const [along, aside] = [u * dx + v * dy, Math.abs(u * dy) + Math.abs(v * dx)];
      if (along > 0.01 && along + 2 * aside < least) [best, least] = [i, along + 2 * aside];
    });
    return best;
  }

  svg.addEventListener("pointermove", (event) => {
    picked = nearest(event);
    tell();
  });
  svg.addEventListener("pointerdown", (event) => {
    picked = nearest(event);
    tell();
  });
  svg.addEventListener("pointerleave", () => {
    if (document.activeElement !== box) picked = null;
    tell();
  });
  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  box.addEventListener("keydown", (event) => {
    if (!(event.key in moves) || event.ctrlKey || event.metaKey || event.altKey) return;
    picked = picked === null ? 0 : step(...moves[event.key]);
    tell();
    event.preventDefault();
  });

  function paint() {
    marks.forEach((mark, i) => {
      const colour = colourOf(now.points[i]);
      attach(mark, {
        class: `mark k${colour}`,
        d: SHAPES[colour % 4](...places[i], 4),
        "fill-opacity": (0.25 + 0.65 * (now.point_memberships[i] / 100)).toFixed(2),
      }, []);
    });
    const shown = rows.length === data.run.rows ? "All rows are shown." : `It shows ${count(rows.length)} of ${count(data.run.rows)} rows, drawn at random.`;
    find("points-text").textContent =
      "Each point is a row. Rows that many trees put together lie near each other; how far apart distant groups lie says little " +
      `(t-SNE of the shares of trees). Paler rows have a lower membership. ${shown}`;
    find("points-legend").replaceChildren(
      ...now.clusters.map((cluster, c) =>
        make("li", {}, legendMark(c), `${c}${now.description.length ? `: ${now.description[c].name}` : ""} `, make("small", {}, plural(cluster.size, "row")))),
    );
    tell();
  }

  function legendMark(cluster) {
    const colour = colourOf(cluster);
    return draw("svg", { viewBox: "0 0 12 12", width: 12, height: 12, "aria-hidden": "true", class: "legend-mark" },
      draw("path", { class: `mark k${colour}`, d: SHAPES[colour % 4](6, 6, 4) }));
  }
  return paint;
}
