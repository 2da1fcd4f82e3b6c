// The table of rows: searching, sorting and saving.
const PAGE = 25;
const COLUMNS = [
  { key: "id", title: "Row", first: 1 },
  { key: "cluster", title: "Cluster", first: 1 },
  { key: "next", title: "Next cluster", first: 1 },
  { key: "membership", title: "Membership", first: 1, number: true },
  { key: "next_membership", title: "Next membership", first: -1, number: true },
  { key: "silhouette", title: "Silhouette", first: 1, number: true },
];

function createRows() {
  const listed = data.rows;
  const values = {
    ...listed,
    id: listed.ids === null ? listed.rows.map((row) => row + 1) : listed.ids,
  };
  const body = find("row-table").tBodies[0];
  const names = listed.rows.map((row, i) => String(rowName(row, listed.ids, i)));
  const lower = names.map((name) => name.toLowerCase());
  const order = new Intl.Collator("en", { numeric: true });
  let sorted = { key: null, direction: 1 };
  let most = PAGE;
  let matches = [];

  function compare(a, b) {
    const [x, y] = [values[sorted.key][a], values[sorted.key][b]];
    if (x === null || y === null) return (x === null) - (y === null);
    const difference = typeof x === "string" ? order.compare(x, y) : x - y;
    return sorted.direction * difference;
  }

  function refresh() {
    const text = find("rows-find").value.trim().toLowerCase();
    const cluster = find("rows-pick").value;
    matches = listed.rows
      .map((_, i) => i)
      .filter((i) => lower[i].includes(text) && (cluster === "" || listed.cluster[i] === Number(cluster)));
    if (sorted.key !== null) matches.sort((a, b) => compare(a, b) || a - b);
    show();
  }

  function show() {
    body.replaceChildren(...matches.slice(0, most).map(line));
    if (matches.length === 0) body.append(make("tr", {}, make("td", { colspan: COLUMNS.length }, "No row matches.")));
    const left = matches.length - Math.min(most, matches.length);
    find("rows-more").hidden = left === 0;
    find("rows-more").textContent = `Show ${count(Math.min(left, 4 * PAGE))} more`;
    find("rows-save").disabled = matches.length === 0;
    const found = matches.length === listed.rows.length ? plural(matches.length, "row") : `${plural(matches.length, "row")} found`;
    find("rows-count").textContent = left > 0 ? `${found}; the first ${count(most)} are shown.` : `${found}.`;
  }

  function line(i) {
    const next = listed.next[i];
    return make(
      "tr",
      {},
      heading("row", named(names[i])),
      cell(clusterNumber(listed.cluster[i])),
      cell(next === null ? NONE : clusterNumber(next)),
      numberCell(percent(listed.membership[i])),
      numberCell(percent(listed.next_membership[i])),
      make("td", { class: listed.silhouette[i] < 0 ? "number weak" : "number" }, fixed(listed.silhouette[i])),
    );
  }

  const heads = COLUMNS.map((column) => {
    const button = make("button", { type: "button" }, column.title);
    const head = make("th", { scope: "col", class: column.number ? "number" : null }, button);
    button.addEventListener("click", () => {
      const again = sorted.key === column.key;
      sorted = { key: column.key, direction: again ? -sorted.direction : column.first };
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", sorted.direction === 1 ? "ascending" : "descending");
      refresh();
    });
    return head;
  });
  find("row-table").tHead.rows[0].append(...heads);
  pickClusters(find("rows-pick"), "all clusters");
  find("rows-find").addEventListener("input", refresh);
  find("rows-pick").addEventListener("change", refresh);
  find("rows-more").addEventListener("click", () => {
    const first = most;
    most += 4 * PAGE;
    show();
    const next = body.rows[first];
    if (next) {
      next.tabIndex = -1;
      next.focus();
    }
  });
  find("rows-save").addEventListener("click", () => {
    const named_ = listed.ids === null ? [] : ["id"];
    const header = ["row", ...named_, "cluster", "next_cluster", "membership", "next_membership", "silhouette"];
    const keys = ["cluster", "next", "membership", "next_membership", "silhouette"];
    const lines = matches.map((i) => [
      listed.rows[i] + 1,
      ...(listed.ids === null ? [] : [listed.ids[i]]),
      ...keys.map((key) => listed[key][i]),
    ]);
    save("rows.csv", header, lines);
  });
  const every = listed.rows.length === listed.of;
  find("rows-text").textContent =
    (data.clusters.length === 1
      ? every
        ? "All rows are listed."
        : `The first ${count(listed.rows.length)} of ${count(listed.of)} rows are listed.`
      : (every ? "All rows are listed, " : `The ${count(listed.rows.length)} least sure of ${count(listed.of)} rows are listed, `) +
        "starting with those that might as well belong to another cluster. Membership: the share of the rows beside it in a tree " +
        "that are of the cluster, averaged over the trees. A doubtful row has its highest membership in another cluster.") +
    (data.run.numbered ? " Rows are numbered from 1." : "");
  refresh();
}

function createLabels() {
  const every = data.labels;
  const button = find("labels-save");
  const note = find("labels-note");
  if (every === null) {
    button.hidden = true;
    note.textContent = `The labels of all ${count(data.rows.of)} rows would make this page too large; they are in the forest's labels_.`;
    return;
  }
  note.hidden = !every.left_out;
  note.textContent = "The names of all rows would make this page too large: the download numbers them from 1.";
  button.addEventListener("click", () => {
    const raw = bytes(every.cells);
    const labels = every.width === 1 ? raw : new Uint32Array(raw.buffer);
    const lines = Array.from(labels, (label, i) => [every.ids === null ? i + 1 : every.ids[i], label]);
    save("labels.csv", [every.ids === null ? "row" : "id", "cluster"], lines);
  });
}
