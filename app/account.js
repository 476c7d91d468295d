export default function account({ data, parentElement }) {
  parentElement.querySelector(".who").textContent = data.role === "annotator" || data.role === data.name ? data.name : `${data.name}, ${data.role}`;
  parentElement.querySelector("button").onclick = async () => {
    await fetch("/sign-out", { method: "POST", redirect: "manual" });
    location.assign("/sign-in");
  };
}
