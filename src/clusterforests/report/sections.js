// The sections of the page, from top to bottom.
const TRUSTED = 0.75;
const DOUBTFUL = 0.6;
const FEW = 12; // columns, and profiles of clusters, shown at first

function fact(title, value, more = null) {
  return make("div", {}, make("dt", {}, title), make("dd", {}, value, more === null ? null : make("small", {}, more)));
}

function createTop() {
  const { run, stability, clusters } = data;
  const doubtful = clusters.reduce((sum, cluster) => sum + cluster.doubtful, 0);
  find("facts").append(
    fact("Rows", count(run.rows)),
    fact("Columns", count(run.columns)),
    fact("Clusters", count(clusters.length), data.number?.chosen ? "chosen by the forest" : "as requested"),
  );
  if (stability.known && clusters.length > 1) {
    const range = `${fixed(stability.low)} to ${fixed(stability.high)}`;
    find("facts").append(fact("Stability", fixed(stability.mean), `${percent(stability.level)} of splits: ${range}`));
  }
  if (clusters.length > 1) find("facts").append(fact("Doubtful rows", count(doubtful), "highest membership elsewhere"));
  for (const section of document.querySelectorAll("main > section:not([hidden])")) {
    const title = section.querySelector("h2").textContent;
    find("contents").append(make("li", {}, make("a", { href: `#${section.id}` }, title)));
  }
  find("caution-list").append(...data.cautions.map((text) => make("li", {}, text)));
  find("cautions").hidden = data.cautions.length === 0;
}

function verdict(value) {
  if (value === null) return "";
  if (value >= TRUSTED) return "found again";
  return value >= DOUBTFUL ? "uncertain borders" : "not reliable";
}

function createSure() {
  const { stability, clusters } = data;
  const single = clusters.length === 1;
  find("sure-text").textContent = single
    ? "With a single cluster there is nothing to be unsure of."
    : stability.known
      ? `The ${count(stability.trees)} trees were split at random into two halves, ${stability.splits} times, and each half ` +
        `was clustered on its own. The adjusted Rand index between the two clusterings is ${fixed(stability.mean)} on average ` +
        `(1: identical, 0: chance); ${percent(stability.level)} of the splits lie between ${fixed(stability.low)} and ` +
        `${fixed(stability.high)}.`
      : `How stable the clusters are is not known. ${stability.reason}`;
  const lines = clusters.map((cluster, c) =>
    make(
      "tr",
      {},
      heading("row", clusterName(c)),
      numberCell(count(cluster.size)),
      cell(
        meter(cluster.stability, fixed(cluster.stability)),
        " ",
        make("small", { class: cluster.stability !== null && cluster.stability < DOUBTFUL ? "weak" : null }, verdict(cluster.stability)),
      ),
      cell(meter(cluster.membership, percent(cluster.membership))),
      cell(meter(cluster.silhouette, fixed(cluster.silhouette))),
      numberCell(count(cluster.doubtful)),
    ),
  );
  find("clusters").tBodies[0].append(...lines);
  const sample = stability.known && stability.rows < data.run.rows ? ` Here it is measured on ${count(stability.rows)} rows drawn at random.` : "";
  find("clusters-note").textContent =
    `Stability: how much of the cluster is found again by half of the forest (Jaccard index).${sample} Membership: of the rows ` +
    "beside a row of the cluster in a tree, the share that is of the cluster too, on average. Silhouette: how far the membership " +
    "of a row in its own cluster is above that in the next, from −1 to 1; a doubtful row is below 0. Where no tree joins rows of different clusters, membership is 100 % and silhouette 1.";
  const figure = find("silhouettes");
  figure.hidden = single;
  figure.querySelector("figcaption").textContent = "Rows by silhouette. Those left of 0 have their highest membership in another cluster.";
  if (!single) figure.append(histogram(data.silhouettes));
}

function createBetween() {
  const table = find("between");
  find("between-scroll").hidden = data.between === null;
  if (data.between === null) return;
  const corner = cell(aloud("Cluster"));
  table.tHead.append(make("tr", {}, corner, ...data.between.map((_, c) => make("th", { scope: "col", class: "number" }, chip(c), String(c)))));
  data.between.forEach((line, c) => {
    table.tBodies[0].append(make("tr", {}, heading("row", chip(c), String(c)), ...line.map((share) => numberCell(percent(share)))));
  });
}

function valueOf(column, value) {
  return column.level === null ? measured(value) : percent(value);
}

