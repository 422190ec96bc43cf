// Shows the reports of the page as pages show outputs that are not trusted, and posts what is
// wrong with them.
addEventListener("load", function () {
  "use strict";
  var faults = [], styles = "background border-collapse border-left border-radius border-top color display flex font-size height line-height margin max-width min-width padding table-layout text-align white-space width word-break".split(" ");
  var rules = {
    // @jupyterlab/apputils' sanitizer: some tags, attributes and properties of styles.
    JupyterLab: { drops: "style,script,button,input,canvas,svg", keeps: /^(class|id|style|title|align|open|alt|src|width|height)$/ },
    // html-pipeline's, of github.com: no style, no class, and no pictures that are in the page.
    GitHub: { drops: "style,script,button,input,canvas,svg", keeps: /^(title|align|open|alt|width|height|aria-label)$/ },
  };
  function shown(e) { return e.getBoundingClientRect().height; }
  Object.keys(rules).forEach(function (name) {
    document.querySelectorAll("template").forEach(function (t) {
      var out = document.body.appendChild(document.createElement("div")), wrong = function (what) { faults.push(name + ", " + t.id + ": " + what); };
      out.appendChild(t.content.cloneNode(true));
      out.querySelectorAll(rules[name].drops).forEach(function (e) { e.remove(); });
      out.querySelectorAll("*").forEach(function (e) {
        Array.from(e.attributes).forEach(function (a) {
          if (!rules[name].keeps.test(a.name)) e.removeAttribute(a.name);
          if (a.name === "style") a.value.split(";").forEach(function (s) {
            if (styles.indexOf(s.split(":")[0].trim()) < 0 || /var\(|url\(/.test(s)) wrong("a style that is dropped: " + s);
          });
        });
      });
      var verdict = out.querySelector("strong");
      if (!/^[✓⚠✗] /.test(verdict.textContent) || getComputedStyle(verdict).fontWeight < 600) wrong("no verdict: " + verdict.textContent);
      if (name === "JupyterLab" && !/^4px solid/.test(getComputedStyle(verdict.parentNode).borderLeft)) wrong("a verdict without colour");
      if (out.querySelector("h1,h2,h3,h4,h5,h6")) wrong("a heading");
      out.querySelectorAll("*").forEach(function (e) { if (parseFloat(getComputedStyle(e).fontSize) > 16) wrong("huge: " + e.textContent.slice(0, 40)); });
      out.querySelectorAll("details:not([open])").forEach(function (e) { if (shown(e) > 45) wrong("a fold of " + shown(e) + " pixels: " + e.textContent.slice(0, 40)); });
      out.querySelectorAll("img").forEach(function (e) { if (!e.alt) wrong("a picture without words"); });
      out.remove();
    });
  });
  fetch("/seen", { method: "POST", body: JSON.stringify({ Faults: faults, Charts: document.querySelectorAll("template").length }) });
});
