// The sections of the page, from top to bottom. Those that depend on the number of clusters are drawn again as it changes.
const TRUSTED = 0.75;
const UNSTABLE = 0.6;
const FEW = 12; // columns, and clusters, shown at first

function fact(title, value, more = null) {
  return make("div", {}, make("dt", {}, title), make("dd", {}, value, more === null ? null : make("small", {}, more)));
}

function drawTop() {
  const { stability, clusters, k } = now;
  const ambiguous = clusters.reduce((sum, cluster) => sum + cluster.ambiguous, 0);
  const why = k !== data.chosen ? `${data.chosen} ${data.number.chosen ? "would be chosen" : "were requested"}` : data.number.chosen ? "chosen by the forest" : "as requested";
  find("answer").textContent = prose(now.answer);
  find("facts").replaceChildren(
    fact("Rows", count(data.run.rows)),
    fact("Columns", count(data.run.columns)),
    fact("Clusters", count(k), why),
  );
  if (stability.known && k > 1) {
    const range = `${fixed(stability.low)} to ${fixed(stability.high)}`;
    find("facts").append(fact("Stability", fixed(stability.mean), `${percent(stability.level)} of splits: ${range}`));
  }
  if (k > 1) find("facts").append(fact("Ambiguous rows", count(ambiguous), "highest membership elsewhere"));
  find("caveat-list").replaceChildren(...now.caveats.map((text) => make("li", {}, prose(text))));
  find("caveats").hidden = now.caveats.length === 0;
}

function drawContents() {
  const sections = [...document.querySelectorAll("main > section:not([hidden])")];
  find("contents").replaceChildren(
    ...sections.map((section) => make("li", {}, make("a", { href: `#${section.id}` }, section.querySelector("h2").textContent))),
  );
}

function drawDescription() {
  find("description").hidden = now.description.length === 0;
  const cards = now.description.map((told, c) =>
    make(
      "article",
      { class: `cluster e${colourOf(c)}` },
      make("h3", {}, clusterNumber(c), make("bdi", {}, told.name)),
      make("p", {}, make("bdi", {}, prose(told.text))),
      told.traits.length === 0 ? null : traitTable(told, c),
    ),
  );
  find("descriptions").replaceChildren();
  unfold(find("descriptions"), cards, find("descriptions-more"), "clusters");
  find("ambiguous").textContent = prose(now.ambiguous ?? "");
  find("description-note").textContent =
    "Numbers compare the cluster with all other rows: medians of numbers and dates, shares of levels. Effect: the chance that a row of the cluster is " +
    "above another row, less the chance that it is below (Cliff’s delta); of a level, the difference of the two shares. Only informative columns, and effects from " +
    `0.33 on, are mentioned. Recovered: the share of half forests with a cluster that shares at least 75 % of its rows with this one (Jaccard index).` +
    (data.features.rows < data.run.rows ? ` Measured on ${count(data.features.rows)} rows drawn at random.` : "");
}

function traitTable(told, c) {
  const lines = told.traits.map((trait) =>
    make(
      "tr",
      {},
      heading("row", titled(trait)),
      numberCell(trait.here),
      numberCell(trait.others),
      cell(meter(Math.abs(trait.effect), fixed(trait.effect))),
    ),
  );
  const head = make("tr", {}, heading("col", "Column"), make("th", { scope: "col", class: "number" }, "Here"), make("th", { scope: "col", class: "number" }, "Others"), heading("col", "Effect"));
  const table = make("table", {}, make("caption", { class: "hidden-text" }, `What tells cluster ${c} apart`), make("thead", {}, head), make("tbody", {}, ...lines));
  return make("details", {}, make("summary", {}, `The numbers behind it`, aloud(` (cluster ${c})`)), make("div", { class: "scroll" }, table));
}

function verdict(value) {
  if (value === null) return "";
  if (value >= TRUSTED) return "recovered";
  return value >= UNSTABLE ? "uncertain borders" : "not reliable";
}

