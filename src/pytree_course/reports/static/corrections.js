// Collect what the teacher types beside answers: as a table, and as a file for `grade --corrections`.
const answers = [...document.querySelectorAll("[data-student]")];
const collected = document.querySelector("#collected");
const said = document.querySelector("#said");
let saved = "";

function typed(answer) {
  const [points, comment] = ["input.points", "textarea"].map((field) =>
    answer.querySelector(field).value.trim(),
  );
  const takenBack = answer.querySelector(".taken-back")?.checked;
  return points || comment || takenBack ? { answer, points, comment } : null;
}

function row({ answer, points, comment }) {
  const link = document.createElement("a");
  link.href = `#${answer.id}`;
  link.textContent = answer.dataset.label;
  const line = document.createElement("tr");
  const field = answer.querySelector("input.points");
  const wrong = field.validity.valid ? "" : ` ✗ not from 0 to ${field.max}`;
  const cells = [link, answer.dataset.title, points + wrong, comment || (points ? "" : "taken back")];
  for (const cell of cells) line.insertCell().append(cell);
  return line;
}

// A spreadsheet would run a cell that begins like a formula: `grade --corrections` reads it without
// the apostrophe.
const plain = (cell) => cell.replace(/(^|;)(?=[\s"]*[=+@-])/g, "$1'");

function file() {
  const quoted = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const lines = answers.map(typed).filter(Boolean).map(({ answer, points, comment }) => {
    const { student, lesson, exercise } = answer.dataset;
    return [student, lesson, exercise, points, comment].map(plain).map(quoted).join(",");
  });
  return lines.length ? [collected.dataset.columns, ...lines, ""].join("\n") : "";
}

function show() {
  const rows = answers.map(typed).filter(Boolean).map(row);
  collected.querySelector("tbody").replaceChildren(...rows);
  collected.hidden = !rows.length;
  said.textContent = "";
}

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
