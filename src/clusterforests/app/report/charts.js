// Small charts, drawn as SVG. Each also says in words what it shows.
const WIDTH = 310;
const HEIGHT = 170;
const EDGE = { left: 38, right: 10, top: 10, bottom: 34 };

function frame(label, width = WIDTH, height = HEIGHT) {
  return draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label });
}

function scales(domain, range, width = WIDTH, height = HEIGHT) {
  const inside = [EDGE.left, width - EDGE.right];
  const span = domain[1] - domain[0] || 1;
  const rise = range[1] - range[0] || 1;
  return {
    x: (value) => inside[0] + ((value - domain[0]) / span) * (inside[1] - inside[0]),
    y: (value) => height - EDGE.bottom - ((value - range[0]) / rise) * (height - EDGE.bottom - EDGE.top),
  };
}

function axes(svg, at, xs, ys, xTitle, showX, width = WIDTH, height = HEIGHT) {
  for (const value of ys) {
    svg.append(draw("line", { class: "grid", x1: EDGE.left, x2: width - EDGE.right, y1: at.y(value), y2: at.y(value) }));
    svg.append(draw("text", { x: EDGE.left - 7, y: at.y(value) + 4, "text-anchor": "end" }, showX(value, "y")));
  }
  const floor = height - EDGE.bottom;
  svg.append(draw("line", { class: "axis", x1: EDGE.left, x2: width - EDGE.right, y1: floor, y2: floor }));
  for (const value of xs) {
    svg.append(draw("text", { x: at.x(value), y: floor + 15, "text-anchor": "middle" }, showX(value, "x")));
  }
  svg.append(draw("text", { x: (EDGE.left + width - EDGE.right) / 2, y: height - 3, "text-anchor": "middle" }, xTitle));
}

function path(xs, ys, at) {
  let text = "";
  let open = false;
  xs.forEach((x, i) => {
    if (ys[i] === null) {
      open = false;
      return;
    }
    text += `${open ? "L" : "M"}${at.x(x).toFixed(1)} ${at.y(ys[i]).toFixed(1)}`;
    open = true;
  });
  return text;
}

// A value for each number of clusters.
function candidateChart(title, candidates, values, chosen) {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return null;
  const words = candidates.map((k, i) => `${k}: ${fixed(values[i])}`).join(", ");
  const svg = frame(`${title} by number of clusters. ${words}.`);
  const low = Math.min(0, ...known);
  const at = scales([candidates[0], candidates[candidates.length - 1]], [low, Math.max(1, ...known)]);
  const step = Math.ceil(candidates.length / 10);
  axes(svg, at, candidates.filter((_, i) => i % step === 0), [0, 0.5, 1], "number of clusters", (v) => String(v));
  svg.append(draw("path", { class: "line", d: path(candidates, values, at) }));
  candidates.forEach((k, i) => {
    if (values[i] === null) return;
    const on = k === chosen;
    svg.append(draw("circle", { class: on ? "dot on" : "dot", cx: at.x(k), cy: at.y(values[i]), r: on ? 5 : 3.5 }));
  });
  return make("figure", {}, make("figcaption", {}, title), svg);
}

// The distribution of pairs over half forests, a curve for each number of clusters.
function cdfChart() {
  const views = data.views.filter((view) => view.pairs !== null && view.k > 1);
  if (views.length === 0) return null;
  const words = views.map((view) => `${view.k} clusters: ${percent(view.pairs.pac)} ambiguous`).join(", ");
  const svg = frame(`Share of pairs of rows that at most a given share of half forests put together. ${words}.`);
  const at = scales([0, 1], [0, 1]);
  axes(svg, at, [0, 0.5, 1], [0, 0.5, 1], "share of half forests that put two rows together", (value) => String(value));
  const points = views[0].pairs.cdf.map((_, i, all) => i / (all.length - 1));
  for (const view of [...views.filter((other) => other !== now), ...views.filter((other) => other === now)]) {
    svg.append(draw("path", { class: view === now ? "line" : "line faint", d: path(points, view.pairs.cdf, at) }));
  }
  const rows = views[0].pairs.rows < data.run.rows ? ` (${count(views[0].pairs.rows)} rows drawn at random)` : "";
  return make("figure", {}, make("figcaption", {}, `Share of pairs of rows at or below; flat: the halves agree${rows}`), svg);
}

function histogram(counts) {
  const [width, height] = [460, 140];
  const total = counts.reduce((a, b) => a + b, 0);
  const below = counts.slice(0, counts.length / 2).reduce((a, b) => a + b, 0);
  const svg = frame(
    `Silhouettes of ${plural(total, "row")}, from −1 to 1: ${count(below)} below 0, ${count(total - below)} from 0.`,
    width,
    height,
  );
  const most = Math.max(...counts, 1);
  const at = scales([-1, 1], [0, most], width, height);
  const show = (value, axis) => (axis === "y" ? value.toLocaleString("en", { notation: "compact" }) : minus(String(value)));
  axes(svg, at, [-1, -0.5, 0, 0.5, 1], [0, most], "silhouette", show, width, height);
  counts.forEach((value, i) => {
    if (value === 0) return;
    const left = at.x(-1 + (2 * i) / counts.length);
    const wide = at.x(-1 + (2 * (i + 1)) / counts.length) - left - 1;
    const top = Math.min(at.y(value), at.y(0) - 1);
    const low = i < counts.length / 2;
    svg.append(draw("rect", { class: low ? "column low" : "column", x: left, width: wide, y: top, height: at.y(0) - top }));
  });
  return svg;
}
