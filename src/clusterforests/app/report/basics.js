// Elements, numbers and files. What comes from the user's table only ever becomes text nodes, never markup.
const data = JSON.parse(document.getElementById("data").textContent);
let now = data.views.find((view) => view.k === data.chosen); // the number of clusters that is shown
const find = (id) => document.getElementById(id);
const NONE = "–";

function attach(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

const make = (tag, attributes = {}, ...children) => attach(document.createElement(tag), attributes, children);
const draw = (tag, attributes = {}, ...children) =>
  attach(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
const cell = (...children) => make("td", {}, ...children);
const numberCell = (text) => make("td", { class: "number" }, text);
const heading = (scope, ...children) => make("th", { scope }, ...children);
// Long names may break after punctuation; elsewhere only where nothing else helps.
const named = (text) =>
  make("bdi", { dir: "auto" }, ...(text.length > 16 ? text.split(/(?<=[_./-])/) : [text]).flatMap((part, i) => (i ? [make("wbr"), part] : [part])));
const prose = (text) => text.replaceAll(" %", "\u00a0%"); // no line begins with a per cent sign
const aloud = (text) => make("span", { class: "hidden-text" }, text);

const minus = (text) => text.replace(/-/g, "−");
const count = (value) => value.toLocaleString("en");
const fixed = (value, digits = 2) => (value === null ? NONE : minus(value.toFixed(digits).replace(/^-(?=[0.]+$)/, "")));
const percent = (value, digits = 0) => (value === null ? NONE : `${(100 * value).toFixed(digits)} %`);
const plural = (value, word) => `${count(value)} ${word}${value === 1 ? "" : "s"}`;

function measured(value) {
  if (value === null) return NONE;
  const size = Math.abs(value);
  if (value !== 0 && (size >= 1e6 || size < 1e-3)) return minus(value.toExponential(1));
  return size >= 1000 ? minus(count(Math.round(value))) : minus(value.toPrecision(3));
}

function chance(value) {
  if (value === null) return NONE;
  return value < 0.001 ? "< 0.001" : value.toFixed(3);
}

const colourOf = (cluster, view = now) => view.colours[cluster] % 8;
const chip = (cluster) => make("span", { class: `chip k${colourOf(cluster)}`, "aria-hidden": "true" });
const clusterNumber = (cluster) => make("span", { class: "nowrap" }, chip(cluster), String(cluster));
const clusterName = (cluster) => make("span", { class: "nowrap" }, chip(cluster), `Cluster ${cluster}`);

function meter(value, text) {
  const bar = make("b");
  bar.style.width = `${100 * Math.min(1, Math.max(0, value ?? 0))}%`;
  return make("span", { class: "meter" }, make("i", { "aria-hidden": "true" }, bar), make("span", {}, text));
}

const titled = (column) =>
  column.level === null ? named(column.name) : make("span", {}, named(column.name), " = ", named(column.level));

const rowName = (row, ids, place) => (ids === null ? String(row + 1) : ids[place]);

// Numbers and names are compressed: replace each such entry by an array.
const ARRAYS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array };

async function unpack(entry) {
  const packed = Uint8Array.from(atob(entry.bytes), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const raw = await new Response(stream).arrayBuffer();
  return entry.packed === "json" ? JSON.parse(new TextDecoder().decode(raw)) : new ARRAYS[entry.packed](raw);
}

async function unpackAll(value) {
  if (value === null || typeof value !== "object") return;
  for (const [key, part] of Object.entries(value)) {
    if (part !== null && typeof part === "object" && Object.hasOwn(part, "packed")) value[key] = await unpack(part);
    else await unpackAll(part);
  }
}

function save(name, header, lines) {
  const quoted = (value) => {
    const text = value === null ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  const parts = [header, ...lines].map((line) => line.map(quoted).join(",") + "\n");
  const address = URL.createObjectURL(new Blob(parts, { type: "text/csv;charset=utf-8" }));
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

function pickClusters(select, everything) {
  select.replaceChildren(
    make("option", { value: "" }, everything),
    ...now.clusters.map((_, c) => make("option", { value: c }, now.description.length ? `${c}: ${now.description[c].name}` : `cluster ${c}`)),
  );
}

// A table wider than the page scrolls, so the keyboard must be able to reach it.
function watchScrolling() {
  const check = () => {
    for (const box of document.querySelectorAll(".scroll")) {
      const wide = box.scrollWidth > box.clientWidth + 1;
      if (wide) {
        const caption = box.querySelector("caption");
        attach(box, { tabindex: 0, role: "region", "aria-label": caption ? caption.textContent : "Table" }, []);
      } else {
        for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
      }
    }
  };
  new ResizeObserver(check).observe(document.body);
  check();
  return check;
}
