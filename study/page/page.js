// One step of the derivation at a time. Everything to read is in the page already: this script shows one section, copies
// the figures of what went in, marks the graph, and answers when an entry of a matrix is chosen.
"use strict";
{
  const { figures, words } = JSON.parse(document.getElementById("data").textContent);
  const steps = [...document.querySelectorAll(".step")];
  const names = steps.map((step) => "#" + step.id); // what the hash says
  const jumps = [...document.querySelectorAll(".jump")];
  const controls = document.querySelector(".controls");
  const picture = document.querySelector(".picture");
  const button = (action) => controls.querySelector(`[data-go=${action}]`);
  let current = -1;
  let timer = 0;

  // ---- steps

  function show(index) {
    index = Math.max(0, Math.min(index, steps.length - 1));
    if (index === current) return;
    current = index;
    const step = steps[index];
    const name = names[index];
    for (const other of steps) other.hidden = other !== step;
    bringFigures(step);
    clearEntry(step);
    markGraph(step);
    controls.querySelector(".position").textContent =
      words.step_of.replace("{}", index).replace("{}", steps.length - 1);
    for (const action of ["first", "previous"]) button(action).disabled = index === 0;
    for (const action of ["next", "last", "play"]) button(action).disabled = index === steps.length - 1;
    for (const jump of jumps) {
      const here = jump.hash === name;
      if (here) jump.setAttribute("aria-current", "step");
      else jump.removeAttribute("aria-current");
      if (here) scrollInside(jump.closest("nav"), jump);
    }
    if (location.hash !== name) history.replaceState(null, "", name);
    if (step.getBoundingClientRect().top < 0) step.scrollIntoView();
  }

  function go(action) {
    if (action === "play") return timer ? stop() : play();
    stop();
    show({ first: 0, previous: current - 1, next: current + 1, last: steps.length - 1 }[action]);
  }

  function play() {
    timer = setInterval(() => {
      show(current + 1);
      if (current === steps.length - 1) stop();
    }, 2500);
    button("play").setAttribute("aria-pressed", "true");
    button("play").querySelector(".word").textContent = words.pause;
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    button("play").setAttribute("aria-pressed", "false");
    button("play").querySelector(".word").textContent = words.play;
  }

  function showHash() {
    const index = names.indexOf(location.hash);
    show(index < 0 ? Math.max(current, 0) : index);
  }

  // Scrolls the box, and never the page, until the element is in its middle.
  function scrollInside(box, element) {
    const outer = box.getBoundingClientRect();
    const inner = element.getBoundingClientRect();
    box.scrollBy(
      inner.left + inner.width / 2 - outer.left - outer.width / 2,
      inner.top + inner.height / 2 - outer.top - outer.height / 2
    );
  }

  // ---- what went in

  function bringFigures(step) {
    const place = step.querySelector(".inputs");
    if (!place || place.firstChild) return;
    const heading = document.createElement("h3");
    heading.textContent = place.dataset.label;
    const copies = document.createElement("div");
    copies.className = "copies";
    place.append(heading, copies);
    for (const id of place.dataset.figures.split(" ")) {
      const copy = document.getElementById(id).cloneNode(true);
      copy.removeAttribute("id");
      copy.dataset.of = id;
      prepare(copy);
      copies.append(copy);
    }
  }

  const figureOf = (cell) => cell.closest(".matrix");
  const idOf = (figure) => figure.dataset.of || figure.id;
  const cellsOf = (figure) => [...figure.querySelectorAll("td:not(.corner)")];

  // `0,1,2`: the index of a cell in its tensor.
  function indexOf(cell) {
    const table = cell.closest("table");
    const rank = Number(table.dataset.rank);
    const column = [...cell.parentNode.querySelectorAll("td")].indexOf(cell);
    const row = cell.parentNode.rowIndex - 1;
    const own = rank === 0 ? [] : rank === 1 ? [column] : [row, column];
    return [...(table.dataset.at ? table.dataset.at.split(",") : []), ...own].join(",");
  }

  // ---- the sum behind an entry

  const panel = document.createElement("div");
  panel.className = "entry";
  panel.setAttribute("aria-live", "polite");

  function clearEntry(step) {
    mark("chosen", []);
    mark("read", []);
    panel.classList.remove("open");
    panel.replaceChildren(line("hint", words.entry_hint));
    panel.hidden = step === steps[0]; // nothing made what is given
    step.querySelector(".numbers").after(panel);
  }

  function choose(cell) {
    const figure = figureOf(cell);
    const { values, sums } = figures[idOf(figure)];
    const at = cellsOf(figure).indexOf(cell);
    const entry = `${figure.dataset.name}[${indexOf(cell)}]`;
    const head = line("head", "");
    head.append(code(entry), " = ", code(String(values[at])));
    const made = Number(figure.dataset.step);
    const sum = Array.isArray(sums) ? sums[at] : null;
    panel.replaceChildren(head);
    if (sum) for (const text of sum) panel.append(line("sum", "= " + text));
    else panel.append(line("hint", made === 0 ? words.given : sums));
    mark("chosen", [cell]);
    mark("read", sum && figure.closest(".output") ? readBy(sum[0]) : []);
    panel.classList.add("open");
    panel.hidden = false;
    keepInView(cell);
  }

  // Scrolls so that the panel at the bottom covers none of the matrices or, where they are too tall, not the cell.
  function keepInView(cell) {
    const numbers = steps[current].querySelector(".numbers");
    const bar = getComputedStyle(controls).position === "fixed" ? controls.offsetHeight : 0;
    const covered = panel.offsetHeight + bar + 24;
    const target = numbers.offsetHeight + covered < innerHeight ? numbers : cell;
    target.style.scrollMarginBottom = covered + "px";
    target.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  // The cells among what went in that a sum names, as X[0,1].
  function readBy(symbols) {
    const names = new Set([...symbols.matchAll(/(\w+)(\[[\d,]*\])/gu)].map((match) => match[1] + match[2]));
    const cells = [...steps[current].querySelectorAll(".inputs td:not(.corner)")];
    return cells.filter((cell) => names.has(`${figureOf(cell).dataset.name}[${indexOf(cell)}]`));
  }

  function mark(name, cells) {
    for (const cell of document.querySelectorAll("td." + name)) cell.classList.remove(name);
    for (const cell of cells) cell.classList.add(name);
  }

  function line(name, text) {
    const p = document.createElement("p");
    p.className = name;
    p.textContent = text;
    return p;
  }

  function code(text) {
    const element = document.createElement("code");
    element.textContent = text;
    return element;
  }

  // One cell of each figure is in the tab order; arrow keys move from cell to cell, Enter chooses.
  function prepare(figure) {
    for (const table of figure.querySelectorAll("table")) table.setAttribute("role", "grid");
    const first = cellsOf(figure)[0];
    if (first) first.tabIndex = 0;
  }

  function moveInGrid(cell, key) {
    const rows = [...cell.closest("table").rows].filter((row) => row.querySelector("td:not(.corner)"));
    const cells = rows.map((row) => [...row.querySelectorAll("td")]);
    let row = rows.indexOf(cell.parentNode);
    let column = cells[row].indexOf(cell);
    if (key === "ArrowUp") row -= 1;
    if (key === "ArrowDown") row += 1;
    if (key === "ArrowLeft") column -= 1;
    if (key === "ArrowRight") column += 1;
    if (key === "Home") column = 0;
    if (key === "End") column = cells[row].length - 1;
    const next = cells[row] && cells[row][column];
    if (!next) return;
    cell.removeAttribute("tabindex");
    next.tabIndex = 0;
    next.focus();
  }

  // ---- the graph: nodes and edges carry the numbers of their quantities

  function markGraph(step) {
    for (const element of picture.querySelectorAll(".current")) element.classList.remove("current");
    picture.dataset.pass = step.classList.contains("backward") ? "backward" : "forward";
    const chosen = [`[data-node="${step.dataset.node}"]`];
    for (const edge of (step.dataset.edges || "").split(" ")) {
      const [from, to] = edge.split("-");
      chosen.push(`[data-from="${from}"][data-to="${to}"]`);
    }
    const elements = chosen.flatMap((selector) => [...picture.querySelectorAll(selector)]);
    for (const element of elements) element.classList.add("current");
    if (elements[0]) scrollInside(picture, elements[0]);
  }

  // ---- events

  controls.hidden = false;
  document.documentElement.classList.add("stepping");
  for (const step of steps) step.removeAttribute("id"); // or the browser scrolls to where the hash says, past the graph
  const drawing = picture.querySelector("svg");
  drawing.style.maxWidth = drawing.viewBox.baseVal.width + "px";
  for (const figure of document.querySelectorAll(".matrix")) prepare(figure);
  for (const expression of document.querySelectorAll("code.line")) {
    const copy = document.createElement("button");
    copy.type = "button";
    copy.className = "copy";
    copy.textContent = words.copy;
    copy.addEventListener("click", () => copyText(expression, copy));
    expression.after(" ", copy);
  }

  async function copyText(element, copy) {
    try {
      await navigator.clipboard.writeText(element.textContent);
    } catch {
      getSelection().selectAllChildren(element);
      document.execCommand("copy");
    }
    copy.textContent = words.copied;
    setTimeout(() => (copy.textContent = words.copy), 1500);
  }

  controls.addEventListener("click", (event) => {
    const pressed = event.target.closest("[data-go]");
    if (pressed) go(pressed.dataset.go);
  });

  document.addEventListener("click", (event) => {
    const cell = event.target.closest(".matrix td:not(.corner)");
    if (cell) {
      if (event.detail) document.activeElement.blur(); // a click leaves the arrow keys to the steps
      choose(cell);
    }
    const node = event.target.closest(".picture [data-node]");
    if (node) show(Math.max(0, steps.findIndex((step) => step.dataset.node === node.dataset.node)));
  });

  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const cell = event.target.closest && event.target.closest(".matrix td");
    if (cell) {
      if (event.key === "Enter" || event.key === " ") choose(cell);
      else if (event.key === "Escape") cell.blur();
      else if (/^(Arrow|Home|End)/.test(event.key)) moveInGrid(cell, event.key);
      else return;
      return event.preventDefault();
    }
    if (event.target === picture) return;
    const action = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last" }[event.key];
    if (!action) return;
    event.preventDefault();
    go(action);
  });

  addEventListener("hashchange", showHash);
  if (matchMedia("(max-width: 800px)").matches) document.querySelector(".contents").open = false;
  showHash();
}
