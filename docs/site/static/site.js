// An output that would tell a prediction appears with the first choice of the prediction above it.
const predictions = [...document.querySelectorAll(".prediction")];
for (const cell of document.querySelectorAll(".tag_waits")) {
  const above = predictions.findLast(
    (prediction) => prediction.compareDocumentPosition(cell) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  const show = () => cell.classList.remove("tag_waits");
  above.addEventListener("toggle", show, { capture: true, once: true }); // `toggle` does not bubble
}
