// The page on a phone: it speaks to the server as a notebook does, and only votes.
"use strict";
const by = (id) => document.getElementById(id);
const KEPT = "pytree-course-secret";
if (location.hash) { // a notebook's link: this phone votes for the same learner
  localStorage.setItem(KEPT, location.hash.slice(1));
  history.replaceState(null, "", location.pathname);
}
let secret = localStorage.getItem(KEPT);
let chosen = null; // a choice that has not reached the server yet
let shown = "";

async function send(path, data) {
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${secret}` };
  const reply = await fetch(path, { method: "post", headers, body: JSON.stringify(data) });
  if (reply.ok) return reply.json();
  // A proxy may answer in place of the class.
  throw new Error(reply.headers.has("Pytree-Course-Class") ? String(reply.status) : "no class");
}

function status({ choice, is_open: isOpen, answer }) {
  if (isOpen) return choice ? `You chose ${choice}. You can change that until the vote is closed.` : "Choose one.";
  const yours = choice ? `You chose ${choice}.` : "You did not vote.";
  return `The vote is closed. ${yours}${answer && ` The right answer is ${answer}.`}`;
}

function show({ name, vote }) {
  by("name").textContent = `You are ${name}.`;
  by("vote").hidden = !vote;
  by("said").textContent = vote ? status(vote) : "You are in. A question will appear here.";
  if (JSON.stringify(vote) === shown) return;
  shown = JSON.stringify(vote);
  for (const part of ["text", "code", "note"]) by(part).textContent = vote ? vote[part].replaceAll("`", "") : "";
  by("options").replaceChildren(...Object.entries(vote?.options ?? {}).map(([letter, text]) => {
    const button = document.createElement("button");
    button.id = `option-${letter}`;
    const result = vote.is_open ? "" : ` (${vote.counts[letter] ?? 0})${letter === vote.answer ? " ✓" : ""}`;
    button.textContent = `${letter}. ${text.replaceAll("`", "")}${result}`;
    button.disabled = !vote.is_open;
    button.setAttribute("aria-pressed", String(letter === vote.choice));
    button.onclick = () => {
      chosen = { vote: vote.number, choice: letter };
      ask(button.id);
    };
    return button;
  }));
}

async function ask(focused) {
  if (!secret) return;
  const sent = chosen;
  try {
    show(await (sent ? send("ballot", sent) : send("events", { events: [] })));
    if (chosen === sent) chosen = null;
    if (focused) by(focused)?.focus();
  } catch ({ message }) {
    if (message === "409" || message === "400") chosen = null;
    by("said").textContent = message === "409" ? "This vote is closed."
      : message === "403" ? "You are in no class any more: it is over, or your teacher removed you."
      : `The class is not reached. This page goes on trying${chosen ? `, and then sends ${chosen.choice}` : ""}.`;
    if (message === "403") leave();
  }
}

function leave() {
  localStorage.removeItem(KEPT);
  secret = null;
  by("vote").hidden = true;
  by("join").hidden = false;
  by("name").textContent = "";
}

by("join").hidden = Boolean(secret);
by("join").code.value = new URLSearchParams(location.search).get("code") ?? "";
by("join").onsubmit = async (event) => {
  event.preventDefault();
  const { code, name } = event.target;
  try {
    ({ secret } = await send("join", { code: code.value.trim(), name: name.value }));
    localStorage.setItem(KEPT, secret);
    by("join").hidden = true;
    ask();
  } catch (error) {
    by("said").textContent = error.message === "403" ? "That is not the code of this class."
      : "The class is not reached. Try again.";
  }
};
ask();
setInterval(ask, 2000);