function drawSure() {
  const { stability, clusters } = now;
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
        make("small", { class: cluster.stability !== null && cluster.stability < UNSTABLE ? "weak" : null }, verdict(cluster.stability)),
      ),
      cell(meter(cluster.membership, percent(cluster.membership))),
      cell(meter(cluster.silhouette, fixed(cluster.silhouette))),
      numberCell(count(cluster.ambiguous)),
    ),
  );
  find("clusters").tBodies[0].replaceChildren(...lines);
  const sample = stability.known && stability.rows < data.run.rows ? ` Here it is measured on ${count(stability.rows)} rows drawn at random.` : "";
  find("clusters-note").textContent =
    `Stability: how much of the cluster is recovered by half of the forest (Jaccard index).${sample} Membership: of the rows ` +
    "beside a row of the cluster in a tree, the share that is of the cluster too, on average. Silhouette: how far the membership " +
    "of a row in its own cluster is above that in the next, from −1 to 1; an ambiguous row is below 0. Where no tree joins rows of different clusters, membership is 100 % and silhouette 1.";
  const figure = find("silhouettes");
  figure.hidden = single;
  figure.querySelector("figcaption").textContent = "Rows by silhouette. Those left of 0 have their highest membership in another cluster.";
  figure.querySelector("svg")?.remove();
  if (!single) figure.append(histogram(now.silhouettes));
}

function drawBetween() {
  const table = find("between");
  find("between-scroll").hidden = now.between === null;
  if (now.between === null) return;
  const corner = cell(aloud("Cluster"));
  table.tHead.replaceChildren(make("tr", {}, corner, ...now.between.map((_, c) => make("th", { scope: "col", class: "number" }, chip(c), String(c)))));
  table.tBodies[0].replaceChildren(
    ...now.between.map((line, c) => make("tr", {}, heading("row", chip(c), String(c)), ...line.map((share) => numberCell(percent(share))))),
  );
}

function drawFeatures() {
  const { features, rows, n_columns, informative } = data.features;
  find("features-text").textContent =
    now.k === 1
      ? "With a single cluster there is nothing to distinguish; the table shows which columns are associated with others."
      : "The informative columns, by a test that compares each with clusters found without it.";
  const body = find("feature-table").tBodies[0];
  const lines = features.map((column, j) => {
    const tells = column.importance !== null && column.importance > 0;
    const noise = column.used ? "not informative" : "not informative, left out";
    return make(
      "tr",
      { class: tells ? null : "noise" },
      heading("row", titled(column)),
      cell(tells ? meter(column.importance, percent(column.importance)) : column.importance === null ? NONE : noise),
      make("td", { class: "nowrap" }, chance(column.p_value)),
      cell(meter(now.shares[j], percent(now.shares[j]))),
    );
  });
  body.replaceChildren();
  unfold(body, lines, find("features-more"), "columns");
  const notes = [
    "Importance: the share of the column's variance that lies between clusters found without it, beyond chance. The p-value is the " +
      "probability that a column which has nothing to do with the others does as well. Columns of noise that are associated with each other " +
      "pass too. The last column of the table is no test: clusters differ in the columns they were made from, even if these are noise.",
  ];
  if (lines.length < n_columns) {
    const others = informative === null ? "" : informative > lines.length ? `; ${count(informative)} are informative` : "; none of the others is";
    notes.push(`The first ${lines.length} of ${count(n_columns)} columns are listed${others}.`);
  }
  if (rows < data.run.rows) notes.push(`Variances are from ${count(rows)} rows drawn at random.`);
  find("features-note").textContent = notes.join(" ");
}

// Show the first few, and a button for the rest.
function unfold(place, parts, button, what) {
  const first = parts.length <= FEW + 3 ? parts.length : FEW;
  place.append(...parts.slice(0, first));
  button.hidden = parts.length <= first;
  button.textContent = `Show all ${count(parts.length)} ${what}`;
  button.onclick = () => {
    place.append(...parts.slice(first));
    button.hidden = true;
  };
}

function drawTruth() {
  find("truth").hidden = data.truth === null;
  if (data.truth === null) return;
  const truth = data.truth[data.views.indexOf(now)];
  find("truth-text").textContent =
    `${plural(truth.rows, "row")} had a known class (${truth.n_classes === 1 ? "1 class" : `${count(truth.n_classes)} classes`}). ` +
    "The classes were used only for this comparison, not for the clustering.";
  find("truth-facts").replaceChildren(
    fact("Adjusted Rand index", fixed(truth.adjusted_rand_index, 3), "1: identical, 0: chance"),
    fact("Rand index", fixed(truth.rand_index, 3), "share of pairs that agree"),
    fact("Accuracy", fixed(truth.accuracy, 3), "share of rows, clusters matched to classes"),
  );
  find("truth-scroll").hidden = truth.counts === null;
  if (truth.counts === null) return;
  const table = find("truth-table");
  table.tHead.replaceChildren(make("tr", {}, cell(aloud("Cluster")), ...truth.classes.map((name) => make("th", { scope: "col", class: "number" }, named(name)))));
  table.tBodies[0].replaceChildren(
    ...truth.counts.map((line, c) => make("tr", {}, heading("row", clusterName(c)), ...line.map((value) => numberCell(count(value))))),
  );
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
