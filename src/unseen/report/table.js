// The table of least certain nodes: a row stays when it contains every word that was typed.
(function () {
  "use strict";
  const FIRST = 12; // rows before the table is unfolded; the style sheet hides the others
  const field = document.getElementById("find");
  const found = document.getElementById("found");
  const unfold = document.getElementById("unfold");
  const body = document.querySelector("#doubtful tbody");
  const rows = Array.from(body.rows);
  const texts = rows.map((row) => row.textContent.toLowerCase());
  let open = rows.length <= FIRST;

  function update() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const folded = !open && words.length === 0;
    let left = 0;
    rows.forEach(function (row, i) {
      row.hidden = !words.every((word) => texts[i].includes(word));
      left += row.hidden ? 0 : 1;
    });
    body.classList.toggle("folded", folded);
    unfold.hidden = !folded;
    found.textContent = (folded ? FIRST : left) + " of " + rows.length + " shown";
  }

  field.addEventListener("input", update);
  unfold.addEventListener("click", function () {
    open = true;
    update();
  });
  update();
})();
