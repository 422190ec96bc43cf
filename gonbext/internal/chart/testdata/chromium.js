// Uses the charts of a page as readers do, and posts what was wrong and what tooltips said.
(function () {
  "use strict";
  var zoomed = 0, faults = [], tooltips = [], copied = [], saved = [];
  document.execCommand = function () {
    var d = new DataTransfer();
    document.dispatchEvent(new ClipboardEvent("copy", { clipboardData: d }));
    copied.push(d.getData("text/plain"));
  };
  HTMLAnchorElement.prototype.click = function () { saved.push(this.download + " " + this.href.slice(0, 14)); };
  addEventListener("error", function (e) { faults.push("error: " + (e.error && e.error.stack || e.message)); });
  addEventListener("unhandledrejection", function (e) { faults.push("rejection: " + e.reason); });
  ["error", "warn"].forEach(function (k) { console[k] = function (m) { faults.push("console: " + m); }; });

  function all(where) { return Array.from(document.querySelectorAll(where)); }
  function frame() { return new Promise(function (done) { requestAnimationFrame(function () { setTimeout(done); }); }); }
  async function frames(n) { while (n-- > 0) await frame(); }
  function expect(ok, what) { if (!ok) faults.push(what); }
  function pictures() { return all("[id^=gonbext-]:not([data-live])"); }
  function pointer(type, box, x, y) {
    var r = box.getBoundingClientRect();
    box.querySelector("canvas").dispatchEvent(new MouseEvent(type, { bubbles: true, clientX: r.left + r.width * x, clientY: r.top + r.height * y }));
  }

  // A click on a cell's timeline shows what held memory at that moment: rows light up, and the
  // flame view is of it. Zoomed, the axis has the window that is chosen.
  async function moments() {
    var flame = document.querySelector(".gonbext-flame"), report = flame.closest(".gonbext"), el = report.querySelector("[data-live]"), box = el.querySelector("[role=img]");
    var said = report.querySelector("[role=status]"), seen = [];
    function lit() { return Array.from(report.querySelectorAll("tr.gonbext-lit")).map(function (r) { return (r.querySelector("strong") || r.cells[0]).textContent; }); }
    function press(text) { all(".gonbext-switch button").filter(function (b) { return report.contains(b) && b.textContent === text; })[0].click(); }
    function shaded() { return report.querySelector(".gonbext-window").offsetWidth; }
    for (var x of [0.15, 0.3, 0.45, 0.8]) {
      pointer("mousedown", box, x, 0.5);
      pointer("mouseup", box, x, 0.5);
      await frame();
      seen.push({ lit: lit(), flame: flame.innerText, said: said.textContent });
    }
    // Before the first run, in it, after it, and after the second.
    moment(seen[0], [], "Go heap, other");
    moment(seen[1], ["sqrt(acts) - mean"], "sqrt");
    moment(seen[2], ["line 4"], "line 4");
    function moment(m, operations, held) {
      expect(m.flame.indexOf(held) >= 0, "no " + held + " in the flame view of " + m.said + ": " + m.flame);
      operations.forEach(function (o) { expect(m.lit.indexOf(o) >= 0, o + " is not lit at " + m.said + ": " + m.lit); });
      m.lit.forEach(function (o) { expect(m.said.indexOf(o) >= 0, o + " is lit and not named: " + m.said); });
    }
    expect(new Set(seen.map(function (m) { return m.flame; })).size === seen.length, "the flame view does not change");
    pointer("mousedown", box, 0.3, 0.5);
    pointer("mousemove", box, 0.5, 0.5);
    pointer("mouseup", box, 0.5, 0.5);
    var before = shaded();
    press("zoom");
    await frame();
    expect(shaded() > 3 * before, "zoomed, a window of " + before + " pixels has " + shaded());
    press("all");
    await frame();
    expect(lit().length === 0 && said.textContent === "", "lit without a moment: " + lit() + said.textContent);
  }

  // Figures are drawn when they come into sight.
  async function drawn(which) {
    for (var left = pictures().filter(which); left.length && !faults.length; left = pictures().filter(which)) {
      left[0].scrollIntoView();
      await frame();
    }
  }
  async function use() {
    while (!all("[data-live]").length && !faults.length) await frame();
    await frames(10);
    expect(all("[data-live]").every(function (e) { return e.getBoundingClientRect().top < innerHeight + 2000; }), "a chart that is far from what is seen is drawn");
    await drawn(function (e) { return !e.closest("details:not([open])"); });
    all("details").forEach(function (d) { d.open = true; });
    await drawn(function () { return true; });
    var charts = all("[data-live]");
    all(".gonbext-scale").forEach(function (e) { tooltips.push(e.innerText); });
    await moments();
    for (var el of charts) {
      var box = el.querySelector("[role=img]"), tip = "";
      if (!box) continue; // a flame view
      for (var at of [[0.02, 0.5], [0.3, 0.2], [0.5, 0.6], [0.95, 0.8]]) {
        pointer("mousemove", box, at[0], at[1]);
        await frame();
        // Of a box that is seen; it is the second child, after the canvas.
        if (box.children[1] && box.children[1].style.display !== "none") tip = box.children[1].innerText;
        if (tip && tooltips.indexOf(tip) < 0) tooltips.push(tip);
      }
      pointer("mousedown", box, 0.3, 0.4);
      pointer("mousemove", box, 0.5, 0.6);
      pointer("mouseup", box, 0.5, 0.6);
      pointer("mouseout", box, 0.5, 0.6);
      var whole = Array.from(el.querySelectorAll(".gonbext-switch button")).filter(function (b) { return b.textContent === "whole range"; })[0];
      if (whole && box.clientHeight > 150 && box.clientWidth > 300) {
        zoomed++;
        expect(!whole.hidden, "a drag does not zoom: " + el.closest(".gonbext").innerText.slice(0, 80));
        whole.click();
        expect(whole.hidden, "zoomed, though the whole range is shown");
      }
      var names = Array.from(el.querySelectorAll(".gonbext-legend button")).slice(0, 5);
      for (var b of names) {
        b.click();
        expect(names.filter(function (x) { return x.getAttribute("aria-pressed") === "false"; }).length === names.indexOf(b) + 1, "a press of " + b.textContent + " hides something else");
      }
      pointer("mousemove", box, 0.5, 0.6); // some or all series are hidden
      await frame();
      names.forEach(function (b) { b.click(); });
    }
    for (var b of all(".gonbext-switch button")) { b.click(); await frame(); }
    expect(zoomed > 5, zoomed + " figures zoom");
    expect(copied.some(function (text) { return /^operation\tchunks\tpredicted\t.*\n/.test(text); }), "no table is copied: " + copied);
    ["figure.svg data:image/svg", "figure.png data:image/png"].forEach(function (what) { expect(saved.indexOf(what) >= 0, "not saved: " + what); });
    all(".gonbext-switch input").forEach(function (i) { i.value = 400; i.dispatchEvent(new Event("input")); });
    for (var width of ["300px", "620px", "0", ""]) {
      document.body.style.width = width;
      await frames(3);
    }
    document.body.style.display = "none";
    document.body.className = "x";
    await frames(3);
    document.body.style.display = "";
    await frames(3);
    charts[0].closest(".gonbext").remove();
    document.body.className = "";
    await frames(3);
    expect(!pictures().length, pictures().length + " charts became pictures");
    all("[data-live] canvas").forEach(function (c) {
      expect(c.clientWidth > 0 && c.clientWidth <= c.closest("[data-live]").clientWidth, "a canvas of " + c.clientWidth + " pixels");
    });
    return charts.length;
  }
  addEventListener("load", function () {
    use().catch(function (e) { faults.push(String(e.stack)); }).then(function (charts) {
      fetch("/seen", { method: "POST", body: JSON.stringify({ Faults: faults, Charts: charts || 0, Tooltips: tooltips }) });
    });
  });
})();
