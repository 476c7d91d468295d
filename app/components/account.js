export default function account({ data, parentElement }) {
  parentElement.querySelector(".who").textContent = data.role === "annotator" || data.role === data.name ? data.name : `${data.name}, ${data.role}`;
  parentElement.querySelector("button").onclick = () => {
    // A form, not a fetch: where an identity provider signed somebody in, the way out leads over its pages.
    const form = document.createElement("form");
    form.method = "post";
    form.action = "/sign-out";
    document.body.append(form);
    form.submit();
  };
}
