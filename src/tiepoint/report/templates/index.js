"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const card = (i) => at("r" + i);
  const title = (i) => card(i).querySelector("h3").textContent.trim();
  for (const id of ["one", "other"]) {
    const first = document.createElement("option");
    first.value = "";
    first.textContent = "choose";
    at(id).append(first);
    for (let i = 0; i < data.compared; i += 1) {
      const option = document.createElement("option");
      option.value = String(i);
      option.textContent = title(i);
      at(id).append(option);
    }
  }
  // A copy of what stands in the page already, without its ids, so that none stands twice.
  const copy = (i) => {
    const made = card(i).cloneNode(true);
    made.removeAttribute("aria-labelledby");
    for (const node of [made, ...made.querySelectorAll("[id]")]) node.removeAttribute("id");
    for (const node of made.querySelectorAll(".scroll")) node.setAttribute("aria-label", title(i) + ": " + node.getAttribute("aria-label"));
    return made;
  };
  const draw = () => {
    const [one, other] = ["one", "other"].map((id) => at(id).value);
    at("pair").replaceChildren();
    if (one === "" || other === "") { at("said").textContent = ""; return; }
    if (one === other) { at("said").textContent = "That is one result twice."; return; }
    const [low, high] = [Number(one), Number(other)].sort((a, b) => a - b);
    const why = data.refused[low + " " + high];
    if (why !== undefined) {
      at("said").textContent = "Refused: they did not measure the same thing: " + data.reasons[why].join("; ") + ".";
      return;
    }
    at("said").textContent = "They measured the same thing.";
    at("pair").append(copy(one), copy(other));
  };
  for (const id of ["one", "other"]) at(id).addEventListener("input", draw);
  at("without").hidden = true;
  at("chooser").hidden = false;
})();
