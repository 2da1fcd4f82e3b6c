// The table of rows: searching all of them, sorting and saving.
const PAGE = 25;
const COLUMNS = [
  { key: "name", title: "Row", first: 1 },
  { key: "cluster", title: "Cluster", first: 1 },
  { key: "next", title: "Next cluster", first: 1 },
  { key: "membership", title: "Membership", first: 1, number: true },
  { key: "next_membership", title: "Next membership", first: -1, number: true },
  { key: "silhouette", title: "Silhouette", first: 1, number: true },
];

function createRows() {
  const { rows: kept, ids, parts, of, all } = data.rows;
  const n = now.rows.cluster.length;
  const body = find("row-table").tBodies[0];
  const collator = new Intl.Collator("en", { numeric: true });
  const rowNumber = (i) => (kept === null ? i : kept[i]) + 1;
  const name = (i) => (ids === null ? String(rowNumber(i)) : ids[i]);
  const lower = ids === null ? null : ids.map((text) => text.toLowerCase());
  const silhouettes = new Float32Array(n);
  let sorted = { key: "silhouette", direction: 1 };
  let most = PAGE;
  let matches = [];

  const values = {
    cluster: (i) => now.rows.cluster[i],
    next: (i) => (now.rows.next[i] === now.rows.cluster[i] ? -1 : now.rows.next[i]),
    membership: (i) => now.rows.membership[i] / parts,
    next_membership: (i) => (values.next(i) < 0 ? 0 : now.rows.next_membership[i] / parts),
    silhouette: (i) => silhouettes[i],
  };

  function compare(a, b) {
    if (sorted.key === "name") return sorted.direction * (ids === null ? a - b : collator.compare(ids[a], ids[b]));
    const value = values[sorted.key];
    return sorted.direction * (value(a) - value(b)) || values.membership(a) - values.membership(b);
  }

  function refresh() {
    const text = find("rows-find").value.trim().toLowerCase();
    const cluster = find("rows-pick").value;
    matches = [];
    for (let i = 0; i < n; i += 1) {
      if (cluster !== "" && now.rows.cluster[i] !== Number(cluster)) continue;
      if (text === "" || (lower === null ? name(i) : lower[i]).includes(text)) matches.push(i);
    }
    matches.sort((a, b) => compare(a, b) || a - b);
    const exact = matches.findIndex((i) => name(i).toLowerCase() === text);
    if (exact > 0 && sorted.key === "silhouette") matches.unshift(...matches.splice(exact, 1)); // the row itself first
    show();
  }

  function show() {
    body.replaceChildren(...matches.slice(0, most).map(line));
    if (matches.length === 0) body.append(make("tr", {}, make("td", { colspan: COLUMNS.length }, "No row matches.")));
    const left = matches.length - Math.min(most, matches.length);
    find("rows-more").hidden = left === 0;
    find("rows-more").textContent = `Show ${count(Math.min(left, 4 * PAGE))} more`;
    find("rows-save").disabled = matches.length === 0;
    const found = matches.length === n ? plural(n, "row") : `${plural(matches.length, "row")} found`;
    find("rows-count").textContent = left > 0 ? `${found}; the first ${count(most)} are shown.` : `${found}.`;
  }

  function line(i) {
    const next = values.next(i);
    return make(
      "tr",
      {},
      heading("row", named(name(i))),
      cell(clusterNumber(values.cluster(i))),
      cell(next < 0 ? NONE : clusterNumber(next)),
      numberCell(percent(values.membership(i))),
      numberCell(next < 0 ? NONE : percent(values.next_membership(i))),
      make("td", { class: silhouettes[i] < 0 ? "number weak" : "number" }, fixed(silhouettes[i])),
    );
  }

  function mark() {
    heads.forEach((head, i) => {
      if (COLUMNS[i].key === sorted.key) head.setAttribute("aria-sort", sorted.direction === 1 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
  }

  const heads = COLUMNS.map((column) => {
    const button = make("button", { type: "button" }, column.title);
    button.addEventListener("click", () => {
      const again = sorted.key === column.key;
      sorted = { key: column.key, direction: again ? -sorted.direction : column.first };
      mark();
      refresh();
    });
    return make("th", { scope: "col", class: column.number ? "number" : null }, button);
  });
  find("row-table").tHead.rows[0].append(...heads);
  mark();
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
    const header = ["row", ...(ids === null ? [] : ["id"]), "cluster", "next_cluster", "membership", "next_membership", "silhouette"];
    save(`rows-${now.k}.csv`, header, matches.map((i) => [
      rowNumber(i),
      ...(ids === null ? [] : [ids[i]]),
      values.cluster(i),
      values.next(i) < 0 ? null : values.next(i),
      values.membership(i),
      values.next(i) < 0 ? null : values.next_membership(i),
      Number(silhouettes[i].toFixed(4)),
    ]));
  });
  find("labels-save").hidden = !all;
  find("labels-save").addEventListener("click", () => {
    const lines = Array.from(now.rows.cluster, (label, i) => [name(i), label]);
    save(`labels-${now.k}.csv`, [ids === null ? "row" : "id", "cluster"], lines);
  });
  find("labels-note").hidden = all && !data.rows.left_out;
  find("labels-note").textContent = all
    ? "The names of all rows would make this page too large: rows are numbered from 1."
    : `All ${count(of)} rows would make this page too large: it has the least sure ones. The labels of all are in the forest's labels_.`;

  function draw() {
    for (let i = 0; i < n; i += 1) {
      const [own, other] = [values.membership(i), values.next_membership(i)];
      silhouettes[i] = values.next(i) < 0 || own + other === 0 ? 0 : (own - other) / Math.max(own, other);
    }
    most = PAGE;
    pickClusters(find("rows-pick"), "all clusters");
    find("rows-text").textContent =
      (all ? `All ${count(of)} rows can be found here` : `The ${count(n)} least sure of ${count(of)} rows can be found here`) +
      (now.k === 1
        ? "."
        : ", those first that might as well belong to another cluster. Membership: the share of the rows beside it in a tree " +
          "that are of the cluster, averaged over the trees. An ambiguous row has its highest membership in another cluster.") +
      (ids === null ? " Rows are numbered from 1." : "");
    refresh();
  }
  return draw;
}
