(function (library, script) {
  "use strict";
  // One queue a page: reports push their figures, packed, and an output that carries the
  // library draws them, whichever of the two comes first.
  var key = "gonbextCharts5", waiting = window[key] || [];
  if (waiting.draws) return;
  window[key] = { draws: true, push: push };
  // One style sheet serves the page, also when the output that carries it is out of sight.
  var carrier = document.currentScript, style = (carrier && carrier.parentNode || document).querySelector(".gonbext > style");
  if (style) document.head.appendChild(style.cloneNode(true));

  function unpacked(text) {
    // A browser without this rejects too.
    return Promise.resolve().then(function () {
      var bytes = Uint8Array.from(atob(text), function (c) { return c.charCodeAt(0); });
      return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
    });
  }
  var ready = Promise.all([unpacked(library), unpacked(script)]).then(function (code) {
    // Without the page's own loaders, which a library would register with.
    var module = { exports: {} };
    new Function("module", "exports", "define", "require", code[0])(module, module.exports);
    return new Function(code[1] + ";return draws")()(module.exports);
  });
  function push(figures) {
    Promise.all([ready, unpacked(figures)]).then(function (both) {
      both[0](JSON.parse(both[1]));
    }).catch(function (e) { console.warn("gonbext: charts stay pictures: " + e); });
  }
  waiting.forEach(push);
})
