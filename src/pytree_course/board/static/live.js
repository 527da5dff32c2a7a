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

// The projector's page is as large as fits into its window.
function fit() {
  for (let size = 3.2; size >= 1; size -= 0.1) {
    document.body.style.fontSize = `${size}rem`;
    document.body.style.setProperty("--zoom", size / 1.1);
    const { scrollHeight, scrollWidth } = document.documentElement;
    if (scrollHeight <= window.innerHeight && scrollWidth <= window.innerWidth) break;
  }
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
    if ("fits" in main.dataset) {
      for (const fold of main.querySelectorAll("details")) fold.open = true; // nobody clicks there
      fit();
    }
  };
  news.addEventListener("over", () => {
    news.close();
    main.innerHTML = "<h1>This session is over</h1><p>All that was sent has been deleted.</p>";
  });
}

if (main) {
  listen();
  if ("fits" in main.dataset) window.addEventListener("resize", fit);
  document.addEventListener("submit", async (event) => {
    const fields = new URLSearchParams(new FormData(event.target, event.submitter));
    if (fields.get("do") === "delete") return; // what it answers is shown
    event.preventDefault();
    const answer = await fetch(event.target.action, { method: "post", body: fields });
    if (!answer.ok) window.alert(await answer.text());
    else if (event.target.querySelector("[autocomplete=off]")) event.target.reset();
  });
}
