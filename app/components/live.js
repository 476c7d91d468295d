// Fields that the page follows while somebody writes: after a short rest they are sent as Enter would send them.

const REST = 700; // ms without a key

export default function live({ data }) {
  clearTimeout(window.goldgradeLiveRest);
  document.removeEventListener("input", window.goldgradeLive, true);
  window.goldgradeLive = ({ target }) => {
    if (!target.matches?.("textarea, input[type=text]") || !target.closest(`.st-key-${data.area}`)) return;
    clearTimeout(window.goldgradeLiveRest);
    window.goldgradeLiveRest = setTimeout(() => {
      const ctrlKey = target.localName === "textarea"; // Streamlit's own keys to apply a field
      target.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", code: "Enter", ctrlKey, bubbles: true, cancelable: true }));
    }, REST);
  };
  document.addEventListener("input", window.goldgradeLive, true);
}
