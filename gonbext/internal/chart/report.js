// Draws the figures of reports. boot.js unpacks it and calls draws: it returns what draws one
// list of figures with ECharts.
function draws(echarts) {
  "use strict";
  function figures3(x) { return String(+x.toPrecision(3)); }
  function scaled(v, base, names) {
    var i = 0;
    for (v = Math.abs(v); v >= base - 0.5 && i < names.length - 1; i++) v /= base;
    return (v >= 999.5 ? Math.round(v) : figures3(v)) + " " + names[i];
  }
  function bytes_(v) { return scaled(v, 1024, ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]); }
  function exact(v) { return String(v).replace(/\B(?=(\d{3})+$)/g, ",") + " bytes"; }
  function seconds(v) {
    if (v === 0) return "0";
    if (v < 0.9995e-3) return figures3(v * 1e6) + " µs";
    if (v < 0.9995) return figures3(v * 1e3) + " ms";
    if (v < 119.5) return figures3(v) + " s";
    return Math.floor(Math.round(v) / 60) + " min " + ("0" + Math.round(v) % 60).slice(-2) + " s";
  }
  function escape(s) {
    return String(s).replace(/[&<>"']/g, function (c) { return "&#" + c.charCodeAt(0) + ";"; });
  }
  function rows(points, value) {
    return points.map(function (p) {
      var v = value(p);
      return v ? "<br>" + p.marker + escape(p.seriesName) + "  <b>" + bytes_(v) + "</b>" : "";
    }).join("");
  }
  function formatters(f) {
    var unit = f.unit;
    return {
      "gonbext:number": function (v) { return String(+v.toPrecision(6)); },
      "gonbext:bin": function (p) { return escape(p[0].name) + "<br><b>" + p[0].value[1].toLocaleString("en") + "</b> elements"; },
      "gonbext:bytes": bytes_,
      "gonbext:time": function (v) { return seconds(v * unit).replace(" 00 s", ""); },
      "gonbext:overTime": function (p) { return seconds(p[0].value[0] * unit) + rows(p, function (q) { return q.value[1]; }); },
      "gonbext:cell": function (p) {
        var v = p.value, s = cellName(f.cells, p.dataIndex) + "<br>", last = f.cells.last / 1e3;
        if (p.data.unknown) return s + "not done";
        return s + seconds(v[2] / 1e3) + ", " + bytes_(v[3] * 1048576) + (v[4] ? "<br>retried or halved" : "") + "<br>from " + seconds(v[5] * last) + " to " + seconds(v[6] * last) + (v.length > 7 ? "<br>worker " + v[7] : "");
      },
      "gonbext:stored": function (p) {
        var v = p.value, s = cellName(f.cells, p.dataIndex) + "<br>";
        if (p.data.unknown) return s + "not stored";
        s += v[5] > 1 ? v[5] + " chunks of " + bytes_(v[6]) + " to " + bytes_(v[7]) : exact(v[6]);
        return s + (v[3] ? "<br>" + v[3] + " not stored" : "");
      }
    };
  }
  function fill(option, p) {
    p.values.forEach(function (values, i) {
      option.series[i].data = values.map(function (v, k) { return p.at ? [p.at[k], v] : v || null; }); // an edge of a bar of nothing would be seen
    });
  }
  function span(what, first, last, many) {
    return last > first ? what + many + " " + first.toLocaleString("en") + "–" + last.toLocaleString("en") : what + " " + first.toLocaleString("en");
  }
  // Which chunks are behind a cell.
  function cellName(c, i) {
    if (!c.width) return span("chunk", i * c.per[1], Math.min((i + 1) * c.per[1], c.chunks) - 1, "s");
    var row = Math.floor(i / c.cols) * c.per[0], col = i % c.cols * c.per[1];
    return [span("chunk", row, Math.min(row + c.per[0], c.chunks / c.width) - 1, "s"), span("chunk", col, Math.min(col + c.per[1], c.width) - 1, "s")].map(function (text, k) {
      return c.names[k] && text + " of " + escape(c.names[k]);
    }).filter(Boolean).join(", ");
  }
  function cells(c) {
    if (c.last) { // times of begin and end, of differences
      var from = 0, k = 3;
      c.columns[k].forEach(function (later, i) {
        c.columns[k][i] = from += later;
        c.columns[k + 1][i] += from;
      });
    }
    return c.columns[0].map(function (_, i) {
      return { value: [i % c.cols, Math.floor(i / c.cols)].concat(c.columns.map(function (column) { return column[i]; })) };
    });
  }
  function revive(o, known) {
    if (o && typeof o === "object") Object.keys(o).forEach(function (k) {
      if (k === "formatter" && known[o[k]]) o[k] = known[o[k]];
      else if (k === "type" && String(o[k]).indexOf("gonbext:") === 0) o[k] = o[k].slice(8).split(" ").map(Number);
      else if (k !== "data") revive(o[k], known);
    });
    return o;
  }

  // The colour at x, 0 to 1, of a scale of colours in even steps.
  function shade(colors, x) {
    var at = Math.min(Math.max(x, 0), 1) * (colors.length - 1), i = Math.min(Math.floor(at), colors.length - 2);
    return "rgb(" + [1, 2, 3].map(function (k) {
      var from = parseInt(colors[i][k], 16), to = parseInt(colors[i + 1][k], 16);
      return Math.round(17 * (from + (at - i) * (to - from)));
    }) + ")";
  }

  // Text and lines in the colours of the page around, whatever its theme. Cells get the colour
  // that paint gives them; those that dark tells of are faint.
  function themed(o, el, paint, dark) {
    var fg = getComputedStyle(el).color, faint = "rgba(128,128,128,.25)";
    o.useUTC = true; // times count from the start of the run
    var font = getComputedStyle(el).fontFamily; // a canvas inherits none
    o.textStyle = { color: fg, fontFamily: font };
    [].concat(o.xAxis || [], o.yAxis || []).forEach(function (a) {
      a.axisLabel = Object.assign({}, a.axisLabel, { color: fg, fontFamily: font, showMinLabel: a.type === "log" || a.type === "value" && a.min % 1 ? false : null, showMaxLabel: a.type === "category" ? null : false });
      a.axisTick = Object.assign({ show: a.axisLabel.show !== false }, a.axisTick);
      a.axisLine = Object.assign({ lineStyle: { color: "rgba(128,128,128,.7)" } }, a.axisLine);
      a.splitLine = Object.assign({ lineStyle: { color: faint } }, a.splitLine);
    });
    (o.series || []).forEach(function (s) {
      if (s.type === "heatmap") {
        s.itemStyle = { borderColor: faint, borderWidth: 0.5 };
        s.data.forEach(function (d) {
          if (d.value[2] == null) { // ECharts draws nothing of what has no value
            d.unknown = true;
            d.value[2] = d.value[3] = 0;
          }
          d.itemStyle = { color: d.unknown ? faint : paint(d.value), opacity: dark(d) ? 0.15 : 1 };
          if (d.value[4] && !d.unknown) Object.assign(d.itemStyle, { borderColor: "#e07", borderWidth: 2 });
        });
      }
      // Many bars overlap a little, or the ground would shine between them.
      if (s.type === "bar" && s.data.length > 100) s.barWidth = "130%";
    });
    o.tooltip = Object.assign({}, o.tooltip, { confine: true, transitionDuration: 0 });
    return o;
  }

  // The legend has a button for each series that it lists, or for all: a box for an area,
  // dashes for a line. A button hides its series, with those before it that are not listed, and
  // shows them again.
  function legend(o, hidden, show) {
    var box = "M2 0h10q2 0 2 2v6q0 2-2 2H2q-2 0-2-2V2q0-2 2-2z", names = o.legend.data, unlisted = [], bar = document.createElement("div");
    var dashes = { dotted: "2 2", dashed: "6 2" };
    bar.className = "gonbext-legend";
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "Legend");
    o.series.forEach(function (s) {
      if (names && names.indexOf(s.name) < 0) return unlisted.push(s);
      var mine = unlisted.concat(s);
      unlisted = [];
      var b = bar.appendChild(document.createElement("button"));
      b.type = "button";
      b.setAttribute("data-lm-suppress-shortcuts", "true"); // JupyterLab takes keys for itself
      b.innerHTML = "<svg width=14 height=10><path/></svg>";
      var type = s.lineStyle && s.lineStyle.type, dash = dashes[type] || type && type.join && type.join(" "), mark = b.firstChild.firstChild;
      mark.setAttribute("d", dash ? "M0 5h14" : box);
      mark.setAttribute(dash ? "stroke" : "fill", s.itemStyle.color);
      if (s.areaStyle && s.areaStyle.opacity < 0.5) mark.setAttribute("fill-opacity", 0.4); // a band
      if (dash) {
        mark.setAttribute("stroke-width", 2);
        mark.setAttribute("stroke-dasharray", dash);
      }
      b.appendChild(document.createTextNode(s.name));
      b.setAttribute("aria-pressed", true);
      b.onclick = function () {
        var hide = !hidden.has(s);
        mine.forEach(function (x) { hidden[hide ? "add" : "delete"](x); });
        b.setAttribute("aria-pressed", !hide);
        show();
      };
    });
    return bar;
  }

  // The scale of a heat map: its colours between the texts of their ends.
  function scale(colors) {
    var bar = document.createElement("div");
    bar.className = "gonbext-scale";
    bar.innerHTML = "<span></span><i></i><span></span>";
    bar.childNodes[1].style.background = "linear-gradient(to right," + colors + ")";
    return bar;
  }
  function ends(c) {
    return [c.min, c.max].map(function (v) { return c.label === "bytes" ? bytes_(v * 1048576) : c.label === "time" ? seconds(v / 1e3) : String(+v.toPrecision(5)).replace(/-?Infinity/, v); });
  }

  // The axes of a heat map have the indices of elements, of which a cell has so many, or none where it has several axes.
  function places(n, per, more) {
    var bare = { show: false };
    return [Object.assign({ type: "category", data: Array.from(Array(n).keys()).map(function (i) { return i * (per || 1); }), axisLabel: { show: !!per, interval: skipped(n, per) }, axisLine: bare, axisTick: bare }, more)];
  }
  // How many of n places have no label between two that have one, which are round.
  function skipped(n, per) {
    var least = Math.ceil(n / 8), every = least;
    function digits(k) { return String(k * per).replace(/0+$/, "").length; }
    for (var k = least; k <= 2 * least; k++) if (digits(k) < digits(every)) every = k;
    return every - 1;
  }

  // Fits the option to a page of the given width; returns the chart's height.
  function fitted(f, width) {
    var g = f.option.grid[0];
    if (f.choices) {
      // Cells shrink with the page and keep their shape.
      f.width = f.width || +g.width; f.tall = f.tall || +g.height;
      g.width = Math.min(f.width, width - 8 - +g.left);
      g.height = f.tall * g.width / f.width;
      return f.height - f.tall + g.height;
    }
    return f.height - (f.option.legend.show ? 24 : 0);
  }

  function draw(f, el) {
    if (f.flame) return flame(f, el, el.closest(".gonbext"));
    if (f.tasks) return tasks(f.tasks, el, el.closest(".gonbext"), el.closest(".gonbext-run"));
    var legends = f.option.legend, colors = f.option.visualMap && [].concat(f.option.visualMap)[0].inRange.color;
    var option = revive(f.option, formatters(f)), hidden = new Set(), bars = [], move = null, shown = null, width = el.clientWidth, picture = el.querySelector("img"), report = el.closest(".gonbext"), run = el.closest(".gonbext-run");
    if (f.cells) {
      option.series[0].data = cells(f.cells);
      var per = f.cells.block || [], names = f.cells.names || [];
      option.xAxis = places(f.cells.cols, per[1], { name: names[1], nameLocation: "middle", nameGap: per[1] ? 24 : 8 });
      option.yAxis = places(Math.ceil(option.series[0].data.length / f.cells.cols), per[0], { inverse: true, name: names[0], nameLocation: "middle", nameGap: option.grid[0].left - 12 });
    }
    if (f.points) fill(option, f.points);
    var box = document.createElement("div"); // beside the picture, which is printed
    box.setAttribute("role", "img");
    box.setAttribute("aria-label", picture ? picture.alt : "");
    var above = legends.show ? legend(option, hidden, show) : colors ? scale(colors) : null;
    if (above) el.appendChild(above);
    el.appendChild(box);
    box.style.height = fitted(f, width) + "px";
    el.setAttribute("data-live", "1"); // hides the picture
    var chart = echarts.init(box);
    watch(el, {
      resize: function () {
        if (!el.clientWidth || el.clientWidth === width) return;
        width = el.clientWidth;
        box.style.height = fitted(f, width) + "px";
        chart.resize();
        render();
      },
      show: render,
      dispose: function () {
        if (report) report.removeEventListener("gonbext-window", show);
        bars.forEach(function (bar) { bar.remove(); });
        if (f.brush && report && report.gonbextWindow) light(f, report, null);
        chart.dispose();
      }
    });
    // What ran in the window of time that is chosen in the cell's timeline, if one is.
    function dark(d) {
      var chosen = report && report.gonbextWindow, last = f.cells && f.cells.last / 1e3, start = run && +run.dataset.start;
      return chosen && last && (d.unknown || start + d.value[6] * last < chosen[0] || start + d.value[5] * last > chosen[1]);
    }
    function paint(values) { return shade(colors, (values[shown.dimension] - shown.min) / (shown.max - shown.min || 1)); }
    function render() {
      var series = option.series.filter(function (s) { return !hidden.has(s); });
      chart.setOption(Object.assign({}, themed(option, el, paint, dark), { series: series, legend: null, visualMap: null }), true);
      if (move) move();
    }
    function show() {
      try { render(); } catch (e) { still(el, e); }
    }
    function colour(c) {
      shown = c;
      ends(c).forEach(function (text, k) { above.childNodes[2 * k].textContent = text; });
    }
    if (f.choices) colour(f.choices[0]);
    render();
    if (f.choices && f.choices.length > 1) {
      var bar = document.createElement("div");
      bar.className = "gonbext-switch";
      f.choices.forEach(function (c, i) {
        var b = button(bar, c.label, function () {
          colour(c);
          bar.childNodes.forEach(function (x) { x.setAttribute("aria-pressed", x === b); });
          show();
        });
        b.setAttribute("aria-pressed", i === 0);
      });
      bars.push(el.parentNode.insertBefore(bar, el));
    }
    var saves = savable(el, picture, chart);
    if (!f.brush && !f.cells && option.xAxis[0].type !== "category") zoomable(box, chart, option.xAxis[0], saves, show);
    if (f.brush && report) move = brush(f, el, box, chart, report, bars, option, show);
    if (f.cells && f.cells.last && report) report.addEventListener("gonbext-window", show);
  }

  function button(parent, text, does) {
    var b = parent.appendChild(document.createElement("button"));
    b.type = "button";
    b.textContent = text;
    b.onclick = does;
    return b;
  }

  // A figure is saved as its picture or as it is drawn.
  function savable(el, picture, chart) {
    var bar = el.appendChild(document.createElement("div"));
    function save(kind, address) {
      var a = document.createElement("a");
      a.href = address;
      a.download = "figure." + kind;
      a.click();
    }
    bar.className = "gonbext-switch";
    if (picture) button(bar, "save as SVG", function () { save("svg", picture.src); });
    button(bar, "save as PNG", function () { save("png", chart.getDataURL({ pixelRatio: 2 })); });
    return bar;
  }

  // A stretch of the axis across that is dragged over is what the chart shows then.
  function zoomable(box, chart, axis, bar, show) {
    var finder = { xAxisIndex: 0 }, from = null, shade = box.appendChild(document.createElement("div")), zr = chart.getZr();
    var whole = [axis.min, axis.max], shown = whole;
    shade.className = "gonbext-window";
    shade.style.display = "none";
    box.style.position = "relative";
    var all = button(bar, "whole range", function () { to(whole); });
    all.hidden = true;
    bar.appendChild(document.createElement("span")).textContent = "Drag to zoom";
    function to(range) {
      shown = range;
      axis.min = range[0]; axis.max = range[1];
      all.hidden = range === whole;
      show();
    }
    function end() { from = null; shade.style.display = "none"; }
    zr.on("mousedown", function (e) { if (chart.containPixel({ gridIndex: 0 }, [e.offsetX, e.offsetY])) from = e.offsetX; });
    zr.on("mousemove", function (e) {
      if (from !== null) shade.style.cssText = "left:" + Math.min(from, e.offsetX) + "px;width:" + Math.abs(e.offsetX - from) + "px;top:8px;bottom:28px";
    });
    zr.on("mouseup", function (e) {
      if (from !== null && Math.abs(e.offsetX - from) > 4) to([from, e.offsetX].map(function (pixel) {
        return Math.min(Math.max(chart.convertFromPixel(finder, pixel), shown[0]), shown[1]);
      }).sort(function (x, y) { return x - y; }));
      end();
    });
    zr.on("globalout", end);
  }

  // A report is saved from its corner as a page of its pictures and tables, without scripts.
  function pageable(report) {
    if (report.querySelector(".gonbext-corner") || !report.querySelector(".gonbext-run")) return;
    var bar = report.insertBefore(document.createElement("div"), report.firstChild);
    bar.className = "gonbext-switch gonbext-corner";
    button(bar, "save as page", function () {
      var copy = report.cloneNode(true), a = document.createElement("a"), style = document.querySelector("head > style[data-gonbext]");
      copy.querySelectorAll(".gonbext-switch,script,[data-live]>:not(img)").forEach(function (e) { e.remove(); });
      copy.querySelectorAll("[data-live]").forEach(function (e) { e.removeAttribute("data-live"); });
      a.href = URL.createObjectURL(new Blob(["<!doctype html><meta charset=utf-8><meta name=color-scheme content='light dark'><title>Report</title>", style ? style.outerHTML : "", copy.outerHTML], { type: "text/html" }));
      a.download = "report.html";
      a.click();
      setTimeout(function () { URL.revokeObjectURL(a.href); }, 1e4);
    });
  }

  // Tables are copied as spreadsheets take them.
  function copyable(report) {
    report.querySelectorAll("table:not([data-copy])").forEach(function (table) {
      table.setAttribute("data-copy", "");
      var bar = table.parentNode.appendChild(document.createElement("div"));
      bar.className = "gonbext-switch";
      button(bar, "copy", function () {
        function fill(e) {
          e.clipboardData.setData("text/plain", [].map.call(table.rows, function (row) {
            return [].map.call(row.cells, function (c) { return c.innerText.replace(/\s+/g, " ").trim(); }).join("\t");
          }).join("\n"));
          e.preventDefault();
        }
        document.addEventListener("copy", fill); // navigator.clipboard is for secure pages only
        document.execCommand("copy");
        document.removeEventListener("copy", fill);
      });
    });
  }

  // Lets a moment or a window of time be chosen in a timeline, by the mouse or by two sliders:
  // what held memory and was at work then lights up, and is named. What ran when stands above.
  // It returns what puts all this in its place again.
  function brush(f, el, box, chart, report, bars, option, show) {
    var end = f.brush, at = null, from = null, axis = option.xAxis[0];
    var shade = box.appendChild(document.createElement("div")), bar = document.createElement("div"), strip = null;
    shade.className = "gonbext-window";
    box.style.position = "relative";
    if (f.spans) {
      strip = el.insertBefore(document.createElement("div"), box);
      strip.className = "gonbext-spans";
      f.spans.forEach(function (s) {
        button(strip, s.name, function () { at = [s.from, s.to]; choose(); }).title = s.name + ", " + seconds(s.from) + " to " + seconds(s.to);
      });
    }
    bar.className = "gonbext-switch";
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "Moment or window of time");
    var ends = ["What ran from", "to"].map(function (text, k) {
      var label = bar.appendChild(document.createElement("label")), i = document.createElement("input");
      label.textContent = text + " ";
      i.type = "range"; i.min = 0; i.max = 1000; i.step = 5;
      i.setAttribute("data-lm-suppress-shortcuts", "true"); // JupyterLab takes arrows for itself
      i.oninput = function () {
        at = at || [0, end];
        at[k] = i.value / 1000 * end;
        if (at[0] > at[1]) at[1 - k] = at[k];
        choose();
      };
      label.appendChild(i);
      return i;
    });
    button(bar, "zoom", function () { if (at && at[1] > at[0]) zoom(at[0], at[1]); });
    button(bar, "all", function () { at = null; zoom(0, end); choose(); });
    var said = bar.appendChild(document.createElement("span"));
    said.setAttribute("role", "status");
    bars.push(el.parentNode.insertBefore(bar, el.nextSibling));

    function zoom(least, most) {
      axis.min = least / f.unit; axis.max = most / f.unit;
      show();
    }
    function pixel(s) { return chart.convertToPixel({ xAxisIndex: 0 }, Math.min(Math.max(s / f.unit, axis.min), axis.max)); }
    function put(e, from, to, style) {
      var x = pixel(from), width = pixel(to) - x;
      e.style.cssText = to / f.unit < axis.min || from / f.unit > axis.max ? "display:none" : "left:" + x + "px;width:" + Math.max(width, 1) + "px;" + style;
      if (e.type) e.tabIndex = width < 24 ? -1 : 0; // what is too small to hit is chosen by the sliders
    }
    function move() {
      var top = f.option.grid[0].top, bottom = chart.convertToPixel({ yAxisIndex: 0 }, 0);
      if (at) put(shade, at[0], at[1], "top:" + top + "px;height:" + (bottom - top) + "px");
      else shade.style.cssText = "display:none";
      if (strip) f.spans.forEach(function (s, k) { put(strip.childNodes[k], s.from, s.to, ""); });
    }
    function choose() {
      if (at && at[0] <= 0 && at[1] >= end) at = null;
      var names = light(f, report, at), chosen = at || [0, end];
      ends.forEach(function (i, k) { i.value = 1000 * chosen[k] / end; i.setAttribute("aria-valuetext", seconds(chosen[k])); });
      said.textContent = !at ? "" : seconds(at[0]) + (at[1] > at[0] ? " to " + seconds(at[1]) : "") + ": " + (names.join(", ") || "nothing ran");
      move();
    }
    var zr = chart.getZr();
    function second(e) { return Math.min(Math.max(chart.convertFromPixel({ xAxisIndex: 0 }, e.offsetX) * f.unit, axis.min * f.unit), axis.max * f.unit); }
    function drag(e) {
      if (from === null) return;
      var to = second(e);
      at = Math.abs(to - from) < (axis.max - axis.min) * f.unit / 100 ? [from, from] : [Math.min(from, to), Math.max(from, to)];
      choose();
    }
    zr.on("mousedown", function (e) { if (chart.containPixel({ gridIndex: 0 }, [e.offsetX, e.offsetY])) from = second(e); });
    zr.on("mousemove", drag);
    zr.on("mouseup", function (e) { drag(e); from = null; });
    zr.on("globalout", function () { from = null; });
    choose();
    return move;
  }

  // What the stacked series have at a point, together.
  function stacked(f, i) {
    return f.points.values.reduce(function (sum, v, k) { return f.option.series[k].stack ? sum + v[i] : sum; }, 0);
  }
  // The point of a timeline at a moment, or where it is largest in a window of time.
  function pointAt(f, at) {
    var middle = (at[0] + at[1]) / 2 / f.unit, nearest = 0, largest = -1;
    f.points.at.forEach(function (p, i) {
      if (Math.abs(p - middle) < Math.abs(f.points.at[nearest] - middle)) nearest = i;
      if (at[1] > at[0] && p >= at[0] / f.unit && p <= at[1] / f.unit && (largest < 0 || stacked(f, i) > stacked(f, largest))) largest = i;
    });
    return largest < 0 ? nearest : largest;
  }

  // Lights up what of a cell was at work, and which lines held memory, in a window of time, if
  // one is chosen, and names it.
  function light(f, report, at) {
    var names = [], i = at && pointAt(f, at), all = at && stacked(f, i);
    report.gonbextWindow = at;
    report.gonbextMoment = at ? i : null;
    report.querySelectorAll("tr[data-from]").forEach(function (row) {
      var start = +row.closest(".gonbext-run").dataset.start, lit = !!at && start + +row.dataset.from <= at[1] && start + +row.dataset.to >= at[0];
      row.classList.toggle("gonbext-lit", lit);
      if (lit) names.push(row.querySelector("strong").textContent);
    });
    report.querySelectorAll("tr[data-line]").forEach(function (row) {
      var k = f.option.series.findIndex(function (s) { return s.name === row.dataset.line; }), held = at && k >= 0 ? f.points.values[k][i] : 0;
      row.classList.toggle("gonbext-lit", held > all / 100);
      if (held > all / 100) names.push(row.cells[0].textContent + " held " + bytes_(held));
    });
    if (at) names.unshift(bytes_(all));
    report.dispatchEvent(new Event("gonbext-window"));
    return names;
  }

  // Who held the memory at the moment that is chosen in the timeline, else when it was most: a
  // row for lines, one for what they compute, one for classes.
  function flame(f, el, report) {
    var box = document.createElement("div");
    box.className = "gonbext-flame";
    el.appendChild(box);
    el.setAttribute("data-live", "1");
    function node(name) { return { name: name, bytes: 0, below: [] }; }
    box.style.height = 20 * (1 + Math.max.apply(null, f.flame.map(function (leaf) { return leaf.path.length; }))) + 2 + "px";
    function show() {
      var at = report.gonbextMoment == null ? f.moment || 0 : report.gonbextMoment, root = node("arena and Go heap");
      f.flame.forEach(function (leaf) {
        var n = leaf.values[at - leaf.from] || 0, up = root;
        if (!n) return;
        root.bytes += n;
        leaf.path.forEach(function (name, depth) {
          var next = up.below.find(function (c) { return c.name === name; });
          if (!next) up.below.push(next = node(name));
          next.bytes += n;
          if (depth === leaf.path.length - 1) next.leaf = leaf;
          up = next;
        });
      });
      box.textContent = "";
      (function draw(n, depth, x) {
        var e = box.appendChild(document.createElement("div")), share = 100 * n.bytes / (root.bytes || 1);
        e.textContent = n.name + " " + bytes_(n.bytes);
        e.title = e.textContent;
        e.style.cssText = "left:" + x + "%;width:" + share + "%;top:" + 20 * depth + "px;" + (n.leaf ? "background:" + n.leaf.color + "8" : "");
        n.below.sort(function (a, b) { return b.bytes - a.bytes; }).forEach(function (c) {
          draw(c, depth + 1, x);
          x += 100 * c.bytes / (root.bytes || 1);
        });
      })(root, 0, 0);
    }
    report.addEventListener("gonbext-window", show);
    watch(el, {
      resize: function () {},
      show: function () {},
      dispose: function () { report.removeEventListener("gonbext-window", show); }
    });
    show();
  }

  // Tasks in the slots that they ran in, and below that what each held, for the window or around the moment that is chosen
  // in the timeline. A click on one shows its time.
  function tasks(t, el, report, run) {
    var box = el.appendChild(document.createElement("div")), bar = document.createElement("div"), start = run ? +run.dataset.start : 0, own = null, width = 0;
    box.className = "gonbext-tasks";
    bar.className = "gonbext-switch";
    el.setAttribute("data-live", "1");
    el.parentNode.insertBefore(bar, el);
    var all = button(bar, "all", function () { own = null; draw(); });
    var names = bar.appendChild(document.createElement("span"));
    names.innerHTML = t.names.map(function (n, i) { return "<i style='background:" + t.colors[i] + "'></i>" + escape(n); }).join(" ");
    function shown() {
      var at = own || report && report.gonbextWindow && report.gonbextWindow.map(function (s) { return s - start; });
      if (!at || at[1] <= 0 || at[0] >= t.end) return [0, t.end];
      var wide = Math.max(at[1] - at[0], t.end / 20), middle = (at[0] + at[1]) / 2;
      return [Math.max(middle - wide / 2, 0), Math.min(middle + wide / 2, t.end)];
    }
    function draw() {
      width = el.clientWidth;
      var left = 78, right = width - 14, row = Math.round(Math.min(Math.max(110 / t.lanes.length, 4), 16)), below = row * t.lanes.length + 10, deep = t.top ? 140 : 0, at = shown(), out = "";
      function x(s) { return left + (right - left) * Math.min(Math.max((s - at[0]) / (at[1] - at[0]), 0), 1); }
      function y(b) { return below + deep * (1 - b / (t.top * 1.02)); }
      function text(px, py, anchor, s) { out += "<text x=" + px.toFixed(1) + " y=" + py.toFixed(1) + " text-anchor=" + anchor + ">" + escape(s) + "</text>"; }
      function rect(k, from, to, top, height) {
        out += "<rect data-k=" + k + " x=" + from.toFixed(1) + " width=" + Math.max(to - from, 0.7).toFixed(1) + " y=" + top.toFixed(1) + " height=" + height.toFixed(1) + " fill='" + t.colors[t.stage[k] % t.colors.length] + "'/>";
      }
      t.lanes.forEach(function (name, i) { if (name && (row > 10 || i * row % 12 < row)) text(left - 6, i * row + row / 2 + 4, "end", name); });
      for (var b = 0, step = Math.pow(2, Math.ceil(Math.log2((t.top || 1) / 6))); deep && b <= t.top; b += step) {
        out += "<path d='M" + left + " " + y(b).toFixed(1) + "H" + right + "'/>";
        text(left - 6, y(b) + 4, "end", bytes_(b));
      }
      var wide = (at[1] - at[0]) / Math.max(Math.min(width / 110, 6), 2), power = Math.pow(10, Math.floor(Math.log10(wide))), every = [1, 2, 5, 10].find(function (k) { return k * power >= wide; }) * power;
      for (var s = Math.ceil(at[0] / every) * every; s <= at[1]; s += every) text(x(s), below + deep + 16, x(s) > right - 30 ? "end" : "middle", seconds(+s.toPrecision(12)));
      all.hidden = at[0] === 0 && at[1] === t.end;
      t.slot.forEach(function (slot, k) {
        var from = x(t.from[k]), to = x(t.from[k] + t.long[k]);
        if (t.from[k] > at[1] || t.from[k] + t.long[k] < at[0]) return;
        rect(k, from, to, slot * row, row - 1);
        if (t.bytes[k]) rect(k, from, to, y(t.base[k] + t.bytes[k]), y(t.base[k]) - y(t.base[k] + t.bytes[k]));
      });
      box.innerHTML = "<svg width=" + width + " height=" + (below + deep + 22) + ">" + out + "</svg>";
    }
    function task(e) { return e.target.dataset && e.target.dataset.k; }
    box.onmouseover = function (e) {
      var k = task(e);
      box.title = k == null ? "" : t.names[t.stage[k] % t.names.length] + ", " + span("chunk", t.chunk[k], t.chunk[k] + t.more[k], "s") + "\nslot " + t.slot[k] + ", " + (t.bytes[k] ? bytes_(t.bytes[k]) + ", " : "") + "from " + seconds(t.from[k]) + ", " + seconds(t.long[k]);
    };
    box.onclick = function (e) {
      var k = task(e);
      if (k == null) return;
      own = [t.from[k] - t.long[k], t.from[k] + 2 * t.long[k]];
      draw();
    };
    function follow() { own = null; draw(); }
    if (report) report.addEventListener("gonbext-window", follow);
    watch(el, {
      resize: function () { if (el.clientWidth && el.clientWidth !== width) draw(); },
      show: function () {},
      dispose: function () { bar.remove(); if (report) report.removeEventListener("gonbext-window", follow); }
    });
    draw();
  }

  // A chart becomes its picture again when ECharts cannot draw it, and when its output left
  // the page.
  function still(el, error) {
    var chart = charts.get(el);
    charts.delete(el);
    [].slice.call(el.children).forEach(function (e) { if (e.tagName !== "IMG") e.remove(); });
    el.removeAttribute("data-live");
    if (error) console.warn("gonbext: a chart stays a picture: " + error);
    if (!chart) return;
    sizes.unobserve(el);
    chart.dispose();
  }

  // One observer of each kind serves all charts of the page. A chart whose output
  // was replaced or cleared is given up at the next change.
  var charts = new Map(), sizes = null;
  function all(what) {
    charts.forEach(function (c, el) {
      if (!el.isConnected) return still(el);
      try { c[what](); } catch (error) { still(el, error); }
    });
  }
  function watch(el, chart) {
    if (!sizes) {
      sizes = new ResizeObserver(function () { requestAnimationFrame(function () { all("resize"); }); }); // a loop in one frame is an error
      new MutationObserver(function () { all("show"); }).observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-theme", "class"] });
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () { all("show"); });
    }
    charts.set(el, chart);
    sizes.observe(el);
  }

  // A notebook may run a script before its output is in the page.
  function place(f, tries) {
    var found = document.querySelectorAll("[id='" + f.id + "']:not([data-live])");
    found.forEach(function (el) { figures.set(el, f); near.observe(el); });
    if (!found.length && tries > 0) setTimeout(place, 100, f, tries - 1);
  }
  // A figure is a picture until it comes near what is seen of the page, which one that is folded
  // does when it is opened: a canvas takes megabytes, and a notebook can have a thousand.
  var figures = new WeakMap(), near = new IntersectionObserver(function (entries) {
    entries.forEach(function (e) {
      var el = e.target, report = el.closest(".gonbext");
      if (!e.isIntersecting) return;
      near.unobserve(el);
      if (!el.clientWidth) return setTimeout(place, 100, figures.get(el), 600);
      if (report) { copyable(report); pageable(report); }
      try { draw(JSON.parse(JSON.stringify(figures.get(el))), el); } catch (error) { still(el, error); }
    });
  }, { rootMargin: "500px", scrollMargin: "500px" });
  return function (list) {
    list.forEach(function (f) { place(f, 600); });
  };
}
