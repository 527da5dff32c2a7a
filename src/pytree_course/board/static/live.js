// Asks the server for the page's parts, shows those that changed, and sends forms without leaving it.
"use strict";
const main = document.querySelector("main[data-news]");
const away = document.getElementById("away");

const shown = {}; // HTML of each part, by its id

function replace(id, html) {
  if (shown[id] === html) return;
  shown[id] = html;
  const part = document.getElementById(id);
  const open = [...part.querySelectorAll("details[open]")].map((each) => each.id);
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  part.innerHTML = html;
  for (const each of open) document.getElementById(each)?.setAttribute("open", "");
  if ("fits" in main.dataset) fit();
  if (!focused) return;
  part.tabIndex = -1; // what was focused may be gone: then Tab goes on from here
  (document.getElementById(focused.id) ?? part).focus();
}

// The projector's page is as large as fits into its window.
function fit() {
  for (const fold of main.querySelectorAll("details")) fold.open = true; // nobody clicks there
  for (let size = 3.2; size >= 1; size -= 0.1) {
    document.body.style.fontSize = `${size}rem`;
    document.body.style.setProperty("--zoom", size / 1.1);
    const { scrollHeight, scrollWidth } = document.documentElement;
    if (scrollHeight <= window.innerHeight && scrollWidth <= window.innerWidth) break;
  }
}

async function update() {
  try {
    const answer = await fetch(main.dataset.news);
    const isOver = answer.status === 410;
    away.hidden = answer.ok || isOver;
    if (isOver) {
      main.innerHTML = "<h1>This session is over</h1><p>All that was sent has been deleted.</p>";
      return;
    }
    const parts = answer.ok ? await answer.json() : {};
    for (const [id, html] of Object.entries(parts)) replace(id, html);
  } catch {
    away.hidden = false;
  }
  setTimeout(update, 200);
}

if (main) {
  update();
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
