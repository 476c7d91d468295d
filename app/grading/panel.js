// The guide's panel by itself, on Settings, Guide.

import { drawGuide } from "../annotating/guide.js";

export default function mount({ data, parentElement }) {
  parentElement.querySelector(".grading").toggleAttribute("data-wide", data.wide);
  drawGuide(parentElement.querySelector(".guide"), data.guide);
}
