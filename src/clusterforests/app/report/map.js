// The map of shared trees: a canvas to hover over, zoom into and move through with the keyboard.
const RAMPS = {
  light: [[250, 249, 245], [168, 203, 226], [47, 119, 168], [12, 44, 72]],
  dark: [[27, 30, 36], [33, 78, 116], [104, 172, 218], [246, 247, 230]],
};
const STRIP = 9; // pixels along both sides that show the clusters
const LEAST = 4; // rows that a view shows at the least
const theme = () => document.documentElement.dataset.theme;

function rampColour(value) {
  const ramp = RAMPS[theme()];
  const { low, high } = data.map;
  const share = Math.min(1, Math.max(0, (value / 255 - low) / (high - low)));
  const place = share ** 0.65 * (ramp.length - 1); // trees with many groups give small shares, which must be visible
  const below = Math.min(Math.floor(place), ramp.length - 2);
  return ramp[below].map((part, i) => Math.round(part + (place - below) * (ramp[below + 1][i] - part)));
}

function createMap() {
  const { rows, ids, trees, of } = data.map;
  const n = rows.length;
  const cells = new Uint8Array(n * n); // in the order of the clusters that are shown
  let labels = [];
  let starts = [];
  const [canvas, box, readout, pick] = ["map-canvas", "map-frame", "map-readout", "map-pick"].map(find);
  const picture = make("canvas", { width: n, height: n });
  let view = { x: 0, y: 0, span: n };
  let cursor = null; // the pair of rows read out: column, row
  let dragged = null;

  function arrange() {
    const { order } = now;
    labels = order.map((place) => now.map_labels[place]);
    starts = labels.map((label, i) => (i === 0 || labels[i - 1] !== label ? i : -1)).filter((i) => i >= 0);
    order.forEach((from, y) => order.forEach((to, x) => { cells[y * n + x] = data.map.cells[from * n + to]; }));
    pickClusters(pick, "all clusters");
    whole();
    colour();
  }

  function colour() {
    const table = Array.from({ length: 256 }, (_, value) => rampColour(value));
    const paint = (target, values, width, height) => {
      const image = new ImageData(width, height);
      values.forEach((value, i) => image.data.set([...table[value], 255], 4 * i));
      target.getContext("2d").putImageData(image, 0, 0);
    };
    paint(picture, cells, n, n);
    const { low, high } = data.map;
    paint(find("map-legend"), Uint8Array.from({ length: 256 }, (_, i) => Math.round(255 * low + i * (high - low))), 256, 1);
    find("map-low").textContent = `${percent(low)} of trees`;
    find("map-high").textContent = percent(high);
    redraw();
  }

  const side = () => canvas.width - STRIP * devicePixelRatio;
  const toPixel = (index, start) => STRIP * devicePixelRatio + ((index - start) / view.span) * side();

  function redraw() {
    const size = Math.max(1, Math.round(box.clientWidth * devicePixelRatio));
    if (canvas.width !== size) canvas.width = canvas.height = size;
    const pen = canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    const strip = STRIP * devicePixelRatio;
    pen.clearRect(0, 0, size, size);
    pen.imageSmoothingEnabled = side() < view.span;
    pen.drawImage(picture, view.x, view.y, view.span, view.span, strip, strip, side(), side());
    starts.forEach((start, i) => {
      const end = i + 1 < starts.length ? starts[i + 1] : n;
      pen.fillStyle = style.getPropertyValue(`--c${colourOf(labels[start])}`);
      for (const across of [true, false]) {
        const from = Math.max(toPixel(start, across ? view.x : view.y), strip);
        const upto = Math.min(toPixel(end, across ? view.x : view.y), size);
        if (upto <= from) continue;
        if (across) pen.fillRect(from, 0, upto - from - devicePixelRatio, strip - 2 * devicePixelRatio);
        else pen.fillRect(0, from, strip - 2 * devicePixelRatio, upto - from - devicePixelRatio);
        if (start > 0 && from > strip) {
          if (across) pen.fillRect(from - devicePixelRatio / 2, strip, devicePixelRatio, side());
          else pen.fillRect(strip, from - devicePixelRatio / 2, side(), devicePixelRatio);
        }
      }
    });
    outline(pen, style);
  }

  function outline(pen, style) {
    pen.strokeStyle = style.getPropertyValue("--c1");
    pen.lineWidth = 2 * devicePixelRatio;
    if (dragged) {
      const [a, b] = [dragged.from, dragged.to];
      pen.strokeRect(Math.min(a.x, b.x), Math.min(a.y, b.y), Math.abs(a.x - b.x), Math.abs(a.y - b.y));
    } else if (cursor) {
      const wide = Math.max(side() / view.span, 4 * devicePixelRatio);
      pen.strokeRect(toPixel(cursor.x, view.x), toPixel(cursor.y, view.y), wide, wide);
    }
  }

  function show(x, y, span) {
    const next = Math.min(n, Math.max(Math.min(LEAST, n), span));
    const within = (start) => Math.min(n - next, Math.max(0, start));
    view = { x: within(x), y: within(y), span: next };
    find("map-in").disabled = next <= Math.min(LEAST, n);
    find("map-out").disabled = find("map-whole").disabled = next >= n;
    redraw();
  }

  function zoom(factor, at) {
    const centre = at ?? cursor ?? { x: view.x + view.span / 2, y: view.y + view.span / 2 };
    const span = view.span * factor;
    show(centre.x - ((centre.x - view.x) / view.span) * span, centre.y - ((centre.y - view.y) / view.span) * span, span);
    if (view.span >= n) pick.value = "";
  }

  function whole() {
    pick.value = "";
    cursor = null;
    show(0, 0, n);
    tell();
  }

  function tell() {
    if (!cursor) {
      readout.replaceChildren("Point at the map, or move through it with the arrow keys, to read a pair of rows.");
      return;
    }
    const { x, y } = cursor;
    const share = cells[y * n + x] / 255;
    const line = (i) => {
      const place = now.order[i];
      return make("span", {}, "Row ", named(rowName(rows[place], ids, place)), ", ", clusterName(labels[i]));
    };
    const together = make("span", {}, make("strong", {}, percent(share)), " of trees");
    readout.replaceChildren(together, line(y), ...(x === y ? [make("span", {}, "with itself")] : [line(x)]));
  }

  function pixels(event) {
    const edge = canvas.getBoundingClientRect();
    const scale = canvas.width / edge.width;
    return { x: (event.clientX - edge.left) * scale, y: (event.clientY - edge.top) * scale };
  }

  function cellAt(point) {
    const index = (pixel, start) => {
      const place = Math.floor(start + ((pixel - STRIP * devicePixelRatio) / side()) * view.span);
      return Math.min(n - 1, Math.max(0, place));
    };
    return { x: index(point.x, view.x), y: index(point.y, view.y) };
  }

  canvas.addEventListener("pointermove", (event) => {
    const point = pixels(event);
    if (dragged) dragged.to = point;
    cursor = cellAt(point);
    tell();
    redraw();
  });
  canvas.addEventListener("pointerleave", () => {
    if (!dragged && document.activeElement !== box) cursor = null;
    redraw();
  });
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const point = pixels(event);
    dragged = { from: point, to: point };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointercancel", () => {
    dragged = null;
    redraw();
  });
  canvas.addEventListener("pointerup", (event) => {
    if (!dragged) return;
    const { from } = dragged;
    const to = pixels(event);
    dragged = null;
    const size = Math.max(Math.abs(to.x - from.x), Math.abs(to.y - from.y));
    if (size < 8 * devicePixelRatio) {
      zoom(0.5, cellAt(to));
    } else {
      const corner = cellAt({ x: Math.min(from.x, to.x), y: Math.min(from.y, to.y) });
      show(corner.x, corner.y, (size / side()) * view.span);
    }
  });

  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const keys = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "−": () => zoom(2), 0: whole };
  box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in moves) {
      const [dx, dy] = moves[event.key];
      const step = event.shiftKey ? 10 : 1;
      const at = cursor ?? { x: Math.floor(view.x + view.span / 2), y: Math.floor(view.y + view.span / 2) };
      const clip = (value) => Math.min(n - 1, Math.max(0, value));
      cursor = { x: clip(at.x + dx * step), y: clip(at.y + dy * step) };
      const follow = (place, start) => Math.min(place, Math.max(start, place - view.span + 1));
      show(follow(cursor.x, view.x), follow(cursor.y, view.y), view.span);
      tell();
    } else if (Object.hasOwn(keys, event.key)) {
      keys[event.key]();
    } else {
      return;
    }
    event.preventDefault();
  });

  find("map-in").addEventListener("click", () => zoom(0.5));
  find("map-out").addEventListener("click", () => zoom(2));
  find("map-whole").addEventListener("click", whole);
  pick.addEventListener("change", () => {
    if (pick.value === "") {
      whole();
      return;
    }
    const first = labels.indexOf(Number(pick.value));
    if (first < 0) return;
    const size = labels.lastIndexOf(Number(pick.value)) + 1 - first;
    cursor = null;
    show(first, first, size);
  });
  new ResizeObserver(redraw).observe(box);

  const shown = n === of ? `all ${count(n)} rows` : `${count(n)} of ${count(of)} rows`;
  canvas.setAttribute(
    "aria-label",
    `Share of ${plural(trees, "tree")} in which two rows are together, for ${shown} ordered by cluster. ` +
      "Solid squares along the diagonal are clusters; the table beside it has the memberships.",
  );
  const thinned =
    n === of
      ? "All rows are shown."
      : `To stay readable, the map shows ${shown}, drawn at random ` +
        (data.map.all_clusters
          ? "from each cluster in proportion to its size, with a few more from the smallest."
          : "from all clusters.");
  find("map-text").textContent =
    "Each point is a pair of rows; the stronger its colour, the more trees put the two together. Rows are ordered by " +
    `cluster, and within a cluster by similarity. A clear cluster is a solid square on the diagonal with little beside it. Colours ` +
    `range from the lowest to the highest share of two different rows. ${thinned}`;
  return { arrange, colour };
}
