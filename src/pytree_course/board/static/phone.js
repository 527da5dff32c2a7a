// The page on a phone: it speaks to the server as a notebook does, and only votes.
"use strict";
const by = (id) => document.getElementById(id);
const kept = "pytree-course-secret";
let secret = sessionStorage.getItem(kept);
let shown = "";

async function send(path, data) {
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${secret}` };
  const reply = await fetch(path, { method: "post", headers, body: JSON.stringify(data) });
  if (reply.ok) return reply.json();
  throw new Error(String(reply.status));
}

function show({ vote }) {
  by("vote").hidden = !vote;
  by("said").textContent = !vote ? "You are in. A question will appear here."
    : vote.choice ? `You chose ${vote.choice}. You can change that until the vote is closed.` : "Choose one.";
  if (JSON.stringify(vote) === shown) return;
  shown = JSON.stringify(vote);
  for (const part of ["text", "code", "note"]) by(part).textContent = vote ? vote[part].replaceAll("`", "") : "";
  by("options").replaceChildren(...Object.entries(vote?.options ?? {}).map(([letter, text]) => {
    const button = document.createElement("button");
    button.id = `option-${letter}`;
    button.textContent = `${letter}. ${text.replaceAll("`", "")}`;
    button.setAttribute("aria-pressed", String(letter === vote.choice));
    button.onclick = () => say(send("ballot", { vote: vote.number, choice: letter }), button.id);
    return button;
  }));
}

async function say(asked, focused) {
  try {
    show(await asked);
    if (focused) by(focused)?.focus();
  } catch (error) {
    by("said").textContent = error.message === "409" ? "This vote is closed."
      : error.message === "403" ? "You are not in this class (any more): load this page again to join."
      : "The class is not reached. This page goes on trying.";
    if (error.message === "403") { sessionStorage.removeItem(kept); secret = null; by("vote").hidden = true; }
  }
}

function follow() {
  by("join").hidden = true;
  const ask = () => { if (secret) say(send("events", { events: [] })); };
  ask();
  setInterval(ask, 2000);
}

by("join").code.value = new URLSearchParams(location.search).get("code") ?? "";
by("join").onsubmit = async (event) => {
  event.preventDefault();
  const { code, name } = event.target;
  try {
    ({ secret } = await send("join", { code: code.value.trim(), name: name.value }));
    sessionStorage.setItem(kept, secret);
    follow();
  } catch (error) {
    by("said").textContent = error.message === "403" ? "That is not the code of this class."
      : error.message === "429" ? "The class is full." : "The class is not reached. Try again.";
  }
};
if (secret) follow();
