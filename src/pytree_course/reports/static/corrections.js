// What the teacher types beside answers, as lines for `grade --corrections`.
const lines = document.querySelector("#lines");
const answers = [...document.querySelectorAll("[data-student]")];
const quoted = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

function correction(answer) {
  const { student, lesson, exercise } = answer.dataset;
  const typed = [...answer.querySelectorAll("input, textarea")].map((field) => field.value.trim());
  return typed.some(Boolean) ? [student, lesson, exercise, ...typed].map(quoted).join(",") : null;
}

function write() {
  lines.value = answers.map(correction).filter(Boolean).join("\n");
}

document.addEventListener("input", (event) => event.target === lines || write());
document.querySelector("#copy").addEventListener("click", () => {
  lines.select();
  navigator.clipboard.writeText(lines.value);
});
window.addEventListener("beforeunload", (event) => lines.value && event.preventDefault());
write();
