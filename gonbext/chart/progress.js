(function (script) {
  // A bar is replaced every few seconds while its run lasts. One that is not, as in a page
  // that was loaded anew, says so instead of seeming to move.
  var shown = script && script.previousElementSibling, bar = shown && shown.querySelector(".gonbext-bar");
  if (bar) setTimeout(function () {
    if (!bar.isConnected) return;
    bar.classList.add("gonbext-stale");
    bar.removeAttribute("role");
    bar.nextElementSibling.textContent += " · this page lost sight of the run";
  }, 20000);
})(document.currentScript)
