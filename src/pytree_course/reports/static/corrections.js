// Collect what the teacher types beside answers: as a table, and as a file for `grade --corrections`.
const answers = [...document.querySelectorAll("[data-student]")];
const sameResult = Map.groupBy(answers, (answer) => answer.dataset.result);
const kept = new Map(); // lines of a loaded file that fit no answer here
const collected = document.querySelector("#collected");
const columns = collected.dataset.columns.split(",");
const said = document.querySelector("#said");
let saved = "";

function typed(answer) {
  const field = answer.querySelector("input.points");
  const points = field.value.trim();
  const comment = answer.querySelector("textarea").value.trim();
  const takenBack = answer.querySelector(".taken-back")?.checked;
  return points || comment || takenBack ? { field, points, comment } : null;
}

// What is typed beside an answer goes before what is said there for all with the same result.
function correction(answer) {
  const forAll = (other) => other.querySelector(".for-all")?.checked && typed(other);
  const entry =
    typed(answer) ?? sameResult.get(answer.dataset.result).map(forAll).find(Boolean);
  return entry ? { answer, ...entry } : null;
}

const corrections = () => answers.map(correction).filter(Boolean);

function row({ answer, field, points, comment }) {
  const link = document.createElement("a");
  link.href = `#${answer.id}`;
  link.textContent = answer.dataset.label;
  const wrong = field.validity.valid ? "" : ` ✗ not 0, 0.5, 1 … ${field.max}`;
  const remark = comment || (points ? "" : "taken back");
  return line([link, answer.dataset.title, points + wrong, remark]);
}

function line(cells) {
  const row = document.createElement("tr");
  for (const cell of cells) row.insertCell().append(cell);
  return row;
}

// A spreadsheet would run a cell that begins like a formula: `grade --corrections` reads it without
// the apostrophe.
const plain = (cell) => cell.replace(/(^|;)(?='*[\s"]*[=+@-])/g, "$1'");

function file() {
  const quoted = (cell) => (/[",;\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const lines = corrections().map(({ answer, points, comment }) => {
    const { student, lesson, exercise } = answer.dataset;
    return [student, lesson, exercise, points, comment];
  });
  const all = [...lines, ...kept.values()].map((cells) => cells.map(plain).map(quoted).join(","));
  return all.length ? [columns.join(","), ...all, ""].join("\n") : "";
}

function show() {
  const rows = corrections().map(row);
  for (const [student, lesson, exercise, points, comment] of kept.values())
    rows.push(line([student, `${lesson}: ${exercise}`, points, `✗ fits no answer here, kept: ${comment}`]));
  collected.querySelector("tbody").replaceChildren(...rows);
  collected.hidden = !rows.length;
  said.textContent = "";
}

function readCsv(text) {
  const [first] = text.split("\n", 1);
  const separator = [",", ";", "\t"].sort((a, b) => first.split(b).length - first.split(a).length)[0];
  const cell = new RegExp(`("(?:[^"]|"")*"|[^${separator}\r\n"]*)(${separator}|\r?\n|$)`, "g");
  const rows = [[]];
  for (const [, written, end] of text.matchAll(cell)) {
    const value = written.replace(/^"|"$/g, "").replaceAll('""', '"').trim();
    rows.at(-1).push(value.replace(/(^|;)'(?='*[\s"]*[=+@-])/g, "$1"));
    if (end !== separator) rows.push([]);
  }
  return rows.filter((cells) => cells.some(Boolean));
}

function find(student, lesson, exercise) {
  const isLesson = (stem) => {
    const [number, topic] = stem.split(/_(.*)/);
    return [stem, number, number.replace(/^0+/, ""), topic].includes(lesson);
  };
  const given = answers.filter(
    ({ dataset }) => dataset.exercise === exercise && isLesson(dataset.lesson),
  );
  return ["student", "login", "name"]
    .map((name) => given.filter(({ dataset }) => dataset[name] === student))
    .find((found) => found.length === 1)?.[0];
}

// Fill the fields from a line; return whether they hold all of it.
function fill(answer, points, comment) {
  const field = answer.querySelector("input.points");
  const takenBack = answer.querySelector(".taken-back");
  field.value = points;
  answer.querySelector("textarea").value = comment;
  if (takenBack) takenBack.checked = !points && !comment;
  return field.value === points && Boolean(points || comment || takenBack);
}

document.querySelector("#load").addEventListener("change", async ({ target }) => {
  if (!target.files.length) return;
  const loaded = document.querySelector("#loaded");
  const [heading = [], ...lines] = readCsv((await target.files[0].text()).replace(/^\ufeff/, ""));
  const places = columns.map((name) => heading.indexOf(name));
  if (places.includes(-1)) {
    loaded.textContent = `✗ Its first line is not ${columns.join(",")}.`;
    return;
  }
  let filled = 0;
  for (const cells of lines) {
    const [student, lesson, exercise, given, comment] = places.map((place) => cells[place] ?? "");
    const answer = find(student, lesson, exercise);
    const points = given.replace(",", ".");
    if (answer && fill(answer, points, comment)) filled += 1;
    else kept.set([student, lesson, exercise].join("\n"), [student, lesson, exercise, given, comment]);
  }
  show();
  saved = file();
  const others = lines.length - filled;
  loaded.textContent =
    `✓ ${filled} of ${lines.length} lines filled in.` +
    (others ? ` ${others} fit no answer here: the table at the foot has them, and the file keeps them.` : "");
});
document.querySelector("#copy").addEventListener("click", async () => {
  await navigator.clipboard.writeText(file());
  saved = file();
  said.textContent = "✓ Copied, with the first line.";
});
document.querySelector("#save").addEventListener("click", () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([file()], { type: "text/csv" }));
  link.download = "corrections.csv";
  link.click();
  saved = file();
  said.textContent = "✓ Saved as corrections.csv.";
});
// Code that is shown whole needs no stop of the Tab key.
document.addEventListener("toggle", ({ target }) => {
  for (const code of target.querySelectorAll("pre"))
    code.tabIndex = code.scrollHeight > code.clientHeight ? 0 : -1;
}, true);
document.addEventListener("input", show);
window.addEventListener("beforeunload", (event) => file() !== saved && event.preventDefault());
show();
