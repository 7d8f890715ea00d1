// Draws the pictures in the colours of the page, and lets the legend of the map hide classes.
(function () {
  "use strict";
  const narrow = window.matchMedia("(max-width: 640px)");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const given = {};
  ["map", "confidence", "similarity"].forEach(function (name) {
    given[name] = document.getElementById(name + "-data").textContent;
  });
  const hidden = new Set(); // ranks of classes that are switched off
  const kinds = { true: true, false: true }; // label given, predicted

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  }

  const dress = {
    map: function (figure) {
      figure.data.forEach(function (trace) {
        if (!trace.meta.known) trace.marker.line = { width: 0.6, color: colour("panel") };
      });
      figure.layout.dragmode = narrow.matches ? false : "zoom";
      if (narrow.matches) {
        ["xaxis", "yaxis"].forEach((axis) => (figure.layout[axis].fixedrange = true));
      }
      show(figure.data, figure.layout);
    },
    confidence: function (figure) {
      const trace = figure.data[0];
      trace.marker = { color: trace.meta.low.map((low) => colour(low ? "amber" : "accent")) };
      figure.layout.xaxis.showgrid = false;
      (figure.layout.shapes || []).forEach((line) => (line.line.color = colour("ink")));
    },
    similarity: function (figure) {
      figure.data[0].colorscale = [
        [0, colour("cold")],
        [0.5, colour("panel")],
        [1, colour("warm")],
      ];
      figure.layout.plot_bgcolor = colour("line");
      if (narrow.matches) {
        figure.layout.xaxis.showticklabels = false;
        figure.layout.yaxis.tickfont = { size: 9 };
        figure.data[0].showscale = false;
        const ticks = figure.layout.yaxis.ticktext;
        figure.layout.yaxis.ticktext = ticks.map((t) => cut(t, 18));
      }
    },
  };

  // Cuts a tick label without cutting through one of its entities.
  function cut(label, most) {
    const letters = label.match(/&(?:amp|lt|gt);|[^]/gu) || [];
    return letters.length <= most ? label : letters.slice(0, most - 1).join("") + "…";
  }

  function show(data, layout) {
    data.forEach(function (trace) {
      trace.visible = !hidden.has(trace.meta.rank) && kinds[trace.meta.known];
    });
    (layout.annotations || []).forEach(function (label) {
      label.visible = !narrow.matches && !hidden.has(Number(label.name));
      label.bgcolor = colour("veil");
    });
  }

  function draw(name) {
    const figure = JSON.parse(given[name]);
    const layout = figure.layout;
    const small = narrow.matches ? 11 : 12;
    layout.font = { family: getComputedStyle(document.body).fontFamily, size: small, color: colour("ink") };
    layout.paper_bgcolor = layout.plot_bgcolor = "rgba(0,0,0,0)";
    layout.hoverlabel = {
      align: "left",
      bgcolor: colour("panel"),
      bordercolor: colour("line"),
      font: { family: layout.font.family, size: 13, color: colour("ink") },
    };
    layout.modebar = { bgcolor: "rgba(0,0,0,0)", color: colour("soft"), activecolor: colour("accent") };
    ["xaxis", "yaxis"].forEach(function (axis) {
      Object.assign(layout[axis], { gridcolor: colour("line"), zeroline: false, linecolor: colour("line") });
    });
    dress[name](figure);
    Plotly.react(name, figure.data, layout, {
      responsive: true,
      displaylogo: false,
      displayModeBar: name === "map" && !narrow.matches ? "hover" : false,
      modeBarButtons: [["zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d", "toImage"]], // and none that sends data away
    });
  }

  function drawAll() {
    Object.keys(given).filter((name) => !document.getElementById(name).hidden).forEach(draw);
  }

  const legend = document.getElementById("legend");
  const classes = Array.from(legend.querySelectorAll("button"));
  const ranks = classes.map((button) => Number(button.dataset.rank));

  function update() {
    classes.forEach(function (button, i) {
      button.setAttribute("aria-pressed", String(!hidden.has(ranks[i])));
    });
    const picture = document.getElementById("map");
    show(picture.data, picture.layout);
    Plotly.redraw(picture);
  }

  classes.forEach(function (button, i) {
    let last = 0;
    button.addEventListener("click", function (event) {
      const twice = event.timeStamp - last < 350;
      last = event.timeStamp;
      if (twice) {
        ranks.forEach((rank) => hidden.add(rank));
        hidden.delete(ranks[i]);
      } else if (!hidden.delete(ranks[i])) {
        hidden.add(ranks[i]);
      }
      update();
    });
  });
  document.querySelectorAll(".kinds button").forEach(function (button) {
    button.addEventListener("click", function () {
      if (button.dataset.all) {
        hidden.clear();
        if (button.dataset.all === "false") ranks.forEach((rank) => hidden.add(rank));
      } else {
        kinds[button.dataset.known] = !kinds[button.dataset.known];
        button.setAttribute("aria-pressed", String(kinds[button.dataset.known]));
      }
      update();
    });
  });
  narrow.addEventListener("change", drawAll);
  dark.addEventListener("change", drawAll);
  drawAll();
})();
