// The start of the page, the switch between numbers of clusters, and that between light and dark.
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

function createSwitch(redraw) {
  const box = find("switch");
  box.hidden = data.views.length < 2;
  for (const view of data.views) {
    const input = make("input", { type: "radio", name: "clusters", value: view.k, checked: view === now });
    input.addEventListener("change", () => {
      now = view;
      redraw();
      find("switch-said").textContent = `${plural(view.k, "cluster")} shown.`;
    });
    const own = view.k === data.chosen ? make("small", {}, data.number.chosen ? " chosen" : " given") : null;
    find("switch-options").append(make("label", {}, input, make("span", {}, String(view.k), own)));
  }
}

async function start() {
  await unpackAll(data);
  document.documentElement.dataset.theme = "light";
  const [map, drawRows, drawPoints] = [createMap(), createRows(), createPoints()];
  const check = watchScrolling();
  const redraw = () => {
    for (const draw_ of [drawTop, drawDescription, drawSure, drawBetween, drawPoints, drawFeatures, drawHistograms, map.arrange, drawRows, drawNumber, drawTree, drawTruth, drawContents]) draw_();
    check();
  };
  createSwitch(redraw);
  createReadings();
  createRun();
  redraw();
  createTheme(() => map.colour());
  document.documentElement.dataset.ready = "yes";
}

start();
