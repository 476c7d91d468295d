
// Who chose a theme has it on every page from the first moment. Streamlit reads its own choice by the path of a page.
try {
  const theme = JSON.parse(localStorage.getItem("goldset:theme"));
  if (theme) localStorage.setItem("stActiveTheme-" + location.pathname + "-v2", JSON.stringify(theme));
  if (theme === "Light" || theme === "Dark") {
    const scheme = theme.toLowerCase();
    document.documentElement.style.colorScheme = scheme;
    for (const bar of document.querySelectorAll("meta[name=theme-color]")) bar.media = bar.media.includes(scheme) ? "all" : "not all";
  }
} catch { /* as the system has it */ }
// Streamlit asks for its font of icons at once: 375 kB, in front of what draws the page. An icon on the page brings
// it by itself; for later ones it is fetched some seconds after the page was first drawn.
const load = document.fonts.load.bind(document.fonts);
const drawn = new Promise((done) => { window.goldgradeDrawn = () => setTimeout(done, 4000); });
document.fonts.load = (font, text) =>
  font.includes("Material Symbols") ? drawn.then(() => load(font, text)) : load(font, text);
// A tab that the server ended for a newer one goes to the page that says so; else Streamlit would come back at once.
const Socket = window.WebSocket;
window.WebSocket = class extends Socket {
  constructor(...about) {
    super(...about);
    this.addEventListener("close", ({ code }) => { if (code === 4008) location.replace("/tab-ended"); });
  }
};