function createFeatures() {
  const { features, clusters, rows, n_columns, tell } = data.features;
  const single = data.clusters.length === 1;
  find("features-text").textContent = single
    ? "With a single cluster there is nothing to distinguish; the table shows which columns go with the others."
    : "For each cluster, the columns that set it apart most: the share of a column's variance that lies between the cluster and " +
      "the rest (100 % separates them perfectly). Arrows say whether the cluster is above or below the mean of all rows.";
  const profiles = clusters.map((columns, c) => {
    const table = make(
      "table",
      {},
      make("caption", {}, clusterName(c), ` – ${plural(data.clusters[c].size, "row")}`),
      make("thead", {}, make("tr", {}, heading("col", "Column"), heading("col", "Here"), heading("col", "All rows"), heading("col", "Separation"))),
      make("tbody", {}, ...columns.map((column) => profileLine(column))),
    );
    return make("div", { class: "profile scroll" }, table);
  });
  unfold(find("profiles"), profiles, find("profiles-more"), "clusters");
  const body = find("feature-table").tBodies[0];
  const lines = features.map((column) => {
    const tells = column.importance !== null && column.importance > 0;
    const noise = column.usable ? "does not tell" : "does not tell, left out";
    return make(
      "tr",
      { class: tells ? null : "noise" },
      heading("row", titled(column)),
      cell(tells ? meter(column.importance, percent(column.importance)) : column.importance === null ? NONE : noise),
      make("td", { class: "nowrap" }, chance(column.p_value)),
      cell(meter(column.share, percent(column.share))),
    );
  });
  unfold(body, lines, find("features-more"), "columns");
  const notes = [
    "Importance: the share of the column's variance that lies between clusters found without it, beyond chance. The p-value is the " +
      "probability that a column which has nothing to do with the others does as well. Columns of noise that go with each other " +
      "pass too. The last column of the table is no test: clusters differ in the columns they were made from, even if these are noise.",
  ];
  if (lines.length < n_columns) {
    const others = tell === null ? "" : tell > lines.length ? `; ${count(tell)} tell` : "; none of the others tells";
    notes.push(`The first ${lines.length} of ${count(n_columns)} columns are listed${others}.`);
  }
  if (rows < data.run.rows) notes.push(`Variance and means are from ${count(rows)} rows drawn at random.`);
  find("features-note").textContent = notes.join(" ");
}

// Show the first few, and a button for the rest.
function unfold(place, parts, button, what) {
  place.append(...parts.slice(0, FEW));
  button.hidden = parts.length <= FEW;
  button.textContent = `Show all ${count(parts.length)} ${what}`;
  button.addEventListener("click", () => {
    place.append(...parts.slice(FEW));
    button.hidden = true;
  });
}

function profileLine(column) {
  const up = column.direction > 0;
  return make(
    "tr",
    {},
    heading("row", titled(column)),
    make("td", { class: `nowrap ${up ? "up" : "down"}` }, aloud(up ? "higher: " : "lower: "), valueOf(column, column.inside)),
    make("td", { class: "nowrap" }, valueOf(column, column.mean)),
    cell(meter(column.share, percent(column.share))),
  );
}

const EVIDENCE = [
  ["mean_rank", "Mean rank", fixed, "among the numbers, over the next columns up to “Valleys” (0: best by all; the lowest is chosen; none: ruled out by valleys)"],
  ["silhouette", "Distances", fixed, "how much nearer a row is to its own cluster than to the next, in the columns that trees use (silhouette, from −1 to 1)"],
  ["calinski_harabasz", "Variance ratio", measured, "variance between clusters over that within them, in the same columns (Calinski-Harabasz index)"],
  ["new_rows", "Other rows", fixed, "adjusted Rand index between forests of two halves of the rows (1: identical, 0: chance)"],
  ["valley_p_value", "Valleys", fixed, "p-value of the least clear valley of density between two clusters"],
  ["stability", "Stability", fixed, "adjusted Rand index between clusterings by halves of the forest, for the numbers next to the chosen one"],
  ["pac", "Ambiguous pairs", percent, "pairs that more than 10 % but less than 90 % of the half forests put together (PAC)"],
];

