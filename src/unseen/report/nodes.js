// All nodes: found by id and text, or listed class by class. The index is unpacked when it is first needed.
(function () {
  "use strict";
  const FIRST = 10, PAGE = 25; // rows at first, and at a time
  const section = document.getElementById("nodes");
  if (!section) return;
  const field = document.getElementById("node-find");
  const choice = document.getElementById("node-class");
  const order = document.getElementById("node-order");
  const body = section.querySelector("tbody");
  const told = document.getElementById("node-count");
  const more = document.getElementById("node-more");
  let index = null;
  let found = [];
  let shown = 0;

  async function unpack() {
    const packed = atob(JSON.parse(document.getElementById("nodes-data").textContent));
    const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    index = await new Response(stream).json();
    index.low = index.id.map((id, i) => (id + " " + index.text[i]).toLowerCase());
    index.classes.forEach(function (look, i) {
      const option = document.createElement("option");
      option.value = String(i);
      option.textContent = look[0];
      choice.append(option);
    });
  }

  function cell(name, kind, ...children) {
    const made = document.createElement("td");
    made.dataset.name = name;
    made.className = kind;
    const inside = document.createElement("span");
    inside.append(...children);
    made.append(inside);
    return made;
  }

  function row(i) {
    const made = document.createElement("tr");
    const look = index.classes[index.label[i]];
    const sign = document.createElement("i");
    if (look) {
      sign.className = "mark " + look[2];
      sign.style.setProperty("--c", look[1]);
    }
    const sure = index.confidence[i];
    made.append(
      cell("node", "id", index.id[i]),
      cell("class", "", ...(look ? [sign, look[0]] : ["–"])),
      cell("confidence", "figure", sure === null ? "label given" : sure.toFixed(2)),
      cell("text", "reason", index.text[i]),
    );
    return made;
  }

  function grow() {
    const next = found.slice(shown, shown + (shown ? PAGE : FIRST));
    body.append(...next.map(row));
    shown += next.length;
    more.hidden = shown >= found.length;
    told.textContent = found.length.toLocaleString("en") + (found.length === 1 ? " node" : " nodes");
  }

  function update() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = choice.value === "" ? null : Number(choice.value);
    found = [];
    for (let i = 0; i < index.id.length; i += 1) {
      if (wanted !== null && index.label[i] !== wanted) continue;
      if (words.every((word) => index.low[i].includes(word))) found.push(i);
    }
    const way = { surest: -1, least: 1 }[order.value];
    if (way) {
      const sure = (i) => (index.confidence[i] === null ? 2 : index.confidence[i]);
      found.sort((a, b) => way * (sure(a) - sure(b)));
    }
    body.replaceChildren();
    shown = 0;
    grow();
    section.classList.toggle("nothing", found.length === 0);
  }

  let ready = null;
  async function start() {
    ready = ready || unpack();
    try {
      await ready;
    } catch {
      told.textContent = "This browser cannot unpack the index; a newer one can.";
      return;
    }
    update();
  }

  let timer = 0;
  field.addEventListener("input", function () {
    clearTimeout(timer);
    timer = setTimeout(start, 120);
  });
  [choice, order].forEach((box) => box.addEventListener("change", start));
  more.addEventListener("click", grow);
  document.querySelectorAll("[data-list]").forEach(function (button) {
    button.addEventListener("click", async function () {
      await start();
      choice.value = button.dataset.list;
      field.value = "";
      update();
      section.scrollIntoView({ block: "start" });
      choice.focus({ preventScroll: true });
    });
  });
  new IntersectionObserver(function (entries, observer) {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    start();
  }).observe(section);
})();
