// Puts new parts into the page as the server sends them, and sends forms without leaving it.
"use strict";
const main = document.querySelector("main[data-news]");
const away = document.getElementById("away");

function replace(id, html) {
  const part = document.getElementById(id);
  const open = [...part.querySelectorAll("details[open]")].map((each) => each.id);
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  part.innerHTML = html;
  for (const each of open) document.getElementById(each)?.setAttribute("open", "");
  if (!focused) return;
  part.tabIndex = -1; // what was focused may be gone: then Tab goes on from here
  (document.getElementById(focused.id) ?? part).focus();
}

function listen() {
  const news = new EventSource(main.dataset.news);
  news.onopen = () => { away.hidden = true; };
  news.onerror = () => {
    away.hidden = false;
    if (news.readyState === EventSource.CLOSED) setTimeout(listen, 3000); // a proxy answered
  };
  news.onmessage = ({ data }) => {
    for (const [id, html] of Object.entries(JSON.parse(data))) replace(id, html);
  };
}

if (main) {
  listen();
  document.addEventListener("submit", async (event) => {
    const fields = new URLSearchParams(new FormData(event.target, event.submitter));
    if (fields.get("do") === "delete") return; // what it answers is shown
    event.preventDefault();
    await fetch(event.target.action, { method: "post", body: fields });
    event.target.querySelector("[name=text]")?.form.reset();
  });
}
