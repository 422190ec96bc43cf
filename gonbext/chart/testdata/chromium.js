// Uses the charts of a page as readers do, and posts what was wrong and what tooltips said.
(function () {
  "use strict";
  var faults = [], tooltips = [], copied = [], saved = [];
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

  async function use() {
    all("details").forEach(function (d) { d.open = true; });
    while (pictures().length && !faults.length) await frame();
    var charts = all("[data-live]");
    all(".gonbext-scale").forEach(function (e) { tooltips.push(e.innerText); });
    for (var el of charts) {
      var box = el.querySelector("[role=img]"), tip = "";
      for (var at of [[0.02, 0.5], [0.3, 0.2], [0.5, 0.6], [0.95, 0.8]]) {
        pointer("mousemove", box, at[0], at[1]);
        await frame();
        // Of a box that is seen; it is the second child, after the canvas.
        if (box.children[1] && box.children[1].style.display !== "none") tip = box.children[1].innerText;
        if (tip && tooltips.indexOf(tip) < 0) tooltips.push(tip);
      }
      pointer("mousedown", box, 0.3, 0.6);
      pointer("mousemove", box, 0.5, 0.6);
      pointer("mouseup", box, 0.5, 0.6);
      pointer("mouseout", box, 0.5, 0.6);
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
