(function (script) {
  "use strict";
  // A bar is replaced every few seconds while its run goes on. One that is not stands in a
  // page that was loaded anew, whose Jupyter drops the outputs of cells that it did not start
  // itself. Such a bar listens to the kernel, so that it goes on, gives way to the report, or
  // says how it ended.
  var shown = script && script.previousElementSibling, host = script && script.parentNode;
  if (!shown || !shown.querySelector(".gonbext-bar")) return;
  var kernel = shown.dataset.kernel, display = shown.dataset.display, config = {}, socket, idle = 0, over = false;
  try { config = JSON.parse(document.getElementById("jupyter-config-data").textContent); } catch (e) { /* no Jupyter */ }
  var base = new URL(config.baseUrl || "/", location.href);

  // Whether the page has put another output in this one's place. A cell that is out of sight
  // may be out of the page.
  function replaced() { return shown.parentNode !== host || !host.isConnected && !host.closest(".jp-Cell"); }
  function end(line) {
    var bar = host.querySelector(".gonbext-bar");
    over = true;
    if (socket) socket.close();
    if (!bar) return;
    bar.classList.add("gonbext-stale");
    bar.removeAttribute("role");
    bar.nextElementSibling.textContent += " · " + line;
  }
  function replace(html) {
    var report = html.indexOf("gonbext-bar\"") < 0;
    host.innerHTML = html;
    shown = host.querySelector(".gonbext");
    if (!report) return; // the scripts of a bar are this one
    over = true;
    socket.close();
    host.querySelectorAll("script").forEach(function (old) {
      var again = document.createElement("script");
      again.textContent = old.textContent;
      old.replaceWith(again);
    });
  }
  function listen() {
    var at = new URL("api/kernels/" + kernel + "/channels", base);
    at.protocol = at.protocol.replace("http", "ws");
    if (config.token) at.searchParams.set("token", config.token);
    socket = new WebSocket(at);
    socket.onmessage = function (e) {
      if (over || replaced() || typeof e.data !== "string") return;
      var m = JSON.parse(e.data), content = m.content || {};
      if (m.msg_type === "update_display_data" && content.transient && content.transient.display_id === display) replace(content.data["text/html"] || "");
    };
    socket.onclose = function () { socket = null; };
  }
  function look() {
    if (over) return;
    if (replaced()) return socket && socket.close();
    fetch(new URL("api/kernels/" + kernel, base), { credentials: "same-origin", headers: config.token ? { Authorization: "token " + config.token } : {} }).then(function (r) {
      return r.ok ? r.json() : { execution_state: "gone" };
    }).then(function (model) {
      if (over) return;
      idle = model.execution_state === "idle" ? idle + 1 : 0;
      if (model.execution_state === "gone") end("its kernel has ended: %report shows how far it came");
      else if (idle > 1) end("the run has ended: %report shows it");
      else {
        if (!socket) listen();
        setTimeout(look, 2000);
      }
    }).catch(function () { end("this page lost sight of the run"); });
  }
  setTimeout(function () {
    if (replaced()) return;
    if (kernel && config.baseUrl) look();
    else end("this page lost sight of the run");
  }, 8000);
})(document.currentScript)
