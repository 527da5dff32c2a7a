// Puts new parts into the page as the server sends them, and sends forms without leaving it.
"use strict";
const main = document.querySelector("main[data-news]");
const away = document.getElementById("away");

function replace(id, html) {
  const part = document.getElementById(id);
  const open = [...part.querySelectorAll("details[open]")].map((each) => each.id);
  const focused = part.contains(document.activeElement) ? document.activeElement.id : "";
  part.innerHTML = html;
  for (const each of open) document.getElementById(each)?.setAttribute("open", "");
  if (focused) document.getElementById(focused)?.focus();
}

if (main) {
  const news = new EventSource(main.dataset.news);
  news.onopen = () => { away.hidden = true; };
  news.onerror = () => { away.hidden = false; };
  news.onmessage = ({ data }) => {
    for (const [id, html] of Object.entries(JSON.parse(data))) replace(id, html);
  };
  document.addEventListener("submit", async (event) => {
    const fields = new URLSearchParams(new FormData(event.target, event.submitter));
    if (fields.get("do") === "delete") return; // what it answers is shown
    event.preventDefault();
    await fetch(event.target.action, { method: "post", body: fields });
    event.target.querySelector("[name=text]")?.form.reset();
  });
}
