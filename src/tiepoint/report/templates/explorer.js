"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const PAGE = 50, NONE = "–", TIED = 1, CUT = 2, IN = 4, OUT = 8, GRADE = 16;
  const STATES = { f: "found", m: "missed", x: "filtered out", a: "not in the corpus" };
  const WORDS = { unfiltered: "no filter", filtered: "region filter" };
  const at = (id) => document.getElementById(id);
  const held = at("list").tBodies[0];
  let start = 0, open = null;

  // Every text goes in as text: nothing of the data is ever read as markup.
  const make = (tag, text, kind) => {
    const node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    if (kind) node.className = kind;
    return node;
  };
  const put = (node, ...children) => { node.append(...children); return node; };
  const name = (text) => make("bdi", text);
  const four = (value) => (value === null || value === undefined ? NONE : value.toFixed(4));
  const number = (id) => Number(at(id).value);
  const signed = (value) => (value === null ? NONE : (value < 0 ? "−" : "+") + Math.abs(value).toFixed(4));

  const options = (id, texts, chosen) => {
    texts.forEach((text, i) => {
      const option = make("option", text);
      option.value = String(i);
      option.selected = i === chosen;
      at(id).append(option);
    });
  };
  options("view", data.views.map((v) => v + " (" + WORDS[v] + ")"), data.first);
  options("measure", data.measures, 0);
  options("left", data.arms, data.beside[1]);
  options("right", data.arms, data.beside[0]);

  const inside = (view) =>
    (view === null ? [] : view[1].flatMap((ranking) => ranking.filter((_, i) => i % 3 === 2 && ranking[i - 2] >= 0)));
  const hits = (query) => inside(query.views[number("view")]);
  const cut = (query) => query.views.some((view) => inside(view).some((n) => n & CUT));
  const kinds = [["every query", () => true]];
  for (const key of ["subgroups", "regions"]) {
    const names = [...new Set(data.queries.flatMap((q) => q[key] || []))].sort();
    for (const one of names) kinds.push([key.slice(0, -1) + ": " + one, (q) => (q[key] || []).includes(one)]);
  }
  for (const split of [...new Set(data.queries.map((q) => q.split).filter(Boolean))].sort()) {
    kinds.push(["split: " + split, (q) => q.split === split]);
  }
  if (data.queries.some((q) => q.rare)) kinds.push(["rare names", (q) => q.rare]);
  if (data.queries.some((q) => q.suspect)) kinds.push(["suspect labels", (q) => q.suspect]);
  kinds.push(["with unjudged hits", (q) => hits(q).some((n) => n < GRADE)]);
  kinds.push(["with ties", (q) => hits(q).some((n) => n & TIED)]);
  if (data.views.length > 1) kinds.push(["changed by the filter", cut]);
  options("only", kinds.map((kind) => kind[0]), 0);

  const valued = (query) => {
    const view = query.views[number("view")];
    const of = view === null ? [] : view[0][number("measure")];
    const left = of[number("left")] ?? null, right = of[number("right")] ?? null;
    return { query, view, left, right, away: left === null || right === null ? null : right - left };
  };
  const last = (value, row) => (row.away === null ? -Infinity : value);
  const ORDERS = {
    away: (row) => last(Math.abs(row.away), row),
    left: (row) => last(-row.away, row),
    right: (row) => last(row.away, row),
    low: (row) => last(-Math.min(row.left, row.right), row),
    id: () => 0,
  };
  const byId = (a, b) => (a.query.id < b.query.id ? -1 : a.query.id > b.query.id ? 1 : 0);
  const rows = () => {
    const words = at("holds").value.toLowerCase(), fits = kinds[number("only")][1], key = ORDERS[at("sort").value];
    return data.queries
      .filter((q) => (q.id + " " + (q.text || "")).toLowerCase().includes(words) && fits(q))
      .map(valued)
      .filter((row) => row.view !== null)
      .sort((a, b) => { const x = key(a), y = key(b); return x === y ? byId(a, b) : y - x; });
  };

  const about = (query) => [
    ...(query.regions || []), ...(query.subgroups || []), query.split, query.rare && "rare name", query.noAnswer && "no answer",
    query.suspect && "suspect label", query.withheld && "values not for these readers: it has an answer that they may not see",
  ].filter(Boolean);

  const tag = (text) => make("span", text, "tag");
  const spaced = (nodes) => nodes.flatMap((node, i) => (i ? [" ", node] : [node]));
  const document_ = (index) => {
    const nodes = [name(data.documents[index])], text = data.texts[String(index)];
    if (text) nodes.push(put(make("details"), make("summary", "text"), put(make("div", undefined, "text"), name(text))));
    return nodes;
  };
  const hit = (ranking, place) => {
    const cell = make("td", undefined, "hit"), i = 3 * place;
    if (i >= ranking.length) return put(cell, NONE);
    if (ranking[i] < 0) return put(cell, make("small", "not for these readers"));
    const flags = ranking[i + 2], grade = Math.floor(flags / GRADE) - 1;
    if (flags & CUT) cell.classList.add("cut");
    const said = make("small", four(ranking[i + 1] / 10000) + " · " + (grade < 0 ? "unjudged" : "grade " + grade) + " ");
    const tags = [[TIED, "tie"], [CUT, "cut by the filter"], [IN, "in"], [OUT, "out"]].filter(([bit]) => flags & bit);
    return put(cell, ...document_(ranking[i]), put(said, ...spaced(tags.map(([, text]) => tag(text)))));
  };
  const table = (caption, head, body) => {
    const box = make("div", undefined, "scroll"), made = make("table");
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", caption);
    const top = make("tr");
    for (const text of head) {
      const cell = put(make("th"), name(text));
      cell.scope = "col";
      top.append(cell);
    }
    put(made, make("caption", caption), put(make("thead"), top), put(make("tbody"), ...body));
    return put(box, made);
  };
  const heading = (...nodes) => { const cell = put(make("th"), ...nodes); cell.scope = "row"; return cell; };

  const order = () => {
    const first = [number("left"), number("right")];
    return [...new Set([...first, ...data.arms.keys()])];
  };
  const detail = (row) => {
    const [, rankings, gold, more] = row.view, arms = order(), nodes = [];
    if (row.query.text) nodes.push(put(make("p", undefined, "text"), name(row.query.text)));
    const deep = Math.max(0, ...rankings.map((r) => r.length / 3));
    const places = [...Array(deep).keys()].map((place) =>
      put(make("tr"), heading(String(place + 1)), ...arms.map((arm) => hit(rankings[arm], place))));
    const values = data.measures.map((measure, m) =>
      put(make("tr"), heading(measure), ...arms.map((arm) => make("td", four(row.view[0][m][arm])))));
    nodes.push(table("Rankings of " + row.query.id, ["rank", ...arms.map((arm) => data.arms[arm])], [...values, ...places]));
    if (gold.length) {
      const lines = gold.map(([index, grade, states]) =>
        put(make("tr"), heading(...document_(index)), make("td", String(grade)), ...arms.map((arm) => make("td", STATES[states[arm]]))));
      nodes.push(table("Relevant documents within " + data.k + " hits", ["document", "grade", ...arms.map((arm) => data.arms[arm])], lines));
      if (more) nodes.push(make("p", "and " + more + " more", "note"));
    }
    const cell = put(make("td"), ...nodes);
    cell.colSpan = 5;
    const line = put(make("tr", undefined, "opened"), cell);
    line.id = "opened";
    return line;
  };

  const line = (row) => {
    const button = put(make("button"), name(row.query.id)), shown = open === row.query;
    button.type = "button";
    button.setAttribute("aria-expanded", String(shown));
    if (shown) button.setAttribute("aria-controls", "opened");
    button.addEventListener("click", () => { open = shown ? null : row.query; draw(row.query); });
    const notes = make("td");
    put(notes, ...spaced(about(row.query).map((text) => put(make("span", undefined, "tag"), name(text)))));
    return put(make("tr"), heading(button), make("td", four(row.left)), make("td", four(row.right)), make("td", signed(row.away)), notes);
  };

  const draw = (focus) => {
    const found = rows(), shown = found.slice(start, start + PAGE);
    held.replaceChildren();
    for (const row of shown) {
      const made = line(row);
      held.append(made);
      if (open === row.query) held.append(detail(row));
      if (focus === row.query) made.querySelector("button").focus();
    }
    at("left-name").replaceChildren(name(data.arms[number("left")]));
    at("right-name").replaceChildren(name(data.arms[number("right")]));
    const where = found.length ? (start + 1) + " to " + (start + shown.length) : "none";
    at("status").textContent = found.length + " of " + data.queries.length + " queries; shown: " + where + ".";
    at("before").disabled = start === 0;
    at("after").disabled = start + PAGE >= found.length;
  };
  for (const id of ["holds", "view", "measure", "left", "right", "only", "sort"]) {
    at(id).addEventListener("input", () => { start = 0; draw(); });
  }
  at("before").addEventListener("click", () => { start = Math.max(0, start - PAGE); draw(); });
  at("after").addEventListener("click", () => { start += PAGE; draw(); });
  at("without").hidden = true;
  at("explorer").hidden = false;
  draw();
})();