function createNumber() {
  const found = data.number;
  find("number").hidden = found === null;
  if (found === null) return;
  find("number-reason").hidden = !found.chosen;
  if (!found.chosen) {
    find("number-scroll").hidden = true;
    find("number-text").textContent =
      `The number of clusters, ${found.value}, was given, so no other was tried. How decided the forest is can still be seen ` +
      `from pairs of rows: ${percent(found.pac)} of them are put together by more than 10 % but less than 90 % of the half forests ` +
      "(the proportion of ambiguous clustering, PAC).";
    find("number-charts").append(distributionChart(found.points, found.cdf));
    find("number-note").textContent =
      "A curve that rises at both ends and is flat in between means that the halves agree which rows are together." +
      (found.rows < data.run.rows ? ` Measured on ${count(found.rows)} rows drawn at random.` : "");
    return;
  }
  const { candidates, evidence, value } = found;
  find("number-reason").textContent = found.reason;
  const judged = evidence.mean_rank.some((rank) => rank !== null);
  find("number-scroll").hidden = !judged;
  find("number-text").textContent = judged
    ? "The forest was cut into each of these numbers of clusters, and several measures ranked them. None of them uses known classes."
    : "No other number was judged.";
  if (!judged) return;
  const charts = [
    candidateChart("Mean rank (less is better)", candidates, evidence.mean_rank, value),
    candidateChart("Stability between halves of the forest", candidates, evidence.stability, value),
    candidateChart("Ambiguous pairs (PAC; less is better)", candidates, evidence.pac, value),
  ];
  find("number-charts").append(...charts.filter((chart) => chart !== null));
  const table = find("number-table");
  table.caption.textContent = "Evidence for each number of clusters; the chosen one is shaded";
  table.tHead.append(make("tr", {}, heading("col", "Clusters"), ...EVIDENCE.map(([, title]) => make("th", { scope: "col", class: "number" }, title))));
  candidates.forEach((k, i) => {
    const cells = EVIDENCE.map(([key, , show]) => numberCell(show(evidence[key][i])));
    const name = heading("row", String(k), k === value ? aloud(" (chosen)") : null);
    table.tBodies[0].append(make("tr", { class: k === value ? "chosen" : null }, name, ...cells));
  });
  find("number-note").textContent = `${EVIDENCE.map(([, title, , meaning]) => `${title}: ${meaning}`).join(". ")}.`;
}

function createTruth() {
  const truth = data.truth;
  if (truth === null) return;
  find("truth").hidden = false;
  find("truth-text").textContent =
    `${plural(truth.rows, "row")} had a known class (${truth.n_classes === 1 ? "1 class" : `${count(truth.n_classes)} classes`}). ` +
    "The classes were used only for this comparison, not for the clustering.";
  find("truth-facts").append(
    fact("Adjusted Rand index", fixed(truth.adjusted_rand_index, 3), "1: identical, 0: chance"),
    fact("Rand index", fixed(truth.rand_index, 3), "share of pairs that agree"),
    fact("Accuracy", fixed(truth.accuracy, 3), "share of rows, clusters matched to classes"),
  );
  find("truth-scroll").hidden = truth.counts === null;
  if (truth.counts === null) return;
  const table = find("truth-table");
  table.tHead.append(make("tr", {}, cell(aloud("Cluster")), ...truth.classes.map((name) => make("th", { scope: "col", class: "number" }, named(name)))));
  truth.counts.forEach((line, c) => {
    table.tBodies[0].append(make("tr", {}, heading("row", clusterName(c)), ...line.map((value) => numberCell(count(value)))));
  });
}

function createRun() {
  const { run } = data;
  const seed = run.random_state === null ? "no random_state" : `random_state ${run.random_state}`;
  const time = run.seconds === null ? "" : ` The fit took ${Number(run.seconds.toPrecision(2))} seconds.`;
  find("run-text").textContent =
    `A cluster forest of ${plural(run.trees, "tree")} on ${plural(run.rows, "row")} and ${plural(run.columns, "column")}, with ` +
    `${seed}, by clusterforests ${run.version}.${time}`;
  const lines = find("run-lines");
  if (run.command !== null) lines.append(make("h3", {}, "Repeat it on the command line"), make("pre", {}, make("code", {}, run.command)));
  lines.append(make("h3", {}, "Repeat it in Python"), make("pre", {}, make("code", {}, run.python)));
  find("settings").tBodies[0].append(
    ...run.settings.map((setting) => make("tr", {}, heading("row", make("code", {}, setting.name)), cell(named(setting.value)), cell(setting.reason))),
  );
  find("footer").textContent = `Written by clusterforests ${run.version}. This file contains everything it shows and loads nothing.`;
}

function createTheme(repaint) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  const apply = (name) => {
    document.documentElement.dataset.theme = name;
    find("theme").textContent = name === "dark" ? "Light" : "Dark";
    find("theme").setAttribute("aria-label", `Switch to ${name === "dark" ? "light" : "dark"} colours`);
    repaint();
  };
  const usual = () => chosen ?? (dark.matches ? "dark" : "light");
  find("theme").addEventListener("click", () => {
    chosen = theme() === "dark" ? "light" : "dark";
    apply(chosen);
  });
  dark.addEventListener("change", () => apply(usual()));
  addEventListener("beforeprint", () => apply("light"));
  addEventListener("afterprint", () => apply(usual()));
  apply(usual());
}

createTruth();
createTop();
createSure();
createBetween();
createFeatures();
createRows();
createLabels();
createNumber();
createRun();
document.documentElement.dataset.theme = "light";
const map = createMap();
createTheme(() => map.colour());
watchScrolling();
