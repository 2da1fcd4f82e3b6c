// The number of clusters: evidence, half forests, and how clusters split as their number grows.
const EVIDENCE = [
  ["mean_rank", "Mean rank", fixed, "among the numbers, over the next columns up to “Valleys” (0: best by all; the lowest is chosen; none: ruled out by valleys)"],
  ["silhouette", "Distances", fixed, "how much nearer a row is to its own cluster than to the next, in the columns that trees use (silhouette, from −1 to 1)"],
  ["calinski_harabasz", "Variance ratio", measured, "variance between clusters over that within them, in the same columns (Calinski-Harabasz index)"],
  ["new_rows", "Other rows", fixed, "adjusted Rand index between forests of two halves of the rows (1: identical, 0: chance)"],
  ["valley_p_value", "Valleys", fixed, "p-value of the least clear valley of density between two clusters"],
  ["stability", "Stability", fixed, "adjusted Rand index between clusterings by halves of the forest, for the numbers that this page shows"],
  ["pac", "Ambiguous pairs", percent, "pairs that more than 10 % but less than 90 % of the half forests put together (PAC)"],
];

function drawNumber() {
  const { candidates, evidence, value, chosen, reason } = data.number;
  const known = EVIDENCE.filter(([key]) => evidence[key]?.some((entry) => entry !== null));
  find("number-reason").hidden = !chosen;
  find("number-reason").textContent = reason ?? "";
  find("number-text").textContent = chosen
    ? "The forest was cut into each of these numbers of clusters, and several measures ranked them. None of them uses known classes."
    : `The number of clusters, ${value}, was given. The same trees were cut into other numbers, too, and half forests say how decided they are.`;
  const charts = [
    candidateChart("Mean rank (less is better)", candidates, evidence.mean_rank ?? [], now.k),
    candidateChart("Stability between halves of the forest", candidates, evidence.stability, now.k),
    candidateChart("Ambiguous pairs (PAC; less is better)", candidates, evidence.pac, now.k),
    cdfChart(),
  ];
  find("number-charts").replaceChildren(...charts.filter((chart) => chart !== null));
  find("number-scroll").hidden = known.length === 0;
  const table = find("number-table");
  table.caption.textContent = `Evidence for each number of clusters; ${now.k}, which is shown, is shaded`;
  table.tHead.replaceChildren(make("tr", {}, heading("col", "Clusters"), ...known.map(([, title]) => make("th", { scope: "col", class: "number" }, title))));
  table.tBodies[0].replaceChildren(
    ...candidates.map((k, i) => {
      const note = k === value ? (chosen ? " (chosen)" : " (given)") : "";
      const cells = known.map(([key, , show]) => numberCell(show(evidence[key][i])));
      return make("tr", { class: k === now.k ? "chosen" : null }, heading("row", `${k}${note}`), ...cells);
    }),
  );
  find("number-note").textContent = known.length === 0 ? "" : `${known.map(([, title, , meaning]) => `${title}: ${meaning}`).join(". ")}.`;
}

// Which clusters split from which: a bar for each cluster, as wide as its rows, and bands between them.
function drawTree() {
  const tree = data.tree;
  find("tree").hidden = tree === null;
  if (tree === null) return;
  const [width, level, bar, left] = [640, 58, 18, 34];
  const total = tree.sizes[0].reduce((a, b) => a + b, 0);
  const most = Math.max(...tree.numbers);
  const gap = Math.min(14, 120 / most);
  const scale = (width - left - 10 - gap * (most - 1)) / total;
  const views = tree.numbers.map((k) => data.views.find((view) => view.k === k));
  const places = [];
  tree.sizes.forEach((sizes, i) => {
    const order = sizes.map((_, c) => c);
    if (i > 0) {
      const overlap = tree.overlaps[i - 1];
      const origin = (c) => overlap.map((line, p) => [line[c], p]).reduce((a, b) => (b[0] > a[0] ? b : a))[1];
      order.sort((a, b) => places[i - 1][origin(a)] - places[i - 1][origin(b)] || a - b);
    }
    const whole = total * scale + gap * (sizes.length - 1);
    let x = left + (width - left - 10 - whole) / 2;
    places.push([]);
    for (const c of order) {
      places[i][c] = x;
      x += sizes[c] * scale + gap;
    }
  });
  const height = level * (tree.numbers.length - 1) + bar + 8;
  const words = tree.splits.map((split) => `at ${tree.numbers[split.step + 1]}: ${split.parent} into ${split.children.join(", ")}`).join("; ");
  const svg = frame(`Tree of clusters for ${tree.numbers.join(", ")} clusters. ${words}.`, width, height);
  tree.overlaps.forEach((overlap, i) => {
    const [from, to] = [[...places[i]], [...places[i + 1]]];
    const byPlace = (row) => row.map((_, c) => c).sort((a, b) => row[a] - row[b]);
    for (const a of byPlace(places[i])) {
      for (const b of byPlace(places[i + 1])) {
        const wide = overlap[a][b] * scale;
        if (wide <= 0) continue;
        const [y0, y1] = [level * i + bar, level * (i + 1)];
        const mid = (y0 + y1) / 2;
        const d = `M${from[a]} ${y0}C${from[a]} ${mid} ${to[b]} ${mid} ${to[b]} ${y1}h${wide}C${to[b] + wide} ${mid} ${from[a] + wide} ${mid} ${from[a] + wide} ${y0}z`;
        svg.append(draw("path", { class: `band k${colourOf(b, views[i + 1])}`, d }));
        from[a] += wide;
        to[b] += wide;
      }
    }
  });
  tree.sizes.forEach((sizes, i) => {
    const on = tree.numbers[i] === now.k;
    svg.append(draw("text", { x: 4, y: level * i + 13, class: on ? "strong" : null }, String(tree.numbers[i])));
    sizes.forEach((size, c) => {
      const wide = Math.max(1, size * scale);
      svg.append(draw("rect", { class: `${on ? "node on" : "node"} k${colourOf(c, views[i])}`, x: places[i][c], y: level * i, width: wide, height: bar, rx: 2 }));
      if (wide > 14) svg.append(draw("text", { class: "on-node", x: places[i][c] + wide / 2, y: level * i + 13, "text-anchor": "middle" }, String(c)));
    });
  });
  find("tree-picture").replaceChildren(svg);
  find("tree-splits").replaceChildren(
    ...tree.splits.map((split) =>
      make("li", {}, `At ${tree.numbers[split.step + 1]} clusters, ${split.parent} splits into ${split.children.join(" and ")}`,
        ...(split.features.length ? [", by ", ...split.features.flatMap((name, i) => (i ? [", ", named(name)] : [named(name)]))] : []), ".")),
  );
}
